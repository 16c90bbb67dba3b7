// The formulas of book/_static/explore.js against values of focal_lib: node tests/book/explore.test.js [a script]
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const test = require("node:test");
const reference = require("./explore_reference.json"); // made by python -m workflow.explore_reference

const script = process.argv[2] || path.join(__dirname, "../../book/_static/explore.js");
const formulas = require(path.resolve(script));

const numbers = (value) => [value].flat(Infinity);

for (const [name, cases] of Object.entries(reference)) {
  test(name, () => {
    assert.ok(cases.length > 0);
    const rounding = name === "beta" ? 0 : 1e-14; // of what sums and differences begin with
    for (const [given, expected] of cases) {
      const found = numbers(formulas[name](...given));
      const wanted = numbers(expected);
      assert.strictEqual(found.length, wanted.length);
      wanted.forEach((value, i) => {
        const apart = Math.abs(found[i] - value);
        assert.ok(apart <= 1e-10 * Math.abs(value) + rounding, `${name}(${given}) is ${found[i]}, not ${value}`);
      });
    }
  });
}

test("every formula has its values", () => {
  assert.deepStrictEqual(Object.keys(formulas).sort(), Object.keys(reference).sort());
});

test("the map leads what focal loss asks for back", () => {
  for (const [[truth, gamma], told] of reference.focalMinimiser) {
    const back = formulas.focalLogProbs(told.map(Math.log), gamma).map(Math.exp);
    truth.forEach((p, i) => assert.ok(Math.abs(back[i] - p) < 1e-9, `${truth}, ${gamma}: ${back[i]}, not ${p}`));
  }
});

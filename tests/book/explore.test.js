// The formulas of book/_static/explore.js against values of focal_lib: node tests/book/explore.test.js [a script]
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const test = require("node:test");
const reference = require("./explore_reference.json"); // made by python -m workflow.explore_reference

const script = process.argv[2] || path.join(__dirname, "../../book/_static/explore.js");
const formulas = require(path.resolve(script));

const infinite = (value) => (value === null ? Infinity : value);
const numbers = (value) => (value.size !== undefined ? [value.size] : [value].flat());

for (const [name, cases] of Object.entries(reference)) {
  test(name, () => {
    assert.ok(cases.length > 0);
    for (const [given, expected] of cases) {
      const found = numbers(formulas[name](...given.map(infinite)));
      const wanted = numbers(expected);
      assert.strictEqual(found.length, wanted.length);
      wanted.forEach((value, i) => {
        const apart = Math.abs(found[i] - value);
        assert.ok(apart <= 1e-9 * Math.abs(value) + 1e-13, `${name}(${given}) is ${found[i]}, not ${value}`);
      });
    }
  });
}

test("every formula has its values", () => {
  assert.deepStrictEqual(Object.keys(formulas).sort(), Object.keys(reference).sort());
});

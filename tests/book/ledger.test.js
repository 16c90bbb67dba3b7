// What book/_static/ledger.js finds and keeps in the address: node tests/book/ledger.test.js [a script]
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const test = require("node:test");

const script = process.argv[2] || path.join(__dirname, "../../book/_static/ledger.js");
const { readState, writeState, words, chosen } = require(path.resolve(script));

const claims = [
  ["kk24.prop5 KK24 Prop. 5, App. A.5 \\(\\hat p_j \\ge q_j\\) for any \\(\\gamma > 0\\)", "REFUTED", "kk24", "06", "paper|quoted"],
  ["kk24.prop5_threshold KK24 Prop. 5, corrected, above \\(\\tau(\\gamma)\\)", "PROVED", "kk24", "06", "ours"],
  ["m20.prop50 M20 Prop. 50 'lower ECE than cross-entropy' of temperature scaling", "NOT REPRODUCED", "m20", "14", "paper|our reading"],
].map(([text, verdict, paper, chapter, whose]) => ({ text: words(text), verdict, paper, chapter, whose }));

const found = (state) => chosen(claims, state).map(Number).join("");

test("nothing asked, all shown", () => assert.strictEqual(found({}), "111"));

test("search", () => {
  const cases = {
    "Prop. 5": "110", "prop5": "110", "kk24.prop5": "110", "prop5_thr": "010", "PROP 50": "001", "Prop. 5,": "110",
    "gamma": "110", "γ": "110", "\\gamma": "110", "τ(γ)": "010", "temperature ece": "001", "cross-entropy": "001",
    "entropy lower": "001", "mperature": "000", "  ": "111",
  };
  for (const [text, expected] of Object.entries(cases)) assert.strictEqual(found({ text }), expected, text);
});

test("menus", () => {
  assert.strictEqual(found({ verdict: "REFUTED" }), "100");
  assert.strictEqual(found({ whose: "paper" }), "101");
  assert.strictEqual(found({ whose: "our reading", paper: "m20" }), "001");
  assert.strictEqual(found({ whose: "ours", paper: "m20" }), "000");
  assert.strictEqual(found({ whose: "paper", text: "prop5" }), "100");
  assert.strictEqual(found({ chapter: "06", whose: "ours" }), "010");
});

test("the address keeps what is asked", () => {
  const state = { text: "τ & 50 % = #1", verdict: "NOT REPRODUCED", chapter: "confidence" };
  assert.deepStrictEqual(readState(writeState(state)), state);
  assert.deepStrictEqual(readState("?paper=kk24&utm=1"), { paper: "kk24" });
  assert.deepStrictEqual(readState("#paper=kk24"), { paper: "kk24" });
  assert.strictEqual(writeState({}), "");
  assert.strictEqual(readState(""), null);
  assert.strictEqual(readState("#claim-kk24-prop5"), null);
});

// What a reader finds first: node tests/book/search.test.js FOLDER QUERY ...; FOLDER is the built book.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const [folder, ...queries] = process.argv.slice(2);
const nothing = () => {};
const page = { getElementById: () => null, addEventListener: nothing, readyState: "loading", currentScript: { dataset: {} } };
const context = vm.createContext({
  document: page, window: { addEventListener: nothing }, localStorage: { setItem: nothing }, console, URLSearchParams,
  SPHINX_HIGHLIGHT_ENABLED: false, DOCUMENTATION_OPTIONS: {}, _ready: nothing, _: (text) => text,
});
const load = (file) => vm.runInContext(fs.readFileSync(path.join(folder, file), "utf8"), context, { filename: file });
load("_static/language_data.js");
load("_static/searchtools.js");
load("searchindex.js");
const found = vm.runInContext(
  "(query) => { const asked = Search._parseQuery(query); return Search._performSearch(...asked).reverse(); }", context,
);
const answers = queries.map((query) => found(query).map(([page, title, anchor, , score]) => [page, title, anchor, score]));
console.log(JSON.stringify(answers));

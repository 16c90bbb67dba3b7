// How Sphinx's search ranks what it finds: chapters, then the other pages, then the ledger; names in the code come last.
// What stands in the index or in a heading counts more than a word somewhere on a page.
"use strict";
// Excerpts are fetched from the pages, which a browser refuses to a page that is a file.
if (globalThis.location?.protocol.startsWith("http")) DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = true;
// What stands in the index has an empty anchor: its excerpt is of the page.
globalThis.window?.addEventListener("DOMContentLoaded", () => {
  const textOf = Search.htmlToText;
  Search.htmlToText = (html, anchor) => textOf(html, anchor).trim() || textOf(html);
});
var Scorer = {
  score([page, title, anchor, description, score]) {
    if (description !== null) return score; // an object of the code
    const kinds = [[/^notebooks\/ledger$/, 100], [/^notebooks/, 300], [/^book\/(api|checks)$/, 0]];
    const kind = kinds.find(([pages]) => pages.test(page));
    const named = anchor !== "" || title.includes(" > ");
    return score + (kind ? kind[1] : 200) + (named ? 50 : 0);
  },
  // Sphinx's own
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

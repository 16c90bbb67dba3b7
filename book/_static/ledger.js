// The ledger's page: search, menus and sorting of its table, which the cards below follow, all kept in the address.
// reproduction/ledger/page.py writes the table. Without this script every claim is shown, in the order of the book.
"use strict";
(() => {
  const MENUS = ["verdict", "paper", "whose"];
  const FIELDS = ["text", ...MENUS, "sort"]; // "#text=gap&verdict=REFUTED&sort=-source"

  // An anchor such as "#claim-kk24-prop5" says nothing about them: null.
  function readState(hash) {
    const given = new URLSearchParams(hash.slice(1));
    const known = FIELDS.filter((name) => given.get(name));
    if (hash.length > 1 && !known.length) return null;
    return Object.fromEntries(known.map((name) => [name, given.get(name)]));
  }

  function writeState(state) {
    const given = FIELDS.filter((name) => state[name]).map((name) => [name, state[name]]);
    return given.length ? `#${new URLSearchParams(given)}` : "";
  }

  // TeX and plain text alike: "\gamma", "γ" and "gamma" are one word, a dot or a dash parts two.
  const GREEK = {
    α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", η: "eta", θ: "theta", κ: "kappa", λ: "lambda",
    μ: "mu", ν: "nu", π: "pi", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi", ω: "omega",
  };
  function words(text) {
    const spelt = text.normalize("NFKD").replace(/\\var(?=[a-z])/g, "\\").replace(/[α-ω]/g, (letter) => ` ${GREEK[letter] || letter} `);
    return ` ${spelt.toLowerCase().replace(/\p{Mark}/gu, "").replace(/[^\p{Letter}\p{Number}]+/gu, " ").trim()} `;
  }

  // Words that a claim must have, by their beginnings. A number belongs to the word before it, and is no other's
  // beginning: "Prop. 5" is not "Prop. 50".
  function wanted(text) {
    const parts = words(text).match(/[^ ]+(?: \d+(?= ))*/g) || [];
    return parts.map((part) => new RegExp(` ${part}${/\d$/.test(part) ? "(?!\\d)" : ""}`));
  }

  // claim: {text: words, verdict, paper, whose}; what it is of several kinds stands between bars
  function chosen(claims, state) {
    const parts = wanted(state.text || "");
    const menus = MENUS.filter((name) => state[name]);
    return claims.map(
      (claim) =>
        menus.every((name) => claim[name].split("|").includes(state[name])) &&
        parts.every((part) => part.test(claim.text)),
    );
  }

  // Where each of the keys goes: "prop5" before "prop10", equal ones as they were.
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  function order(keys, descending) {
    const sign = descending ? -1 : 1;
    return keys.map((_, i) => i).sort((i, j) => sign * collator.compare(keys[i], keys[j]) || i - j);
  }

  if (typeof module !== "undefined") {
    module.exports = { readState, writeState, words, chosen, order };
    return;
  }

  const form = document.querySelector(".ledger-filter");
  const body = document.querySelector("table.ledger tbody");
  const rows = [...body.rows];
  let claims;
  let sorted = "";

  function reveal(element, shown) {
    if (element && element.hidden === shown) element.hidden = !shown; // what stays costs nothing
  }

  function show(state) {
    const shown = chosen(claims, state);
    const groups = new Set();
    claims.forEach(({ row, card, group }, i) => {
      reveal(row, shown[i]);
      reveal(card, shown[i]);
      if (shown[i]) groups.add(group);
    });
    for (const { group } of claims) reveal(group, groups.has(group));
    if ((state.sort || "") !== sorted) sort((sorted = state.sort || ""));
    form.querySelector("output").textContent = `${shown.filter(Boolean).length} of ${rows.length} claims`;
  }

  function sort(by) {
    const name = by.replace("-", "");
    const headings = [...document.querySelectorAll("table.ledger thead th")];
    const column = headings.findIndex((heading) => heading.textContent === name);
    headings.forEach((heading, i) => {
      if (heading.ariaSort !== null) heading.ariaSort = i !== column ? "none" : by === name ? "ascending" : "descending";
    });
    const keys = rows.map(({ cells }) => (column < 0 ? "" : cells[column].dataset.key || cells[column].textContent));
    body.append(...order(keys, by !== name).map((i) => rows[i]));
  }

  const stateOf = () => ({ ...Object.fromEntries(new FormData(form)), sort: sorted });

  function fill(state) {
    for (const name of ["text", ...MENUS]) {
      const field = form.elements[name];
      field.value = state[name] || "";
      if (field.selectedIndex < 0) field.value = ""; // no such entry
    }
    show({ ...state, ...Object.fromEntries(new FormData(form)) });
  }

  function change(state) {
    show(state);
    history.replaceState(null, "", location.href.split("#")[0] + writeState(state));
  }

  // The address may name what to show, or a card: one that is hidden makes all come back.
  function follow() {
    const state = readState(location.hash);
    if (state) return fill(state);
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest("[hidden]")) return;
    fill({});
    target.scrollIntoView();
  }

  // Before MathJax replaces the formulas of the cards, which hold the statements in full.
  function start() {
    claims = rows.map((row) => {
      row.dataset.card = row.querySelector("a").hash.slice(1); // the claim's own link, to its card
      const card = document.getElementById(row.dataset.card)?.closest(".claim-card");
      const statement = card?.querySelector(".claim-statement");
      const { verdict, paper, whose } = row.dataset;
      const text = words(`${row.textContent} ${statement ? statement.textContent : ""}`);
      return { row, card, group: card?.closest(".claim-group"), verdict, paper, whose, text };
    });
    for (const heading of document.querySelectorAll("table.ledger th[data-sorts]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      heading.ariaSort = "none";
      const name = button.textContent;
      const next = { [name]: `-${name}`, [`-${name}`]: "" }; // ascending, descending, as in the book
      button.addEventListener("click", () => change({ ...stateOf(), sort: next[sorted] ?? name }));
    }
    form.addEventListener("input", () => change(stateOf()));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      fill({});
      change({});
    });
    window.addEventListener("hashchange", follow);
    form.hidden = false;
    follow();
  }

  document.addEventListener("readystatechange", start, { once: true });
})();

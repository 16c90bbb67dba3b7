// The ledger's page: search and menus choose among its cards, all kept in the address.
// reproduction/ledger/page.py writes them. Without this script every card is shown.
"use strict";
(() => {
  const MENUS = ["paper", "verdict", "chapter", "whose"];
  const FIELDS = ["text", ...MENUS]; // "?text=gap&verdict=REFUTED"

  // Of an address's query, "?paper=kk24"; or of its part after "#", where older links have it. Others say nothing: null.
  function readState(part) {
    const given = new URLSearchParams(part.slice(1));
    const known = FIELDS.filter((name) => given.get(name));
    return known.length ? Object.fromEntries(known.map((name) => [name, given.get(name)])) : null;
  }

  function writeState(state) {
    const given = FIELDS.filter((name) => state[name]).map((name) => [name, state[name]]);
    return given.length ? `?${new URLSearchParams(given)}` : "";
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

  // claim: {text: words, verdict, paper, chapter, whose}; what it is of several kinds stands between bars
  function chosen(claims, state) {
    const parts = wanted(state.text || "");
    const menus = MENUS.filter((name) => state[name]);
    return claims.map(
      (claim) =>
        menus.every((name) => claim[name].split("|").includes(state[name])) &&
        parts.every((part) => part.test(claim.text)),
    );
  }

  if (typeof module !== "undefined") {
    module.exports = { readState, writeState, words, chosen };
    return;
  }

  const form = document.querySelector(".ledger-filter");
  const cards = [...document.querySelectorAll("details.claim")];

  // Formulas of a card are set when it opens: those of all take seconds. This runs before MathJax does.
  const MathJax = (window.MathJax = window.MathJax || {});
  MathJax.startup = {
    ...MathJax.startup,
    pageReady: () => {
      const folded = (formula) => formula.closest("details.claim:not([open])") && !formula.closest("summary");
      return window.MathJax.typesetPromise([...document.querySelectorAll(".math")].filter((one) => !folded(one)));
    },
  };
  let setting; // one after the other
  function set(card) {
    setting = (setting || window.MathJax.startup.promise)?.then(() => window.MathJax.typesetPromise([card]));
  }
  for (const card of cards) card.addEventListener("toggle", () => set(card), { once: true });

  const authors = Object.fromEntries([...form.elements.paper.options].map(({ value, text }) => [value, text]));
  const claims = cards.map((card) => {
    const { verdict, paper, chapter, whose } = card.dataset;
    const parts = [card.querySelector("summary"), card.querySelector(".claim-statement")].map((one) => one.textContent);
    return { verdict, paper, chapter, whose, text: words(`${parts.join(" ")} ${authors[paper] || ""}`) };
  });

  function show(state) {
    const shown = chosen(claims, state);
    cards.forEach((card, i) => {
      if (card.hidden === shown[i]) card.hidden = !shown[i]; // what stays costs nothing
    });
    form.querySelector("output").textContent = `${shown.filter(Boolean).length} of ${cards.length} claims`;
  }

  const stateOf = () => Object.fromEntries(new FormData(form));

  function fill(state) {
    for (const name of FIELDS) {
      const field = form.elements[name];
      field.value = state[name] || "";
      if (field.selectedIndex < 0) field.value = ""; // no such entry
    }
    show(stateOf());
  }

  function change(state) {
    show(state);
    history.replaceState(null, "", location.href.split(/[?#]/)[0] + writeState(state));
  }

  // The address may name what to show, and a card, which opens: one that is hidden makes all come back.
  function follow() {
    const state = readState(location.hash) || readState(location.search);
    if (state) fill(state);
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.matches("details.claim")) return;
    if (target.hidden) fill({});
    target.open = true;
    target.scrollIntoView();
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
})();

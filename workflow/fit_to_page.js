// What is wider than the page is made smaller, down to half; with #measure, the page becomes the list of what still is
// too wide.
"use strict";

const SMALLEST = 0.5;
const FITTED = "table, mjx-container[display='true'], mjx-container, svg, pre";

function fit() {
  for (const article of document.querySelectorAll("article.bd-article")) {
    const right = article.getBoundingClientRect().right;
    for (const one of article.querySelectorAll(FITTED)) {
      const box = one.getBoundingClientRect();
      const width = Math.max(box.width, one.scrollWidth);
      const room = right - box.left;
      if (width > room + 1 && room > 0) one.style.zoom = Math.max(SMALLEST, (room - 1) / width);
    }
  }
}

function tooWide() {
  const found = [];
  for (const article of document.querySelectorAll("article.bd-article")) {
    const right = article.getBoundingClientRect().right;
    for (const one of article.querySelectorAll("*")) {
      if (one.closest("mjx-assistive-mml") || one.parentElement.closest("mjx-container, svg")) continue;
      const box = one.getBoundingClientRect();
      const cut = getComputedStyle(one).overflowX !== "visible" ? one.scrollWidth - one.clientWidth : 0;
      const over = Math.max(box.right - right, cut);
      if (box.width > 0 && over > 1) {
        const text = one.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
        found.push(`${article.id}: <${one.localName}> by ${Math.round(over)} px: ${text}`);
      }
    }
  }
  return found;
}

async function prepare() {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  fit();
  if (location.hash !== "#measure") return;
  const output = document.createElement("output");
  output.id = "clipped";
  output.textContent = JSON.stringify(tooWide());
  document.body.replaceChildren(output);
}

window.addEventListener("load", prepare);

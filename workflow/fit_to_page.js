// What is wider than the page is made smaller, down to half; a table that would become small breaks the words in its
// cells first. With #measure, the page becomes the list of what still is
// too wide.
"use strict";

const SMALLEST = 0.5;
const SMALL = 0.7;
const FITTED = "table, mjx-container[display='true'], mjx-container, svg, pre";

function fit() {
  for (const article of document.querySelectorAll("article.bd-article")) {
    const right = article.getBoundingClientRect().right;
    for (const one of article.querySelectorAll(FITTED)) {
      const box = one.getBoundingClientRect();
      const room = right - box.left;
      const zoom = Number(one.style.zoom) || 1;
      let width = Math.max(box.width, zoom * one.scrollWidth);
      if (one.localName === "table" && width * SMALL > room) {
        one.classList.add("tight");
        width = Math.max(one.getBoundingClientRect().width, zoom * one.scrollWidth);
      }
      if (width > room + 1 && room > 0) one.style.zoom = Math.max(SMALLEST, (zoom * (room - 2)) / width);
    }
  }
}

// Text, formulas, pictures beyond the right edge of the page, and what scrolls or is hidden in a box of its own.
function tooWide() {
  for (const unseen of document.querySelectorAll("mjx-assistive-mml")) unseen.style.setProperty("display", "none", "important");
  const found = [];
  for (const article of document.querySelectorAll("article.bd-article")) {
    const right = article.getBoundingClientRect().right;
    const report = (one, over) => {
      if (over <= 1) return;
      const text = one.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
      found.push(`${article.id}: <${one.localName}> by ${Math.round(over)} px: ${text}`);
    };
    for (const one of article.querySelectorAll("*")) {
      if (one.parentElement.closest("mjx-container, svg")) continue;
      let over = one.getBoundingClientRect().right - right;
      if (getComputedStyle(one).overflowX !== "visible" && one.clientWidth > 0) {
        over = Math.max(over, one.scrollWidth - one.clientWidth);
      }
      report(one, over);
    }
    const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (texts.nextNode()) {
      const parent = texts.currentNode.parentElement;
      if (parent.closest("mjx-container, svg")) continue;
      range.selectNodeContents(texts.currentNode);
      report(parent, range.getBoundingClientRect().right - right);
    }
  }
  return [...new Set(found)];
}

async function prepare() {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  fit();
  fit(); // what has moved to another line
  if (location.hash !== "#measure") return;
  const output = document.createElement("output");
  output.id = "clipped";
  output.textContent = JSON.stringify(tooWide());
  document.body.replaceChildren(output);
}

window.addEventListener("load", prepare);

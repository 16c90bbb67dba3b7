// What is wider than the page is made smaller, down to half; a table that would become small breaks the words in its
// cells first. With #measure, the page becomes the list of what still is
// too wide.
"use strict";

const SMALLEST = 0.5;
const SMALL = 0.7;
const TABLES = "table";
const OTHERS = "mjx-container, svg, pre"; // none stands in another; after the tables that they may stand in

// Each of them in an article, with its width, the room it has and its zoom. Read together and written together: one
// layout of a whole book takes seconds.
function measure(selector) {
  return [...document.querySelectorAll("article.bd-article")].flatMap((article) => {
    const right = article.getBoundingClientRect().right;
    return [...article.querySelectorAll(selector)].map((one) => {
      const box = one.getBoundingClientRect();
      const zoom = Number(one.style.zoom) || 1;
      return { one, zoom, room: right - box.left, width: Math.max(box.width, zoom * one.scrollWidth) };
    });
  });
}

function shrink(selector) {
  const wide = measure(selector).filter(({ room, width }) => room > 0 && width > room + 1);
  for (const { one, zoom, room, width } of wide) one.style.zoom = Math.max(SMALLEST, (zoom * (room - 2)) / width);
}

function fit() {
  const small = measure(TABLES).filter(({ room, width }) => width * SMALL > room);
  for (const { one } of small) one.classList.add("tight");
  shrink(TABLES);
  shrink(OTHERS);
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

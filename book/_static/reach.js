// Formulas that scroll in their box can be reached by keyboard, as code and tables are by the theme's own script, which
// looks again when the window's size changes: so tell it when a fold opens, too.
"use strict";
(() => {
  function reach() {
    for (const box of document.querySelectorAll(".bd-article :is(.math, mjx-container)")) {
      // less is an accent that leans out
      if (box.scrollWidth > box.clientWidth + 4) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }

  let waiting;
  function reachSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(reach, 200);
  }

  addEventListener("resize", reachSoon);
  document.addEventListener("toggle", () => dispatchEvent(new Event("resize")), true);
  addEventListener("load", () => window.MathJax?.startup?.promise.then(reachSoon));
})();

// What a reader cannot see or reach at this width: [kind, what] for each place, and the first of them is marked.
() => {
  const found = [];
  const screen = document.documentElement;
  const article = document.querySelector("article.bd-article") ?? document.body;
  const describe = (element) =>
    `${element.tagName.toLowerCase()}.${[...element.classList].join(".")} '${element.textContent.trim().slice(0, 60)}'`;
  const style = new Map();
  const styleOf = (element) => {
    if (!style.has(element)) style.set(element, getComputedStyle(element));
    return style.get(element);
  };
  const boxes = new Map();
  const boxOf = (element) => {
    if (!boxes.has(element)) boxes.set(element, element.getBoundingClientRect());
    return boxes.get(element);
  };
  const shown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && boxOf(element).width > 1 && boxOf(element).height > 1;
  const tell = (kind, element, more) => {
    if (!found.length) {
      element.style.outline = "3px solid red";
      element.scrollIntoView({ block: "center" });
    }
    found.push([kind, `${describe(element)}${more}`]);
  };
  const px = (value) => `${Math.round(value)} px`;

  // Where a box ends that is wider than what shows it: null if it can be seen or scrolled to.
  function hides(element, box) {
    let { left, right, top, bottom } = box;
    for (let around = element.parentElement; around; around = around.parentElement) {
      const { overflowX, overflowY, position } = styleOf(around);
      const frame = boxOf(around);
      if (overflowX === "hidden" || overflowX === "clip") {
        if (right > frame.right + 1) return `ends ${px(right - frame.right)} beyond ${describe(around).split(" ")[0]}`;
        if (left < frame.left - 1) return `begins ${px(frame.left - left)} before ${describe(around).split(" ")[0]}`;
      } else if (overflowX === "auto" || overflowX === "scroll") {
        // to the left of where it begins nothing scrolls
        if (left < frame.left - around.scrollLeft - 1) return `begins ${px(frame.left - left)} before what scrolls`;
        ({ left, right } = frame);
      }
      if (overflowY === "hidden" || overflowY === "clip") {
        if (bottom > frame.bottom + 2) return `is cut off ${px(bottom - frame.bottom)} below`;
        if (top < frame.top - 2) return `is cut off ${px(frame.top - top)} above`;
      } else if (overflowY === "auto" || overflowY === "scroll") ({ top, bottom } = frame);
      if (position === "fixed" || around === article) return null;
    }
    return null;
  }

  if (screen.scrollWidth > screen.clientWidth + 1) {
    const wide = (element) => boxOf(element).right > screen.clientWidth + 1 && shown(element) && !scrolls(element);
    const outer = [...document.body.querySelectorAll("*")].filter(wide);
    const inner = outer.filter((element) => !outer.some((other) => other !== element && element.contains(other)));
    tell("overflow", inner[0] ?? document.body, ` makes the page ${px(screen.scrollWidth)} wide`);
  }
  for (const element of article.querySelectorAll("mjx-container, pre, table, img, svg, figure, input, select, button")) {
    if (!shown(element)) continue;
    const body = element.querySelector(":scope > mjx-math") ?? element;
    const { left, top, bottom, right: edge } = boxOf(body);
    const right = styleOf(body).overflowX === "visible" ? Math.max(edge, left + (body.scrollWidth || 0)) : edge;
    const fault = hides(body, { left, right, top, bottom });
    if (fault) tell("clipped", element, ` ${fault}`);
    else if (right > screen.clientWidth + 1 && !scrolls(body)) tell("clipped", element, " leaves the screen");
  }
  // Whether what is around it scrolls, or cuts it off, which hides tells.
  function scrolls(element) {
    for (let around = element.parentElement; around; around = around.parentElement) {
      if (styleOf(around).overflowX !== "visible") return true;
      if (around === article) return false;
    }
    return false;
  }
  for (const number of article.querySelectorAll(".eqno")) {
    const formula = number.parentElement.querySelector("mjx-math");
    if (!formula || !shown(number)) continue;
    const [a, b, c] = [boxOf(number), boxOf(formula), boxOf(formula.closest("mjx-container"))];
    const right = Math.min(b.right, c.right);
    if (a.left < right - 1 && a.right > b.left + 1 && a.top < b.bottom - 1 && a.bottom > b.top + 1)
      tell("clipped", formula.closest("mjx-container"), " runs under its number");
  }
  return found;
}

// Figures that move. A page holds them still, as focal_lib/pages/explore.py drew them; this script shows their sliders
// and draws again what these change. Formulas are focal_lib.theory's: tests/book/explore.test.js compares them.
"use strict";
(() => {
  const { abs, exp, expm1, log, log1p, max, min, sinh, LN2 } = Math;

  // --- the map, of logits s: q = sigmoid(s), -log q = softplus(-s), -log(1-q) = softplus(s) ---

  const sigmoid = (s) => 1 / (1 + exp(-s));
  const logit = (q) => log(q) - log1p(-q);
  const softplus = (s) => max(s, 0) + log1p(exp(-abs(s)));

  function logSumExp(values) {
    const top = max(...values);
    return top + log(values.reduce((sum, value) => sum + exp(value - top), 0));
  }

  // b(q) = -q log q / (1-q) of x = -log q
  const entropyRatio = (x) => (x === 0 ? 1 : x / expm1(x));

  // log w(q), with w(q) = q / ((1-q)^gamma (1 + gamma b(q)))
  function logWeight(s, gamma) {
    const x = softplus(-s);
    return gamma * softplus(s) - x - log1p(gamma * entropyRatio(x));
  }

  function focalLogProbs(logits, gamma) {
    const rest = (i) => logSumExp(logits.filter((_, j) => j !== i));
    const weights = logits.map((z, i) => logWeight(z - rest(i), gamma));
    const total = logSumExp(weights);
    return weights.map((weight) => weight - total);
  }

  // R(s), by which logit FC(s) = (gamma + 1) s - R(s)
  function bend(s, gamma) {
    const x = softplus(-s);
    const b = entropyRatio(softplus(s));
    if (abs(s) >= 1) return log1p(gamma * entropyRatio(x)) - log1p(gamma * b);
    const gap = 2 * sinh(s) * x - s * exp(-s); // b(q) - b(1-q): exact for small s, too
    return log1p((gamma * gap) / (1 + gamma * b));
  }

  const focalLogit = (s, gamma) => (gamma + 1) * s - bend(s, gamma);

  // --- what follows ---

  // Where f, below 0 at low, above it at high, is 0.
  function root(f, low, high) {
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (f(middle) < 0) low = middle;
      else high = middle;
    }
    return high;
  }

  // Where f, with one hill in between, is highest.
  function summit(f, low, high) {
    for (let i = 0; i < 50; i++) {
      const third = (high - low) / 3;
      if (f(low + third) < f(high - third)) low += third;
      else high -= third;
    }
    return high;
  }

  // The largest sign * (scaling - map) over s > 0
  function excess(gamma, T, sign) {
    const f = (s) => sign * (sigmoid(s / T) - sigmoid(focalLogit(s, gamma)));
    const step = 0.125 / (1 + gamma);
    let near = step;
    for (let i = 2; i < 200; i++) if (f(i * step) > f(near)) near = i * step;
    return f(summit(f, near - step, near + step));
  }

  const largestGap = (gamma, T) => max(excess(gamma, T, 1), excess(gamma, T, -1));

  // The smaller T, the larger scaling at every s > 0: at the nearest T both excesses are the same.
  function closestTemperature(gamma) {
    if (gamma === 0) return 1;
    return 1 / root((beta) => excess(gamma, 1 / beta, 1) - excess(gamma, 1 / beta, -1), 1, gamma + 1);
  }

  // logit FC(s) / s, and its limit at 0
  const beta = (s, gamma) =>
    gamma + 1 - (s < 1e-5 ? (gamma * (2 * LN2 - 1)) / (1 + gamma * LN2) : bend(s, gamma) / s);

  // [T low, T high] over |s| <= radius: beta rises, or dips first
  function temperatureBounds(gamma, radius) {
    const ends = [beta(0, gamma), beta(radius, gamma)];
    const dip = summit((s) => -beta(s, gamma), 0, min(radius, 3 + 2 * log1p(gamma)));
    return [1 / max(...ends), 1 / min(...ends, beta(dip, gamma))];
  }

  const printedHigh = (gamma) => 1 / (gamma + 1 - log1p(gamma) / 2);

  const logGain = (q, gamma) => gamma * log1p(-q) + log1p(gamma * entropyRatio(-log(q)));
  const peak = (gamma) => root((q) => gamma * q - 1 - (2 * (1 - q)) / log(q), 1e-15, 1 - 1e-13);
  const confidenceThreshold = (gamma) => root((q) => -logGain(q, gamma), peak(gamma), 0.5);

  // The top probability after the map, the others tied.
  function tiedTop(q, n, gamma) {
    const rest = logWeight(logit((1 - q) / (n - 1)), gamma) + log(n - 1);
    return sigmoid(logWeight(logit(q), gamma) - rest);
  }

  // Up to which q it falls; 1/n, where all are tied, if nowhere.
  function tiedCrossing(n, gamma) {
    const low = peak(gamma);
    if (1 / n >= low) return 1 / n;
    return root((q) => logGain((1 - q) / (n - 1), gamma) - logGain(q, gamma), low, 0.5);
  }

  // The q that minimises p L(q) + (1-p) L(1-q) + 2 lambda (q-p)^2; -L' = 1/w
  function fclMinimiser(p, gamma, lambda) {
    const pull = (s) => (1 - p) * exp(-logWeight(-s, gamma)) - p * exp(-logWeight(s, gamma));
    return sigmoid(root((s) => pull(s) + 4 * lambda * (sigmoid(s) - p), -50, 50));
  }

  if (typeof module !== "undefined") {
    module.exports = {
      focalLogit, focalLogProbs, largestGap, closestTemperature, temperatureBounds, confidenceThreshold,
      tiedTop, tiedCrossing, fclMinimiser, printedHigh,
    };
    return;
  }

  // --- a figure: panels with named parts, inputs with names ---

  function panelOf(svg) {
    const [left, right, bottom, top] = svg.dataset.span.split(" ").map(Number);
    const { width, height } = svg;
    const place = ([x, y]) =>
      [(x - left) / (right - left) * width.baseVal.value, (top - y) / (top - bottom) * height.baseVal.value];
    const part = (name) => svg.querySelector(`[data-part=${name}]`);
    return {
      part,
      line: (name, ...all) => part(name).setAttribute("d", all.map((line) => `M${line.map(place).join("L")}`).join("")),
      label: (text) => (svg.parentNode.querySelector(`[data-label=${svg.dataset.panel}] text`).textContent = text),
    };
  }

  const valueOf = (input) => (input.type === "checkbox" ? input.checked : Number(input.value));

  function start(figure) {
    const inputs = {};
    const view = { inputs };
    for (const input of figure.querySelectorAll("input")) inputs[input.name] = input;
    for (const svg of figure.querySelectorAll("[data-panel]")) view[svg.dataset.panel] = panelOf(svg);
    function draw(event) {
      const values = {};
      for (const name in inputs) values[name] = valueOf(inputs[name]);
      figure.querySelector(".explore-says").textContent = figures[figure.dataset.explore](view, values, event);
      for (const value of figure.querySelectorAll(".explore-value")) value.textContent = value.nextElementSibling.value;
    }
    if (view.triangle) hold(view.triangle, inputs, draw);
    figure.addEventListener("input", draw);
    figure.querySelector(".explore-controls").hidden = false;
    draw();
  }

  // --- the triangle of three classes: corners (0, 0), (1, 0), (1/2, HEIGHT) ---

  const HEIGHT = Math.sqrt(3) / 2;
  const project = ([, q2, q3]) => [q2 + q3 / 2, q3 * HEIGHT];
  const field = [];
  for (let i = 1; i < 8; i++) for (let j = 1; i + j < 8; j++) field.push([i / 8, j / 8, 1 - (i + j) / 8]);

  // q follows pointers and arrow keys.
  function hold(triangle, { q1, q2, q3 }, draw) {
    const grip = triangle.part("grip");
    grip.closest("[role=img]").setAttribute("role", "group"); // an image has no controls
    grip.setAttribute("tabindex", 0);

    function move(x, y) {
      const third = y / HEIGHT;
      const second = x - third / 2;
      const q = [1 - second - third, second, third].map((value) => max(value, 0.005));
      [q1, q2, q3].forEach((input, i) => (input.value = q[i] / (q[0] + q[1] + q[2])));
      draw();
    }

    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    grip.addEventListener("keydown", (event) => {
      if (!steps[event.key]) return;
      event.preventDefault();
      const [x, y] = project([q1, q2, q3].map(valueOf));
      const [right, up] = steps[event.key];
      move(x + 0.02 * right, y + 0.02 * up);
    });
    grip.addEventListener("pointerdown", (event) => grip.setPointerCapture(event.pointerId));
    grip.addEventListener("pointermove", (event) => {
      if (!grip.hasPointerCapture(event.pointerId)) return;
      const { left, bottom, width, height } = triangle.part("triangle").getBoundingClientRect();
      move((event.clientX - left) / width, (HEIGHT * (bottom - event.clientY)) / height);
    });
  }

  // --- the figures: each draws what its inputs say, and tells it ---

  function curve(f, low = 0.005, high = 0.995) {
    const xs = Array.from({ length: 101 }, (_, i) => low + ((high - low) * i) / 100);
    return xs.map((x) => [x, f(x)]);
  }

  // A reliability diagram of recorded logits will be one more.
  const figures = {
    binary({ maps, gap, inputs }, { gamma, T, nearest }, event) {
      if (event?.target === inputs.T) nearest = inputs.nearest.checked = false;
      const best = closestTemperature(gamma);
      if (nearest) inputs.T.value = T = best;
      const size = largestGap(gamma, T);
      const map = (q) => sigmoid(focalLogit(logit(q), gamma));
      const scaled = (q) => sigmoid(logit(q) / T);
      maps.line("map", curve(map));
      maps.line("scaled", curve(scaled));
      gap.line("gap", curve((q) => (scaled(q) - map(q)) / max(size, 1e-9)));
      const points = (100 * size).toFixed(4);
      gap.label(`difference, up to ${points} points`);
      return `With T = ${T.toFixed(4)} the largest gap is ${points} points. The nearest T is ${best.toFixed(4)}.`;
    },

    bounds({ scale }, { gamma, radius }) {
      const [low, high] = temperatureBounds(gamma, radius);
      const level = (T, end) => [0, end].map((s) => [s, 1 / T - gamma]);
      scale.line("beta", curve((s) => beta(s, gamma) - gamma, 0, 20));
      scale.line("sharp", level(low, radius), level(high, radius));
      scale.line("printed", level(printedHigh(gamma), 20));
      scale.line("radius", [[radius, -1], [radius, 2]]);
      const ends = (...Ts) => Ts.map((T) => T.toFixed(5)).join(" and ");
      return `T lies between ${ends(low, high)}. Printed, for all logits: ${ends(1 / (gamma + 1), printedHigh(gamma))}.`;
    },

    simplex({ triangle }, { gamma, q1, q2, q3 }) {
      const map = (q) => focalLogProbs(q.map(log), gamma).map(exp);
      const moves = field.map((q) => [project(q), project(map(q))]);
      triangle.line("field", ...moves);
      triangle.line("targets", ...moves.map(([, end]) => [end, end]));
      const q = [q1, q2, q3];
      const p = map(q);
      triangle.line("step", [project(q), project(p)]);
      triangle.line("p", [project(p), project(p)]);
      for (const name of ["q", "grip"]) triangle.line(name, [project(q), project(q)]);
      const list = (values) => `(${values.map((value) => value.toFixed(3)).join(", ")})`;
      triangle.part("grip").setAttribute("aria-valuenow", q1);
      triangle.part("grip").setAttribute("aria-valuetext", list(q));
      return `q = ${list(q)} becomes p = ${list(p)}, a change of ${list(q.map((value, i) => p[i] - value))}.`;
    },

    tied({ change }, { gamma, n }) {
      const crossing = tiedCrossing(n, gamma);
      const tau = confidenceThreshold(gamma);
      const changes = curve((q) => 100 * (tiedTop(q, n, gamma) - q), 1 / n, 1 - 1e-9);
      change.line("change", changes);
      change.line("falls", [[1 / n, 0], [crossing, 0]]);
      change.line("tau", [[tau, -3], [tau, 6]]);
      const most = -min(...changes.map(([, by]) => by));
      const falls = `below q = ${crossing.toFixed(3)}, by up to ${most.toFixed(2)} points`;
      return `Others tied, it falls ${crossing > 1 / n ? falls : "nowhere"}. Above τ = ${tau.toFixed(3)} it falls for no n.`;
    },

    fcl({ risk }, { gamma, lambda, p }) {
      const q = fclMinimiser(p, gamma, lambda);
      risk.line("minimiser", curve((truth) => fclMinimiser(truth, gamma, lambda)));
      risk.line("alone", curve((truth) => fclMinimiser(truth, gamma, 0)));
      risk.line("bias", [[p, p], [p, q]]);
      risk.line("at", [[p, q], [p, q]]);
      const alone = fclMinimiser(p, gamma, 0);
      return `For p = ${p} FCL predicts ${q.toFixed(4)}, off by ${abs(q - p).toFixed(4)}; focal loss alone ${alone.toFixed(4)}.`;
    },
  };

  document.querySelectorAll("[data-explore]").forEach(start);
})();

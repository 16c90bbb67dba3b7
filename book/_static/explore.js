// Figures that move. A page holds each of them still, as focal_lib/pages/explore.py drew it, with sliders that are
// hidden; this script shows the sliders and draws again what they change. Nothing is loaded, nothing moves by itself.
// The formulas are those of focal_lib.theory; tests/book/explore.test.js compares their values with Python's.
"use strict";
(() => {
  // --- the map, of logits s: q = sigmoid(s), -log q = softplus(-s), -log(1-q) = softplus(s) ---

  const sigmoid = (s) => 1 / (1 + Math.exp(-s));
  const logit = (q) => Math.log(q) - Math.log1p(-q);
  const softplus = (s) => Math.max(s, 0) + Math.log1p(Math.exp(-Math.abs(s)));

  function logSumExp(values) {
    const top = Math.max(...values);
    return top + Math.log(values.reduce((sum, value) => sum + Math.exp(value - top), 0));
  }

  // b(q) = -q log q / (1-q) of x = -log q
  function entropyRatio(x) {
    const x2 = x * x;
    if (x < 0.1) return 1 - x / 2 + (x2 / 12) * (1 - (x2 / 60) * (1 - (x2 / 42) * (1 - x2 / 40)));
    return (x * Math.exp(-x)) / -Math.expm1(-x);
  }

  // log w(q), with w(q) = q / ((1-q)^gamma (1 + gamma b(q)))
  function logWeight(s, gamma) {
    const x = softplus(-s);
    return gamma * softplus(s) - x - Math.log1p(gamma * entropyRatio(x));
  }

  function focalLogProbs(logits, gamma) {
    const against = (i) => logSumExp(logits.filter((_, j) => j !== i));
    const weights = logits.map((z, i) => logWeight(z - against(i), gamma));
    const total = logSumExp(weights);
    return weights.map((weight) => weight - total);
  }

  // R(s), by which logit FC(s) = (gamma + 1) s - R(s)
  function bend(s, gamma) {
    const x = softplus(-s);
    const mirrored = softplus(s);
    if (Math.abs(s) >= 1) return Math.log1p(gamma * entropyRatio(x)) - Math.log1p(gamma * entropyRatio(mirrored));
    const difference = 2 * Math.sinh(s) * x - s * Math.exp(-s); // b(q) - b(1-q), exact for small s, too
    return Math.log1p((gamma * difference) / (1 + gamma * entropyRatio(mirrored)));
  }

  const focalLogit = (s, gamma) => (gamma + 1) * s - bend(s, gamma);

  // --- what follows from it ---

  // Where f, below 0 at low and above it at high, changes its sign.
  function root(f, low, high) {
    for (let i = 0; i < 100; i++) {
      const middle = (low + high) / 2;
      if (f(middle) < 0) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  // Where f, which has one hill between low and high, is highest.
  function summit(f, low, high) {
    for (let i = 0; i < 80; i++) {
      const third = (high - low) / 3;
      if (f(low + third) < f(high - third)) low += third;
      else high -= third;
    }
    return (low + high) / 2;
  }

  // The largest sign * (temperature scaling - map) over s > 0, and its s.
  function excess(gamma, T, sign) {
    const f = (s) => sign * (sigmoid(s / T) - sigmoid(focalLogit(s, gamma)));
    const step = 0.125 / (1 + gamma);
    let near = step;
    for (let s = step; s < 200 * step; s += step) if (f(s) > f(near)) near = s;
    const s = summit(f, near - step, near + step);
    return { s, size: f(s) };
  }

  function largestGap(gamma, T) {
    const above = excess(gamma, T, 1);
    const below = excess(gamma, T, -1);
    return above.size > below.size ? above : below;
  }

  // Scaling with a smaller T is the larger one at every s > 0: at the nearest T it is too large by what it is too small.
  function closestTemperature(gamma) {
    if (gamma === 0) return 1;
    const inverse = (beta) => excess(gamma, 1 / beta, 1).size - excess(gamma, 1 / beta, -1).size;
    return 1 / root(inverse, 1, gamma + 1);
  }

  const betaAtZero = (gamma) => gamma + 1 - (gamma * (2 * Math.LN2 - 1)) / (1 + gamma * Math.LN2);
  const beta = (s, gamma) => (Math.abs(s) < 1e-5 ? betaAtZero(gamma) : gamma + 1 - bend(s, gamma) / s);

  // [T low, T high] over |s| <= radius: beta rises, or dips first and then rises
  function temperatureBounds(gamma, radius) {
    const ends = [betaAtZero(gamma), radius === Infinity ? gamma + 1 : beta(radius, gamma)];
    const dip = summit((s) => -beta(s, gamma), 0, Math.min(radius, 3 + 2 * Math.log1p(gamma)));
    return [1 / Math.max(...ends), 1 / Math.min(...ends, beta(dip, gamma))];
  }

  const logGain = (q, gamma) => gamma * Math.log1p(-q) + Math.log1p(gamma * entropyRatio(-Math.log(q)));
  const peak = (gamma) => root((q) => gamma * q - 1 - (2 * (1 - q)) / Math.log(q), 1e-15, 1 - 1e-13);
  const confidenceThreshold = (gamma) => root((q) => -logGain(q, gamma), peak(gamma), 0.5);

  // The gamma from which on the map lowers the top probability of no distribution over n classes.
  function criticalGamma(n) {
    if (n <= 3) return 0;
    const f = (gamma) => -logGain(1 / (n - 1), gamma);
    let high = 1;
    while (f(high) < 0) high *= 2;
    return root(f, 0, high);
  }

  // The top probability after the map, where the other n - 1 classes are tied.
  function tiedTop(q, n, gamma) {
    const rest = logWeight(logit((1 - q) / (n - 1)), gamma) + Math.log(n - 1);
    return sigmoid(logWeight(logit(q), gamma) - rest);
  }

  // Up to which q it falls; 1/n, where all are tied, if it falls nowhere.
  function tiedCrossing(n, gamma) {
    const low = peak(gamma);
    if (1 / n >= low) return 1 / n;
    return root((q) => logGain((1 - q) / (n - 1), gamma) - logGain(q, gamma), low, 0.5);
  }

  // The q that minimises p L(q) + (1-p) L(1-q) + lambda ((q-p)^2 + (q-p)^2); -L' is 1/w.
  function fclMinimiser(p, gamma, lambda) {
    const pull = (s) => (1 - p) * Math.exp(-logWeight(-s, gamma)) - p * Math.exp(-logWeight(s, gamma));
    return sigmoid(root((s) => pull(s) + 4 * lambda * (sigmoid(s) - p), -50, 50));
  }

  const formulas = {
    focalLogit, focalLogProbs, largestGap, closestTemperature, temperatureBounds, confidenceThreshold, criticalGamma,
    tiedTop, tiedCrossing, fclMinimiser,
  };
  if (typeof module !== "undefined") return void (module.exports = formulas);

  // --- a figure: panels with named parts, sliders with names ---

  function panelOf(svg) {
    const [left, right, bottom, top] = svg.dataset.span.split(" ").map(Number);
    const width = svg.width.baseVal.value;
    const height = svg.height.baseVal.value;
    const place = ([x, y]) =>
      `${(((x - left) / (right - left)) * width).toFixed(1)} ${(((top - y) / (top - bottom)) * height).toFixed(1)}`;
    const part = (name) => svg.querySelector(`[data-part=${name}]`);
    const set = (name, d) => part(name).setAttribute("d", d);
    return {
      part,
      line: (name, points) => set(name, `M${points.map(place).join("L")}`),
      dashes: (name, pairs) => set(name, pairs.map((pair) => `M${pair.map(place).join("L")}`).join("")),
      label: (text) => {
        svg.parentNode.querySelector(`[data-label=${svg.dataset.panel}] text`).textContent = text;
      },
    };
  }

  const valueOf = (input) => {
    if (input.type === "checkbox") return input.checked;
    return input.dataset.end && input.value === input.max ? Infinity : Number(input.value);
  };

  function start(element) {
    const inputs = Object.fromEntries([...element.querySelectorAll("input")].map((input) => [input.name, input]));
    const panels = [...element.querySelectorAll("[data-panel]")].map((svg) => [svg.dataset.panel, panelOf(svg)]);
    const figure = figures[element.dataset.explore];
    const view = { ...Object.fromEntries(panels), inputs };
    function draw(moved) {
      const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, valueOf(input)]));
      element.querySelector(".explore-says").textContent = figure(view, values, moved);
      for (const input of Object.values(inputs)) {
        const output = input.parentNode.querySelector("output");
        if (output) output.textContent = valueOf(input) === Infinity ? input.dataset.end : input.value;
      }
    }
    element.addEventListener("input", (event) => draw(event.target.name));
    element.querySelector(".explore-controls").hidden = false;
    draw();
  }

  // --- the figures: each draws what the sliders say, and returns it in words ---

  const grid = (low, high) => Array.from({ length: 101 }, (_, i) => low + ((high - low) * i) / 100);
  const percent = (value) => (100 * value).toPrecision(2);

  const figures = {
    binary({ maps, gap, inputs }, { gamma, T, nearest }, moved) {
      if (moved === "T") nearest = inputs.nearest.checked = false;
      const best = closestTemperature(gamma);
      if (nearest) inputs.T.value = T = best;
      const { s, size } = largestGap(gamma, T);
      const qs = grid(0.005, 0.995);
      const mapped = qs.map((q) => sigmoid(focalLogit(logit(q), gamma)));
      const scaled = qs.map((q) => sigmoid(logit(q) / T));
      maps.line("map", qs.map((q, i) => [q, mapped[i]]));
      maps.line("scaled", qs.map((q, i) => [q, scaled[i]]));
      gap.line("gap", qs.map((q, i) => [q, (scaled[i] - mapped[i]) / Math.max(size, 1e-9)]));
      gap.label(`difference, up to ${percent(size)} points`);
      const at = `${percent(size)} percentage points at most, at q = ${sigmoid(s).toFixed(2)} and its mirror image`;
      return `The nearest temperature is ${best.toFixed(4)}. With T = ${T.toFixed(4)} the two differ by ${at}.`;
    },
  };

  document.querySelectorAll("[data-explore]").forEach(start);
})();

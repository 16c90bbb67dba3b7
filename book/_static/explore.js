// Figures that move: reproduction/pages/explore.py draws them still; sliders change them here.
// Formulas are focal_lib's: tests/book/explore.test.js compares them.
"use strict";
(() => {
const { abs, ceil, exp, expm1, log, log1p, max, min, sinh } = Math;

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
  const weights = logits.map((z, i) => logWeight(z - logSumExp(logits.filter((_, j) => j !== i)), gamma));
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

// Where f rises through 0.
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

// The q that focal loss asks for where p is true: w(q) = c p, with the c for which q sums to 1
function focalMinimiser(p, gamma) {
  const of = (k) => p.map((x) => sigmoid(root((s) => logWeight(s, gamma) - log(x) - k, -50, 50)));
  return of(root((k) => of(k).reduce((sum, q) => sum + q, -1), -20, 50));
}

// logit FC(s) / s, even in s: so near its limit at 0
const beta = (s, gamma) => (s === 0 ? beta(1e-7, gamma) : gamma + 1 - bend(s, gamma) / s);

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

// The top probability after the map, the others tied, and up to which q it falls: 1/n if nowhere
const lift = (q, n, gamma) => logGain((1 - q) / (n - 1), gamma) - logGain(q, gamma);
const tiedTop = (q, n, gamma) => sigmoid(logit(q) + lift(q, n, gamma));
function tiedCrossing(n, gamma) {
  const low = max(peak(gamma), 1 / n);
  return low > 1 / n ? root((q) => lift(q, n, gamma), low, 0.5) : low;
}

// The q that minimises p L(q) + (1-p) L(1-q) + 2 lambda (q-p)^2; -L' = 1/w
function fclMinimiser(p, gamma, lambda) {
  const pull = (s) => (1 - p) * exp(-logWeight(-s, gamma)) - p * exp(-logWeight(s, gamma));
  return sigmoid(root((s) => pull(s) + 4 * lambda * (sigmoid(s) - p), -50, 50));
}

// ECE, NLL, [confidence, accuracy] of filled bins. A row: how far each logit is below the largest, the label's first
function reliability(rows, gamma, T) {
  const bins = Array.from({ length: 15 }, () => [0, 0, 0]);
  let nll = 0;
  for (const row of rows) {
    const logs = focalLogProbs(row.map((below) => -below / T), gamma);
    const top = exp(max(...logs));
    nll -= logs[0] / rows.length;
    [top, row[0] === 0, 1].forEach((value, i) => (bins[ceil(15 * top) - 1][i] += value));
  }
  const ece = bins.reduce((sum, [top, right]) => sum + abs(top - right), 0) / rows.length;
  return [ece, nll, ...bins.filter(([,, n]) => n).map(([top, right, n]) => [top / n, right / n])];
}

if (typeof module !== "undefined") {
  return module.exports = {
    beta, focalLogProbs, focalMinimiser, temperatureBounds, confidenceThreshold, tiedTop, tiedCrossing, fclMinimiser,
    printedHigh, reliability,
  };
}

// --- a figure: panels with named parts, and controls ---

function panelOf(svg) {
  const [left, right, bottom, top] = svg.dataset.span.split(" ").map(Number);
  const [width, height] = [svg.width, svg.height].map(({ baseVal }) => baseVal.value);
  const place = ([x, y]) => [(x - left) / (right - left) * width, (top - y) / (top - bottom) * height];
  const part = (name) => svg.querySelector(`[data-part=${name}]`);
  const line = (name, ...all) =>
    part(name).setAttribute("d", all.map((points) => `M${points.map(place).join("L")}`).join(""));
  const dots = (name, ...points) => line(name, ...points.map((point) => [point, point]));
  return { part, line, dots };
}

function start(figure) {
  const controls = figure.querySelector("fieldset");
  const view = { inputs: controls.elements, data: figure.dataset };
  for (const svg of figure.querySelectorAll("[data-panel]")) view[svg.dataset.panel] = panelOf(svg);
  function draw(event) {
    const values = {};
    for (const { name, value } of view.inputs) values[name] = +value;
    figure.querySelector(".explore-says").textContent = figures[view.data.explore](view, values, event);
    for (const said of figure.querySelectorAll(".explore-value")) said.textContent = said.nextElementSibling.value;
  }
  if (view.triangle) hold(view.triangle, view.inputs, draw);
  figure.addEventListener("input", draw);
  controls.hidden = false;
  draw();
}

// --- the triangle of three classes: corners (0, 0), (1, 0), (1/2, HEIGHT) ---

const HEIGHT = Math.sqrt(3) / 2;
const project = ([, q2, q3]) => [q2 + q3 / 2, q3 * HEIGHT];
const field = [];
for (let i = 1; i < 8; i++) for (let j = 1; i + j < 8; j++) field.push([i / 8, j / 8, 1 - (i + j) / 8]);

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// q follows pointers and arrow keys.
function hold({ part }, { q1, q2, q3 }, draw) {
  const grip = part("grip");
  const held = [q1, q2, q3];
  grip.closest("[role=img]").role = "group"; // an image has no controls
  grip.tabIndex = 0;

  function move([x, y]) {
    const third = y / HEIGHT;
    const q = [1 - x - third / 2, x - third / 2, third].map((value) => max(value, 0.005));
    held.forEach((input, i) => (input.value = q[i] / (q[0] + q[1] + q[2])));
    draw();
  }

  grip.onkeydown = (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    move(project(held.map((input) => +input.value)).map((at, i) => at + 0.02 * step[i]));
  };
  grip.ontouchstart = (event) => event.preventDefault();
  grip.onpointerdown = ({ pointerId }) => grip.setPointerCapture(pointerId);
  grip.onpointermove = ({ pointerId, x, y }) => {
    if (!grip.hasPointerCapture(pointerId)) return;
    const { left, bottom, width, height } = part("triangle").getBoundingClientRect();
    move([(x - left) / width, HEIGHT * (bottom - y) / height]);
  };
}

// --- the figures ---

// A row between two of those that begin with the numbers around x
function between(rows, x) {
  const i = max(1, rows.findIndex(([at]) => at >= x));
  const [low, high] = [rows[i - 1], rows[i]];
  return low.map((value, k) => value + (high[k] - value) * (x - low[0]) / (high[0] - low[0]));
}

function curve(f, low = 0.005, high = 0.995) {
  const xs = Array.from({ length: 101 }, (_, i) => low + ((high - low) * i) / 100);
  return xs.map((x) => [x, f(x)]);
}

// Corners of bars of these heights around places of an axis
const rectangles = (heights, at, half) =>
  heights.flatMap((y, i) => [[-1, 0], [-1, y], [1, y], [1, 0]].map(([side, v]) => [at(i) + side * half(i), v]));

const figures = {
  bars({ bars, data }, { gamma }) {
    const truth = JSON.parse(data.probs);
    const told = focalMinimiser(truth, gamma);
    const back = focalLogProbs(told.map(log), gamma).map(exp);
    bars.line("told", rectangles(told, (i) => i, () => 0.2));
    bars.dots("back", ...back.map((p, i) => [i, p]));
    const top = truth.indexOf(max(...truth));
    const [p, q, again] = [truth, told, back].map((values) => (100 * values[top]).toFixed(1));
    return `${JSON.parse(data.names)[top]}: ${p} % are true, focal loss asks for ${q} %, the map makes that ${again} %.`;
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
    triangle.dots("targets", ...moves.map(([, end]) => end));
    const q = [q1, q2, q3];
    const p = map(q);
    triangle.line("step", [project(q), project(p)]);
    triangle.dots("p", project(p));
    for (const name of ["q", "grip"]) triangle.dots(name, project(q));
    const list = (values) => `(${values.map((value) => value.toFixed(3)).join(", ")})`.replace(/-/g, "−");
    Object.assign(triangle.part("grip"), { ariaValueNow: q1, ariaValueText: list(q) });
    return `q = ${list(q)} becomes p = ${list(p)}, a change of ${list(q.map((value, i) => p[i] - value))}.`;
  },

  tied({ bars }, { gamma, n, top }) {
    top = max(top, 1 / n);
    const after = tiedTop(top, n, gamma);
    const crossing = tiedCrossing(n, gamma);
    const all = (first) => Array.from({ length: n }, (_, i) => (i ? (1 - first) / (n - 1) : first));
    const at = (i) => (i ? i + 8.5 : 4) / (n + 9);
    const half = (share) => (i) => (share * (i ? 0.5 : 4)) / (n + 9);
    bars.line("before", rectangles(all(top), at, half(0.9)));
    bars.line("after", rectangles(all(after), at, half(0.5)));
    bars.line("level", [[0, top], [1, top]]);
    const [from, to] = [top, after].map((q) => (100 * q).toFixed(2));
    const falls = crossing > 1 / n ? `It falls below ${(100 * crossing).toFixed(0)} %` : "It never falls for this n";
    const tau = (100 * confidenceThreshold(gamma)).toFixed(0);
    return `The likeliest goes from ${from} to ${to} %. ${falls}; above τ = ${tau} % for no n.`;
  },

  fcl({ risk }, { gamma, lambda, p }) {
    const both = (truth) => fclMinimiser(truth, gamma, lambda);
    const alone = (truth) => fclMinimiser(truth, gamma, 0);
    const q = both(p);
    risk.line("minimiser", curve(both));
    risk.line("alone", curve(alone));
    risk.line("bias", [[p, p], [p, q]]);
    risk.dots("at", [p, q]);
    const [found, off, focal] = [q, abs(q - p), alone(p)].map((value) => value.toFixed(4));
    return `For p = ${p} FCL predicts ${found}, off by ${off}; focal loss alone ${focal}.`;
  },

  law({ plane, errors, data }, { network, gamma }) {
    const all = JSON.parse(data.networks);
    const [name, G, plain, scaled, runs] = all[network - 1];
    const [, D, focal] = between(runs, gamma);
    const beside = all.map(([, x, ece, , own]) => [x, between(own, gamma), ece]);
    const of = (falls) => beside.filter(([, run, ece]) => run[2] < ece === falls).map(([x, run]) => [x, run[1]]);
    plane.dots("falls", ...of(true));
    plane.dots("rises", ...of(false));
    plane.dots("at", [G, D]);
    errors.line("focal", [[0, plain], ...runs.map(([x, , ece]) => [x, ece])]);
    errors.line("plain", [[0, plain], [5.3, plain]]);
    errors.line("scaled", [[0, scaled], [5.3, scaled]]);
    errors.dots("now", [gamma, focal]);
    const [g, d, before, after, T] = [G, D, plain, focal, scaled].map((x) => x.toFixed(1).replace("-", "−"));
    const takes = `γ = ${gamma} takes D = ${d}, ${D < 2 * G ? "less" : "more"} than 2G`;
    const ece = `ECE ${before} % with cross-entropy, ${after} % with focal loss; ${T} % with cross-entropy and a temperature`;
    return `${name}: G = ${g} points with cross-entropy. ${takes}. ${ece}.`;
  },

  reliability({ diagram, valley, data }, { gamma, T }) {
    const [ece, nll, ...bins] = reliability(JSON.parse(data.logits), gamma, T);
    diagram.line("gaps", ...bins.map((bin) => [[bin[0], bin[0]], bin]));
    diagram.dots("bins", ...bins);
    valley.dots("at", [gamma, T]);
    return `Of these images the ECE is ${(100 * ece).toFixed(1)} %, the NLL ${nll.toFixed(3)}.`;
  },

  epochs({ ce, focal, course, data }, { moment }) {
    const [epoch, ...both] = JSON.parse(data.moments)[moment - 1];
    const says = [ce, focal].map((panel, i) => {
      const [gap, ece, bins] = both[i];
      panel.line("gaps", ...bins.map((bin) => [[bin[0], bin[0]], bin]));
      panel.dots("bins", ...bins);
      return `${gap < 0 ? "under" : "over"}confident by ${abs(gap)}, ECE ${ece} %`;
    });
    course.dots("at", ...both.map(([gap]) => [epoch, gap]));
    return `After ${epoch} epochs: cross-entropy ${says[0]}; focal loss ${says[1]}.`;
  },
};

document.querySelectorAll("[data-explore]").forEach(start);
})();

"""The book's figures that move: their pictures at the values they begin with, their sliders, what to try.

The curves of the still pictures are theory's; book/_static/explore.js draws them again where a slider moves. Nothing
moves by itself. A figure more is a function here and one of the same name there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from IPython.display import HTML
from scipy.optimize import minimize_scalar

from focal_lib.metrics.bins import DEFAULT_BINS, Bins, ece, reliability_bins
from focal_lib.theory.maps import focal_log_probs
from focal_lib.theory.proper import focal_calibration_minimiser, focal_minimiser
from focal_lib.theory.temperature_bounds import beta, printed_temperature_bounds, temperature_bounds
from reproduction.pages.plots.simplex import project, simplex_grid
from reproduction.pages.still import Control, Line, Panel, figure_of

_MOST_GAMMA = 5  # of the sliders of a network's map
_AT_FIRST = 14, 3.0  # network and gamma of the law
_FARTHEST = 45  # points of overconfidence that are drawn there
_MANY = 20  # images in a bin that is drawn
_GRID = np.linspace(0.005, 0.995, 100)  # probabilities to draw at


def logit_sample(logits: np.ndarray, labels: np.ndarray, size: int = 1000, seed: int = 0) -> np.ndarray:
    """How far each logit lies below the largest of its row, to a tenth, that of the label first: (n, K) -> (size, K).

    A class below the largest stays below it. All rows where there are no more than `size`.
    """
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(len(labels), min(size, len(labels)), replace=False))
    z, y = np.asarray(logits, dtype=float)[chosen], np.asarray(labels)[chosen]
    below = z.max(axis=1, keepdims=True) - z
    rounded = np.where(below > 0, np.maximum(np.round(below, 1), 0.1), 0.0)
    rows = np.arange(len(y))
    first = rounded[rows, y]
    rounded[rows, y] = rounded[:, 0]  # the two change places
    rounded[:, 0] = first
    return rounded


def sample_log_probs(sample: np.ndarray, gamma: float, temperature: float) -> np.ndarray:
    """After a temperature and the map: (n, K) -> (n, K) log probabilities, that of the label first."""
    return np.asarray(focal_log_probs(-sample / temperature, gamma))


class Network(NamedTuple):
    """A network trained with cross-entropy and with focal losses; numbers in percentage points."""

    name: str
    overconfident: float  # with cross-entropy
    cross_entropy: float  # ECE
    scaled: float  # the same after a temperature
    runs: Sequence[tuple[float, float, float]]  # gamma, confidence that the map adds, ECE

    def rounded(self) -> list[Any]:
        """To a tenth, which a picture can show."""
        runs = [[gamma, round(added, 1), round(ece, 1)] for gamma, added, ece in self.runs]
        return [self.name, *(round(value, 1) for value in self[1:4]), runs]


def explore(name: str, **given: Any) -> HTML:
    """A figure with sliders.

    Args:
        name: one of FIGURES.
        given: what the figure is of: `probs` and `names` of classes for 'bars'; `networks` for 'law'; `sample`, that
            `logit_sample` gives, for 'reliability'; `moments`, `gaps` and `drops` for 'epochs'.

    Raises:
        ValueError: no such figure.
    """
    if name not in FIGURES:
        raise ValueError(f"name must be one of {', '.join(FIGURES)}. Got {name!r}.")
    return HTML(FIGURES[name](**given))


def _points(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    return list(zip(x.tolist(), y.tolist(), strict=True))


def _bars(probs: Sequence[float], names: Sequence[str]) -> str:
    gamma = 2.0
    truth = np.asarray(probs, dtype=float)
    told = focal_minimiser(truth, gamma)
    back = np.exp(focal_log_probs(np.log(told), gamma))
    ends = np.arange(len(truth))
    lines = [
        Line("truth", "bar", _bar_points(ends, truth, 0.4)),
        Line("told", "inner", _bar_points(ends, told, 0.2)),
        Line("back", "mark", [point for point in _points(ends, back) for _ in range(2)], breaks=True),
    ]
    texts = [(float(i), -0.035 - 0.045 * (i % 2), name) for i, name in enumerate(names)]
    legend = [("bar", "truth"), ("inner", "asked for"), ("mark", "mapped back")]
    highest = math.ceil(10 * truth.max() + 0.5) / 10
    aside = 158 if truth.argmax() < len(truth) / 2 else 10
    panel = Panel(
        "bars", (-0.6, len(truth) - 0.4, -0.1, highest), lines, "", "probability", (),
        np.arange(0, highest, 0.2).tolist(), height=220, legend=legend, legend_at=(aside, 16), texts=texts,
    )  # fmt: skip
    top = int(truth.argmax())
    return figure_of(
        "bars",
        [panel],
        [Control("gamma", "γ", gamma, (0, 10, 0.5))],
        f"{len(truth)} bars, one a class, and in each a narrower one, what focal loss asks for: the tallest is lower "
        "than the truth, small ones are higher. Dots, which the map gives back, lie on the tops of the wide bars.",
        f"Wide: a prediction for one image, taken as the truth. Narrow: what focal loss asks for, at first with "
        f"γ = {gamma:g}, {100 * told[top]:.0f} % {names[top]} in place of {100 * truth[top]:.0f} %. The map of the "
        "next chapters leads back, to the dots.",
        "raise γ, and see the narrow bars approach one height while the dots stay.",
        {
            "probs": json.dumps(np.round(truth, 5).tolist()),
            "names": json.dumps(list(names)),
        },
    )


def _bar_points(at: np.ndarray, heights: np.ndarray, half: np.ndarray | float) -> list[tuple[float, float]]:
    """Corners of bars of a half width that stand around places of an axis, one after the other."""
    rows = zip((at - half).tolist(), (at + half).tolist(), heights.tolist(), strict=True)
    return [corner for x, right, y in rows for corner in ((x, 0.0), (x, y), (right, y), (right, 0.0))]


def _bounds() -> str:
    gamma, radius = 4.0, 5.0
    low, high = temperature_bounds(gamma, radius)
    printed = printed_temperature_bounds(gamma)[1]
    s = np.linspace(0, 20, 101)
    beta_of_s = np.array([beta(v, gamma) for v in s.tolist()])
    lines = [
        Line("printed", "three", [(0, 1 / printed - gamma), (20, 1 / printed - gamma)]),
        Line("radius", "thin", [(radius, -0.6), (radius, 1)]),
        Line("sharp", "two", _levels(radius, 1 / low - gamma, 1 / high - gamma), breaks=True),
        Line("beta", "one", _points(s, beta_of_s - gamma)),
    ]
    legend = [("one", "of the map at logit s"), ("two", "sharp bounds"), ("three", "printed upper bound of T")]
    panel = Panel(
        "scale", (0, 20, -0.6, 1.05), lines, "logit s", "1/T − γ", (0, 5, 10, 15, 20), (-0.5, 0, 0.5, 1),
        legend=legend, legend_at=(90, 140),
    )  # fmt: skip
    return figure_of(
        "bounds",
        [panel],
        [
            Control("gamma", "γ", gamma, (0.1, 20, 0.1)),
            Control("radius", "radius, the largest logit", radius, (0.5, 20, 0.5)),
        ],
        "The inverse temperature of the map minus gamma over the logit: a curve between two lines, the sharp bounds up "
        "to the radius.",
        f"The inverse temperature that the map of two classes has at each logit, and the bounds for logits up to the "
        f"radius, at first for γ = {gamma:g} and radius {radius:g}: T from {low:.4f} to {high:.4f}; as printed, up to "
        f"{printed:.4f}.",
        "make the radius smaller, and see the bounds close in on the map.",
    )


def _levels(end: float, *heights: float) -> list[tuple[float, float]]:
    """Ends of level lines from 0."""
    return [(x, y) for y in heights for x in (0.0, end)]


def _simplex() -> str:
    gamma, q = 3.0, np.array([0.5, 0.35, 0.15])
    grid = simplex_grid(8)
    moved = np.exp(focal_log_probs(np.log(grid), gamma))
    p = np.exp(focal_log_probs(np.log(q), gamma))
    at_q, at_p = project(q).tolist(), project(p).tolist()
    top = math.sqrt(3) / 2
    targets = project(moved).tolist()
    steps = [tuple(point) for pair in zip(project(grid).tolist(), targets, strict=True) for point in pair]
    lines = [
        Line("triangle", "thin", [(0, 0), (1, 0), (0.5, top), (0, 0)]),
        Line("field", "thin", steps, breaks=True),
        Line("targets", "speck", [tuple(point) for point in targets for _ in range(2)], breaks=True),
        Line("step", "two", [at_q, at_p]),
        Line("p", "ring", [at_p, at_p]),
        Line("q", "dot", [at_q, at_q]),
        Line("grip", "grip", [at_q, at_q]),
    ]
    corners = [(0.0, -0.07, "class 1"), (1.0, -0.07, "class 2"), (0.5, top + 0.04, "class 3")]
    panel = Panel("triangle", (-0.1, 1.1, -0.1, 0.96), lines, "", "", height=246, texts=corners)
    return figure_of(
        "simplex",
        [panel],
        [Control("gamma", "γ", gamma, (0, 10, 0.1)), *(Control(f"q{i}", "", q[i - 1]) for i in (1, 2, 3))],
        "A triangle of three class probabilities. Lines lead from points q, one of them a blue dot, to where the map "
        "takes them, nearer to corners and edges.",
        f"Where the map of three classes takes probabilities, at first for γ = {gamma:g}: q, the blue dot, to the "
        "orange one, others to their small dots.",
        "move q by finger, mouse or arrow keys to where two classes are nearly tied, and see the second rise, too.",
    )


def tied(top: np.ndarray | float, n: int) -> np.ndarray:
    """One class with probability top, the others equal: (...) -> (..., n)."""
    first = np.asarray(top)[..., None]
    return np.concatenate([first, np.repeat((1 - first) / (n - 1), n - 1, axis=-1)], axis=-1)


def _tied() -> str:
    gamma, n, top = 1.0, 100, 0.13
    before = tied(top, n)
    after = np.exp(focal_log_probs(np.log(before), gamma))
    place = np.arange(n)
    places, half = (np.where(place, place + 8.5, 4) / (n + 9), np.where(place, 0.5, 4) / (n + 9))  # the first is wide
    lines = [
        Line("level", "thin", [(0, top), (1, top)]),
        Line("before", "bar", _bar_points(places, before, 0.9 * half)),
        Line("after", "inner", _bar_points(places, after, 0.5 * half)),
    ]
    legend = [("bar", "before the map"), ("inner", "after the map")]
    panel = Panel(
        "bars", (-0.01, 1.01, 0, 0.3), lines, "classes, the likeliest first", "probability", (),
        (0, 0.1, 0.2), legend=legend, legend_at=(150, 16),
    )  # fmt: skip
    return figure_of(
        "tied",
        [panel],
        [
            Control("gamma", "γ", gamma, (0.5, 10, 0.5)),
            Control("n", "classes n", n, (10, 200, 10)),
            Control("top", "the likeliest class, before", top, (0.02, 0.25, 0.01)),
        ],
        "One tall bar and many short ones of one height, before and after the map. With many classes the tall one is "
        "lower after it.",
        f"One class with probability {top:g}, the others with what is left in equal parts, at first {n} classes and "
        f"γ = {gamma:g}: the map lowers the likeliest, drawn wider, from {100 * before[0]:.1f} to "
        f"{100 * after[0]:.1f} %.",
        "raise γ, or the likeliest class, until the tallest bar grows.",
    )


def _law(networks: Sequence[Network]) -> str:
    everyone, networks = len(networks), [n for n in networks if n.overconfident <= _FARTHEST]
    chosen, gamma = _AT_FIRST
    name, overconfident, plain, scaled, runs = networks[chosen - 1]
    added, focal = next((d, ece) for g, d, ece in runs if g == gamma)
    beside = [
        (network.overconfident, d, ece < network.cross_entropy)
        for network in networks
        for g, d, ece in network.runs
        if g == gamma
    ]
    at = {falls: [(g, d) for g, d, fell in beside if fell is falls for _ in range(2)] for falls in (True, False)}
    least = math.floor(min(network.overconfident for network in networks)) - 2
    height = math.ceil(max(d for network in networks for _, d, _ in network.runs)) + 2
    lines = [
        Line("rule", "three", [(0, 0), (height / 2, height)]),
        Line("at", "halo", [(overconfident, added)] * 2),
        Line("rises", "rises", at[False], breaks=True),
        Line("falls", "falls", at[True], breaks=True),
    ]
    legend = [("falls", "ECE falls"), ("rises", "ECE rises"), ("three", "D = 2G")]
    plane = Panel(
        "plane", (least, _FARTHEST, 0, height), lines, "G: overconfidence with cross-entropy, points",
        "D: confidence that focal loss takes away, points", range(0, _FARTHEST, 10), range(0, height, 10),
        legend=legend, legend_at=(176, 20),
    )  # fmt: skip
    by_gamma = [
        Line("plain", "thin", [(0, plain), (5.3, plain)]),
        Line("scaled", "three", [(0, scaled), (5.3, scaled)]),
        Line("focal", "two", [(0, plain), *((g, ece) for g, _, ece in runs)]),
        Line("now", "ring", [(gamma, focal)] * 2),
    ]
    highest = math.ceil(max(max(n.cross_entropy, *(ece for *_, ece in n.runs)) for n in networks) / 10) * 10
    errors = Panel(
        "errors", (0, 5.3, 0, highest), by_gamma, "γ", "ECE of this network, %", range(6), range(0, highest, 20),
        height=110, legend=[("two", "focal loss"), ("thin", "cross-entropy"), ("three", "with a temperature")],
        legend_at=(126, 14),
    )  # fmt: skip
    left = everyone - len(networks)
    beyond = f" {left} further to the right {'is' if left == 1 else 'are'} left out." if left else ""
    return figure_of(
        "law",
        [plane, errors],
        [
            Control("network", f"network of {len(networks)}, by overconfidence", chosen, (1, len(networks), 1)),
            Control("gamma", "γ", gamma, (0.5, 5, 0.5)),
        ],
        "Networks as points: overconfidence of cross-entropy across, confidence that focal loss takes away upwards. "
        "Those that focal loss calibrates better lie below the line D = 2G. In a second picture, the calibration "
        "error of one of them over gamma.",
        f"{len(networks)} kinds of networks, each trained with cross-entropy and with focal loss. Below the line focal "
        f"loss mostly calibrates better, above it worse. Marked at first: {name}, γ = {gamma:g}.{beyond} Between "
        "trained γ, values are interpolated.",
        "find the γ that suits a network that is hardly overconfident, and one that is very much so.",
        {"networks": json.dumps([network.rounded() for network in networks], ensure_ascii=False)},
    )


def _fcl() -> str:
    gamma, lam, p = 2.0, 1.0, 0.8
    pairs = np.column_stack([_GRID, 1 - _GRID])
    found = focal_calibration_minimiser(pairs, gamma, lam)[:, 0]
    alone = focal_minimiser(pairs, gamma)[:, 0]
    q = float(focal_calibration_minimiser([p, 1 - p], gamma, lam)[0])
    lines = [
        Line("diagonal", "thin", [(0, 0), (1, 1)]),
        Line("alone", "two", _points(_GRID, alone)),
        Line("minimiser", "one", _points(_GRID, found)),
        Line("bias", "three", [(p, p), (p, q)]),
        Line("at", "dot", [(p, q), (p, q)]),
    ]
    ends = (0.0, 0.5, 1.0)
    legend = [("one", "FCL"), ("two", "focal loss alone"), ("thin", "the truth")]
    panel = Panel("risk", (0, 1, 0, 1), lines, "true probability p", "predicted q", ends, ends, legend=legend)
    return figure_of(
        "fcl",
        [panel],
        [
            Control("gamma", "γ", gamma, (0, 10, 0.1)),
            Control("lambda", "λ", lam, (0, 20, 0.1)),
            Control("p", "p", p, (0.01, 0.99, 0.01)),
        ],
        "What the focal calibration loss predicts over the true probability: a curve through one half, between the "
        "diagonal and that of focal loss alone.",
        f"What FCL predicts for a true probability p of two classes, at first for γ = {gamma:g} and λ = {lam:g}: for "
        f"p = {p:g} it is {q:.4f}.",
        "raise λ, and see the curve come nearer to the diagonal.",
    )


def _reliability(sample: np.ndarray) -> str:
    labels = np.zeros(len(sample), dtype=int)  # the label's class comes first
    log_probs = sample_log_probs(sample, 0, 1)
    bins = reliability_bins(np.exp(log_probs), labels)
    size, nll = 100 * ece(np.exp(log_probs), labels), -log_probs[:, 0].mean()
    gammas = np.linspace(0, _MOST_GAMMA, 26)
    valley = np.array([_best_temperature(sample, gamma) for gamma in gammas])
    highest = math.ceil(valley.max() + 0.5)
    points = _points(bins.confidence, bins.accuracy)
    lines = [
        Line("diagonal", "thin", [(0, 0), (1, 1)]),
        Line("gaps", "gap", [end for at, right in points for end in ((at, at), (at, right))], breaks=True),
        Line("bins", "dot", [point for point in points for _ in range(2)], breaks=True),
    ]
    ends = (0.0, 0.5, 1.0)
    said = "accuracy; in orange the gap of each bin"  # not a legend inside, where dots and gaps may come to lie on it
    diagram = Panel("diagram", (0, 1, 0, 1), lines, "confidence", said, ends, ends)
    lowest = [Line("valley", "two", _points(gammas, valley)), Line("at", "dot", [(0, 1), (0, 1)])]
    landscape = Panel(
        "valley", (-0.15, _MOST_GAMMA, 0, highest), lowest, "γ", "T: the lowest NLL for each γ, and where you are",
        range(_MOST_GAMMA + 1), (0, highest), height=100,
    )  # fmt: skip
    return figure_of(
        "reliability",
        [diagram, landscape],
        [Control("gamma", "γ", 0, (0, _MOST_GAMMA, 0.1)), Control("T", "temperature T", 1, (0.2, highest, 0.01))],
        "Accuracy over confidence in bins, dots with lines to the diagonal, their gaps. Below, a curve over gamma, the "
        "temperature with the lowest NLL, and a dot for the gamma and temperature of the sliders.",
        f"{len(sample):,} test images drawn at random, logits rounded to a tenth, as trained (γ = 0, T = 1): of these "
        f"images the ECE, in {DEFAULT_BINS} bins of equal width, is {size:.1f} %, the NLL {nll:.3f}.",
        "lower the ECE by T alone, then raise γ and follow the valley.",
        {"logits": "[" + ",".join(f"[{','.join(f'{below:g}' for below in row)}]" for row in sample) + "]"},
    )


def _epochs(
    moments: Mapping[int, tuple[Bins, Bins]],
    gaps: tuple[Sequence[tuple[float, float]], Sequence[tuple[float, float]]],
    drops: Sequence[int],
) -> str:
    """Of cross-entropy and a focal loss: bins by epoch, epochs with confidence minus accuracy in points."""
    kept = [(epoch, _moment(plain), _moment(focal)) for epoch, (plain, focal) in moments.items()]
    at_first = 2
    epoch, *both = kept[at_first - 1]
    ends, panels = (0.0, 0.5, 1.0), []
    sides = ((0.0, "ce", "cross-entropy"), (0.5, "focal", "focal loss"))
    for (side, name, loss), (_, _, bins) in zip(sides, both, strict=True):
        upright = [end for at, right in bins for end in ((at, at), (at, right))]
        lines = [
            Line("diagonal", "thin", [(0, 0), (1, 1)]),
            Line("gaps", "gap", upright, breaks=True),
            Line("bins", "falls", [point for point in bins for _ in range(2)], breaks=True),
        ]
        panels.append(
            Panel(
                name, (0, 1, 0, 1), lines, "confidence", f"{loss}: accuracy", ends, ends, height=118,
                share=(side, side + 0.5),
            )
        )  # fmt: skip
    low, high = (5 * math.floor(edge(y for line in gaps for _, y in line) / 5) for edge in (min, max))
    last = max(moments)
    over_time = [
        Line("zero", "thin", [(0, 0), (last, 0)]),
        Line("drops", "three", [(drop, y) for drop in drops for y in (low, high + 5)], breaks=True),
        Line("ce", "one", gaps[0]),
        Line("focal", "two", gaps[1]),
        Line("at", "halo", [(epoch, gap) for gap, *_ in both for _ in range(2)], breaks=True),
    ]
    legend = [("one", "cross-entropy"), ("two", "focal loss"), ("three", "rate falls")]
    panels.append(
        Panel(
            "course", (0, last + 2, low, high + 5), over_time, "epoch", "confidence minus accuracy, points",
            range(0, last + 1, 20), range(low, high + 6, 5), height=120, legend=legend, legend_at=(160, 72),
        )
    )  # fmt: skip
    return figure_of(
        "epochs",
        panels,
        [Control("moment", "moment", at_first, (1, len(kept), 1))],
        "Two reliability diagrams side by side, cross-entropy and focal loss: accuracy over confidence, dots with "
        "lines to the diagonal. Below, confidence minus accuracy of both over the epochs.",
        "Cross-entropy is off the diagonal nearly from the start, and stays there. Focal loss begins far above it, "
        "not sure enough, comes down to it, and passes. Test images of CIFAR-10, one network each; bins of equal "
        f"width with {_MANY} images or more. Drawn at first: epoch {epoch}.",
        "go through the moments, and say when to stop.",
        {"moments": json.dumps(kept)},
    )


def _moment(bins: Bins) -> tuple[float, float, list[tuple[float, float]]]:
    """Confidence minus accuracy in points, ECE in per cent; confidence and accuracy of bins with many images."""
    share = 100 * bins.count / bins.count.sum()
    many = bins.count >= _MANY
    points = _points(bins.confidence[many].round(3), bins.accuracy[many].round(3))
    return round(float(share @ bins.gap), 1), round(float(share @ np.abs(bins.gap)), 1), points


def _best_temperature(sample: np.ndarray, gamma: float) -> float:
    """That of the lowest NLL of the sample."""
    found = minimize_scalar(
        lambda log_t: -sample_log_probs(sample, gamma, math.exp(log_t))[:, 0].mean(), bounds=(-3, 4), method="bounded"
    )
    return math.exp(found.x)


FIGURES: dict[str, Callable[..., str]] = {
    "law": _law,
    "bars": _bars,
    "bounds": _bounds,
    "simplex": _simplex,
    "tied": _tied,
    "fcl": _fcl,
    "reliability": _reliability,
    "epochs": _epochs,
}

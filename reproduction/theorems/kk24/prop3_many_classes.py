"""The open question of KK24: between which temperatures does the map lie for three or more classes?"""

from __future__ import annotations

import operator
from collections.abc import Iterator

import numpy as np
import sympy as sp
from scipy.special import log_softmax, softmax

from focal_lib.theory.confidence import sample_simplex
from focal_lib.theory.gain import elasticity_minimum
from focal_lib.theory.maps import focal_log_probs
from focal_lib.theory.temperature_bounds import top_temperature_bounds
from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import All, Evidence, Search, Step, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, confidence, curvature, entropy_ratio, gain, published, weight

CHAPTER = "temperature_bounds"
ours = Rows(CHAPTER, "ours")
q, g = symbols.q, symbols.g
W_BY_GAIN = r"$w = -1/L' = q\,h(q)$ with $h = 1/g$"


@ours(
    "kk24.many_low",
    "Scaling by T = 1/(gamma+1) is never less confident than the map",
    "KK24 section 3.3, open there",
    r"For every $n \ge 2$, $\gamma > 0$ and every $q_i > 0$, temperature scaling with $T = \frac{1}{\gamma+1}$ gives the top class at least the "
    r"probability that the map gives; no larger $T$ does.",
    formal=formal("exact", "kk24_many_low", "kk24_many_low_largest"),
)
def many_low() -> Evidence:
    """Each pair of classes is stretched by at most gamma + 1."""
    b = symbols.entropy_ratio()
    pair = -sp.log(symbols.gain(q, g)) - g * sp.log(q)  # log h - gamma log q
    written = g * (2 * q - 1) / (q * (1 - q)) - g * sp.diff(b, q) / (1 + g * b)
    p, top, other, x = sp.symbols("p q_1 q_i s", positive=True)
    return derivation(
        step(
            r"$(\log h - \gamma\log q)' = \frac{\gamma(2q-1)}{q(1-q)} - \frac{\gamma b'}{1+\gamma b}$: "
            r"negative up to $q = \frac12$",
            (sp.simplify(sp.diff(pair, q) - written), 0),
        ),
        *entropy_ratio.sign_steps(),
        step(
            r"$w_i/w_1 \ge (q_i/q_1)^{\gamma+1}$ is $h(q_i)q_i^{-\gamma} \ge h(q_1)q_1^{-\gamma}$",
            (sp.log(other / top) - (g + 1) * sp.log(other / top) - (-g * sp.log(other) + g * sp.log(top)), 0),
            simplify=lambda e: sp.simplify(sp.expand_log(e, force=True)),
        ),
        step(
            r"for $q_1 \le \frac12$ this is monotonicity; for $q_1 > \frac12$, $q_i \le 1 - q_1 < \frac12$, so it is enough at "
            r"$q_i = 1 - q_1$, where $\log\frac{h(1-q)(1-q)^{-\gamma}}{h(q)q^{-\gamma}} = \log\frac{1+\gamma b(q)}{1+\gamma b(1-q)}$",
            (pair.subs(q, 1 - q) - pair, sp.log(1 + g * b) - sp.log(1 + g * b.subs(q, 1 - q))),
            simplify=lambda e: sp.simplify(sp.expand_log(e, force=True)),
        ),
        step(
            r"which is $R(s)$ at $s = \operatorname{logit} q$, as $b(q) = u(s)$; positive for $s > 0$ since $R' > 0$",
            (sp.expand_log(symbols.entropy_ratio(1 / (1 + sp.exp(-symbols.s))), force=True), symbols.u(symbols.s)),
        ),
        *binary_map.gap_slope_steps(),
        step(r"$1/\hat p_1 = 1 + \sum_{i>1} w_i/w_1$ falls as $\hat p_1$ rises", (sp.diff(1 / p, p), -1 / p**2)),
        step(
            r"no larger $T$: two classes with logits $\pm\frac s2$, the others near 0, have $\frac{\operatorname{logit}\hat p(q)}{s} \to "
            r"\gamma + 1$",
            (sp.limit(symbols.binary_map_of_logit(x, g) / x, x, sp.oo), g + 1),
        ),
        remark=r"The pair inequality summed over $i$ is the bound.",
    )


@ours(
    "kk24.prop3_not_for_three",
    "The upper temperature of Prop. 3 fails with three classes",
    "KK24 Prop. 3, its temperature carried to three classes, as no paper does",
    r"The upper temperature of Prop. 3, $\frac{1}{\gamma+1-\frac12\log(\gamma+1)}$, does not bound the top class of three: at "
    r"$\gamma = 1$, $q = (0.4, 0.3, 0.3)$ that temperature scaling is more confident than the map.",
    formal=formal("exact", "kk24_prop3_not_for_three"),
)
def prop3_not_for_three() -> Evidence:
    """The difference is computed in ball arithmetic."""
    with balls.precision():
        gamma = balls.exact(1)
        point = [balls.exact(v) for v in ("0.4", "0.3", "0.3")]
        beta = 2 - balls.exact(2).log() / 2
        scaled = [(beta * v.log()).exp() for v in point]
        margin = scaled[0] / sum(scaled[1:], scaled[0]) - formulas.focal_map(point, gamma)[0]
    return derivation(Step("the difference of the top probabilities is positive, in ball arithmetic", bool(margin > 0)))


@ours(
    "kk24.many_high_one",
    "Where confidence never falls, no temperature below 1 bounds from below",
    "KK24 section 3.3, open there",
    r"For $n = 3$ with $\gamma > 0$, and for $n \ge 4$ with $\gamma \ge \gamma^*(\frac1{n-1})$, the smallest temperature that bounds the top class "
    rf"from below is $T = 1$: no temperature below 1 does. ({gain.CRITICAL})",
    formal=formal("exact", "kk24_many_high_one"),
)
def many_high_one() -> Evidence:
    """T = 1 bounds since confidence never falls; at n - 1 tied classes the stretch tends to 1."""
    e, top, tie = sp.symbols("epsilon c m", positive=True)
    return All(
        (
            confidence.confidence_proof(),
            derivation(
                gain.of_loss_step(W_BY_GAIN, g),
                step(
                    r"$n - 1$ classes tied at $m$, one at $\varepsilon$: $\hat p$ is temperature scaling with $\frac1T = "
                    r"\frac{\log w(m) - \log w(\varepsilon)}{\log(m/\varepsilon)} = "
                    r"1 + \frac{\log h(m) - \log h(\varepsilon)}{\log(m/\varepsilon)}$, which tends to 1 as $\varepsilon \to 0$",
                    (sp.limit(1 + top / sp.log(tie / e), e, 0, "+"), 1),
                ),
                entropy_ratio.limit_step(r"since $h(\varepsilon) \to 1$ and $h(m)$ is bounded: $b \to 0$"),
            ),
        )
    )


@ours(
    "kk24.many_high",
    "For every n one temperature is never more confident than the map",
    "KK24 section 3.3, open there",
    r"For every $n$ and $\gamma > 0$, temperature scaling with $T = 1/\min_q e(q)$, $e = q\,w'/w$, gives the top class at most "
    r"the probability that the map gives.",
)
def many_high() -> Evidence:
    """The stretch of a pair is a mean of e over log q, so at least min e > 0."""
    x = sp.Symbol("x", real=True)
    w = sp.Function("w")
    elastic = q * sp.diff(sp.log(q) - sp.log(symbols.gain(q, g)), q)
    b = symbols.entropy_ratio()
    low = {str(gamma): elasticity_minimum(gamma)[1] for gamma in (1.0, 5.0)}
    return derivation(
        step(
            r"$\frac{d}{dx}\log w(e^x) = e(e^x)$: $\log\frac{w_1}{w_i}\big/\log\frac{q_1}{q_i}$ is a mean of $e$",
            (sp.diff(sp.log(w(sp.exp(x))), x).doit(), (q * sp.diff(w(q), q) / w(q)).subs(q, sp.exp(x)).doit()),
        ),
        weight.weight_slope_step(r"$w' = L''/L'^2 > 0$ by Prop. 1"),
        *curvature.convexity_proof().steps,
        gain.of_loss_step(W_BY_GAIN, g),
        step(
            r"$e(q) = 1 + \frac{\gamma q}{1-q} - \frac{\gamma q\,b'}{1+\gamma b}$ for the $w$ of the map",
            (sp.simplify(elastic - (1 + g * q / (1 - q) - g * q * sp.diff(b, q) / (1 + g * b))), 0),
        ),
        step(r"it is 1 at 0: $q\,b' \to 0$", (sp.limit(q * sp.diff(b, q), q, 0, "+"), 0)),
        step(
            r"and unbounded at 1, where $b' \to \frac12$: so it has a smallest value",
            (sp.limit(sp.diff(b, q), q, 1, "-"), sp.Rational(1, 2)),
        ),
        published.elasticity_step(),
        remark=rf"So $e > 0$, and every pair is stretched by at least $\min e$: {low['1.0']:.5f} for $\gamma = 1$, {low['5.0']:.5f} for $\gamma = 5$.",
    )


@ours(
    "kk24.many_high_search",
    "Tied classes and one more decide the upper temperature",
    "KK24 section 3.3, open there",
    r"For $n \ge 4$ and $0 < \gamma < \gamma^*(\frac1{n-1})$ let $T$ be the smallest temperature that never gives the top class more than the map "
    r"does. Distributions of $k - 1$ tied classes and one smaller or one larger, $k \le n$, ask for every temperature below it. For seven pairs "
    r"$(\gamma, n)$, up to 49 classes, no other was found to ask for more: none with two levels of any sizes, none near the worst, none at random. "
    rf"({gain.CRITICAL})",
)
def many_high_search() -> Evidence:
    """The T of these suffices at every point tried; a T smaller by a millionth fails at one of them."""
    worst, count, exceeded = np.inf, 0, np.inf
    for gamma, n in PAIRS:
        temperature = top_temperature_bounds(gamma, n)[1]
        rooms = [(room_of_top(tied, gamma, (1 - 1e-6) * temperature), tied) for tied in tied_classes(n)]
        least, tied = min(
            ((float(room.min()), tied[room.argmin()]) for room, tied in rooms), key=operator.itemgetter(0)
        )
        exceeded = min(exceeded, -least)
        for points in (sample_simplex(n, seed=0), two_levels(n), around(tied)):
            worst = min(worst, float(room_of_top(points, gamma, temperature).min()))
            count += len(points)
    pairs = ", ".join(f"({gamma:g}, {n})" for gamma, n in PAIRS)
    where = (
        r"distributions with two levels in every split of the classes, around the worst tied ones, and at random, "
        rf"$(\gamma, n)$ of {pairs}; $\log\hat p_1$ against the bound"
    )
    tied_where = r"these pairs, how far a temperature smaller by a millionth exceeds $\log\hat p_1$ at tied classes"
    return All((Search(where, count, worst, 1e-9), Search(tied_where, len(PAIRS), exceeded, -1e-12)))


# from 14 classes on one class above the tied ones can be the worst, for some gamma
PAIRS = ((0.25, 4), (1.0, 6), (2.0, 10), (5.0, 12), (0.066, 14), (0.94, 21), (5.0, 49))


def room_of_top(points: np.ndarray, gamma: float, temperature: float) -> np.ndarray:
    """log of the top probability that the map gives, minus that of temperature scaling: (m, n) -> (m,)."""
    log_q = np.log(points)
    return (focal_log_probs(log_q, gamma) - log_softmax(log_q / temperature, -1))[
        np.arange(len(points)), points.argmax(-1)
    ]


def tied_classes(n: int, count: int = 4000) -> Iterator[np.ndarray]:
    """k - 1 tied classes and one smaller, or larger, for each k from 4 to n; the others at 1e-300: (count, n) each."""
    for k in range(4, n + 1):
        rest = np.full((count, n - k), 1e-300)
        for last in (np.geomspace(1e-15, 1 / k, count, endpoint=False), np.geomspace(1 / k, 0.999, count)):
            tied = np.repeat((1 - last[:, None]) / (k - 1), k - 1, 1)
            yield np.hstack([tied, last[:, None], rest])


def two_levels(n: int, count: int = 60) -> np.ndarray:
    """Some classes tied above some others, in every split of at most n; the others at 1e-300: (m, n)."""
    low = np.exp(-np.geomspace(1e-2, 30, count))
    found = []
    for above in range(1, n):
        for below in range(1, n - above + 1):
            levels = np.stack([np.ones(count), low, np.full(count, 1e-300)], -1)
            found.append(np.repeat(levels / (above + below * low)[:, None], [above, below, n - above - below], -1))
    return np.concatenate(found)


def around(point: np.ndarray, count: int = 6000) -> np.ndarray:
    """Points at relative distances of 1e-4 to 1 from one, every class moved by itself."""
    moves = np.random.default_rng(0).normal(size=(count, len(point))) * np.geomspace(1e-4, 1, count)[:, None]
    return softmax(np.log(point) + moves, -1)

"""The open question of KK24: between which temperatures does the map lie for three or more classes?"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import sympy as sp
from scipy.special import log_softmax, softmax

from focal_lib.theory.confidence import sample_simplex
from focal_lib.theory.gain import elasticity_minimum, log_gain
from focal_lib.theory.maps import focal_log_probs
from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import All, Evidence, Search, Step, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import (
    binary_map,
    confidence,
    curvature,
    elasticity,
    entropy_ratio,
    gain,
    published,
    weight,
)

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
    "KK24 Prop. 3, its temperature carried to three classes",
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
    "kk24.many_high_exact",
    "Tied classes and one below decide the upper temperature, to 13 classes",
    "KK24 section 3.3, open there",
    r"Let $\gamma > 0$ and $2 \le n \le 1/q_e$, where $e = q\,w'/w$ is least at $q_e$; every $n \le 13$ is. The smallest temperature $T$ that never gives the top "
    r"class more than the map does has $\frac1T = \inf\frac{\log w(m) - \log w(\varepsilon)}{\log m - \log\varepsilon}$ over $n - 1$ classes tied at $m$ and one at "
    r"$\varepsilon < m$.",
    formal=formal("related", "kk24_upper_temperature_tied"),
)
def many_high_exact() -> Evidence:
    """From 1/n on e increases, so a larger top beside the same smallest class asks for less."""
    top, lowest, m, low = sp.symbols("M beta m epsilon", positive=True)
    total, part = sp.symbols("A B", real=True)  # of e over log q, from epsilon to m and from m to M
    n, d = sp.symbols("n d", positive=True)
    mean = (total + part) / sp.log(top / low)
    return derivation(
        step(
            r"$n - 1$ classes at $m$ and one at $\varepsilon$: the map is temperature scaling with $\frac1T = \frac{\log w(m)-\log w(\varepsilon)}{\log(m/\varepsilon)}$, "
            r"and every larger inverse temperature is more confident, as $\partial_\beta\frac{1}{n-1+(\varepsilon/m)^\beta} > 0$",
            (
                sp.diff(1 / (n - 1 + (low / m) ** lowest), lowest),
                (low / m) ** lowest * sp.log(m / low) / (n - 1 + (low / m) ** lowest) ** 2,
            ),
            simplify=lambda e: sp.simplify(sp.expand_log(e, force=True)),
        ),
        gain.of_loss_step(W_BY_GAIN, g),
        *elasticity.turning_steps(),
        step(
            r"beside a class at $b < \frac1n$ the top is at least $m_b = \frac{1-b}{n-1} > \frac1n$: the others, at most $M$ each, sum to $1 - b$",
            (sp.solve(sp.Eq((n - 1) * m, 1 - low), m)[0], (1 - low) / (n - 1)),
            ((1 - low) / (n - 1) - 1 / n, (1 / n - low) / (n - 1)),
        ),
        step(
            r"the mean of $e$ over $\log q$ from $b$ to $M$ is one of the mean to $m_b$ and of that from $m_b$ to $M$, with weights that sum to 1",
            (
                mean,
                total / sp.log(m / low) * sp.log(m / low) / sp.log(top / low)
                + part / sp.log(top / m) * sp.log(top / m) / sp.log(top / low),
            ),
            ((sp.log(m / low) + sp.log(top / m)) / sp.log(top / low), 1),
            simplify=lambda e: sp.simplify(sp.expand_log(e, force=True)),
        ),
        step(r"$1/\hat p_1 = 1 + \sum_{i>1} w_i/w_1$ falls as $\hat p_1$ rises", (sp.diff(1 / d, d), -1 / d**2)),
        remark=r"Let $\beta$ be the infimum; as $\varepsilon, m \to \frac1n$, $\beta \le e(\frac1n)$. Since $\frac1n \ge q_e$, $e \ge e(\frac1n) \ge \beta$ from $\frac1n$ on. Let $M$ "
        r"be the top class and $b$ another. If $b < \frac1n$ the mean of $e$ from $b$ to $m_b$ is at least $\beta$, being a stretch of tied classes and one "
        r"below, and that from $m_b$ to $M$ at least $e(\frac1n)$. If $b \ge \frac1n$ the whole mean is at least $e(\frac1n)$. So $\log\frac{w(M)}{w(b)} \ge \beta\log\frac Mb$ for every "
        r"class, $\frac{w_i}{w_1} \le \big(\frac{q_i}{q_1}\big)^\beta$, and their sum says that scaling with $\frac1\beta$ is at most as confident as the map. The first step: no larger $\beta$ is.",
    )


MOST = Fraction(5, 10**6)


@ours(
    "kk24.many_high_within",
    "For more classes the proved upper temperature is sharp to five millionths",
    "KK24 section 3.3, open there",
    r"Let $\gamma > 0$ and $n > 1/q_e$, where $e = q\,w'/w$ is least at $q_e$. For the smallest temperature $T$ that never gives the top class more than the map "
    rf"does, $e(q_e) \le \frac1T < e(q_e) + {float(MOST) * 10**6:g} \cdot 10^{{-6}}$.",
)
def many_high_within() -> Evidence:
    """kk24.many_high is the lower bound; k - 1 tied classes and one more, or k equal ones, k next to 1/q_e, the upper one."""
    c, x, y, turn = sp.symbols("c x y x_e", real=True)
    return derivation(
        gain.of_loss_step(W_BY_GAIN, g),
        *elasticity.turning_steps(),
        step(
            r"where $\frac{de}{dx} = \psi\,\Phi$ with $\Phi(x_e) = 0$ and $\psi(x)\,\Phi'(t) \le c$ for $t$ between $x_e$ and $x$: $e - e(q_e) \le \frac c2(x-x_e)^2$",
            (sp.integrate(c * (y - turn), (y, turn, x)), c * (x - turn) ** 2 / 2),
        ),
        *elasticity.near_steps(MOST),
        *elasticity.far_steps(),
        remark=r"$\frac1T \ge e(q_e)$ is `kk24.many_high`. $k - 1$ tied classes and one more, $k \le n$ and the others near 0, ask for $\frac1T$ at most the mean of $e$ over $\log q$ "
        r"between the two levels; $k$ nearly equal ones for at most about $e(\frac1k)$. Of the whole numbers $N \le \frac{1}{q_e} < N + 1 \le n$ one, $k$, has "
        r"$|\log k - x_e| \le \frac12\log\frac{N+1}{N} \le \frac{1}{2N}$.",
    )


@ours(
    "kk24.many_high_search",
    "For more classes tied ones and one more seem to decide exactly",
    "KK24 section 3.3, open there",
    r"Let $\gamma > 0$ and $n > 1/q_e$, where $e = q\,w'/w$ is least at $q_e$, and $T$ the smallest temperature that never gives the top class more than the map "
    r"does. It seems to be the one that distributions of $k - 1$ tied classes and one smaller or one larger ask for, $k$ a whole neighbour of $1/q_e$: "
    r"no others were found to ask for more: none with two levels of any sizes, none near the worst, none at random.",
)
def many_high_search() -> Evidence:
    """The T of these suffices at every point tried; a T smaller by a millionth fails at one of them."""
    worst, count, exceeded = np.inf, 0, np.inf
    for gamma, n in PAIRS:
        tied, stretches = zip(*tied_classes(n, gamma), strict=True)
        temperature = 1 / min(stretches)
        rooms = [room_of_top(each, gamma, (1 - 1e-6) * temperature) for each in tied]
        least, most = min(
            ((float(room.min()), each[room.argmin()]) for room, each in zip(rooms, tied, strict=True)),
            key=operator.itemgetter(0),
        )
        exceeded = min(exceeded, -least)
        for points in (*tied, sample_simplex(n, seed=0), two_levels(n), around(most)):
            worst = min(worst, float(room_of_top(points, gamma, temperature).min()))
            count += len(points)
    pairs = ", ".join(f"({gamma:g}, {n})" for gamma, n in PAIRS)
    where = (
        r"distributions with two levels in every split of the classes, around the worst tied ones, and at random, "
        rf"$(\gamma, n)$ of {pairs}; $\log\hat p_1$ against the bound"
    )
    tied_where = r"these pairs, how far a temperature smaller by a millionth exceeds $\log\hat p_1$ at tied classes"
    return All((Search(where, count, worst, 1e-9), Search(tied_where, len(PAIRS), exceeded, -1e-12)))


# one class above the tied ones is the worst of all but the second and the last
PAIRS = ((0.066, 14), (0.5, 18), (0.94, 21), (2.048, 29), (5.0, 49), (2.0, 60))


def room_of_top(points: np.ndarray, gamma: float, temperature: float) -> np.ndarray:
    """log of the top probability that the map gives, minus that of temperature scaling: (m, n) -> (m,)."""
    log_q = np.log(points)
    return (focal_log_probs(log_q, gamma) - log_softmax(log_q / temperature, -1))[
        np.arange(len(points)), points.argmax(-1)
    ]


def tied_classes(n: int, gamma: float, count: int = 2000) -> Iterator[tuple[np.ndarray, float]]:
    """k - 1 tied classes and one smaller, then larger, k next to 1/q_e, the others at 1e-300: (count, n), the least 1/T."""
    for k in (math.floor(1 / elasticity_minimum(gamma)[0]), math.ceil(1 / elasticity_minimum(gamma)[0])):
        for one in (np.geomspace(0.5, 1 - 1e-5, count) / k, np.geomspace(1 + 1e-5, 2, count) / k):
            tied = (1 - one) / (k - 1)
            stretch = 1 + (log_gain(one, gamma) - log_gain(tied, gamma)) / np.log(tied / one)
            points = np.repeat(tied[:, None], k - 1, 1)
            yield np.hstack([points, one[:, None], np.full((count, n - k), 1e-300)]), float(stretch.min())


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

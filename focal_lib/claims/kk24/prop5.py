"""KK24 Prop. 5: does the map always raise confidence? And what holds instead."""

from __future__ import annotations

from collections.abc import Sequence

import flint
import numpy as np
import sympy as sp

from focal_lib import certify, symbols
from focal_lib.claims import Evidence, claim
from focal_lib.claims.evidence import Counterexample, Derivation, Search, Step, step
from focal_lib.claims.kk24.prop2 import slope_steps
from focal_lib.confidence import (
    confidence_change,
    confidence_threshold,
    critical_gamma,
    log_gain,
    peak_probability,
    worst_row,
)

CHAPTER = "06_confidence"
q, gamma = symbols.q, symbols.gamma


def drop(row: Sequence[str], g: str) -> flint.arb:
    """q_max - p_max as a ball, for a row of exact decimals that sums to 1."""
    with certify.precision():
        probs = [certify.exact(v) for v in row]
        mapped = certify.focal_map(probs, certify.exact(g))
        return probs[0] - mapped[0]


@claim(
    "kk24.prop5",
    source="KK24 Prop. 5, App. A.5",
    statement=r"After the map the predicted class $j$ has $\hat p_j \ge \max_i q_i = q_j$, for every $n$ and $\gamma > 0$.",
    chapter=CHAPTER,
)
def prop5() -> Evidence:
    """Four classes, gamma = 1."""
    row = ("0.333", "0.333", "0.333", "0.001")
    return Counterexample(
        rf"$n = 4$, $\gamma = 1$, $q = ({', '.join(row)})$: the top probability falls", drop(row, "1")
    )


@claim(
    "kk24.prop5_large",
    source="KK24 Prop. 5, size of the effect",
    statement=r"With 100 classes the top probability can fall by more than one point of 100.",
    chapter=CHAPTER,
)
def prop5_large() -> Evidence:
    """gamma = 1, one class at 0.13, the others equal."""
    rest = str((1 - sp.Rational("0.13")) / 99)
    margin = drop(("0.13", *([rest] * 99)), "1") - certify.exact("0.01")
    # the statement is the refutation of 'never by a point'
    return Derivation(
        (Step(r"$n = 100$, $\gamma = 1$, $q_{\max} = 0.13$, rest equal: falls by more than 0.01", bool(margin > 0)),)
    )


def threshold_steps() -> tuple[Step, ...]:
    """g rises from 1, then falls to 0, so h = 1/g is at most 1 before tau and increasing after it."""
    b = symbols.entropy_ratio()
    log_g = gamma * sp.log(1 - q) + sp.log(1 + gamma * b)
    k = 2 * (1 - q) / sp.log(q) + 1 - gamma * q
    factor = -gamma * sp.log(q) / ((1 - q) ** 2 * (1 + gamma * b))
    x = sp.Symbol("x", positive=True)
    mean = sp.exp(x) * (x - 1) + 1  # (log-mean)' sign: increasing, see text
    return (
        step(
            r"$(\log g)' = \frac{-\gamma\log q}{(1-q)^2(1+\gamma b)}\,k(q)$, $k = \frac{2(1-q)}{\log q} + 1 - \gamma q$",
            sp.diff(log_g, q),
            factor * k,
        ),
        step(
            r"$\frac{1-q}{-\log q}$ increases in $q = e^{-x}$, so $k$ decreases: $e^x(x-1)+1$ has derivative $x e^x > 0$, 0 at 0",
            sp.diff(mean, x),
            x * sp.exp(x),
        ),
        step(r"$k \to 1$ as $q \to 0$", sp.limit(k.subs(gamma, 1), q, 0, "+"), 1),
        step(r"$k \to -1-\gamma < 0$ as $q \to 1$: $g$ rises, then falls", sp.limit(k, q, 1, "-"), -1 - gamma),
    )


@claim(
    "kk24.prop5_threshold",
    source="KK24 Prop. 5, corrected",
    statement=r"If $q_{\max} \ge \tau(\gamma)$, the root of $g(q) = 1$ above $p^*$, then $\hat p_{\max} \ge q_{\max}$ for every $n$.",
    chapter=CHAPTER,
    corrects="kk24.prop5",
)
def prop5_threshold() -> Evidence:
    """p_max >= q_max iff sum q_i h(q_i) <= h(q_max); above tau every h(q_i) <= h(q_max)."""
    p_max, total = sp.symbols("h_m S", positive=True)
    m = sp.Symbol("m", positive=True)
    return Derivation(
        (
            step(
                r"$\hat p_{\max} - q_{\max} = m\,(h(m) - S)/S$ with $S = \sum_i q_i h(q_i)$",
                m * p_max / total - m,
                m * (p_max - total) / total,
            ),
            *threshold_steps(),
        ),
        r"For $m = q_{\max} \ge \tau$: $h(q_i) \le \max(1, h(m)) = h(m)$ for every $i$, since $h \le 1$ up to $\tau$ and "
        r"increases after it. Averaging with weights $q_i$ gives $S \le h(m)$.",
    )


@claim(
    "kk24.prop5_threshold_sharp",
    source="KK24 Prop. 5, corrected",
    statement=r"Below $\tau(\gamma)$ it fails for some $n$: with the other classes equal, the top probability falls for large $n$.",
    chapter=CHAPTER,
    corrects="kk24.prop5",
)
def prop5_threshold_sharp() -> Evidence:
    """S -> m h(m) + (1 - m) as n grows, above h(m) where h(m) < 1; checked just below tau."""
    m, h = sp.symbols("m h", positive=True)
    limit = sp.simplify((m * h + (1 - m)) - h - (1 - m) * (1 - h))
    parts = []
    for g in (1.0, 2.0, 3.0):
        top = 0.98 * confidence_threshold(g)
        n = 10**4
        row = np.r_[top, np.full(n - 1, (1 - top) / (n - 1))]
        parts.append(-float(confidence_change(row, g)))
    h_zero = sp.limit(1 / symbols.gain(q, 1), q, 0, "+")
    return Derivation(
        (
            step(r"$\lim_n S - h(m) = (1-m)(1-h(m)) > 0$ for $h(m) < 1$", limit, 0),
            step(r"each other class has $h(q_i) \to h(0) = 1$", h_zero, 1),
            Step(
                rf"at $0.98\,\tau$ and $n = 10^4$, $\gamma = 1, 2, 3$: falls by at least {min(parts):.2e}",
                min(parts) > 0,
            ),
            *threshold_steps(),
        )
    )


@claim(
    "kk24.prop5_two_classes",
    source="KK24 Prop. 5, the case n = 2",
    statement=r"For $n = 2$ confidence always rises.",
    chapter=CHAPTER,
)
def prop5_two_classes() -> Evidence:
    """The slope of the logit map exceeds 1."""
    return Derivation(
        slope_steps(), r"The map is odd in logits with slope above 1, so $|\operatorname{logit}\hat p| > |s|$."
    )


@claim(
    "kk24.prop5_n_fails",
    source="KK24 Prop. 5, corrected for each n",
    statement=r"For $n \ge 4$ and $\gamma < \gamma^*(\frac{1}{n-1})$ it fails, at $n - 1$ tied classes and a small last one.",
    chapter=CHAPTER,
    corrects="kk24.prop5",
)
def prop5_n_fails() -> Evidence:
    """sum w - h(m) = e (1 - h(1/(n-1))) + o(e) for the last class at e."""
    e, h0, h1, n = sp.symbols("epsilon h h_1 n", positive=True)
    m = (1 - e) / (n - 1)
    h = h0 + h1 * (m - 1 / (n - 1))  # h near 1/(n-1), to first order
    excess = sp.diff((n - 1) * m * h + e - h, e).subs(e, 0)
    steps = [
        step(
            r"$\frac{d}{d\varepsilon}\left[\sum_i w(q_i) - h(m)\right]_{\varepsilon=0} = 1 - h(\frac1{n-1})$",
            excess,
            1 - h0,
        )
    ]
    for classes in (4, 5, 7, 10):
        g = 0.9 * critical_gamma(classes)
        tiny = 1e-6
        row = np.r_[np.full(classes - 1, (1 - tiny) / (classes - 1)), tiny]
        steps.append(Step(rf"$n = {classes}$ at $0.9\,\gamma^*$: the top falls", float(confidence_change(row, g)) < 0))
        steps.append(Step(rf"and $h(1/{classes - 1}) < 1$ there", log_gain(1 / (classes - 1), g) > 0))
    return Derivation(tuple(steps))


@claim(
    "kk24.prop5_n_holds",
    source="KK24 Prop. 5, corrected for each n",
    statement=r"For $n \ge 4$ and $\gamma \ge \gamma^*(\frac{1}{n-1})$ confidence never falls.",
    chapter=CHAPTER,
)
def prop5_n_holds() -> Evidence:
    """Structured search over worst rows at and just above the critical gamma."""
    return _search_rows([(n, factor * critical_gamma(n)) for n in (4, 5, 6, 8, 12, 20) for factor in (1.0, 1.2)])


@claim(
    "kk24.prop5_three_classes",
    source="KK24 Prop. 5, the case n = 3",
    statement=r"For $n = 3$ confidence never falls, for any $\gamma > 0$.",
    chapter=CHAPTER,
)
def prop5_three_classes() -> Evidence:
    """Structured search over rows of three classes."""
    return _search_rows([(3, g) for g in (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)])


def _search_rows(cases: list[tuple[int, float]], tops: int = 60) -> Search:
    worst = np.inf
    for n, g in cases:
        # above tau it is proved
        for top in np.linspace(1 / n + 1e-6, max(confidence_threshold(g), 1 / n + 1e-3), tops):
            worst = min(worst, float(confidence_change(worst_row(g, n, float(top)), g)))
    listed = ", ".join(sorted({str(n) for n, _ in cases}, key=int))
    return Search(rf"$n \in \{{{listed}\}}$, worst structured rows below $\tau$", len(cases) * tops * 200, worst, 1e-13)


@claim(
    "kk24.prop5_sublemma",
    source="KK24 App. A.5, statement 1",
    statement=r"A concave $f$ on $[0, 1]$ with $f(0) = 0$ has $f(\lambda x) \ge \lambda f(x)$.",
    chapter=CHAPTER,
)
def prop5_sublemma() -> Evidence:
    """The definition of concavity at x and 0."""
    lam, x, f0, fx = sp.symbols("lambda x f_0 f_x")
    point = lam * x + (1 - lam) * 0
    chord = (lam * fx + (1 - lam) * f0).subs(f0, 0)
    return Derivation(
        (
            step(r"$\lambda x + (1-\lambda)0 = \lambda x$", point, lam * x),
            step(r"the chord there is $\lambda f(x)$", chord, lam * fx),
        )
    )


@claim(
    "kk24.prop5_positive",
    source="KK24 App. A.5, proof",
    statement=r"$f = 1/L'$ is positive on $(0, 1)$ 'due to monotonicity'.",
    chapter=CHAPTER,
)
def prop5_positive() -> Evidence:
    """f = -w < 0, here at q = 1/2."""
    with certify.precision():
        return Counterexample(
            r"$f(\frac12) = -w(\frac12) < 0$ ($\gamma = 1$)", certify.weight(certify.exact("1/2"), certify.exact(1))
        )


@claim(
    "kk24.prop5_dominates",
    source="KK24 App. A.5, proof",
    statement=r"$(1-q)^{-\gamma}$ is decreasing and dominates, so $f'$ is decreasing.",
    chapter=CHAPTER,
)
def prop5_dominates() -> Evidence:
    """It is increasing."""
    with certify.precision():
        half, quarter = (1 - certify.exact(v) for v in ("1/2", "1/4"))
    return Counterexample(r"$\gamma = 1$: $(1-\frac12)^{-1} > (1-\frac14)^{-1}$", 1 / half - 1 / quarter)


@claim(
    "kk24.prop5_near_uniform",
    source="KK24 Prop. 5, corrected",
    statement=r"It fails arbitrarily close to the uniform row exactly when $1/n < p^*(\gamma)$.",
    chapter=CHAPTER,
)
def prop5_near_uniform() -> Evidence:
    """Rows next to uniform, n on both sides of 1/p*."""
    margins = []
    for g in (0.5, 1.0, 2.0, 5.0):
        limit = 1 / peak_probability(g)
        for n, sign in ((int(limit) + 2, -1), (max(int(limit) - 1, 4), 1)):
            row = np.full(n, 1 / n)
            row[0] += 1e-5
            row[1:] -= 1e-5 / (n - 1)
            margins.append(sign * float(confidence_change(row, g)))
    return Search(r"$\gamma \in \{0.5, 1, 2, 5\}$, $n$ on both sides of $1/p^*$", len(margins), min(margins))


@claim(
    "kk24.fig5_others_fall",
    source="KK24 section 3.3 on Fig. 5",
    statement=r"The highest probability becomes higher and all others become lower ($n = 3$).",
    chapter="05_simplex",
)
def fig5_others_fall() -> Evidence:
    """The second class rises too."""
    with certify.precision():
        row = [certify.exact(v) for v in ("0.40", "0.39", "0.21")]
        rise = certify.focal_map(row, certify.exact(1))[1] - row[1]
    return Counterexample(r"$\gamma = 1$, $q = (0.40, 0.39, 0.21)$: the second class rises", rise)


@claim(
    "kk24.fig5_top_rises",
    source="KK24 section 3.3 on Fig. 5, corrected",
    statement=r"For $n = 3$ the highest probability becomes higher and the lowest lower.",
    chapter="05_simplex",
    corrects="kk24.fig5_others_fall",
)
def fig5_top_rises() -> Evidence:
    """Random rows of three classes."""
    from focal_lib.maps import focal_log_probs

    rows = np.sort(np.random.default_rng(0).dirichlet(np.ones(3), 20_000), axis=1)
    worst = np.inf
    for g in (0.5, 1.0, 3.0):
        change = np.exp(focal_log_probs(np.log(rows), g)) - rows
        worst = min(worst, float(change[:, 2].min()), float(-change[:, 0].max()))
    return Search(r"20,000 random rows for each of $\gamma = 0.5, 1, 3$", 60_000, worst, 1e-12)

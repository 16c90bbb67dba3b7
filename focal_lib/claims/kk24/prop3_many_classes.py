"""The open question of KK24: between which temperatures does the map lie for three or more classes?"""

from __future__ import annotations

import numpy as np
import sympy as sp

from focal_lib.claims.evidence import All, Counterexample, Derivation, Evidence, Search, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.confidence import confidence_proof
from focal_lib.claims.lemmas.entropy_ratio import entropy_ratio_steps
from focal_lib.claims.lemmas.map_slope import map_slope_steps
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls, formulas
from focal_lib.theory.confidence import sample_simplex
from focal_lib.theory.gain import elasticity_minimum
from focal_lib.theory.maps import focal_log_probs
from focal_lib.theory.temperature_bounds import top_temperature_bounds

CHAPTER = "04_temperature_bounds"
q = symbols.q
g = sp.Symbol("gamma", positive=True)


@claim(
    "kk24.many_low",
    source="KK24 section 3.3, open there",
    statement=r"For every $n$ and $\gamma > 0$, temperature scaling with $T = \frac{1}{\gamma+1}$ gives the top class at least the "
    r"probability that the map gives; no larger $T$ does.",
    chapter=CHAPTER,
)
def many_low() -> Evidence:
    """Each pair of classes is stretched by at most gamma + 1."""
    b = symbols.entropy_ratio()
    pair = -sp.log(symbols.gain(q, g)) - g * sp.log(q)  # log h - gamma log q
    written = g * (2 * q - 1) / (q * (1 - q)) - g * sp.diff(b, q) / (1 + g * b)
    p, top, other = sp.symbols("p q_1 q_i", positive=True)
    return Derivation(
        (
            step(
                r"$(\log h - \gamma\log q)' = \frac{\gamma(2q-1)}{q(1-q)} - \frac{\gamma b'}{1+\gamma b}$: "
                r"negative up to $q = \frac12$",
                sp.simplify(sp.diff(pair, q) - written),
                0,
            ),
            *entropy_ratio_steps(),
            step(
                r"$w_i/w_1 \ge (q_i/q_1)^{\gamma+1}$ is $h(q_i)q_i^{-\gamma} \ge h(q_1)q_1^{-\gamma}$",
                sp.log(other / top) - (g + 1) * sp.log(other / top) - (-g * sp.log(other) + g * sp.log(top)),
                0,
                lambda e: sp.simplify(sp.expand_log(e, force=True)),
            ),
            *map_slope_steps()[:3],
            step(r"$1/\hat p_1 = 1 + \sum_{i>1} w_i/w_1$ falls as $\hat p_1$ rises", sp.diff(1 / p, p), -1 / p**2),
        ),
        r"For $q_1 \le \frac12$ and $q_i \le q_1$ monotonicity gives the pair inequality. For $q_1 > \frac12$, $q_i \le 1 - q_1 < "
        r"\frac12$, so it is enough at $q_i = 1 - q_1$: two classes, where $\beta < \gamma + 1$. Summing over $i$ gives the bound; two "
        r"classes with large logits, the others near 0, show that $T$ cannot be larger.",
    )


@claim(
    "kk24.many_printed",
    source="KK24 Prop. 3, carried to three classes",
    statement=r"The upper temperature of Prop. 3, $\frac{1}{\gamma+1-\frac12\log(\gamma+1)}$, bounds the top class for three classes too.",
    chapter=CHAPTER,
)
def many_printed() -> Evidence:
    """gamma = 1, next to the uniform distribution."""
    with balls.precision():
        gamma = balls.exact(1)
        point = [balls.exact(v) for v in ("0.4", "0.3", "0.3")]
        beta = 2 - balls.exact(2).log() / 2
        scaled = [(beta * v.log()).exp() for v in point]
        margin = scaled[0] / sum(scaled[1:], scaled[0]) - formulas.focal_map(point, gamma)[0]
    return Counterexample(
        r"$\gamma = 1$, $q = (0.4, 0.3, 0.3)$: that temperature scaling is more confident than the map", margin
    )


@claim(
    "kk24.many_high_one",
    source="KK24 section 3.3, open there",
    statement=r"For $n = 3$, and for $n \ge 4$ with $\gamma \ge \gamma^*(\frac1{n-1})$, the smallest temperature that bounds the top class "
    r"from below is $T = 1$: no temperature below 1 does.",
    chapter=CHAPTER,
    corrects="kk24.many_printed",
)
def many_high_one() -> Evidence:
    """T = 1 bounds since confidence never falls; at n - 1 tied classes the stretch tends to 1."""
    e, top, tie = sp.symbols("epsilon c m", positive=True)
    return All(
        (
            confidence_proof(),
            Derivation(
                (
                    step(
                        r"$n - 1$ classes tied at $m$, one at $\varepsilon$: $\hat p$ is temperature scaling with "
                        r"$\frac1T = 1 + \frac{\log h(m) - \log h(\varepsilon)}{\log(m/\varepsilon)}$, which tends to 1",
                        sp.limit(1 + top / sp.log(tie / e), e, 0, "+"),
                        1,
                    ),
                    step(
                        r"since $h(\varepsilon) \to 1$ and $h(m)$ is bounded: $b \to 0$",
                        sp.limit(symbols.entropy_ratio(), q, 0, "+"),
                        0,
                    ),
                )
            ),
        )
    )


@claim(
    "kk24.many_high",
    source="KK24 section 3.3, open there",
    statement=r"For every $n$ and $\gamma > 0$, temperature scaling with $T = 1/\min_q e(q)$, $e = q\,w'/w$, gives the top class at most "
    r"the probability that the map gives.",
    chapter=CHAPTER,
)
def many_high() -> Evidence:
    """The stretch of a pair is a mean of e over log q, so at least min e > 0."""
    x = sp.Symbol("x", real=True)
    w = sp.Function("w")
    low = {str(gamma): elasticity_minimum(gamma)[1] for gamma in (1.0, 5.0)}
    second = sp.Function("L")(q).diff(q, 2) / sp.Function("L")(q).diff(q) ** 2
    return Derivation(
        (
            step(
                r"$\frac{d}{dx}\log w(e^x) = e(e^x)$: $\log\frac{w_1}{w_i}\big/\log\frac{q_1}{q_i}$ is a mean of $e$",
                sp.diff(sp.log(w(sp.exp(x))), x).doit(),
                (q * sp.diff(w(q), q) / w(q)).subs(q, sp.exp(x)).doit(),
            ),
            step(r"$w' = L''/L'^2 > 0$ by Prop. 1", sp.diff(-1 / sp.Function("L")(q).diff(q), q), second),
        ),
        rf"So $e > 0$, and every pair is stretched by at least $\min e$: {low['1.0']:.5f} for $\gamma = 1$, {low['5.0']:.5f} for $\gamma = 5$.",
    )


@claim(
    "kk24.many_high_search",
    source="KK24 section 3.3, open there",
    statement=r"For $4 \le n$ and $\gamma < \gamma^*(\frac1{n-1})$ the smallest such temperature is reached at $k - 1$ tied classes and one smaller, "
    r"$k \le n$.",
    chapter=CHAPTER,
)
def many_high_search() -> Evidence:
    """No point of at most four levels is bounded by a smaller temperature."""
    worst, count = np.inf, 0
    for gamma, n in ((0.25, 4), (1.0, 4), (1.0, 6), (0.5, 10), (2.0, 10), (5.0, 12)):
        points = sample_simplex(n, seed=0)
        beta = 1 / top_temperature_bounds(gamma, n)[1]
        scaled = beta * np.log(points)
        top = scaled[:, 0] - np.logaddexp.reduce(scaled, axis=1, keepdims=True)[:, 0]
        worst = min(worst, float((focal_log_probs(np.log(points), gamma)[:, 0] - top).min()))
        count += len(points)
    return Search(
        r"points of 4 to 12 classes with ties, and random ones; $\log\hat p_1$ against the bound", count, worst, 1e-9
    )

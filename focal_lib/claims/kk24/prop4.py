"""KK24 Prop. 4: the decomposition on the simplex."""

from __future__ import annotations

import numpy as np
import sympy as sp

from focal_lib.claims.evidence import Conditional, Counterexample, Derivation, Evidence, Search, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.curvature import convexity_proof
from focal_lib.claims.lemmas.entropy_ratio import entropy_ratio_steps
from focal_lib.claims.lemmas.weight import lagrange_steps, weight_steps
from focal_lib.theory import maps, symbols
from focal_lib.theory.certificates import balls, formulas
from focal_lib.theory.gain import weight_curvature, weight_inflection

CHAPTER = "05_simplex"
q, gamma = symbols.q, symbols.gamma


@claim(
    "kk24.prop4",
    source="KK24 Prop. 4, Eq. (1), App. A.4",
    statement=r"Multiclass focal loss, $\gamma \ge 0$, is a proper loss applied after the bijection "
    r"$\hat p_j = w(q_j)/\sum_k w(q_k)$ of the simplex.",
    chapter=CHAPTER,
    headline="many classes: a proper loss after a bijection",
)
def prop4() -> Evidence:
    """Stationarity, convexity, and the one c that makes the preimage sum to 1."""
    return Derivation(
        (*lagrange_steps(), *convexity_proof().steps, *weight_steps()),
        r"The risk is strictly convex (Prop. 1), so the stationary point is its only minimum: the loss of the mapped "
        r"prediction is strictly proper. Bijection: given $p$, $q_i = w^{-1}(c\,p_i)$ is increasing in $c$ from 0 to 1, so "
        r"$\sum_i q_i = 1$ for exactly one $c$; the paper leaves this step out. Zeros stay zeros, and a face carries the "
        r"map of its own classes.",
    )


@claim(
    "kk24.prop4_inverse_is_minimiser",
    source="KK24 section 3.3, after Charoenphakdee et al. (2021)",
    statement=r"The map sends what focal loss predicts back to the true class probabilities.",
    chapter=CHAPTER,
)
def prop4_inverse() -> Evidence:
    """Round trip of the map and its inverse on random points of 2 to 1000 classes."""
    rng = np.random.default_rng(0)
    worst, points = 0.0, 0
    for classes, gamma_value in ((2, 1.0), (3, 5.0), (10, 2.0), (100, 0.5), (1000, 3.0)):
        logits = rng.normal(size=(200, classes)) * 5
        log_q = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
        back = maps.inverse_focal_log_probs(maps.focal_log_probs(logits, gamma_value), gamma_value)
        worst = max(worst, float(np.max(np.abs(back - log_q) / np.maximum(1, np.abs(log_q)))))
        points += len(logits)
    return Search(
        r"points of 2 to 1000 classes, $\gamma$ from 0.5 to 5, relative round trip error below $10^{-9}$",
        points,
        1e-9 - worst,
    )


@claim(
    "kk24.prop4_same_reasoning",
    source="KK24 App. A.4, proof",
    statement=r"The map on the simplex is a bijection by the same reasoning as in the binary case, from the monotonicity of $w$; "
    r"so it is for $\gamma_{ev} < 0$.",
    chapter=CHAPTER,
)
def prop4_same_reasoning() -> Evidence:
    """w is monotone for gamma >= 0 only: at gamma = -1/2 it falls between 0.8 and 0.95."""
    with balls.precision():
        g = balls.exact("-1/2")
        drop = formulas.weight(balls.exact("0.8"), g) - formulas.weight(balls.exact("0.95"), g)
    outside = Counterexample(r"$\gamma = -\frac12$: $w(0.8) > w(0.95)$", drop)
    return Conditional(r"$\gamma \ge 0$", Derivation((*convexity_proof().steps, *weight_steps())), outside)


@claim(
    "kk24.prop4_negative",
    source="KK24 Prop. 4, for negative gamma (section 5.1)",
    statement=r"For $-1 < \gamma < 0$, where $w$ is not monotone, the map is still a bijection of the simplex.",
    chapter=CHAPTER,
    corrects="kk24.prop4_same_reasoning",
)
def prop4_negative() -> Evidence:
    """The Jacobian never vanishes and faces go to faces, so Hadamard's theorem applies."""
    a, r, top = sp.symbols("a r q_1", positive=True)  # a = -gamma in (0, 1), r = 1 - q_1
    b = symbols.entropy_ratio()
    log_slope = sp.diff(sp.log(symbols.weight(q, -a)), q)
    written = 1 / q - a / (1 - q) + a * sp.diff(b, q) / (1 - a * b)
    # the others have q <= r and elasticity at least 1 - a r/(1-r); the large one at most (a - r/(1-r)) / r below 0
    margin = (1 - a * r / (1 - r)) - (a - r / (1 - r))
    weights = sp.symbols("omega_1 omega_2 omega_3", positive=True)
    elastic = sp.symbols("e_1 e_2 e_3")
    return Derivation(
        (
            step(
                r"$(\log w)' = \frac1q - \frac{a}{1-q} + \frac{a\,b'}{1-ab}$ for $\gamma = -a$",
                sp.simplify(log_slope - written),
                0,
            ),
            *entropy_ratio_steps(),
            step(r"$1 - ab > 0$, since $b \le b(1) = 1$ and $a < 1$", sp.limit(b, q, 1, "-"), 1),
            step(
                r"with $b' > 0$: $e(q) = q(\log w)' \ge 1 - \frac{aq}{1-q}$, positive for $q \le \frac12$",
                sp.simplify(q * (1 / q - a / (1 - q))),
                1 - a * q / (1 - q),
            ),
            step(
                r"and $-(1-q_1)(\log w)'(q_1) \le a - \frac{r}{1-r}$ with $r = 1 - q_1$",
                sp.simplify(-(r * (1 / top - a / (1 - top))).subs(top, 1 - r)),
                a - r / (1 - r),
            ),
            step(r"the difference of the two bounds is $\frac{1-a}{1-r} > 0$", margin, (1 - a) / (1 - r)),
            step(
                r"along $\sum_i q_i = 1$ the Jacobian of $q \mapsto p$ is, up to a positive factor, $\prod_i e_i \sum_i q_i/e_i$; "
                r"three classes shown",
                _jacobian(weights, elastic),
                sp.Mul(*elastic) * sum(w / e for w, e in zip(weights, elastic, strict=True)),
            ),
        ),
        r"If every $e_i > 0$ the Jacobian is positive. At most one class, the largest, has $e_1 < 0$; then "
        r"$\sum_{i\ge2} q_i/e_i \le r/(1-\frac{ar}{1-r}) < r/(a-\frac{r}{1-r}) \le q_1/|e_1|$, so product and sum are both "
        r"negative; at $e_1 = 0$ the limit is $q_1\prod_{i\ge2} e_i > 0$. Near the boundary $w(q)/q \to 1$ as $q \to 0$, and "
        r"at a vertex $w \sim (1-q)^a/(1-a)$ outweighs the others, which are at most $2(1-q)$: the map is proper. A proper "
        r"local diffeomorphism of the open simplex is a bijection (Hadamard); each face carries the map of its own classes.",
    )


def _jacobian(q: tuple[sp.Symbol, ...], e: tuple[sp.Symbol, ...]) -> sp.Expr:
    """det of d(log p_1 - log p_3, log p_2 - log p_3)/d(q_1, q_2), times q_1 q_2 q_3, for three classes."""
    rows = [[e[0] / q[0] + e[2] / q[2], e[2] / q[2]], [e[2] / q[2], e[1] / q[1] + e[2] / q[2]]]
    return sp.simplify(sp.Matrix(rows).det() * sp.Mul(*q))


@claim(
    "kk24.prop4_inflection",
    source="KK24 App. A.5, proof",
    statement=r"$f = 1/L' = -w$ is concave on the whole of $(0, 1)$.",
    chapter="06_confidence",
)
def prop4_inflection() -> Evidence:
    """w is concave near 0: at gamma = 1, 2 w(m) > w(a) + w(b) for a, b below the inflection."""
    with balls.precision():
        g = balls.exact(1)
        a, m, b = (formulas.weight(balls.exact(v), g) for v in ("0.01", "0.03", "0.05"))
    return Counterexample(
        rf"$\gamma = 1$: on $[0.01, 0.05]$, below the inflection at {weight_inflection(1.0):.6f}, $f$ lies below its chord's middle",
        2 * m - a - b,
    )


@claim(
    "kk24.prop4_inflection_corrected",
    source="KK24 App. A.5, corrected",
    statement=r"$f = -w$ is convex up to one point $q_i(\gamma)$ and concave after it.",
    chapter="06_confidence",
    corrects="kk24.prop4_inflection",
)
def prop4_inflection_corrected() -> Evidence:
    """Sign of w'' on a dense grid, on both sides of q_i."""
    worst, points = np.inf, 0
    for gamma in (0.1, 0.5, 1.0, 2.0, 5.0, 10.0):
        turn = weight_inflection(gamma)
        grid = np.concatenate([np.geomspace(1e-4, 0.999 * turn, 2_000), np.linspace(1.001 * turn, 0.99, 2_000)])
        sides = np.sign(grid - turn)
        worst = min(worst, min(float(s * weight_curvature(float(v), gamma)) for v, s in zip(grid, sides, strict=True)))
        points += grid.size
    return Search(r"$10^{-4} \le q \le 0.99$, $\gamma \in \{0.1, \dots, 10\}$", points, worst)

"""L25 Theorem 4.1, App. A.2: does the added square bring the top probability closer to the truth?"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from focal_lib.claims.evidence import Counterexample, Derivation, Disproof, Evidence, Step, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.confidence import confidence_proof, critical_gamma_steps, drop_of_tied_classes
from focal_lib.claims.lemmas.fcl_minimiser import candidate, slack
from focal_lib.theory.certificates import balls
from focal_lib.theory.gain import critical_gamma

CHAPTER = "12_focal_calibration_loss"


@claim(
    "l25.thm41",
    source="L25 Thm. 4.1, App. A.2",
    statement=r"With $q_\lambda$ the minimiser of FCL: $|\max_i q_{\lambda,i} - \max_i p_i| \le |\max_i q_{0,i} - \max_i p_i|$. (Read from the "
    r"proof; the formula of the theorem is missing from the text at hand.)",
    chapter=CHAPTER,
    headline="closer top probability",
    instead="closer in Euclidean distance",
)
def thm41() -> Evidence:
    """Ten classes, gamma = 1, lambda = 1: the gap of the top more than doubles."""
    p = ("0.20", "0.18", "0.16", "0.14", "0.12", *["0.04"] * 5)
    gaps = []
    for lam in (Fraction(0), Fraction(1)):
        q = candidate(p, 1.0, float(lam))
        with balls.precision():
            gaps.append((balls.exact(max(q)) - balls.exact(p[0]), slack(q, p, lam)))
    (focal, focal_slack), (both, both_slack) = gaps
    with balls.precision():
        margin = (both - both_slack) - (focal + focal_slack)
    return Counterexample(
        r"$\gamma = 1$, $\lambda = 1$, $p = (.20, .18, .16, .14, .12, .04, \dots)$: the top of FCL's minimiser is further from .20 than "
        r"that of focal loss",
        margin,
    )


@claim(
    "l25.thm41_norm",
    source="L25 Thm. 4.1, corrected",
    statement=r"The distance $\lVert q_\lambda - p\rVert_2$ never grows with $\lambda$.",
    chapter=CHAPTER,
    corrects="l25.thm41",
)
def thm41_norm() -> Evidence:
    """The exchange argument: add the two optimality inequalities."""
    focal_low, focal_high, square_low, square_high = sp.symbols("A_l A_m B_l B_m", real=True)
    low, high = sp.symbols("lambda mu", positive=True)
    first = (focal_high + low * square_high) - (focal_low + low * square_low)  # >= 0: q_l is best at lambda
    second = (focal_low + high * square_low) - (focal_high + high * square_high)  # >= 0: q_m is best at mu
    return Derivation(
        (
            step(
                r"with risk $A + \lambda B$, $B = \lVert q - p\rVert^2$: the sum of both inequalities is $(\mu-\lambda)(B_\lambda - B_\mu) \ge 0$",
                first + second,
                (high - low) * (square_low - square_high),
            ),
        ),
        r"So $B_\mu \le B_\lambda$ for $\mu > \lambda$. Any added loss does this to itself; nothing about focal loss is used.",
    )


@claim(
    "l25.thm41_norms",
    source="L25 App. A.2, steps 1, 2 and 4",
    statement=r"$|\max q - \max p| \le \lVert q-p\rVert_\infty \le \lVert q-p\rVert_2$, and "
    r"$\mathbb{E}\lVert q - e_Y\rVert^2 = \lVert q-p\rVert^2 + 1 - \lVert p\rVert^2$.",
    chapter=CHAPTER,
)
def thm41_norms() -> Evidence:
    """Elementary, on three classes."""
    q = sp.symbols("q_1:4", real=True)
    p = (*sp.symbols("p_1:3", real=True), 1 - sum(sp.symbols("p_1:3", real=True)))
    pairs = list(zip(q, p, strict=True))
    expected = sum(py * sum((qi - (1 if i == y else 0)) ** 2 for i, qi in enumerate(q)) for y, py in enumerate(p))
    d = sp.symbols("d_1:4", real=True)
    return Derivation(
        (
            step(
                r"$\max q - \max p \le q_j - p_j$ at $j = \arg\max q$, as $\max p \ge p_j$, and symmetrically",
                (q[0] - p[1]) - (q[0] - p[0]),
                p[0] - p[1],
                sp.expand,
            ),
            step(
                r"$\lVert d\rVert_2^2 - d_j^2 = \sum_{i\ne j} d_i^2 \ge 0$",
                sum(v**2 for v in d) - d[0] ** 2,
                d[1] ** 2 + d[2] ** 2,
            ),
            step(
                r"$\mathbb{E}\lVert q-e_Y\rVert^2 = \lVert q-p\rVert^2 + 1 - \lVert p\rVert^2$",
                expected,
                sum((a - b) ** 2 for a, b in pairs) + 1 - sum(b**2 for b in p),
                sp.expand,
            ),
        )
    )


@claim(
    "l25.focal_overconfident",
    source="L25 section 1",
    statement=r"Focal loss leads to overly confident predictions, here: its minimiser has a larger top probability than the truth. "
    r"($n = 2$ and 3 classes.)",
    chapter=CHAPTER,
)
def focal_overconfident() -> Evidence:
    """Prop. 5 of KK24 holds for n = 2 and 3: the truth is the map of the minimiser, whose top is not lower."""
    return Disproof(confidence_proof())


@claim(
    "l25.focal_overconfident_where",
    source="L25 section 1, corrected",
    statement=r"The minimiser of focal loss is overconfident only for $n \ge 4$ and $\gamma < \gamma^*(\frac{1}{n-1})$, and there at some posteriors.",
    chapter=CHAPTER,
    corrects="l25.focal_overconfident",
)
def focal_overconfident_where() -> Evidence:
    """The sharp condition of KK24 Prop. 5, and one posterior of ten classes."""
    gamma = Fraction(round(500 * critical_gamma(10)), 1000)
    fall = drop_of_tied_classes(10, gamma, Fraction(1, 1000))
    return Derivation(
        (
            *confidence_proof().steps,
            *critical_gamma_steps(),
            Step(
                rf"for example $n = 10$, $\gamma = {float(gamma):g}$: nine tied classes and one at 0.001, in ball arithmetic",
                bool(fall > 0),
            ),
        )
    )

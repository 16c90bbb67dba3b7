"""L25 Theorem 4.1, App. A.2: does the added square bring the top probability closer to the truth?"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from focal_lib.theory.gain import critical_gamma
from reproduction.ledger.certificates import balls
from reproduction.ledger.evidence import Evidence, Step, Unchecked, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems.lemmas import confidence, curvature, entropy_ratio, fcl, gain, weight

CHAPTER = "focal_calibration_loss"
quoted = Rows(CHAPTER, "quoted")
ours = Rows(CHAPTER, "ours")


quoted(
    "l25.thm41",
    "FCL reduces a classifier's over- and underconfidence",
    "L25 Thm. 4.1, App. A.2",
    r"'Reducing Over-/Underconfidence': of a classifier trained by minimizing FCL a relation holds 'for any' input, whose formula is "
    r"lost from our copy.",
    lambda: Unchecked(
        "our copy has lost the formula of the theorem, and of the definition it rests on all but its words; l25.thm41_top says what is false of "
        "the top probability, l25.thm41_norm what is true"
    ),
    in_readme=True,
    instead="closer to the truth in Euclidean distance; the top probability can be further off",
)


@ours(
    "l25.thm41_top",
    "FCL can move the top probability farther from the truth",
    "L25 Thm. 4.1, under a reading of its proof",
    r"With $q_\lambda$ the minimiser of FCL, $|\max_i q_{\lambda,i} - \max_i p_i|$ can be larger than $|\max_i q_{0,i} - \max_i p_i|$, the gap of focal "
    r"loss alone: so it is for ten classes, $\gamma = \lambda = 1$, $p = (.20, .18, .16, .14, .12, .04, \dots)$. (Were the theorem that it is not, "
    r"it would be false.)",
    formal=formal("exact", "l25_thm41_top"),
)
def thm41_top() -> Evidence:
    """Ten classes, gamma = 1, lambda = 1: the gap of the top more than doubles."""
    p = ("0.20", "0.18", "0.16", "0.14", "0.12", *["0.04"] * 5)
    gaps = []
    for lam in (Fraction(0), Fraction(1)):
        q = fcl.candidate(p, 1.0, float(lam))
        with balls.precision():
            gaps.append((balls.exact(max(q)) - balls.exact(p[0]), fcl.slack(q, p, lam)))
    (focal, focal_slack), (both, both_slack) = gaps
    with balls.precision():
        margin = (both - both_slack) - (focal + focal_slack)
    return derivation(
        gain.positive_step(),
        Step(
            rf"the top of FCL's minimiser is further from .20 than that of focal loss, by {float(margin.mid()):.3g}, in ball arithmetic",
            bool(margin > 0),
        ),
    )


@ours(
    "l25.thm41_norm",
    "The distance of FCL's minimiser to the truth never grows with lambda",
    "L25 Thm. 4.1, App. A.2 step 4, made exact",
    r"The distance $\lVert q_\lambda - p\rVert_2$ never grows with $\lambda$.",
    formal=formal("exact", "l25_thm41_norm"),
)
def thm41_norm() -> Evidence:
    """The exchange argument: add the two optimality inequalities."""
    focal_low, focal_high, square_low, square_high = sp.symbols("A_l A_m B_l B_m", real=True)
    low, high = sp.symbols("lambda mu", positive=True)
    first = (focal_high + low * square_high) - (focal_low + low * square_low)  # >= 0: q_l is best at lambda
    second = (focal_low + high * square_low) - (focal_high + high * square_high)  # >= 0: q_m is best at mu
    return derivation(
        *fcl.squared_distance_steps(),
        *curvature.convexity_proof().steps,
        step(
            r"with risk $A + \lambda B$, $B = \lVert q - p\rVert^2$: the sum of both inequalities is $(\mu-\lambda)(B_\lambda - B_\mu) \ge 0$",
            (first + second, (high - low) * (square_low - square_high)),
        ),
        step(
            r"so $B_\lambda - B_\mu$ is that sum over $\mu - \lambda > 0$: $B_\mu \le B_\lambda$",
            (sp.cancel((first + second) / (high - low)), square_low - square_high),
        ),
        remark=r"Both minimisers exist and are unique, as both risks are strictly convex. Any added loss does this to itself; nothing about focal loss is used.",
    )


quoted(
    "l25.thm41_norms",
    "The infinity norm is at most the Euclidean norm",
    "L25 App. A.2, step 2",
    r"'[T]he infinity norm is less than or equal to the Euclidean norm.' (The formula beside these words is lost; the words suffice.)",
    lambda: derivation(norms_step(), remark="The sum of squares is at least each of them, the largest, too."),
    formal=formal("equivalent", "l25_thm41_norms"),
)


def norms_step(power: int = 2) -> Step:
    """The squared Euclidean norm is the square of one entry and the rest, a sum of squares; of another power it is not."""
    d, rest = sp.symbols("d r", nonnegative=True)
    return step(
        r"$\lVert q-p\rVert_2^2 - d_i^2 = \sum_{k\ne i} d_k^2 \ge 0$", (sp.sqrt(d**2 + rest) ** power - d**2, rest)
    )


@ours(
    "l25.thm41_norms_reading",
    "Read as norm inequalities, steps 1, 2 and 4 are true",
    "L25 App. A.2, steps 1, 2 and 4, under a reading",
    r"Under the reading that the lost formulas of steps 1, 2 and 4 are these, they are true: $|\max q - \max p| \le \lVert q-p\rVert_\infty \le \lVert q-p\rVert_2$, and "
    r"$\mathbb{E}\lVert q - e_Y\rVert^2 = \lVert q-p\rVert^2 + 1 - \lVert p\rVert^2$.",
    formal=formal("equivalent", "l25_thm41_norms", "l25_expected_square"),
)
def thm41_norms_reading() -> Evidence:
    """The expected square, class by class; the inequalities for one class and another."""
    top, below, other = sp.symbols("q_j u v", nonnegative=True)
    return derivation(
        *fcl.squared_distance_steps(),
        step(
            r"$\max p = p_j + u$ with $u \ge 0$, $q_j = \max q$: $(q_j - p_j) - (\max q - \max p) = u \ge 0$",
            ((top - other) - (top - (other + below)), below),
        ),
        norms_step(),
        remark=r"The inequalities, for every $n$: at $j = \arg\max q$, $\max p \ge p_j$, so $\max q - \max p \le q_j - p_j$, and symmetrically; and "
        r"the sum of squares is at least each of them.",
    )


quoted(
    "l25.overconfident_often",
    "Focal loss often leads to overconfident predictions",
    "L25 section 1",
    r"Focal loss 'often leads to overly confident predictions'.",
    lambda: Unchecked(
        "'often' names no setting and no share of cases that could be counted; l25.overconfident_printed counts the paper's own "
        "temperatures, l25.focal_overconfident_where says for which classes and "
        "gamma the minimiser of focal loss can be overconfident, the chapter on training measures networks"
    ),
)


@ours(
    "l25.focal_overconfident_where",
    "Focal minimisers are overconfident only from four classes on, small gamma",
    "L25 section 1, for the minimiser of focal loss",
    r"For $\gamma \ge 0$ the minimiser of focal loss, its top probability compared with that of the truth, is overconfident only for $n \ge 4$ and $0 < \gamma < "
    rf"\gamma^*(\frac{{1}}{{n-1}})$, and there at some posteriors; for two and three classes never. ({gain.CRITICAL})",
    formal=formal(
        "equivalent",
        "kk24_prop5_gamma_star",
        "kk24_prop5_two_classes",
        "kk24_prop5_three_classes",
        "kk24_map_recovers_truth",
        "kk24_prop4",
        "l25_order_preserving",
    ),
)
def focal_overconfident_where() -> Evidence:
    """The truth is the map of the minimiser; the sharp condition of KK24 Prop. 5, and tied classes below it."""
    gamma = Fraction(round(500 * critical_gamma(10)), 1000)
    fall = confidence.drop_of_ties(gamma, (Fraction(111, 1000), 9), (Fraction(1, 1000), 1))
    return derivation(
        *weight.lagrange_steps(),
        *confidence.confidence_proof().steps,
        *entropy_ratio.terms_steps(),  # gamma* > 0 where q < 1/2
        *confidence.tied_classes_fall_steps(),
        Step(
            rf"for example $n = 10$, $\gamma = {float(gamma):g}$: nine tied classes and one at 0.001, in ball arithmetic",
            bool(fall > 0),
        ),
        remark=r"The truth is the map of the minimiser, so the minimiser is overconfident where the map lowers the top probability. For $n = 2$ that is at "
        r"least $\frac12 > \tau(\gamma)$, and the threshold settles it.",
    )

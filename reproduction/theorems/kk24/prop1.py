"""KK24 Prop. 1: convexity of the focal loss."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from focal_lib.theory.second_derivative import convexity_factor
from reproduction.ledger.certificates import balls
from reproduction.ledger.evidence import Counterexample, Evidence, Step, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import curvature

CHAPTER = "convexity"
quoted = Rows(CHAPTER, "quoted")
paraphrased = Rows(CHAPTER, "paraphrased")
ours = Rows(CHAPTER, "ours")
x = sp.Symbol("x", positive=True)  # q = exp(-x)


@quoted(
    "kk24.prop1",
    "Focal loss is convex in the probability for every gamma from 0 on",
    "KK24 Prop. 1, App. A.1",
    # the sign between gamma and 0 is damaged; the proof in App. A.1 starts at gamma = 0
    r"'Focal loss is convex with respect to the first (prediction) argument' for all $\gamma \ge 0$: "
    r"$L(q) = -(1-q)^\gamma \log q$ on $(0, 1)$.",
    formal=formal("exact", "kk24_prop1"),
    in_readme=True,
)
def prop1() -> Evidence:
    """Convexity, by the sign of L''."""
    return curvature.convexity_proof()


@paraphrased(
    "kk24.prop1_multiclass",
    "Multiclass focal loss is convex in the predicted vector",
    "KK24 Prop. 1, App. A.1 (end)",
    r"For one-hot labels the multiclass focal loss ($\gamma \ge 0$, every $0 < q_i < 1$) is convex in the predicted vector: its Hessian "
    r"is diagonal with non-negative entries.",
    formal=formal("exact", "kk24_prop1_n_classes", "kk24_prop1_hessian"),
)
def prop1_multiclass() -> Evidence:
    """Mixed derivatives vanish and the diagonal is L''."""
    q = sp.symbols("q1:4", positive=True)
    y = sp.symbols("y1:4", nonnegative=True)
    loss = sum(yi * symbols.focal_loss(qi) for yi, qi in zip(y, q, strict=True))
    mixed = [sp.diff(loss, a, b) for i, a in enumerate(q) for b in q[i + 1 :]]
    own = sp.diff(loss, q[0], 2) - y[0] * sp.diff(symbols.focal_loss(q[0]), q[0], 2)
    return derivation(
        *(step("a mixed second derivative is 0", (m, 0)) for m in mixed),
        step(r"the diagonal entry is $y_i L''(q_i)$", (own, 0)),
        *curvature.convexity_proof().steps,
    )


@ours(
    "kk24.prop1_negative",
    "For gamma between -1 and 0 focal loss is not convex",
    "KK24 Prop. 1, continued to the negative gamma of section 5.1",
    r"Among $\gamma > -1$ the focal loss is convex on $(0, 1)$ exactly for $\gamma \ge 0$: for $-1 < \gamma < 0$ it is "
    r"concave close to $q = 1$.",
    formal=formal("exact", "kk24_prop1_range", "kk24_prop1_concave_near_1"),
)
def prop1_negative() -> Evidence:
    """Prop. 1 settles gamma >= 0; else L'' over its power of 1 - q tends to gamma (gamma + 1) < 0 at q = 1."""
    a, r = sp.symbols("a r", positive=True)  # gamma = -a/(1+a) runs through (-1, 0); r = 1 - q
    negative = -a / (1 + a)
    near_one = sp.limit(convexity_factor(1 - r, negative, sp.log) / r, r, 0, "+")
    return derivation(
        *curvature.convexity_proof().steps,
        step(
            r"$\gamma = -\frac{a}{1+a}$, $a > 0$: $(1-q)^{1-\gamma}L'' \to \gamma(\gamma+1)$ as $q \to 1$",
            (near_one, negative * (negative + 1)),
        ),
        step(r"which is negative", sp.simplify(near_one).is_negative),
        Step(
            r"for example $\gamma = -\frac12$, $q = 0.9$, in ball arithmetic",
            negative_gamma_point().verdict == Verdict.REFUTED,
        ),
    )


def negative_gamma_point(q: str = "9/10", gamma: str = "-1/2") -> Counterexample:
    """A point with L'' < 0."""
    with balls.precision():
        value = convexity_factor(balls.exact(Fraction(q)), balls.exact(Fraction(gamma)), lambda z: z.log())
    return Counterexample(rf"$\gamma = {gamma}$, $q = {q}$: $(1-q)^{{2-\gamma}}L''(q) < 0$", -value)

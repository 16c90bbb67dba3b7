"""KK24 Prop. 1: convexity of the focal loss."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from focal_lib.claims.evidence import Conditional, Counterexample, Derivation, Evidence, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.curvature import convexity_proof
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls
from focal_lib.theory.second_derivative import convexity_factor

CHAPTER = "02_convexity"
x = sp.Symbol("x", positive=True)  # q = exp(-x)


@claim(
    "kk24.prop1",
    source="KK24 Prop. 1, App. A.1",
    statement=r"For every $\gamma \ge 0$ the focal loss $L(q) = -(1-q)^\gamma \log q$ is convex on $(0, 1)$.",
    chapter=CHAPTER,
    headline="focal loss is convex, gamma >= 0",
)
def prop1() -> Evidence:
    """Convexity, by the sign of L''."""
    return convexity_proof()


@claim(
    "kk24.prop1_multiclass",
    source="KK24 Prop. 1, App. A.1 (end)",
    statement=r"For one-hot labels the multiclass focal loss is convex in the predicted vector: its Hessian "
    r"is diagonal with non-negative entries.",
    chapter=CHAPTER,
)
def prop1_multiclass() -> Evidence:
    """Mixed derivatives vanish and the diagonal is L''."""
    q = sp.symbols("q1:4", positive=True)
    y = sp.symbols("y1:4", nonnegative=True)
    loss = sum(yi * symbols.focal_loss(qi) for yi, qi in zip(y, q, strict=True))
    mixed = [sp.diff(loss, a, b) for i, a in enumerate(q) for b in q[i + 1 :]]
    own = sp.diff(loss, q[0], 2) - y[0] * sp.diff(symbols.focal_loss(q[0]), q[0], 2)
    return Derivation(
        (
            *(step("a mixed second derivative is 0", m, 0) for m in mixed),
            step(r"the diagonal entry is $y_i L''(q_i)$", own, 0),
            *convexity_proof().steps,
        )
    )


@claim(
    "kk24.prop1_negative",
    source="KK24 Prop. 1, for negative gamma (section 5.1)",
    statement=r"The focal loss is convex on $(0, 1)$ for every real $\gamma > -1$.",
    chapter=CHAPTER,
)
def prop1_negative() -> Evidence:
    """Convex exactly for gamma >= 0 among gamma > -1."""
    return Conditional(r"$\gamma \ge 0$", convexity_proof(), negative_gamma_point())


def negative_gamma_point(q: str = "9/10", gamma: str = "-1/2") -> Counterexample:
    """A point with L'' < 0."""
    with balls.precision():
        value = convexity_factor(balls.exact(Fraction(q)), balls.exact(Fraction(gamma)), lambda z: z.log())
    return Counterexample(rf"$\gamma = {gamma}$, $q = {q}$: $(1-q)^{{2-\gamma}}L''(q) < 0$", -value)

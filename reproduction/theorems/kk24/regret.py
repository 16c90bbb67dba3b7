"""What an excess of focal loss says of the map: a regret bound for any number of classes, sharp for every gamma."""

from __future__ import annotations

import sympy as sp

from focal_lib.theory.proper import regret_constant
from reproduction.ledger.evidence import Evidence, derivation, step
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import regret, weight

ours = Rows("simplex", "ours")
q, g = symbols.q, symbols.g
CONSTANT = r"$c = 2^{2-\gamma}(1+\gamma\log2)/\beta(0)$"
NOT_FORMALISED = "not tried: the derivative of a minimiser over any number of classes is not among the lemmas at hand"


ours(
    "kk24.regret",
    "The excess of focal loss bounds the distance of the map from the truth",
    "KK24 Prop. 4, taken further",
    r"For $\gamma > 0$, any number of classes, a prediction $q$ and a truth $p$ the excess risk $\sum_ip_iL(q_i) - \min_{q'}\sum_ip_iL(q'_i)$ is at "
    rf"least $\frac c8\lVert\hat p(q) - p\rVert_1^2$, {CONSTANT}, with the $\beta(0)$ of `kk24.prop3_sharp`. (At $\gamma = 0$, where $c = 4$, this is "
    r"Pinsker's inequality.)",
    lambda: derivation(
        *regret.regret_steps(),
        remark=r"So $E \le \frac14w'(\frac12) = \frac1c$ everywhere inside the simplex. Along the segment from $\hat p$ to $p$ that is $-f'' \ge "
        r"c\,(\frac12\lVert v\rVert_1)^2$, and $\int_0^1(1-\tau)\,d\tau = \frac12$ gives $\frac c8\lVert v\rVert_1^2$. A $p$ on the boundary is reached by continuity; "
        r"where $q_i = 0 < p_i$ the excess is infinite, and where both are 0 a face carries the statement for fewer classes.",
    ),
    not_formalised=NOT_FORMALISED,
)


@ours(
    "kk24.regret_sharp",
    "No larger constant bounds the regret, for any gamma and class count",
    "KK24 Prop. 4, taken further",
    rf"In `kk24.regret` no constant above {CONSTANT} will do, for any $\gamma > 0$ and number of classes: at $p = (\frac12, \frac12, 0, \ldots)$ and "
    r"$q = (\frac12+\delta, \frac12-\delta, 0, \ldots)$ the excess over $\lVert\hat p(q) - p\rVert_1^2$ tends to $\frac c8$ as $\delta \to 0$.",
    not_formalised=NOT_FORMALISED,
)
def regret_sharp() -> Evidence:
    """Excess and distance to second and first order in delta."""
    half, two = sp.Rational(1, 2), sp.log(2)
    risk = (symbols.focal_loss(q, g) + symbols.focal_loss(1 - q, g)) / 2
    here, mirrored = symbols.weight(q, g), symbols.weight(1 - q, g)
    distance = 2 * (here / (here + mirrored) - half)
    curvature, slope = (sp.diff(risk, q, 2) / 2).subs(q, half), sp.diff(distance, q).subs(q, half)
    return derivation(
        *weight.lagrange_steps(),
        step(
            r"the excess is 0 at $\delta = 0$, where the map is the identity, with first derivative 0",
            (sp.diff(risk, q).subs(q, half), 0),
            (distance.subs(q, half), 0),
        ),
        step(
            r"$\frac12\mathcal R'' = \frac12L''(\frac12)$ over the square of $2\,\hat p\,'(\frac12)$ is $\frac c8$",
            (curvature / slope**2, regret_constant(g, two) / 8),
        ),
        remark=r"Classes of probability 0 in both add nothing to either.",
    )


@ours(
    "kk24.regret_calibration",
    "Little excess focal risk means little calibration error after the map",
    "KK24 Prop. 4, taken further",
    rf"Let $\gamma > 0$, $\eta(X)$ be the true probabilities, $q(X)$ a network's and $\varepsilon$ its expected focal loss minus the least one can have. With {CONSTANT} "
    r"$\mathbb E\lVert\hat p(q(X)) - \eta(X)\rVert_1 \le \sqrt{8\varepsilon/c}$. After the map the true calibration error of the top class is at most "
    r"$\sqrt{2\varepsilon/c}$, and that of all classes together at most $\sqrt{8\varepsilon/c}$, as is what accuracy lacks of the best possible.",
    not_formalised=NOT_FORMALISED,
)
def regret_calibration() -> Evidence:
    """Jensen's inequality, the triangle inequality under a conditional mean, and a vector that sums to 0."""
    distance, mean, c, epsilon = sp.symbols("D m c epsilon", positive=True)
    true, other, said, named = sp.symbols("eta_a eta_b p_a p_b", real=True)
    first, rest = sp.symbols("v_k V", real=True)  # V: the sum of the others
    return derivation(
        *regret.regret_steps(),
        step(
            r"with $D = \lVert\hat p - \eta\rVert_1$ and $m = \mathbb ED$: $\mathbb E(D-m)^2 \ge 0$ is $m^2 \le \mathbb ED^2 \le 8\varepsilon/c$ by `kk24.regret`",
            ((distance - mean) ** 2, distance**2 - mean**2 - 2 * mean * (distance - mean)),
        ),
        step(
            r"$v = \hat p - \eta$ sums to 0: $|v_k| = \big|\sum_{i\ne k}v_i\big|$, so $|v_k| \le \frac12\lVert v\rVert_1$, and the half of $\sqrt{8\varepsilon/c}$ is "
            r"$\sqrt{2\varepsilon/c}$",
            (sp.solve(first + rest, first)[0], -rest),
            (sp.sqrt(8 * epsilon / c) / 2, sp.sqrt(2 * epsilon / c)),
        ),
        step(
            r"where class $b$ is named and $a$ the best, $\hat p_b \ge \hat p_a$: $\eta_a - \eta_b = (\eta_a - \hat p_a) + (\hat p_b - \eta_b) - (\hat p_b - \hat p_a) \le D$",
            (true - other, (true - said) + (named - other) - (named - said)),
        ),
        remark=r"A calibration error is the mean of $|\mathbb E[\hat p_k - \mathbf 1_k \mid Z]|$, with $Z$ the confidence, or the mapped prediction, and $\mathbf 1_k$ "
        r"the indicator of class $k$, whose mean given $X$ is $\eta_k$: at most the mean of $|\hat p_k - \eta_k|$. The map keeps the order of classes (`kk24.prop4`).",
    )

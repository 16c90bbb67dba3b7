"""KN24 Theorem 1 and corollaries: 'focal loss reduces curvature', pointwise and where it is true."""

from __future__ import annotations

import flint
import sympy as sp

from reproduction.ledger.certificates import balls
from reproduction.ledger.evidence import Evidence, Step, Unchecked, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import entropy_ratio, gain
from reproduction.theorems.lemmas.entropy_ratio import b

CHAPTER = "curvature"
quoted = Rows(CHAPTER, "quoted")
ours = Rows(CHAPTER, "ours")
q, s, g = symbols.q, symbols.s, symbols.g
r = 1 - q


def in_probability_steps() -> tuple[Step, ...]:
    """The second derivative in p over that of cross-entropy is g - q g'."""
    f = sp.Function("g")(q)
    return (
        gain.of_loss_step(),
        step(r"$L' = -g/q$, so $q^2L'' = g - q\,g'$", (q**2 * sp.diff(-f / q, q), f - q * sp.diff(f, q))),
    )


def in_logit_steps() -> tuple[Step, ...]:
    """The second derivative in the logit over that of cross-entropy is g - (1-q) g'."""
    f = sp.Function("g")
    sigmoid = 1 / (1 + sp.exp(-s))
    in_logit = sp.diff(-f(sigmoid) * (1 - sigmoid), s)
    return (
        gain.of_loss_step(),
        step(
            r"$\frac{d}{ds}L = -g\,(1-q)$ and $\frac{d^2}{ds^2}L = q(1-q)\,\big[g - (1-q)g'\big]$",
            ((in_logit - (q * (1 - q) * (f(q) - (1 - q) * sp.diff(f(q), q))).subs(q, sigmoid)).doit(), 0),
        ),
    )


def _ball(expression: sp.Expr, point: str, gamma: int) -> flint.arb:
    function = sp.lambdify(q, expression.subs(g, gamma), modules=[{"log": lambda v: v.log()}])
    with balls.precision():
        return function(balls.exact(point))


ours(
    "kn24.curvature_probability_low",
    "For gamma up to 1 focal loss is more curved in the probability",
    "KN24 on curvature, of the loss itself as a function of p",
    r"For $0 < \gamma \le 1$ the second derivative of focal loss in $p$ is larger than that of cross-entropy for every $p$: $p^2L'' > 1$.",
    lambda: derivation(
        *in_probability_steps(),
        *gain.concave_steps(),
        step(r"$(g - qg')' = -qg'' > 0$", _slope_of_ratio()),
        step(
            r"and at 0 it is $g(0) - 0 = 1$: $q\,b' \to 0$",
            (sp.limit(q * sp.diff(symbols.entropy_ratio(), q), q, 0, "+"), 0),
        ),
    ),
    formal=formal("exact", "kn24_curvature_probability_low"),
)


@ours(
    "kn24.curvature_probability_high",
    "For gamma above 1 focal loss is less curved for confident samples",
    "KN24 on curvature, of the loss itself as a function of p",
    r"For every $\gamma > 1$ the second derivative of focal loss in $p$ is smaller than that of cross-entropy exactly above one point, "
    r"0.7905 for $\gamma = 2$, 0.6231 for 3, 0.4500 for 5.",
)
def curvature_probability_high() -> Evidence:
    """q^2 L'' = g - q g' starts at 1, rises while g'' < 0, then falls to 0 at q = 1."""
    rest, above = sp.symbols("r h", positive=True)  # 1 - q, gamma - 1
    per_power = gain.slope_over_power()
    return derivation(
        *in_probability_steps(),
        *gain.curvature_steps(),
        step(r"$(g - qg')' = -qg''$: it rises from 1, then falls", _slope_of_ratio()),
        step(r"from 1: $q\,b' \to 0$ as $q \to 0$", (sp.limit(q * sp.diff(symbols.entropy_ratio(), q), q, 0, "+"), 0)),
        *gain.limit_steps()[1:],
        step(
            r"so to 0 at $q = 1$ for $\gamma > 1$, as $g'/r^{\gamma-1} \to -\gamma(1+\gamma)$, $r = 1-q$, stays finite",
            (sp.limit(per_power, q, 1, "-"), -g * (1 + g)),
            (sp.limit(rest**above, rest, 0, "+"), 0),
        ),
        _crossings(symbols.probability_curvature_ratio(q, g), {2: "0.7905", 3: "0.6231", 5: "0.4500"}),
    )


def _slope_of_ratio() -> tuple[sp.Expr, sp.Expr]:
    f = sp.Function("g")(q)
    return sp.diff(f - q * f.diff(q), q), -q * f.diff(q, 2)


def _crossings(ratio: sp.Expr, points: dict[int, str]) -> Step:
    """The ratio is above 1 half a unit of the last digit before each point, and below 1 after it."""
    signs = []
    for gamma, point in points.items():
        half = sp.Rational(5, 10 ** (len(point) - 1))
        before, after = (_ball(ratio, str(sp.Rational(point) + side * half), gamma) - 1 for side in (-1, 1))
        signs.append(bool(before > 0 and after < 0))
    return Step(r"the points are right to the digits shown, by signs on both sides in ball arithmetic", all(signs))


@ours(
    "kn24.curvature_logit_larger",
    "In the logit focal curvature can be over twice cross-entropy's",
    "KN24 on curvature, of the loss itself as a function of the true class' logit",
    r"In the logit of the true class the second derivative of focal loss, with the exponent $\gamma$, can be more than twice that of "
    r"cross-entropy: $\gamma = 2$, $p = 0.27$.",
)
def curvature_logit_larger() -> Evidence:
    """The ratio at this point is computed in ball arithmetic."""
    gained = symbols.gain(q, g)
    excess = _ball(gained - (1 - q) * sp.diff(gained, q), "0.27", 2) - 2
    return derivation(*in_logit_steps(), Step(r"$g - (1-q)g' > 2$ there, in ball arithmetic", bool(excess > 0)))


@ours(
    "kn24.curvature_logit_high",
    "In the logit focal loss is more curved only between two points",
    "KN24 on curvature, of the loss itself as a function of the true class' logit",
    r"In the logit of the true class, for every $\gamma > 0$, the second derivative of focal loss is larger than that of cross-entropy "
    r"exactly between two points, and smaller for every more confident sample: above 0.7147 for $\gamma = 1$, 0.6275 for 2, 0.5624 for 3, "
    r"0.4703 for 5.",
)
def curvature_logit_high() -> Evidence:
    """rho = g - r g' rises from -oo to its top and falls to 0; its mean over (0, 1) is 1, so the top is above 1."""
    psi = 2 * (1 + g) * r * b.diff(q) - (1 + g) * (1 + g * b) - r**2 * b.diff(q, 2)
    falling = -(1 + g) * (2 + g) * b.diff(q) + 2 * (2 + g) * r * b.diff(q, 2) - r**2 * b.diff(q, 3)
    f = sp.Function("g")(q)
    rho = f - (1 - q) * f.diff(q)
    ratio = symbols.entropy_ratio()
    gained = gain.of_b()
    rest = sp.Symbol("r", positive=True)
    return derivation(
        *in_logit_steps(),
        *entropy_ratio.sign_steps(),
        step(
            r"$\rho = g - (1-q)g'$ has $\rho' = 2g' - (1-q)g''$",
            (sp.diff(rho, q), 2 * f.diff(q) - (1 - q) * f.diff(q, 2)),
        ),
        step(
            r"$\rho' = \gamma r^{\gamma-1}\psi$, $\psi = 2(1+\gamma)r\,b' - (1+\gamma)(1+\gamma b) - r^2b''$, $r = 1-q$",
            (sp.expand(gain.over_power(2 * sp.diff(gained, q) - (1 - q) * sp.diff(gained, q, 2), 1) - g * psi), 0),
        ),
        step(
            r"$\psi' = -(1+\gamma)(2+\gamma)b' + 2(2+\gamma)r\,b'' - r^2b^{(3)} < 0$: $\rho$ rises, then falls",
            (sp.expand(sp.diff(psi, q) - falling), 0),
        ),
        step(r"$\rho \to -\infty$ at 0, as $b' \to \infty$ there", (1 / sp.limit(sp.diff(ratio, q), q, 0, "+"), 0)),
        *gain.limit_steps()[1:],
        step(
            r"$\rho \to 0$ at 1, as $r\,g' = r^\gamma\,(g'/r^{\gamma-1})$ and $g'/r^{\gamma-1} \to -\gamma(1+\gamma)$ stays finite",
            (sp.limit(gain.slope_over_power(), q, 1, "-"), -g * (1 + g)),
            (sp.limit(rest**g, rest, 0, "+"), 0),
        ),
        step(
            r"$\rho - 1 = \frac{d}{dq}\big[-(1-q)g - q\big]$, which is $-1$ at both ends: the mean of $\rho$ over $(0, 1)$ is 1, and its "
            r"largest value above 1",
            (sp.diff(-(1 - q) * f - q, q), rho - 1),
        ),
        entropy_ratio.limit_step(r"$g \to 1$ at 0: $b \to 0$"),
        _crossings(symbols.logit_curvature_ratio(q, g), {1: "0.7147", 2: "0.6275", 3: "0.5624", 5: "0.4703"}),
        remark=r"A function that rises from below 1 to above 1 and falls to 0 is above 1 exactly between two points.",
    )


@ours(
    "kn24.logit_convex_corrected",
    "In the logit focal loss is concave for improbable true classes",
    "KN24 on curvature, of the loss itself as a function of the true class' logit",
    r"For every $\gamma > 0$ focal loss is concave in the logit of the true class for small enough $p$, where cross-entropy is convex.",
)
def logit_convex_corrected() -> Evidence:
    """g - (1-q) g' -> -infinity as q -> 0, since g' does to +infinity."""
    negative = _ball(symbols.logit_curvature_ratio(q, g), "0.02", 2)
    return derivation(
        *in_logit_steps(),
        step(
            r"$b'(q) \to \infty$ as $q \to 0$, and with it $g' = (1-q)^\gamma\big[\gamma b' - \frac{\gamma(1+\gamma b)}{1-q}\big]$",
            (1 / sp.limit(sp.diff(symbols.entropy_ratio(), q), q, 0, "+"), 0),
        ),
        step(
            r"the bracket is $g'/(1-q)^\gamma$: its first term wins, so $g' \to \infty$ and $g - (1-q)g' \to -\infty$",
            (
                sp.simplify(sp.diff(symbols.gain(q, g), q) / (1 - q) ** g),
                g * sp.diff(symbols.entropy_ratio(), q) - g * (1 + g * symbols.entropy_ratio()) / (1 - q),
            ),
        ),
        Step(r"for example $\gamma = 2$, $p = 0.02$, in ball arithmetic", bool(negative < 0)),
    )


quoted(
    "kn24.theorem1",
    "Focal loss reduces the curvature of the loss surface",
    "KN24 Abstract, Theorem 1, Corollaries 1 and 2",
    r"'Our analysis suggests that focal loss reduces the curvature of the loss surface in training the model.'",
    lambda: Unchecked(
        "we could not read the formulas of Theorem 1, Corollaries 1 and 2 and Theorem 2; the pointwise claims of this page "
        "are what can be said of the loss itself"
    ),
    in_readme=True,
    instead="of the loss itself, in the logit: for confident samples",
)

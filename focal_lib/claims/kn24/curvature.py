"""KN24 Theorem 1, corollaries, Figs. 2 to 4: 'focal loss reduces curvature', pointwise and where it is true."""

from __future__ import annotations

from collections.abc import Callable

import flint
import numpy as np
import sympy as sp

from focal_lib.claims.evidence import Counterexample, Derivation, Evidence, Search, Step, Unchecked, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.entropy_ratio import entropy_ratio_steps
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls
from focal_lib.theory.second_derivative import logit_curvature_ratio, probability_curvature_ratio

CHAPTER = "11_curvature"
q, s = symbols.q, symbols.s
g = sp.Symbol("gamma", positive=True)


def ratio_steps() -> tuple[Step, ...]:
    """Second derivatives over those of cross-entropy: g - q g' in p, g - (1-q) g' in the logit."""
    f = sp.Function("g")
    sigmoid = 1 / (1 + sp.exp(-s))
    slope = -f(q) / q
    in_logit = sp.diff(-f(sigmoid) * (1 - sigmoid), s)
    return (
        step(r"$L' = -g/q$, so $q^2L'' = g - q\,g'$", q**2 * sp.diff(slope, q), f(q) - q * sp.diff(f(q), q)),
        step(
            r"$\frac{d}{ds}L = -g\,(1-q)$ and $\frac{d^2}{ds^2}L = q(1-q)\,\big[g - (1-q)g'\big]$",
            (in_logit - _at_sigmoid(q * (1 - q) * (f(q) - (1 - q) * sp.diff(f(q), q)), sigmoid)).doit(),
            0,
        ),
    )


def _at_sigmoid(expression: sp.Expr, sigmoid: sp.Expr) -> sp.Expr:
    return expression.subs(q, sigmoid)


def _ball(expression: sp.Expr, point: str, gamma: int) -> flint.arb:
    function = sp.lambdify(q, expression.subs(g, gamma), modules=[{"log": lambda v: v.log()}])
    with balls.precision():
        return function(balls.exact(point))


@claim(
    "kn24.curvature_probability",
    source="KN24 section on curvature, read pointwise in p",
    statement=r"Focal loss has the smaller second derivative in $p$: $L''(p) \le \frac{1}{p^2}$.",
    chapter=CHAPTER,
)
def curvature_probability() -> Evidence:
    """gamma = 2 at p = 1/2."""
    return Counterexample(
        r"$\gamma = 2$, $p = \frac12$: $p^2L'' > 1$", _ball(symbols.probability_curvature_ratio(q, g), "1/2", 2) - 1
    )


@claim(
    "kn24.curvature_probability_low",
    source="KN24 section on curvature, corrected",
    statement=r"For $0 < \gamma \le 1$ it is larger for every $p$: $p^2L'' > 1$.",
    chapter=CHAPTER,
    corrects="kn24.curvature_probability",
)
def curvature_probability_low() -> Evidence:
    """g is strictly concave for gamma <= 1, so g - q g' increases from 1."""
    rest, b0, b1, b2 = sp.symbols("r b b_1 b_2", positive=True)  # 1-q, b, b', -b''
    f = sp.Function("b")(q)
    second = sp.diff((1 - q) ** g * (1 + g * f), q, 2).doit()
    second = second.subs({f.diff(q, 2): -b2, f.diff(q): b1}).subs(f, b0).subs(q, 1 - rest)
    written = -(g * (1 - g) * rest ** (g - 2) * (1 + g * b0) + 2 * g**2 * rest ** (g - 1) * b1 + g * rest**g * b2)
    h = sp.Function("g")(q)
    return Derivation(
        (
            *ratio_steps()[:1],
            *entropy_ratio_steps(),
            step(
                r"$g'' = -\big[\gamma(1-\gamma)r^{\gamma-2}(1+\gamma b) + 2\gamma^2r^{\gamma-1}b' + \gamma r^\gamma|b''|\big] < 0$ for "
                r"$\gamma \le 1$, $r = 1-q$",
                sp.expand(sp.powsimp(sp.expand((second - written) / rest ** (g - 2)), force=True)),
                0,
            ),
            step(r"$(g - qg')' = -qg'' > 0$", sp.diff(h - q * h.diff(q), q), -q * h.diff(q, 2)),
            step(
                r"and at 0 it is $g(0) - 0 = 1$: $q\,b' \to 0$",
                sp.limit(q * sp.diff(symbols.entropy_ratio(), q), q, 0, "+"),
                0,
            ),
        )
    )


@claim(
    "kn24.curvature_probability_high",
    source="KN24 section on curvature, corrected",
    statement=r"For $\gamma > 1$ it is smaller exactly above one point, 0.7905 for $\gamma = 2$, 0.6231 for 3, 0.4500 for 5.",
    chapter=CHAPTER,
    corrects="kn24.curvature_probability",
)
def curvature_probability_high() -> Evidence:
    """Sign of q^2 L'' - 1 on a dense grid: one change."""
    printed = {2.0: 0.79053744, 3.0: 0.62308748, 5.0: 0.45002654, 10.0: 0.27697484}
    return _one_change(probability_curvature_ratio, printed)


@claim(
    "kn24.curvature_logit",
    source="KN24 section on curvature, read pointwise in the logit",
    statement=r"Focal loss has the smaller second derivative in the logit of the true class.",
    chapter=CHAPTER,
    headline="smaller curvature in the logit",
    instead="for confident samples",
)
def curvature_logit() -> Evidence:
    """gamma = 2 at p = 0.27: more than twice."""
    return Counterexample(
        r"$\gamma = 2$, $p = 0.27$: more than twice that of cross-entropy",
        _ball(symbols.logit_curvature_ratio(q, g), "0.27", 2) - 2,
    )


@claim(
    "kn24.curvature_logit_high",
    source="KN24 section on curvature, corrected",
    statement=r"For $0.01 \le p$ beyond the dip at small $p$ it is smaller exactly above one point: 0.7147 for $\gamma = 1$, 0.6275 for 2, "
    r"0.5624 for 3, 0.4703 for 5.",
    chapter=CHAPTER,
    corrects="kn24.curvature_logit",
)
def curvature_logit_high() -> Evidence:
    """Sign of the ratio minus 1 above its maximum."""
    printed = {1.0: 0.71474496, 2.0: 0.62753497, 3.0: 0.56235499, 5.0: 0.47025299}
    return _one_change(logit_curvature_ratio, printed, low=0.2)


def _one_change(
    ratio: Callable[[np.ndarray, float], np.ndarray], crossings: dict[float, float], low: float = 1e-6
) -> Evidence:
    worst, points = np.inf, 0
    for gamma, crossing in crossings.items():
        grid = np.linspace(low, 1 - 1e-9, 20_000)
        excess = ratio(grid, gamma) - 1
        away = np.abs(grid - crossing) > 1e-4
        worst = min(worst, float((np.sign(crossing - grid) * excess)[away].min()))
        points += grid.size
    return Search(
        rf"$p \ge {low:g}$, $\gamma \in \{{{', '.join(f'{v:g}' for v in crossings)}\}}$; one change of sign",
        points,
        worst,
    )


@claim(
    "kn24.logit_convex",
    source="KN24 section on curvature, implicit",
    statement=r"Focal loss is convex in the logit of the true class, as cross-entropy is.",
    chapter=CHAPTER,
)
def logit_convex() -> Evidence:
    """gamma = 2, p = 0.02."""
    return Counterexample(
        r"$\gamma = 2$, $p = 0.02$: $\frac{d^2L}{ds^2} < 0$", -_ball(symbols.logit_curvature_ratio(q, g), "0.02", 2)
    )


@claim(
    "kn24.logit_convex_corrected",
    source="KN24 section on curvature, corrected",
    statement=r"For every $\gamma > 0$ focal loss is concave in the logit of the true class for small enough $p$.",
    chapter=CHAPTER,
    corrects="kn24.logit_convex",
)
def logit_convex_corrected() -> Evidence:
    """g - (1-q) g' -> -infinity as q -> 0, since g' does to +infinity."""
    return Derivation(
        (
            *ratio_steps(),
            step(
                r"$b'(q) \to \infty$ as $q \to 0$, and with it $g' = (1-q)^\gamma\big[\gamma b' - \frac{\gamma(1+\gamma b)}{1-q}\big]$",
                1 / sp.limit(sp.diff(symbols.entropy_ratio(), q), q, 0, "+"),
                0,
            ),
            step(
                r"the bracket is $g'/(1-q)^\gamma$: its first term wins, so $g' \to \infty$ and $g - (1-q)g' \to -\infty$",
                sp.simplify(sp.diff(symbols.gain(q, g), q) / (1 - q) ** g),
                g * sp.diff(symbols.entropy_ratio(), q) - g * (1 + g * symbols.entropy_ratio()) / (1 - q),
            ),
        )
    )


def _needs(what: str) -> Evidence:
    return Unchecked(f"needs {what}; the book's runs keep the final logits of a small CNN on Fashion-MNIST")


@claim(
    "kn24.theorem1",
    source="KN24 Theorem 1, Corollaries 1 and 2",
    statement=r"Focal loss reduces the largest eigenvalue of the loss Hessian with respect to the weights.",
    chapter=CHAPTER,
)
def theorem1() -> Evidence:
    """The formulas are missing from the text at hand."""
    return Unchecked(
        "the text at hand has lost the formulas of Theorem 1, Corollaries 1 and 2 and Theorem 2; the pointwise claims of this page "
        "are what can be said of the loss itself"
    )


@claim(
    "kn24.fig2",
    source="KN24 Fig. 2",
    statement=r"$\lambda_{\max}(H_{val})$ decreases monotonically with $\gamma$ on CIFAR-100; ECE is smallest near $\gamma = 3, 4$ (10 for ViT).",
    chapter=CHAPTER,
)
def fig2() -> Evidence:
    """Needs Hessians of several networks."""
    return _needs("Hessians of several networks, a ViT among them, trained on CIFAR-100")


@claim(
    "kn24.fig3",
    source="KN24 Fig. 3",
    statement=r"ECE is smallest where $\operatorname{Tr}(H_{val})$ is reduced to a certain extent, not most.",
    chapter=CHAPTER,
)
def fig3() -> Evidence:
    """Needs Hessian traces of several networks."""
    return _needs("Hessian traces of networks trained on CIFAR-100")

"""KK24 Prop. 3: temperatures that bound the binary map; and the numbers of section 3.2."""

from __future__ import annotations

import math

import sympy as sp

from focal_lib.claims.evidence import All, Counterexample, Derivation, Evidence, Measurement, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.logit_gap import logit_gap_steps
from focal_lib.claims.lemmas.map_slope import map_slope_steps
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls, formulas
from focal_lib.theory.temperature_bounds import printed_temperature_bounds, temperature_bounds

CHAPTER = "04_temperature_bounds"
s = symbols.s


@claim(
    "kk24.prop3",
    source="KK24 Prop. 3",
    statement=r"For all logits and $\gamma > 0$ the map lies between the temperatures "
    r"$\frac{1}{\gamma+1}$ and $\frac{1}{\gamma+1-\frac12\log(\gamma+1)}$.",
    chapter=CHAPTER,
    headline="the binary map lies between two temperatures",
    instead="its printed proof fails; sharp bounds given",
)
def prop3() -> Evidence:
    """0 < R(s)/s < log(1+gamma)/2, by the integral over gamma; not the printed proof."""
    return Derivation(
        (*map_slope_steps()[:3], *logit_gap_steps()),
        r"$\beta(s) = \gamma + 1 - R(s)/s$ lies between $\gamma + 1 - \frac12\log(1+\gamma)$ and $\gamma + 1$.",
    )


@claim(
    "kk24.prop3_log",
    source="sharpens KK24 Prop. 3",
    statement=r"$R(s)/s < (2\log2-1)\log(1+\gamma)$: the factor $\frac12$ of the printed bound can be $2\log 2 - 1 = 0.386\ldots$, and nothing "
    r"smaller.",
    chapter=CHAPTER,
    corrects=("kk24.prop3_proof_derivative", "kk24.prop3_proof_comparison"),
)
def prop3_log() -> Evidence:
    """The bound of logit_gap_steps; and R'(0)/log(1+gamma) tends to that factor as gamma -> 0."""
    g = sp.Symbol("gamma", positive=True)
    at_zero = sp.diff(symbols.logit_gap(s, g), s).subs(s, 0)
    return Derivation(
        (
            *logit_gap_steps(),
            step(
                r"$\lim_{\gamma\to0} \frac{R'(0)}{\log(1+\gamma)} = 2\log2-1$: no smaller factor will do",
                sp.limit(sp.simplify(at_zero) / sp.log(1 + g), g, 0, "+"),
                2 * sp.log(2) - 1,
            ),
        )
    )


@claim(
    "kk24.prop3_simple",
    source="sharpens KK24 Prop. 3",
    statement=r"For every $\gamma > 0$: $\frac1{\gamma+1} < T < \frac1\gamma$, better than the printed bound for $\gamma > e^2 - 1$.",
    chapter=CHAPTER,
)
def prop3_simple() -> Evidence:
    """R' in (0, 1) gives gamma < beta < gamma + 1; and log(1+gamma)/2 > 1 beyond e^2 - 1."""
    g = sp.Symbol("gamma", positive=True)
    root = sp.solve(sp.Eq(sp.log(1 + g) / 2, 1), g)
    return Derivation(
        (*map_slope_steps(), step(r"$\frac12\log(1+\gamma) = 1$ only at $e^2-1$", root[0], sp.E**2 - 1)),
        r"Means of a slope between $\gamma$ and $\gamma + 1$ lie between them.",
    )


@claim(
    "kk24.prop3_proof_derivative",
    source="KK24 App. A.3, proof",
    statement=r"With $f = e^{R}$: $f'(s) \le \frac{\log(\gamma+1)}{2}$ for $s \ge 0$.",
    chapter=CHAPTER,
)
def prop3_proof_derivative() -> Evidence:
    """False at gamma = 4, s = 2.7."""
    with balls.precision():
        point, g = balls.exact("2.7"), balls.exact(4)
        f = formulas.logit_gap(point, g).exp()
        value = f * g * formulas.logit_gap_slope(point, g)
    return Counterexample(r"$\gamma = 4$, $s = 2.7$: $f' > \frac12\log 5$", value - balls.exact(5).log() / 2)


@claim(
    "kk24.prop3_proof_comparison",
    source="KK24 App. A.3, proof",
    statement=r"The derivative of $(\gamma+1)^{s/2}$ is at least $\frac{\gamma+1}{2}$ for $s \ge 0$, so $f \le (\gamma+1)^{s/2}$ "
    r"follows from $f' \le \frac{\gamma+1}{2}$.",
    chapter=CHAPTER,
)
def prop3_proof_comparison() -> Evidence:
    """At s = 0 that derivative is log(1+gamma)/2, smaller than (gamma+1)/2."""
    with balls.precision():
        margin = (balls.exact(5) - balls.exact(5).log()) / 2
    return Counterexample(r"$\gamma = 4$, $s = 0$: the derivative is $\frac12\log 5$, not $\ge \frac52$", margin)


@claim(
    "kk24.prop3_example_theory",
    source="KK24 section 3.2",
    statement=r"For $\gamma = 4$ the printed bounds are $T = 0.2$ and $T = 0.238$.",
    chapter=CHAPTER,
)
def prop3_example_theory() -> Evidence:
    """The formulas at gamma = 4."""
    low, high = printed_temperature_bounds(4.0)
    return All(
        (
            Measurement(r"$1/(\gamma+1)$", "0.2", low, 0.2, 5e-4),
            Measurement(r"$1/(\gamma+1-\frac12\log(\gamma+1))$", "0.238", high, 0.238, 5e-4),
        )
    )


@claim(
    "kk24.prop3_example_upper",
    source="KK24 section 3.2",
    statement=r"For $\gamma = 4$ the search over logits $(-20, 20)$ gives the upper bound $T = 0.218$.",
    chapter=CHAPTER,
)
def prop3_example_upper() -> Evidence:
    """The exact bound, rounded to the search's step."""
    return Measurement("upper $T$", "0.218", temperature_bounds(4.0, radius=20)[1], 0.218, 5e-4)


@claim(
    "kk24.prop3_example_lower",
    source="KK24 section 3.2",
    statement=r"For $\gamma = 4$ the search over logits $(-20, 20)$ gives the lower bound $T = 0.206$.",
    chapter=CHAPTER,
)
def prop3_example_lower() -> Evidence:
    """Exactly 0.2033 on (-20, 20)."""
    low = temperature_bounds(4.0, radius=20)[0]
    return Measurement(r"lower $T$ on $(-20, 20)$", "0.206", low, 0.206, 1e-3)


@claim(
    "kk24.prop3_example_lower_corrected",
    source="KK24 section 3.2, corrected",
    statement=r"0.206 is what the search gives on logits $(-10, 10)$.",
    chapter=CHAPTER,
    corrects="kk24.prop3_example_lower",
)
def prop3_example_lower_corrected() -> Evidence:
    """The exact lower bound on (-10, 10), rounded down to the grid."""
    low = temperature_bounds(4.0, radius=10)[0]
    return Measurement(r"lower $T$ on $(-10, 10)$", "0.206", math.floor(1000 * low) / 1000, 0.206, 1e-9)

"""KK24 Prop. 3: temperatures that bound the binary map; and the numbers of section 3.2."""

from __future__ import annotations

import math

import numpy as np
import sympy as sp

from focal_lib.theory.temperature_bounds import (
    printed_temperature_bounds,
    temperature_bounds,
    temperature_bounds_by_search,
)
from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import All, Evidence, Step, Unchecked, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map

CHAPTER = "temperature_bounds"
quoted = Rows(CHAPTER, "quoted")
paraphrased = Rows(CHAPTER, "paraphrased")
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")
s, g = symbols.s, symbols.g


quoted(
    "kk24.prop3",
    "The binary map lies between two temperature scalings",
    "KK24 Prop. 3",
    # one of the temperatures is damaged there and whole in App. A.3
    r"For all logits and $\gamma > 0$ the map can 'be bounded between two temperature scaling maps' with "
    r"$T = \frac{1}{\gamma+1}$ and $T = \frac{1}{\gamma+1-\frac12\log(\gamma+1)}$.",
    lambda: derivation(
        *binary_map.gap_slope_steps(),
        *binary_map.logit_gap_steps(),
        remark=r"$\beta(s) = \gamma + 1 - R(s)/s$ lies between $\gamma + 1 - \frac12\log(1+\gamma)$ and $\gamma + 1$.",
    ),
    formal=formal("exact", "kk24_prop3"),
    in_readme=True,
    instead="with another proof; sharp bounds given",
)


@ours(
    "kk24.prop3_log",
    "The factor 1/2 in the upper bound sharpens to 2 log 2 - 1",
    "sharpens KK24 Prop. 3",
    r"$R(s)/s < (2\log2-1)\log(1+\gamma)$ for $\gamma > 0$ and every logit $s \ne 0$, with $\operatorname{logit}\hat p(q) = (\gamma+1)s - R(s)$: the factor "
    r"$\frac12$ of the printed bound can be $2\log 2 - 1$, and nothing smaller serves every $\gamma$.",
    formal=formal("exact", "kk24_prop3_log_strict", "kk24_prop3_log", "kk24_prop3_log_smallest"),
)
def prop3_log() -> Evidence:
    """The bound of logit_gap_steps; and R'(0)/log(1+gamma) tends to that factor as gamma -> 0."""
    at_zero = sp.diff(symbols.logit_gap(s, g), s).subs(s, 0)
    return derivation(
        *binary_map.logit_gap_steps(),
        step(
            r"$\lim_{\gamma\to0} \frac{R'(0)}{\log(1+\gamma)} = 2\log2-1$: no smaller factor will do",
            (sp.limit(sp.simplify(at_zero) / sp.log(1 + g), g, 0, "+"), 2 * sp.log(2) - 1),
        ),
    )


@ours(
    "kk24.prop3_simple",
    "The bounding temperature of the binary map lies between 1/(gamma + 1) and 1/gamma",
    "sharpens KK24 Prop. 3",
    r"For every $\gamma > 0$ and logit $s \ne 0$ the temperature of the map, $T = s/\operatorname{logit}\hat p(q)$, has $\frac1{\gamma+1} < T < \frac1\gamma$, better than the printed bound for $\gamma > e^2 - 1$.",
    formal=formal("exact", "kk24_prop3_simple_temperature", "kk24_prop3_simple_better"),
)
def prop3_simple() -> Evidence:
    """R' in (0, 1) gives gamma < beta < gamma + 1; and log(1+gamma)/2 > 1 beyond e^2 - 1."""
    root = sp.solve(sp.Eq(sp.log(1 + g) / 2, 1), g)
    return derivation(
        *binary_map.map_slope_steps(),
        step(r"$\frac12\log(1+\gamma) = 1$ only at $e^2-1$", (root[0], sp.E**2 - 1)),
        remark=r"Means of a slope between $\gamma$ and $\gamma + 1$ lie between them.",
    )


quoted(
    "kk24.prop3_proof_bound",
    "Bounding the derivative by a constant is enough for the upper bound",
    "KK24 App. A.3, proof",
    r"With $f = e^{R}$: 'it is enough to show that' $\max f'$ is at most a constant, whose formula is damaged.",
    lambda: Unchecked(
        "the bound of f' is damaged in the text that was read, both times; what is left of its derivation, a comparison with "
        r"$(\gamma + 1)^2$, fits $(\gamma + 1)/2$. kk24.prop3_proof_gap says what no constant can do"
    ),
)

quoted(
    "kk24.prop3_proof_comparison_holds",
    "A comparison function has a higher derivative than the ratio of odds",
    "KK24 App. A.3, proof",
    r"'The derivative of the function' of a formula that is damaged in our copy 'is higher than derivative' $f'(s)$ 'for $s > 0$'.",
    lambda: Unchecked(
        "the formula of the function, and that of its derivative, are damaged in our copy; kk24.prop3_proof_comparison_reading proves it "
        "of the function that the step before names"
    ),
)


@ours(
    "kk24.prop3_proof_comparison_reading",
    "Read as (gamma + 1)^(s/2), that function has the higher derivative",
    "KK24 App. A.3, proof, under a reading",
    r"Under the reading that the function is $(\gamma+1)^{s/2}$ the sentence is true: for every $\gamma > 0$ its derivative is higher than "
    r"$f'(s)$ for $s > 0$.",
)
def prop3_proof_comparison_reading() -> Evidence:
    """f' = R' e^R with R' below half of log(1 + gamma), which gives the bound of Prop. 3 besides."""
    gap = sp.Function("R")(s)
    return derivation(
        *binary_map.gap_slope_below_log_steps(),
        step(r"$f = e^R$ has $f' = R'e^R$", (sp.diff(sp.exp(gap), s), gap.diff(s) * sp.exp(gap))),
        step(
            r"$(\gamma+1)^{s/2}$ has the derivative $\frac12\log(\gamma+1)\,(\gamma+1)^{s/2}$",
            (sp.diff((g + 1) ** (s / 2), s), sp.log(g + 1) / 2 * (g + 1) ** (s / 2)),
        ),
        remark=r"For $s > 0$, $R(s) = \int_0^sR' < \frac s2\log(\gamma+1)$, which is Prop. 3 once more, and so "
        r"$f' = R'e^R < \frac12\log(\gamma+1)\,(\gamma+1)^{s/2}$.",
    )


@ours(
    "kk24.prop3_proof_gap",
    "No constant bound of the derivative gives the comparison for every gamma",
    "KK24 App. A.3, on the step from a bound of f' to the comparison of derivatives",
    r"With $f = e^R$, $R = (\gamma+1)\,s - \operatorname{logit}\hat p$, $s = \operatorname{logit} q$, no constant bound of $f'$ gives the comparison for every $\gamma$: at $s = 0$ the derivative of $(\gamma+1)^{s/2}$ is "
    r"$\frac12\log(\gamma+1)$, below $\frac{\gamma+1}{2}$ for every $\gamma > 0$, and $f'$ exceeds $\frac12\log(\gamma+1)$ at $\gamma = 4$, $s = 2.7$.",
)
def prop3_proof_gap() -> Evidence:
    """A constant C with f' <= C <= ((gamma+1)^(s/2))' for every s > 0 must be at most log(gamma+1)/2; at gamma = 4 none is."""
    power, below = (g + 1) ** (s / 2), (g + 1) / 2 - sp.log(g + 1) / 2
    with balls.precision():
        point, four = balls.exact("2.7"), balls.exact(4)
        slope = formulas.logit_gap(point, four).exp() * four * formulas.logit_gap_slope(point, four)
        exceeds = slope - balls.exact(5).log() / 2 > 0
    return derivation(
        step(
            r"$\frac{d}{ds}(\gamma+1)^{s/2} = \frac12\log(\gamma+1)$ at $s = 0$",
            (sp.diff(power, s).subs(s, 0), sp.log(g + 1) / 2),
        ),
        step(
            r"$\frac{\gamma+1}{2} - \frac12\log(\gamma+1)$ is $\frac12$ at $\gamma = 0$ with derivative "
            r"$\frac{\gamma}{2(\gamma+1)} > 0$",
            (below.subs(g, 0), sp.Rational(1, 2)),
            (sp.diff(below, g), g / (2 * (g + 1))),
        ),
        Step(r"$\gamma = 4$, $s = 2.7$: $f' > \frac12\log 5$, in ball arithmetic", bool(exceeds)),
    )


quoted(
    "kk24.prop3_proof_increasing",
    "The ratio of odds is above 1 for positive logits, below for negative",
    "KK24 App. A.3, proof",
    r"$f_\gamma(s) \ge 1$ for $s \ge 0$ and $f_\gamma(s) \le 1$ for $s \le 0$ ($\gamma > 0$): 'trivially' $f > 0$ 'and' $f(0) = 1$, 'the nominator "
    r"is monotonically increasing' 'and the denominator monotonically decreasing'.",
    lambda: derivation(
        step(
            r"$f = e^R = \frac{1+\gamma u(s)}{1+\gamma u(-s)}$, $u(s) = e^s\log(1+e^{-s})$, is 1 at $s = 0$",
            (sp.exp(symbols.logit_gap(s, g)), (1 + g * symbols.u(s)) / (1 + g * symbols.u(-s))),
            (sp.exp(symbols.logit_gap(s, g)).subs(s, 0), 1),
        ),
        *binary_map.slope_of_u_steps()[:2],
        step(
            r"the numerator has the slope $\gamma(u-q) > 0$, the denominator $-\gamma(\bar u - \bar q) < 0$",
            (sp.diff(1 + g * symbols.u(s), s), g * (symbols.u(s) - 1 / (1 + sp.exp(-s)))),
            (sp.diff(1 + g * symbols.u(-s), s), -g * (symbols.u(-s) - 1 / (1 + sp.exp(s)))),
        ),
        remark=r"$u > q > 0$, so both are positive.",
    ),
    formal=formal("exact", "kk24_prop3_proof_increasing"),
)


@reading(
    "kk24.prop3_proof_discriminant",
    "Two quadratics in gamma keep their sign for every gamma",
    "KK24 App. A.3, proof",
    r"'$\gamma^2(2\log^2(2) - 1) + \gamma(2\log(2) - 1) - 1 < 0$ $\forall\gamma$ as $D = (4\log^2(2) - 4\log(2) + 1) + 8\log^2(2) - 4 "
    r"= -3 + 12\log^2(2) - 4\log(2) < 0$', and for $s < 0$ $\gamma^2\log(2) + \gamma(1 - 3\log(2)) + 1 > 0$ $\forall\gamma$. "
    r"(What stands before these is damaged and not checked.)",
)
def prop3_proof_discriminant() -> Evidence:
    """Both discriminants are negative, so the signs are those of the leading coefficients."""
    g, two = sp.Symbol("gamma", real=True), sp.log(2)
    first = sp.Poly(g**2 * (2 * two**2 - 1) + g * (2 * two - 1) - 1, g)
    second = sp.Poly(g**2 * two + g * (1 - 3 * two) + 1, g)
    with balls.precision():
        log2 = balls.exact(2).log()
        lead, printed = 2 * log2**2 - 1, -3 + 12 * log2**2 - 4 * log2
        other = (1 - 3 * log2) ** 2 - 4 * log2
    return derivation(
        step(
            r"the discriminant of the first is $(4\log^22 - 4\log2 + 1) + 8\log^22 - 4 = -3 + 12\log^22 - 4\log2$",
            (first.discriminant(), (4 * two**2 - 4 * two + 1) + 8 * two**2 - 4),
            (first.discriminant(), -3 + 12 * two**2 - 4 * two),
        ),
        Step(
            rf"it is negative, {float(printed.mid()):.6f}, as is $2\log^22 - 1$, in ball arithmetic",
            bool(printed < 0 and lead < 0),
        ),
        step(
            r"that of the second is $(1-3\log2)^2 - 4\log2$",
            (second.discriminant(), (1 - 3 * two) ** 2 - 4 * two),
            simplify=sp.expand,
        ),
        Step(r"negative as well, and $\log2 > 0$", bool(other < 0 and log2 > 0)),
    )


reading(
    "kk24.prop3_proof_negative",
    "The lower bound of the ratio holds for negative logits",
    "KK24 App. A.3, proof",
    r"$f_\gamma(s) \ge (\gamma+1)^{s/2}$ 'for negative logits $s < 0$' ($\gamma > 0$). (The sign is turned in our copy and right where "
    r"the step is announced. Whether it follows from 'the same considerations' is kk24.prop3_proof_negative_gap.)",
    lambda: derivation(
        *binary_map.gap_slope_steps(),
        *binary_map.logit_gap_steps(),
        remark=r"$f(-s) = e^{-R(s)} > (\gamma+1)^{-s/2}$ for $s > 0$.",
    ),
    formal=formal("exact", "kk24_prop3_proof_negative"),
)


@ours(
    "kk24.prop3_proof_negative_gap",
    "For negative logits comparing derivatives does not give the bound",
    "KK24 App. A.3, on the half s < 0",
    r"For $s < 0$ comparing $f'$ with the derivative of $(\gamma+1)^{s/2}$ does not give the bound for every $\gamma$: where $\gamma \ge e^2 - 1$, $f'$ exceeds the derivative of "
    r"$(\gamma+1)^{s/2}$ for all $s$ far enough below 0.",
)
def prop3_proof_negative_gap() -> Evidence:
    """f' over e^s is unbounded as s -> -oo, and the other derivative over e^s is not."""
    g, t = sp.symbols("gamma t", positive=True)  # t = e^s
    high, low = t * sp.log(1 + 1 / t), sp.log(1 + t) / t  # u(s), u(-s)
    q = t / (1 + t)
    numerator = g * (high - q) * (1 + g * low) + (1 + g * high) * g * (low - (1 - q))
    return derivation(
        *binary_map.gap_slope_steps(),
        step(
            r"$f' = \frac{N}{(1+\gamma\bar u)^2}$, $N = \gamma(u-q)(1+\gamma\bar u) + \gamma(\bar u-\bar q)(1+\gamma u)$, by $f' = R'f$",
            (
                numerator / (1 + g * low) ** 2,
                (g * (high - q) / (1 + g * high) + g * (low - (1 - q)) / (1 + g * low))
                * (1 + g * high)
                / (1 + g * low),
            ),
        ),
        step(r"with $t = e^s \to 0$: $\frac{u-q}{t} \to \infty$", (1 / sp.limit(high / t - 1 / (1 + t), t, 0, "+"), 0)),
        step(
            r"and $\bar u \to 1$, so $f'/t \to \infty$, the second term of $N$ being positive",
            (sp.limit(low, t, 0, "+"), 1),
        ),
        step(
            r"the other derivative over $t$ is $\frac12\log(\gamma+1)\,t^{\frac12\log(\gamma+1) - 1}$, at most $\frac12\log(\gamma+1)$ for "
            r"$t \le 1$ where $\gamma + 1 \ge e^2$",
            (sp.diff((g + 1) ** (s / 2), s), sp.log(g + 1) / 2 * (g + 1) ** (s / 2)),
        ),
        step(
            r"($(\gamma+1)^{s/2} = t^{\frac12\log(\gamma+1)}$, and the exponent is $1$ at $\gamma = e^2 - 1$)",
            ((sp.log(g + 1) / 2).subs(g, sp.E**2 - 1), 1),
        ),
    )


@reading(
    "kk24.fig3_tighter",
    "Temperature bounds found by search are considerably tighter than the theoretical ones",
    "KK24 section 3.2, Fig. 3",
    r"'The experimental bounds are considerably tighter than the theoretical'. (Taken as: for its logits, 'in the range $(-20, 20)$', the widths of "
    r"Fig. 3, right, at most three quarters of the printed bounds' for $\gamma$ of 0.1, 0.5, 1, 2, 4 and 10, both for the exact bounds on these logits and for "
    r"the paper's search, whose temperatures are multiples of 0.001, here with a logit step of 0.05.)",
)
def fig3_tighter() -> Evidence:
    """The largest ratio of the widths, for a logit step of 0.05 in the search instead of 0.001."""
    gammas = (0.1, 0.5, 1.0, 2.0, 4.0, 10.0)
    printed = [printed_temperature_bounds(g) for g in gammas]
    exact = [temperature_bounds(g, 20) for g in gammas]
    found = [temperature_bounds_by_search(g, 20, logit_step=0.05) for g in gammas]
    parts = []
    for name, bounds in (("exact on these logits", exact), ("by the search", found)):
        ratio = float(np.max(np.diff(bounds) / np.diff(printed)))
        quantity = rf"largest ratio of the widths, {name}, {len(gammas)} values of $\gamma$"
        parts.append(Measurement(quantity, "considerably below 1", ratio, holds=ratio <= 0.75))
    return All(tuple(parts))


@quoted(
    "kk24.prop3_example_theory",
    "At gamma 4 the theoretical bounds are T = 0.2 and 0.238",
    "KK24 section 3.2",
    r"'The focal calibration with $\gamma = 4$ for all possible logits are bounded between temperature scaling with' $T = 0.2$ "
    r"and $T = 0.238$.",
    formal=formal("exact", "kk24_example_theory"),
)
def prop3_example_theory() -> Evidence:
    """The bound of kk24.prop3_log, below the printed one, holds for every logit; the printed formulas give both numbers."""
    with balls.precision():
        log5 = balls.exact(5).log()
        sharper = 1 / (5 - (2 * balls.exact(2).log() - 1) * log5)
        printed = 1 / (5 - log5 / 2)
        below = sharper < balls.exact("0.238")
        rounded = bool(printed > balls.exact("0.2375")) and bool(printed < balls.exact("0.2385"))
    return derivation(
        *binary_map.gap_slope_steps(),
        *binary_map.logit_gap_steps(),
        step(
            r"$\frac1{\gamma+1}$ at $\gamma = 4$ is 0.2",
            (1 / (symbols.gamma + 1).subs(symbols.gamma, 4), sp.Rational(1, 5)),
        ),
        Step(r"$\frac1{\gamma+1-(2\log2-1)\log(\gamma+1)}$ is below 0.238, in ball arithmetic", bool(below)),
        Step(r"$\frac1{\gamma+1-\frac12\log(\gamma+1)}$ is 0.238 to three decimals, in ball arithmetic", rounded),
        remark=rf"$\frac15 < T = s/\operatorname{{logit}}\hat p(q) < {float(sharper.mid()):.4f}$ for every $s$; the printed bound, {float(printed.mid()):.4f}, "
        r"is rounded down to 0.238, which bounds all the same.",
    )


paraphrased(
    "kk24.prop3_example_upper",
    "At gamma 4 the search gives the upper bound T = 0.218",
    "KK24 section 3.2",
    r"For $\gamma = 4$ the search over logits $(-20, 20)$ in steps of 0.001 gives the upper bound $T = 0.218$, the smallest that bounds.",
    lambda: Measurement(
        "upper $T$ on $(-20, 20)$", "0.218", math.ceil(1000 * temperature_bounds(4.0, radius=20)[1]) / 1000, 0.218, 1e-9
    ),
    formal=formal("equivalent", "kk24_example_upper"),
)

paraphrased(
    "kk24.prop3_example_lower",
    "At gamma 4 the search gives the lower bound T = 0.206",
    "KK24 section 3.2",
    r"For $\gamma = 4$ the search over logits $(-20, 20)$ in steps of 0.001 gives the lower bound $T = 0.206$, the largest that bounds.",
    lambda: Measurement(r"lower $T$ on $(-20, 20)$", "0.206", temperature_bounds(4.0, radius=20)[0], 0.206, 1e-3),
    formal=formal("equivalent", "kk24_example_lower_refuted", "kk24_example_lower_20"),
    instead="it does on half that range of logits",
)

ours(
    "kk24.prop3_example_lower_corrected",
    "The lower bound 0.206 belongs to logits between -10 and 10",
    "KK24 section 3.2, corrected",
    r"For $\gamma = 4$, 0.206 is what the search gives on logits $(-10, 10)$, the largest multiple of 0.001 that bounds there.",
    lambda: Measurement(
        r"lower $T$ on $(-10, 10)$",
        "0.206",
        math.floor(1000 * temperature_bounds(4.0, radius=10)[0]) / 1000,
        0.206,
        1e-9,
        said="claimed",
    ),
    formal=formal("equivalent", "kk24_example_lower_10"),
    corrects="kk24.prop3_example_lower",
)

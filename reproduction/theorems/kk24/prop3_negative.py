"""Negative gamma in the binary map: what KK24 plugs in without analysis."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import All, Derivation, Evidence, Step, step, step_of_several
from reproduction.ledger.ledger import Rows, claim
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.map_slope import limits_of_u
from reproduction.theorems.lemmas.turning_negative import falling_certificate

CHAPTER = "03_binary"
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")


@reading(
    "kk24.negative_inverse_sigmoid",
    "KK24 section 3.2",
    # the negative gamma of section 5.1 are -0.5 and -0.25
    r"'Technically, negative $\gamma$ could also be plugged into the calibration map, yielding an \"inverse\"-sigmoid shape on the "
    r"opposite side of the diagonal', shown in Fig. 1. (Taken as: for $\gamma = -0.5$ and $-0.25$, those of section 5.1, confidence falls everywhere.)",
)
def negative_inverse_sigmoid() -> Evidence:
    """Both lie above the gamma from which on beta falls from a value of at most 1."""
    printed = (sp.Rational(-1, 2), sp.Rational(-1, 4))
    above = Step(
        r"$\gamma = -0.5$ and $-0.25$ lie between that root and 0", all(bool(ROOT < gamma < 0) for gamma in printed)
    )
    return All((falling_certificate(), Derivation((*falling_steps(), *slope_at_zero_steps(below=False), above))))


@ours(
    "kk24.negative_confidence_falls",
    "KK24 section 3.2, for every negative gamma",
    r"For $-1 \le \gamma < 0$ the map lowers confidence everywhere if and only if $\gamma \ge 2 - \frac{2}{\log2}$; below that it "
    r"raises it next to $q = \frac12$.",
)
def negative_confidence_falls() -> Evidence:
    """beta falls from beta(0), which is at most 1 from gamma = 2 - 2/log 2 on; below, confidence rises near s = 0."""
    steps = (*falling_steps(), *slope_at_zero_steps(below=False), *slope_at_zero_steps(below=True))
    rises = "Where the slope of the map in logits is above 1 at $s = 0$, confidence rises for small $s$."
    return All((falling_certificate(), Derivation(steps, rises)))


ROOT = 2 - 2 / sp.log(2)  # of beta(0) = 1


def falling_steps() -> tuple[Step, ...]:
    """From R'' > 0: R/s rises, so beta falls from beta(0) to gamma + 1."""
    f = sp.Function("R")(symbols.s)
    return (
        step(
            r"$(R/s)'s^2 = sR' - R$ is 0 at 0 with derivative $sR'' > 0$: $R/s$ rises, and $\beta = \gamma + 1 - R/s$ falls",
            sp.diff(sp.diff(f / symbols.s, symbols.s) * symbols.s**2, symbols.s),
            symbols.s * sp.diff(f, symbols.s, 2),
        ),
        step_of_several(
            r"to $\gamma + 1$ for $\gamma > -1$: $u \to 1$ and $\bar u \to 0$, so $R$ is bounded and $R/s \to 0$",
            *limits_of_u(),
        ),
    )


def slope_at_zero_steps(below: bool) -> tuple[Step, ...]:
    """beta(0) - 1 = gamma (gamma log 2 + 2 - 2 log 2)/(1 + gamma log 2), and its sign on one side of its root."""
    g, away = sp.Symbol("gamma", real=True), sp.Symbol("d", positive=True)
    slope = sp.diff(symbols.binary_map_of_logit(symbols.s, g), symbols.s).subs(symbols.s, 0)
    written = g * (g * sp.log(2) + 2 - 2 * sp.log(2)) / (1 + g * sp.log(2))
    factor = (g * sp.log(2) + 2 - 2 * sp.log(2)).subs(g, ROOT + (-away if below else away))
    side, sign = ("below", "positive") if below else ("above", "negative")
    return (
        step(r"$\beta(0) - 1 = \frac{\gamma\,(\gamma\log2 + 2 - 2\log2)}{1+\gamma\log2}$", slope - 1, written),
        step(
            rf"the bracket is {'negative' if below else 'positive'} {side} its root $2 - \frac2{{\log2}}$, so with $\gamma < 0$ and "
            rf"$1 + \gamma\log2 \ge 1 - \log2 > 0$ it is {sign}",
            (sp.simplify(factor).is_negative if below else sp.simplify(factor).is_positive)
            and (1 - sp.log(2)).is_positive,
        ),
    )


@claim(
    "kk24.negative_bounds",
    source="extends KK24 Prop. 3",
    statement=r"For $-1 < \gamma < 0$ the map lies between the temperatures $1/\beta(0)$ and $1/(\gamma+1)$.",
    chapter="04_temperature_bounds",
    fidelity="ours",
    not_formalised="tried; it needs more than the lemmas at hand",
)
def negative_bounds() -> Evidence:
    """beta falls from beta(0) to gamma + 1."""
    return All((falling_certificate(), Derivation(falling_steps())))

"""The sharp temperatures that bound the binary map, for every gamma, and what a negative gamma does to it."""

from __future__ import annotations

import sympy as sp

from focal_lib.theory.temperature_bounds import largest_monotone_gamma
from reproduction.ledger.evidence import All, Conditional, Derivation, Disproof, Evidence, Step, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, published, turning

CHAPTER = "temperature_bounds"
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")
s = symbols.s


@reading(
    "kk24.negative_inverse_sigmoid",
    "Negative gamma gives an inverse sigmoid that lowers confidence everywhere",
    "KK24 section 3.2",
    # the negative gamma of section 5.1 are -0.5 and -0.25
    r"""'Technically, negative $\gamma$ could also be plugged into the calibration map, yielding an "inverse"-sigmoid shape on the """
    r"opposite side of the diagonal', shown in Fig. 1. (Taken as: for $\gamma = -0.5$ and $-0.25$, those of section 5.1, confidence falls everywhere but at 0, 1/2 and 1.)",
    chapter="binary",
)
def negative_inverse_sigmoid() -> Evidence:
    """Both gammas lie above the root of beta(0) = 1, so beta is below 1 everywhere."""
    printed = (sp.Rational(-1, 2), sp.Rational(-1, 4))
    above = Step(
        r"$\gamma = -0.5$ and $-0.25$ lie between that root and 0", all(bool(ROOT < gamma < 0) for gamma in printed)
    )
    return All((turning.falling_certificate(), derivation(*falling_steps(), *slope_at_zero_steps(below=False), above)))


@ours(
    "kk24.negative_confidence_falls",
    "Negative gamma lowers confidence everywhere exactly from 2 - 2/log 2 on",
    "KK24 section 3.2, for every negative gamma",
    r"For $-1 \le \gamma < 0$ the map lowers confidence everywhere but at 0, $\frac12$ and 1 if and only if $\gamma \ge 2 - \frac{2}{\log2}$; "
    r"below that it raises it next to $q = \frac12$.",
    chapter="binary",
)
def negative_confidence_falls() -> Evidence:
    """beta falls from beta(0), which is at most 1 from gamma = 2 - 2/log 2 on; below, confidence rises near s = 0."""
    steps = (*falling_steps(), *slope_at_zero_steps(below=False), *slope_at_zero_steps(below=True))
    rises = "Where the slope of the map in logits is above 1 at $s = 0$, confidence rises for small $s$."
    return All((turning.falling_certificate(), Derivation(steps, rises)))


ROOT = 2 - 2 / sp.log(2)  # of beta(0) = 1


def falling_steps() -> tuple[Step, ...]:
    """From R'' > 0: R/s rises, so beta falls from beta(0) to gamma + 1."""
    return (
        _slope_of_quotient_step(
            r"$(R/s)'s^2 = sR' - R$ is 0 at 0 with derivative $sR'' > 0$: $R/s$ rises, and $\beta = \gamma + 1 - R/s$ falls"
        ),
        step(
            r"to $\gamma + 1$ for $\gamma > -1$: $u \to 1$ and $\bar u \to 0$, so $R$ is bounded and $R/s \to 0$",
            *binary_map.limits_of_u(),
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
        step(r"$\beta(0) - 1 = \frac{\gamma\,(\gamma\log2 + 2 - 2\log2)}{1+\gamma\log2}$", (slope - 1, written)),
        step(
            rf"the bracket is {'negative' if below else 'positive'} {side} its root $2 - \frac2{{\log2}}$, so with $\gamma < 0$ and "
            rf"$1 + \gamma\log2 \ge 1 - \log2 > 0$ it is {sign}",
            (sp.simplify(factor).is_negative if below else sp.simplify(factor).is_positive)
            and (1 - sp.log(2)).is_positive,
        ),
    )


ours(
    "kk24.negative_bounds",
    "For negative gamma, too, the binary map lies between two temperatures",
    "extends KK24 Prop. 3",
    r"For $-1 < \gamma < 0$ the map lies between the temperatures $1/\beta(0)$ and $1/(\gamma+1)$, where $\beta(0) = \gamma + 1 - "
    r"\frac{\gamma(2\log 2-1)}{1+\gamma\log 2}$ is the limit at $s = 0$ of the inverse temperature $\operatorname{logit}\hat p(q)/s$.",
    lambda: All((turning.falling_certificate(), Derivation(falling_steps()))),
    not_formalised="tried; it needs more than the lemmas at hand",
)


SHARP = (
    r"Before $\gamma_c$ $R'' < 0$ near 0; at $\gamma_c$ $R^{(3)}(0) = 0$. By the monotone ratios $R''$ changes sign at most once, and from $-$ to $+$ never: $R'' < 0$ for every "
    r"$s > 0$. So $R/s$ falls from $R'(0)$ to 0, and $\beta = \gamma + 1 - R/s$ rises."
)


@ours(
    "kk24.prop3_sharp",
    "The least inverse temperature is the limit at logit 0",
    "sharpens KK24 Prop. 3",
    r"For $\gamma > 0$ the smallest inverse temperature $\beta(s) = \operatorname{logit}\hat p(q)/s$ is its limit at 0, "
    r"$\gamma + 1 - \frac{\gamma(2\log 2-1)}{1+\gamma\log 2}$; the largest is $\gamma + 1$, in the limit.",
    formal=formal("equivalent", "kk24_prop3_sharp", "kk24_prop3_simple", "kk24_prop3_limits"),
    instead="up to a critical gamma between 5 and 6",
)
def prop3_sharp() -> Evidence:
    """beta increases in abs(s) exactly up to gamma_c = 5.635...; above, it falls at first."""
    last = f"{largest_monotone_gamma():.12f}"[:-2]  # rounded down
    critical = largest_monotone_gamma(sp.log(2), sp.sqrt)
    exactly = published.turning_steps()
    rises = (
        _slope_of_quotient_step(),
        step(r"$u \to 1$ and $\bar u \to 0$, so $R/s \to 0$ and $\beta \to \gamma + 1$", *binary_map.limits_of_u()),
    )
    inside = All(
        (turning.monotone_certificate(last), derivation(*exactly, published.slope_step(), *rises, remark=SHARP)),
        sp.Interval.Lopen(0, critical),
    )
    outside = Disproof(
        derivation(
            *exactly,
            _slope_of_quotient_step(),
            remark=r"For $\gamma > \gamma_c$: near 0 $R'' > 0$, so $R/s$ rises from $R'(0)$ and $\beta = \gamma + 1 - R/s$ falls below $\beta(0)$.",
            where=sp.Interval.open(critical, sp.oo),
        )
    )
    names = {critical: r"\gamma_c"}
    root = rf", $\gamma_c = {last}\ldots$ being the root of $R^{{(3)}}(0) = 0$"
    return Conditional(r"\gamma", sp.Interval.open(0, sp.oo), inside, outside, names, root)


def _end_steps() -> tuple[Step, ...]:
    """s R' - R -> -log(1+gamma) as s -> oo, with t = e^-s."""
    t = sp.Symbol("t", positive=True)
    high, low = sp.log(1 + t) / t - 1 / (1 + t), t * sp.log(1 + 1 / t) - t / (1 + t)  # u - q, and mirrored
    return (
        step(
            r"$s(u - q) \to 0$ and $s(\bar u - \bar q) \to 0$ as $s \to \infty$, so $sR' \to 0$",
            (high.subs(t, sp.exp(-s)) - (symbols.u(s) - 1 / (1 + sp.exp(-s))), 0),
            (low.subs(t, sp.exp(-s)) - (symbols.u(-s) - 1 / (1 + sp.exp(s))), 0),
            (sp.limit(sp.log(t) * high, t, 0, "+"), 0),
            (sp.limit(sp.log(t) * low, t, 0, "+"), 0),
        ),
        step(r"$u \to 1$ and $\bar u \to 0$, so $R \to \log(1+\gamma)$", *binary_map.limits_of_u()),
    )


def _slope_of_quotient_step(
    text: str = r"$(R/s)' s^2 = sR' - R$, which is 0 at 0 and has the derivative $sR''$",
) -> Step:
    f = sp.Function("R")(s)
    return step(text, (sp.diff(sp.diff(f / s, s) * s**2, s), s * sp.diff(f, s, 2)))


@ours(
    "kk24.prop3_sharp_above",
    "Above the critical gamma the inverse temperature first falls, then rises",
    "sharpens KK24 Prop. 3",
    r"For $\gamma > \gamma_c$, up to which the smallest $\beta(s) = \operatorname{logit}\hat p(q)/s$ is its limit at 0 ($\gamma_c \approx 5.635$), $\beta$ first falls as $s > 0$ "
    r"grows, then rises to $\gamma + 1$: one minimum inside, above $\gamma$.",
    corrects="kk24.prop3_sharp",
)
def prop3_sharp_above() -> Evidence:
    """R'' changes sign once, so s R' - R and with it beta' change sign once, for every gamma > gamma_c."""
    after = derivation(
        *published.turning_steps(),
        _slope_of_quotient_step(),
        *_end_steps(),
        *binary_map.map_slope_steps(),
        remark=r"For $\gamma > \gamma_c$ $R'' > 0$ near 0, and by the monotone ratios it changes sign at most once. $sR' - R$ is 0 at 0 and ends at $-\log(1+\gamma) < 0$: "
        r"so it rises, then falls, and is 0 once, where $\beta = \gamma + 1 - R/s$ has its minimum, above $\gamma$ as $R' < 1$; from there $\beta$ rises to $\gamma + 1$.",
    )
    return All((turning.turning_certificate(), after))


@ours(
    "kk24.prop3_sharpness_zero",
    "The inverse temperature has known limits at logit 0 and infinity",
    "sharpens KK24 Prop. 3",
    r"For $\gamma > 0$ $\lim_{s\to0}\beta(s) = \gamma + 1 - \frac{\gamma(2\log2-1)}{1+\gamma\log2}$ and $\lim_{s\to\infty}\beta(s) = \gamma+1$.",
    formal=formal("exact", "kk24_prop3_limits"),
)
def prop3_limits() -> Evidence:
    """The limits are the slope at 0 and, as R is bounded by log(1+gamma), gamma + 1."""
    g = symbols.gamma
    slope = sp.diff(symbols.binary_map_of_logit(s, g), s).subs(s, 0)
    high, low = binary_map.limits_of_u()
    return derivation(
        *binary_map.logit_form_steps(),
        step(r"slope at 0", (slope, g + 1 - g * (2 * sp.log(2) - 1) / (1 + g * sp.log(2)))),
        published.slope_step(),
        step(r"$u(s) \to 1$", high),
        step(r"$u(-s) \to 0$, so $R \to \log(1+\gamma)$ and $R/s \to 0$", low),
    )

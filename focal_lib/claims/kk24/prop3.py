"""KK24 Prop. 3: temperatures that bound the binary map; and the numbers of section 3.2."""

from __future__ import annotations

import math
from fractions import Fraction

import sympy as sp

from focal_lib import bounds, certify, symbols
from focal_lib.claims import Evidence, claim
from focal_lib.claims.evidence import (
    All,
    Certificate,
    Conditional,
    Counterexample,
    Derivation,
    Measurement,
    Search,
    Step,
    step,
)
from focal_lib.claims.kk24.prop2 import slope_steps

CHAPTER = "04_temperature_bounds"
s = symbols.s
GAMMA_RANGES = ((Fraction(0), Fraction(1)), (Fraction(1), Fraction("6.5")))
FAR = 30  # beyond it R'/gamma is tiny


def slope_certificate(tightness: Fraction = Fraction(1)) -> Certificate:
    """R'(s) < tightness log(1+gamma)/2 for 0 <= s <= 30, 0 < gamma <= 6.5; further by analysis."""

    def search(gammas: certify.Box) -> tuple[certify.Box, ...]:
        return certify.search_boxes(
            lambda a, b: certify.proves_slope_below(a, b, gammas, tightness), Fraction(0), Fraction(FAR), 2000
        )

    def check(found: tuple[tuple[certify.Box, certify.Box], ...]) -> bool:
        whole = (
            certify.covers([logits for logits, range_ in found if range_ == gammas], Fraction(0), Fraction(FAR))
            for gammas in GAMMA_RANGES
        )
        return all(whole) and all(certify.proves_slope_below(*logits, gammas, tightness) for logits, gammas in found)

    boxes = tuple((logits, gammas) for gammas in GAMMA_RANGES for logits in search(gammas))
    with certify.precision():
        x = (-certify.exact(FAR)).exp()
        # R'/gamma <= (u - q) + (v - (1-q)) <= x + x (s + 1), decreasing in s
        tail = x * (FAR + 2) < certify.exact(tightness) / (2 * certify.exact("6.5")) * certify.exact("7.5").log()
    g = sp.Symbol("gamma", positive=True)
    return Certificate(
        r"$R'(s) < \frac12\log(1+\gamma)$ on $0 \le s \le 30$, $0 < \gamma \le 6.5$",
        boxes,
        check,
        (
            Step(r"$s \ge 30$: $R'/\gamma \le e^{-s}(s+2)$ is below the bound's smallest value", bool(tail)),
            step(
                r"the bound used for $\gamma \le 1$: $(\log(1+\gamma) - \frac{2\gamma}{2+\gamma})' = \frac{\gamma^2}{(1+\gamma)(2+\gamma)^2} \ge 0$",
                sp.diff(sp.log(1 + g) - 2 * g / (2 + g), g),
                g**2 / ((1 + g) * (2 + g) ** 2),
            ),
        ),
    )


def monotone_certificate(gamma_max: str = "5.635") -> Certificate:
    """R'' < 0 for s > 0 and 0 < gamma <= gamma_max: beta increases in abs(s)."""
    top = Fraction(gamma_max)

    def proves(a: Fraction, b: Fraction) -> bool:
        return certify.proves_curvature_negative(a, b, top)

    with certify.precision():
        x, g = (-certify.exact(8)).exp(), certify.exact(top)
        # s >= 8: u <= 1-x/2+x^2/3, q >= 1-x, v = q(1-q) >= x-2x^2: u'' = u-q-v <= -x/2 + 7x^2/3 < 0, so A''(s) < 0
        near = 7 * x / 3 < certify.exact("1/2")
        # A''(-s) >= gamma x [(s-2)/(1+gamma v) - gamma x (s+1)^2], v <= x (s+1); both terms improve with s
        far = certify.exact(6) / (1 + g * 9 * x) > g * x * 81
    t = sp.Symbol("t", positive=True)
    return Certificate(
        rf"$R''(s) < 0$ on $0 < s \le 8$, $0 < \gamma \le {gamma_max}$",
        certify.search_boxes(proves, Fraction(0), Fraction(8), 2000),
        lambda boxes: certify.covers(boxes, Fraction(0), Fraction(8)) and all(proves(a, b) for a, b in boxes),
        (
            Step(r"$s \ge 8$: $u'' \le e^{-s}(\frac73 e^{-s} - \frac12) < 0$, so $A''(s) < 0$", bool(near)),
            Step(
                r"$s \ge 8$: $A''(-s) \ge \gamma e^{-s}\left[\frac{s-2}{1+\gamma\bar u} - \gamma e^{-s}(s+1)^2\right] > 0$ at $s = 8$",
                bool(far),
            ),
            step(
                r"and beyond: $(e^{-s}(s+1)^2)' = e^{-s}(1+s)(1-s) < 0$ for $s > 1$",
                sp.diff(sp.exp(-t) * (t + 1) ** 2, t),
                sp.exp(-t) * (1 + t) * (1 - t),
            ),
        ),
    )


@claim(
    "kk24.prop3",
    source="KK24 Prop. 3",
    statement=r"For all logits and $\gamma > 0$ the map lies between the temperatures "
    r"$\frac{1}{\gamma+1}$ and $\frac{1}{\gamma+1-\frac12\log(\gamma+1)}$.",
    chapter=CHAPTER,
)
def prop3() -> Evidence:
    """R(s)/s < log(1+gamma)/2, by R' below it: a certificate up to 6.5, R' < 1 above."""
    large = sp.log(1 + sp.Rational(13, 2)) / 2 - 1
    return All(
        (
            Derivation(
                (
                    *slope_steps(),
                    step(r"$\gamma \ge 6.5$: $R' < 1 < \frac12\log(1+\gamma)$", bool(large.evalf(30) > 0)),
                )
            ),
            slope_certificate(),
        )
    )


@claim(
    "kk24.prop3_proof_derivative",
    source="KK24 App. A.3, proof",
    statement=r"With $f = e^{R}$: $f'(s) \le \frac{\log(\gamma+1)}{2}$ for $s \ge 0$.",
    chapter=CHAPTER,
)
def prop3_proof_derivative() -> Evidence:
    """False at gamma = 4, s = 2.7."""
    with certify.precision():
        point, g = certify.exact("2.7"), certify.exact(4)
        f = certify.logit_gap(point, g).exp()
        value = f * g * certify.logit_gap_slope(point, g)
    return Counterexample(r"$\gamma = 4$, $s = 2.7$: $f' > \frac12\log 5$", value - certify.exact(5).log() / 2)


@claim(
    "kk24.prop3_proof_comparison",
    source="KK24 App. A.3, proof",
    statement=r"The derivative of $(\gamma+1)^{s/2}$ is at least $\frac{\gamma+1}{2}$ for $s \ge 0$, so $f \le (\gamma+1)^{s/2}$ "
    r"follows from $f' \le \frac{\gamma+1}{2}$.",
    chapter=CHAPTER,
)
def prop3_proof_comparison() -> Evidence:
    """At s = 0 that derivative is log(1+gamma)/2, smaller than (gamma+1)/2."""
    with certify.precision():
        margin = (certify.exact(5) - certify.exact(5).log()) / 2
    return Counterexample(r"$\gamma = 4$, $s = 0$: the derivative is $\frac12\log 5$, not $\ge \frac52$", margin)


@claim(
    "kk24.prop3_sharp",
    source="sharpens KK24 Prop. 3",
    statement=r"The smallest inverse temperature $\beta(s) = \operatorname{logit} FC(s)/s$ is its limit at 0, "
    r"$\gamma + 1 - \frac{\gamma(2\log 2-1)}{1+\gamma\log 2}$; the largest is $\gamma + 1$, in the limit.",
    chapter=CHAPTER,
)
def prop3_sharp() -> Evidence:
    """beta increases in abs(s) exactly up to gamma_c = 5.635...; certified to 5.635, refuted at 5.65."""
    g, at = Fraction("5.65"), Fraction("0.1")
    with certify.precision():
        ball, point = certify.exact(g), certify.exact(at)
        two = certify.exact(2).log()
        # beta(0) - beta(s) = R(s)/s - gamma (2 ln 2 - 1)/(1 + gamma ln 2)
        dip = certify.logit_gap(point, ball) / point - ball * (2 * two - 1) / (1 + ball * two)
    outside = Counterexample(rf"$\gamma = {float(g)}$: $\beta({float(at)}) < \beta(0)$", dip)
    limit = rf"$\gamma \le \gamma_c = {bounds.monotone_up_to():.10f}$ (the certificate reaches 5.635)"
    return Conditional(limit, monotone_certificate(), outside)


@claim(
    "kk24.prop3_sharp_above",
    source="sharpens KK24 Prop. 3",
    statement=r"For $\gamma > \gamma_c$, $\beta$ first falls, then rises to $\gamma + 1$: one minimum inside, above $\gamma$.",
    chapter=CHAPTER,
    corrects="kk24.prop3_sharp",
)
def prop3_sharp_above() -> Evidence:
    """Scan of the sign of beta' for gamma up to 1000: one change."""
    gammas = [5.64, 5.7, 6, 7, 8, 10, 15, 20, 50, 100, 300, 1000]
    grid = [0.02 * 1.012**k for k in range(620)]  # to 32
    worst = math.inf
    for g in gammas:
        at, low = bounds.lowest_beta(g)
        values = [bounds.beta(point, g) for point in grid]
        falls = [b - a for a, b, point in zip(values, values[1:], grid, strict=False) if point * 1.012 < at]
        rises = [b - a for a, b, point in zip(values, values[1:], grid, strict=False) if point > at]
        worst = min(worst, -max(falls, default=-1.0), min(rises), low - g)
    return Search(r"$\gamma \in \{5.64, \dots, 1000\}$, $0.02 \le s \le 32$", len(gammas) * len(grid), worst, 1e-12)


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
        (*slope_steps(), step(r"$\frac12\log(1+\gamma) = 1$ only at $e^2-1$", root[0], sp.E**2 - 1)),
        r"Means of a slope between $\gamma$ and $\gamma + 1$ lie between them.",
    )


@claim(
    "kk24.prop3_sharpness_zero",
    source="sharpens KK24 Prop. 3",
    statement=r"$\lim_{s\to0}\beta(s) = \gamma + 1 - \frac{\gamma(2\log2-1)}{1+\gamma\log2}$ and $\lim_{s\to\infty}\beta(s) = \gamma+1$.",
    chapter=CHAPTER,
)
def prop3_limits() -> Evidence:
    """The slope at 0, and R bounded by log(1+gamma)."""
    g = symbols.gamma
    slope = sp.diff(symbols.binary_map_of_logit(s, g), s).subs(s, 0)
    high = sp.limit(symbols.u(sp.Symbol("s", positive=True)), sp.Symbol("s", positive=True), sp.oo)
    low = sp.limit(symbols.u(-sp.Symbol("s", positive=True)), sp.Symbol("s", positive=True), sp.oo)
    return Derivation(
        (
            step(r"slope at 0", slope, g + 1 - g * (2 * sp.log(2) - 1) / (1 + g * sp.log(2))),
            step(r"$u(s) \to 1$", high, 1),
            step(r"$u(-s) \to 0$, so $R \to \log(1+\gamma)$ and $R/s \to 0$", low, 0),
        )
    )


@claim(
    "kk24.prop3_example_theory",
    source="KK24 section 3.2",
    statement=r"For $\gamma = 4$ the printed bounds are $T = 0.2$ and $T = 0.238$.",
    chapter=CHAPTER,
)
def prop3_example_theory() -> Evidence:
    """The formulas at gamma = 4."""
    low, high = bounds.printed_temperature_bounds(4.0)
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
    return Measurement("upper $T$", "0.218", bounds.temperature_bounds(4.0, radius=20)[1], 0.218, 5e-4)


@claim(
    "kk24.prop3_example_lower",
    source="KK24 section 3.2",
    statement=r"For $\gamma = 4$ the search over logits $(-20, 20)$ gives the lower bound $T = 0.206$.",
    chapter=CHAPTER,
)
def prop3_example_lower() -> Evidence:
    """Exactly 0.2033 on (-20, 20)."""
    low = bounds.temperature_bounds(4.0, radius=20)[0]
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
    low = bounds.temperature_bounds(4.0, radius=10)[0]
    return Measurement(r"lower $T$ on $(-10, 10)$", "0.206", math.floor(1000 * low) / 1000, 0.206, 1e-9)

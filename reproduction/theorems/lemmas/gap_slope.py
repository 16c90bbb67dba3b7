"""R' stays below half of log(1 + gamma): KK24 Prop. 3 again, and the comparison of derivatives in its printed proof."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.certificates import balls
from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.entropy_ratio import entropy_ratio_steps
from reproduction.theorems.lemmas.map_slope import gap_slope_steps, geometric_mean_steps


def gap_slope_below_log_steps() -> tuple[Step, ...]:
    """R'(s) < log(1+gamma)/2 for every s and gamma > 0, by the integral of its derivative by gamma."""
    g, t, v, q = sp.symbols("gamma t v q", positive=True)
    excess = sp.Symbol("a", positive=True)  # u - q
    with balls.precision():
        below_half = 2 * balls.exact(2).log() - 1 < balls.exact("1/2")
    root = sp.sqrt(q)
    return (
        *gap_slope_steps(),
        step(
            r"$\partial_\gamma R' = \frac{u-q}{(1+\gamma u)^2} + \frac{\bar u-\bar q}{(1+\gamma\bar u)^2}$, $R' = 0$ at $\gamma = 0$; "
            r"$R'$ is even, so let $s \ge 0$, $u > q \ge \frac12$",
            sp.diff(g * excess / (1 + g * v), g),
            excess / (1 + g * v) ** 2,
        ),
        step(
            r"$\partial_\gamma\frac{1+\gamma}{(1+\gamma v)^2} = \frac{1-2v-\gamma v}{(1+\gamma v)^3}$: for $v \ge \frac12$ it falls, from 1",
            sp.diff((1 + g) / (1 + g * v) ** 2, g),
            (1 - 2 * v - g * v) / (1 + g * v) ** 3,
        ),
        *entropy_ratio_steps(),
        step(
            r"where $\bar u \ge \frac12$: $(1+\gamma)\,\partial_\gamma R' \le u + \bar u - 1$, and $u + \bar u = b(q) + b(1-q) \le "
            r"2\,b(\frac12) = 2\log2$, $b$ being concave",
            2 * symbols.entropy_ratio(sp.Rational(1, 2)),
            2 * sp.log(2),
        ),
        Step(r"$2\log2-1 < \frac12$, in ball arithmetic", bool(below_half)),
        step(
            r"where $\bar u < \frac12$: $(1+\gamma v)^2 - 4v(1-v)(1+\gamma) = (\gamma v - 1 + 2v)^2 \ge 0$, so "
            r"$\frac{1+\gamma}{(1+\gamma\bar u)^2} \le \frac{1}{4\bar u(1-\bar u)} \le \frac{1}{2\bar u}$",
            (1 + g * v) ** 2 - 4 * v * (1 - v) * (1 + g),
            (g * v - 1 + 2 * v) ** 2,
        ),
        *geometric_mean_steps(),
        step(
            r"$u \le \sqrt q$ gives $u - q \le \sqrt q - q = \frac{\sqrt q\,(1-q)}{1+\sqrt q} \le \frac{1-q}{2}$",
            root - q,
            root * (1 - q) / (1 + root),
        ),
        step(
            r"so $(1+\gamma)\,\partial_\gamma R' \le \frac{\bar q}{2} + \frac12\big(1-\frac{\bar q}{\bar u}\big) \le \frac12 - "
            r"\frac12\sqrt{\bar q}\,(1-\sqrt{\bar q}) < \frac12$",
            q / 2 + (1 - root) / 2,
            sp.Rational(1, 2) - root * (1 - root) / 2,
        ),
        step(
            r"$R' < \int_0^\gamma\frac{dt}{2(1+t)} = \frac12\log(1+\gamma)$",
            sp.integrate(1 / (2 * (1 + t)), (t, 0, g)),
            sp.log(1 + g) / 2,
        ),
    )

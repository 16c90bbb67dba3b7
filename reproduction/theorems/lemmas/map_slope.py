"""The slope of the binary map in logits lies between max(1, gamma) and gamma + 1: Props. 2, 3 and 5, M20 App. H."""

from __future__ import annotations

from typing import Any

import sympy as sp

from reproduction.ledger.evidence import Step, step, step_of_several
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.binary_map import logit_form_steps

s, gamma = symbols.s, symbols.gamma


def gap_slope_steps() -> tuple[Step, ...]:
    """Of the printed map's R, R' written with u' = u - q, q < u < 1: both its parts have the sign of gamma."""
    q = 1 / (1 + sp.exp(-s))
    high, low = symbols.u(s), symbols.u(-s)
    parts = gamma * (high - q) / (1 + gamma * high) + gamma * (low - (1 - q)) / (1 + gamma * low)
    return (
        *logit_form_steps(),
        *slope_of_u_steps(),
        step(
            r"$R' = \frac{\gamma(u-q)}{1+\gamma u} + \frac{\gamma(\bar u-\bar q)}{1+\gamma\bar u}$ with $\bar u = u(-s)$, "
            r"$\bar q = 1 - q$: for $\gamma > 0$ both parts are positive, and the slope $\gamma + 1 - R' < \gamma + 1$",
            sp.diff(symbols.logit_gap(), s),
            parts,
        ),
    )


def slope_of_u_steps() -> tuple[Step, ...]:
    """u' = u - q with q < u < 1 at q = sigmoid(s)."""
    t = sp.Symbol("t", positive=True)  # e^-s
    q = 1 / (1 + sp.exp(-s))
    high = symbols.u(s)
    above = sp.log(1 + t) - t / (1 + t)  # t (u - q)
    below = t - sp.log(1 + t)  # t (1 - u)
    return (
        step(r"$u' = u - q$", sp.diff(high, s), high - q),
        step_of_several(
            r"$u > q$: $t\,(u-q) = \log(1+t) - t/(1+t)$, $t = e^{-s}$, is 0 at 0 with derivative $t/(1+t)^2 > 0$",
            (above.subs(t, 0), 0),
            (sp.diff(above, t), t / (1 + t) ** 2),
        ),
        step_of_several(
            r"$u < 1$: $t\,(1-u) = t - \log(1+t)$ is 0 at 0 with derivative $t/(1+t) > 0$",
            (below.subs(t, 0), 0),
            (sp.diff(below, t), t / (1 + t)),
        ),
    )


def limits_of_u() -> tuple[tuple[Any, int], ...]:
    """u(s) -> 1 and u(-s) -> 0 as s -> oo, each to be asked apart: exchanged, their sum is the same."""
    far = sp.Symbol("s", positive=True)
    return ((sp.limit(symbols.u(far), far, sp.oo), 1), (sp.limit(symbols.u(-far), far, sp.oo), 0))


def map_slope_steps() -> tuple[Step, ...]:
    """max(1, gamma) < d logit FC / ds < gamma + 1 for gamma > 0 and every s."""
    g, uu, qq = sp.symbols("gamma u q", positive=True)
    return (
        *gap_slope_steps(),
        step(
            r"each part is below $\gamma(u - q)$, the sum below $\gamma(u + \bar u - 1)$, which is below $\gamma$: slope $> 1$",
            sp.simplify(g * (uu - qq) - g * (uu - qq) / (1 + g * uu) - g**2 * uu * (uu - qq) / (1 + g * uu)),
            0,
        ),
        step(
            r"each part is below $1 - q/u$: $\frac{\gamma(u-q)}{1+\gamma u} = (1-\frac qu)\frac{\gamma u}{1+\gamma u}$",
            g * (uu - qq) / (1 + g * uu),
            (1 - qq / uu) * g * uu / (1 + g * uu),
        ),
        *geometric_mean_steps(),
        step(
            r"$(\sqrt q + \sqrt{1-q})^2 = 1 + 2\sqrt{q(1-q)} \ge 1$, so $R' < 1$: slope $> \gamma$",
            sp.expand((sp.sqrt(qq) + sp.sqrt(1 - qq)) ** 2 - 1),
            2 * sp.sqrt(qq) * sp.sqrt(1 - qq),
        ),
    )


def geometric_mean_steps() -> tuple[Step, ...]:
    """q/u >= sqrt(q) at q = sigmoid(s): a logarithmic mean is at least the geometric one."""
    t = sp.Symbol("t", positive=True)
    logarithmic_mean = sp.sqrt(t) - 1 / sp.sqrt(t) - sp.log(t)
    return (
        step(
            r"$u = b(q)$, so $q/u = \frac{1-q}{-\log q}$",
            sp.expand_log(symbols.entropy_ratio(1 / (1 + sp.exp(-s))), force=True),
            symbols.u(s),
        ),
        step_of_several(
            r"this is at least $\sqrt q$: $\sqrt t - 1/\sqrt t - \log t$, $t = 1/q$, is 0 at 1 with derivative "
            r"$(\sqrt t - 1)^2/(2t^{3/2}) \ge 0$",
            (logarithmic_mean.subs(t, 1), 0),
            (sp.diff(logarithmic_mean, t), (sp.sqrt(t) - 1) ** 2 / (2 * t ** sp.Rational(3, 2))),
        ),
    )

"""The slope of the binary map in logits lies between max(1, gamma) and gamma + 1: Props. 2, 3 and 5, M20 App. H."""

from __future__ import annotations

import sympy as sp

from focal_lib.claims.evidence import Step, step
from focal_lib.theory import symbols

__all__ = ["map_slope_steps"]

s = symbols.s
x = sp.Symbol("x", positive=True)


def map_slope_steps() -> tuple[Step, ...]:
    """max(1, gamma) < d logit FC / ds < gamma + 1 for gamma > 0, s > 0 (even in s)."""
    g = sp.Symbol("gamma", positive=True)
    t = sp.Symbol("t", positive=True)
    uu, qq = sp.symbols("u q", positive=True)
    slope_u = sp.simplify(sp.diff(symbols.u(s), s) - (symbols.u(s) - 1 / (1 + sp.exp(-s))))
    gap = sp.log(1 + t) - t / (1 + t)  # u - q = (log(1+t) - t/(1+t)) / t at t = e^-s
    logarithmic_mean = sp.sqrt(t) - 1 / sp.sqrt(t) - sp.log(t)  # 0 at 1, increasing: log mean >= geometric mean
    return (
        step(r"$u' = u - q$", slope_u, 0),
        step(
            r"$u > q$: $\log(1+t) - t/(1+t)$ is 0 at 0 with derivative $t/(1+t)^2 > 0$",
            sp.diff(gap, t),
            t / (1 + t) ** 2,
        ),
        step(
            r"so each part of $R' = \frac{\gamma(u-q)}{1+\gamma u} + \frac{\gamma(\bar u-\bar q)}{1+\gamma\bar u}$ is "
            r"positive: slope $< \gamma + 1$",
            (g * gap.subs(t, x).diff(x)).simplify().is_positive,
        ),
        step(
            r"each part is below $\gamma(u - q)$, the sum below $\gamma(u + \bar u - 1)$",
            sp.simplify(g * (uu - qq) - g * (uu - qq) / (1 + g * uu) - g**2 * uu * (uu - qq) / (1 + g * uu)),
            0,
        ),
        step(
            r"each part is below $1 - q/u$: $\frac{\gamma(u-q)}{1+\gamma u} = (1-\frac qu)\frac{\gamma u}{1+\gamma u}$",
            g * (uu - qq) / (1 + g * uu),
            (1 - qq / uu) * g * uu / (1 + g * uu),
        ),
        step(
            r"$q/u$ is the logarithmic mean of 1 and $q$, at least $\sqrt q$: "
            r"$(\sqrt t - 1/\sqrt t - \log t)' = (\sqrt t - 1)^2/(2t^{3/2}) \ge 0$",
            sp.diff(logarithmic_mean, t),
            (sp.sqrt(t) - 1) ** 2 / (2 * t ** sp.Rational(3, 2)),
        ),
        step(
            r"$(\sqrt q + \sqrt{1-q})^2 = 1 + 2\sqrt{q(1-q)} \ge 1$, so $R' < 1$: slope $> \gamma$; and $u + \bar u < 2$ "
            r"gives $R' < \gamma$: slope $> 1$",
            sp.expand((sp.sqrt(qq) + sp.sqrt(1 - qq)) ** 2 - 1),
            2 * sp.sqrt(qq) * sp.sqrt(1 - qq),
        ),
    )

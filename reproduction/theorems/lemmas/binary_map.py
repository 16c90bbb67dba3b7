"""The binary map from the risk, its form in logits, the bounds of its slope and of R: KK24 Props. 2, 3 and 5."""

from __future__ import annotations

from typing import Any

import sympy as sp

from reproduction.ledger.certificates import balls
from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import entropy_ratio

q, s, gamma, g = symbols.q, symbols.s, symbols.gamma, symbols.g


def stationarity_steps() -> tuple[Step, ...]:
    """The conditional risk p L(q) + (1-p) L(1-q) is stationary where p is the printed map of q."""
    p = sp.Symbol("p", positive=True)
    slope, mirrored = symbols.focal_loss_slope(q), symbols.focal_loss_slope(1 - q)
    risk = p * symbols.focal_loss(q) + (1 - p) * symbols.focal_loss(1 - q)
    stationary = sp.diff(risk, q) - (p * slope - (1 - p) * mirrored)
    # p solves p L'(q) = (1-p) L'(1-q): odds (1-p)/p = L'(q) / L'(1-q)
    odds = 1 / symbols.binary_map() - 1
    common = ((1 - q) * q) ** (1 - gamma)
    return (
        step(r"$\partial_q \mathcal R = p\,L'(q) - (1-p)\,L'(1-q)$", (stationary * common, 0), simplify=powers),
        step(
            r"$(1-p)/p = L'(q)/L'(1-q)$ , the odds against, are those of the printed map",
            (odds * mirrored * common, slope * common),
            simplify=powers,
        ),
    )


def logit_form_steps() -> tuple[Step, ...]:
    """logit FC(s) = (gamma+1) s - R(s), R odd, by q = 1/(1+e^-s) with e^s = t > 0: what ties R to the printed map."""
    t = sp.Symbol("t", positive=True)
    printed = ((1 / symbols.binary_map() - 1).subs(q, t / (1 + t))).simplify()
    form = sp.exp(-symbols.binary_map_of_logit(sp.log(t)))
    ratio = sp.simplify(sp.expand_log(sp.powsimp(sp.simplify(printed / form), force=True), force=True))
    return (
        step(r"odds against of the map at $q = 1/(1+e^{-s})$ are $e^{-(\gamma+1)s + R(s)}$", (ratio, 1)),
        step(
            r"$\operatorname{logit}\hat p(q) = (\gamma+1)s - R(s)$, $R(s) = \log\frac{1+\gamma u(s)}{1+\gamma u(-s)}$",
            (symbols.binary_map_of_logit(), (gamma + 1) * s - symbols.logit_gap()),
        ),
        step(r"$R(-s) = -R(s)$", (symbols.logit_gap(-s) + symbols.logit_gap(s), 0), simplify=_log_sum),
    )


def powers(expression: sp.Expr) -> sp.Expr:
    """Simplified after powers of products are taken apart."""
    return sp.simplify(sp.powsimp(sp.expand(sp.expand_power_base(expression, force=True)), force=True))


def _log_sum(expression: sp.Expr) -> sp.Expr:
    return sp.simplify(sp.logcombine(expression, force=True))


def gap_slope_steps() -> tuple[Step, ...]:
    """R' of the printed map in two parts, which have the sign of gamma, as u' = u - q and q < u < 1."""
    q = 1 / (1 + sp.exp(-s))
    high, low = symbols.u(s), symbols.u(-s)
    parts = gamma * (high - q) / (1 + gamma * high) + gamma * (low - (1 - q)) / (1 + gamma * low)
    return (
        *logit_form_steps(),
        *slope_of_u_steps(),
        step(
            r"$R' = \frac{\gamma(u-q)}{1+\gamma u} + \frac{\gamma(\bar u-\bar q)}{1+\gamma\bar u}$ with $\bar u = u(-s)$, "
            r"$\bar q = 1 - q$: for $\gamma > 0$ both parts are positive, and the slope $\gamma + 1 - R' < \gamma + 1$",
            (sp.diff(symbols.logit_gap(), s), parts),
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
        step(r"$u' = u - q$", (sp.diff(high, s), high - q)),
        step(
            r"$u > q$: $t\,(u-q) = \log(1+t) - t/(1+t)$, $t = e^{-s}$, is 0 at 0 with derivative $t/(1+t)^2 > 0$",
            (above.subs(t, 0), 0),
            (sp.diff(above, t), t / (1 + t) ** 2),
        ),
        step(
            r"$u < 1$: $t\,(1-u) = t - \log(1+t)$ is 0 at 0 with derivative $t/(1+t) > 0$",
            (below.subs(t, 0), 0),
            (sp.diff(below, t), t / (1 + t)),
        ),
    )


def limits_of_u() -> tuple[tuple[Any, int], ...]:
    """u(s) -> 1 and u(-s) -> 0 as s -> oo, as two equations: exchanged, they would have the same sum."""
    far = sp.Symbol("s", positive=True)
    return ((sp.limit(symbols.u(far), far, sp.oo), 1), (sp.limit(symbols.u(-far), far, sp.oo), 0))


def map_slope_steps() -> tuple[Step, ...]:
    """max(1, gamma) < d logit FC / ds < gamma + 1 for gamma > 0 and every s."""
    g, uu, qq = sp.symbols("gamma u q", positive=True)
    return (
        *gap_slope_steps(),
        step(
            r"each part is below $\gamma(u - q)$, the sum below $\gamma(u + \bar u - 1)$, which is below $\gamma$: slope $> 1$",
            (sp.simplify(g * (uu - qq) - g * (uu - qq) / (1 + g * uu) - g**2 * uu * (uu - qq) / (1 + g * uu)), 0),
        ),
        step(
            r"each part is below $1 - q/u$: $\frac{\gamma(u-q)}{1+\gamma u} = (1-\frac qu)\frac{\gamma u}{1+\gamma u}$",
            (g * (uu - qq) / (1 + g * uu), (1 - qq / uu) * g * uu / (1 + g * uu)),
        ),
        *geometric_mean_steps(),
        step(
            r"$(\sqrt q + \sqrt{1-q})^2 = 1 + 2\sqrt{q(1-q)} \ge 1$, so $R' < 1$: slope $> \gamma$",
            (sp.expand((sp.sqrt(qq) + sp.sqrt(1 - qq)) ** 2 - 1), 2 * sp.sqrt(qq) * sp.sqrt(1 - qq)),
        ),
    )


def geometric_mean_steps() -> tuple[Step, ...]:
    """q/u >= sqrt(q) at q = sigmoid(s): a logarithmic mean is at least the geometric one."""
    t = sp.Symbol("t", positive=True)
    logarithmic_mean = sp.sqrt(t) - 1 / sp.sqrt(t) - sp.log(t)
    return (
        step(
            r"$u = b(q)$, so $q/u = \frac{1-q}{-\log q}$",
            (sp.expand_log(symbols.entropy_ratio(1 / (1 + sp.exp(-s))), force=True), symbols.u(s)),
        ),
        step(
            r"this is at least $\sqrt q$: $\sqrt t - 1/\sqrt t - \log t$, $t = 1/q$, is 0 at 1 with derivative "
            r"$(\sqrt t - 1)^2/(2t^{3/2}) \ge 0$",
            (logarithmic_mean.subs(t, 1), 0),
            (sp.diff(logarithmic_mean, t), (sp.sqrt(t) - 1) ** 2 / (2 * t ** sp.Rational(3, 2))),
        ),
    )


def logit_gap_steps() -> tuple[Step, ...]:
    """R(s)/s < (2 log 2 - 1) log(1+gamma) for every s > 0 and gamma > 0."""
    t, uu, vv = sp.symbols("t u v", positive=True)
    high, low = symbols.u(s), symbols.u(-s)
    ratio = symbols.entropy_ratio(1 / (1 + sp.exp(-s)))
    with balls.precision():
        below_half = 2 * balls.exact(2).log() - 1 < balls.exact("1/2")
    return (
        *logit_form_steps(),
        step(
            r"$\partial_t \log\frac{1+tu}{1+t\bar u} = \frac{u-\bar u}{(1+tu)(1+t\bar u)}$, so $R$ is its integral over $t$ from 0 to $\gamma$",
            (sp.diff(sp.log((1 + t * uu) / (1 + t * vv)), t), (uu - vv) / ((1 + t * uu) * (1 + t * vv))),
        ),
        step(r"$u(s) = b(q)$ at $q = 1/(1+e^{-s})$", (sp.expand_log(ratio, force=True), high)),
        *entropy_ratio.sign_steps(),
        step(
            r"$b$ is concave, so $u + \bar u = b(q) + b(1-q) \le 2\,b(\frac12) = 2\log 2$",
            (2 * symbols.entropy_ratio(sp.Rational(1, 2)), 2 * sp.log(2)),
        ),
        step(
            r"$(u - \bar u)' = u + \bar u - 1 \le 2\log 2 - 1$, so $u - \bar u \le (2\log2-1)\,s$",
            (sp.diff(high - low, s), high + low - 1),
        ),
        *slope_of_u_steps()[:2],
        step(
            r"$u > q$ and $\bar u > 1 - q$, so $u + \bar u > 1$ and $(1+tu)(1+t\bar u) \ge 1 + t(u+\bar u) > 1 + t$",
            (sp.expand((1 + t * uu) * (1 + t * vv)) - t**2 * uu * vv, 1 + t * (uu + vv)),
        ),
        step(
            r"$R(s) \le (2\log2-1)\,s\int_0^\gamma\frac{dt}{1+t}$, the integral being $\log(1+\gamma)$",
            (sp.integrate(1 / (1 + t), (t, 0, g)), sp.log(1 + g)),
        ),
        Step(r"$2\log2-1 < \frac12$, in ball arithmetic", bool(below_half)),
    )


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
            (sp.diff(g * excess / (1 + g * v), g), excess / (1 + g * v) ** 2),
        ),
        step(
            r"$\partial_\gamma\frac{1+\gamma}{(1+\gamma v)^2} = \frac{1-2v-\gamma v}{(1+\gamma v)^3}$: for $v \ge \frac12$ it falls, from 1",
            (sp.diff((1 + g) / (1 + g * v) ** 2, g), (1 - 2 * v - g * v) / (1 + g * v) ** 3),
        ),
        *entropy_ratio.sign_steps(),
        step(
            r"where $\bar u \ge \frac12$: $(1+\gamma)\,\partial_\gamma R' \le u + \bar u - 1$, and $u + \bar u = b(q) + b(1-q) \le "
            r"2\,b(\frac12) = 2\log2$, $b$ being concave",
            (2 * symbols.entropy_ratio(sp.Rational(1, 2)), 2 * sp.log(2)),
        ),
        Step(r"$2\log2-1 < \frac12$, in ball arithmetic", bool(below_half)),
        step(
            r"where $\bar u < \frac12$: $(1+\gamma v)^2 - 4v(1-v)(1+\gamma) = (\gamma v - 1 + 2v)^2 \ge 0$, so "
            r"$\frac{1+\gamma}{(1+\gamma\bar u)^2} \le \frac{1}{4\bar u(1-\bar u)} \le \frac{1}{2\bar u}$",
            ((1 + g * v) ** 2 - 4 * v * (1 - v) * (1 + g), (g * v - 1 + 2 * v) ** 2),
        ),
        *geometric_mean_steps(),
        step(
            r"$u \le \sqrt q$ gives $u - q \le \sqrt q - q = \frac{\sqrt q\,(1-q)}{1+\sqrt q} \le \frac{1-q}{2}$",
            (root - q, root * (1 - q) / (1 + root)),
        ),
        step(
            r"so $(1+\gamma)\,\partial_\gamma R' \le \frac{\bar q}{2} + \frac12\big(1-\frac{\bar q}{\bar u}\big) \le \frac12 - "
            r"\frac12\sqrt{\bar q}\,(1-\sqrt{\bar q}) < \frac12$",
            (q / 2 + (1 - root) / 2, sp.Rational(1, 2) - root * (1 - root) / 2),
        ),
        step(
            r"$R' < \int_0^\gamma\frac{dt}{2(1+t)} = \frac12\log(1+\gamma)$",
            (sp.integrate(1 / (2 * (1 + t)), (t, 0, g)), sp.log(1 + g) / 2),
        ),
    )

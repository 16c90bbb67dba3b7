"""The binary map from the stationarity of the risk, and its form in logits: KK24 Prop. 2."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols

q, s, gamma = symbols.q, symbols.s, symbols.gamma


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
        step(r"$\partial_q \mathcal R = p\,L'(q) - (1-p)\,L'(1-q)$", stationary * common, 0, _powers),
        step(
            r"$(1-p)/p = L'(q)/L'(1-q)$ are the odds of the printed map",
            odds * mirrored * common,
            slope * common,
            _powers,
        ),
    )


def logit_form_steps() -> tuple[Step, ...]:
    """logit FC(s) = (gamma+1) s - R(s), R odd, by q = 1/(1+e^-s) with e^s = t > 0: what ties R to the printed map."""
    t = sp.Symbol("t", positive=True)
    printed = ((1 / symbols.binary_map() - 1).subs(q, t / (1 + t))).simplify()
    form = sp.exp(-symbols.binary_map_of_logit(sp.log(t)))
    ratio = sp.simplify(sp.expand_log(sp.powsimp(sp.simplify(printed / form), force=True), force=True))
    return (
        step(r"odds of the map at $q = 1/(1+e^{-s})$ are $e^{-(\gamma+1)s + R(s)}$", ratio, 1),
        step(
            r"$\operatorname{logit} FC(s) = (\gamma+1)s - R(s)$, $R(s) = \log\frac{1+\gamma u(s)}{1+\gamma u(-s)}$",
            symbols.binary_map_of_logit(),
            (gamma + 1) * s - symbols.logit_gap(),
        ),
        step(r"$R(-s) = -R(s)$", symbols.logit_gap(-s) + symbols.logit_gap(s), 0, _log_sum),
    )


def _powers(expression: sp.Expr) -> sp.Expr:
    return sp.simplify(sp.powsimp(sp.expand(sp.expand_power_base(expression, force=True)), force=True))


def _log_sum(expression: sp.Expr) -> sp.Expr:
    return sp.simplify(sp.logcombine(expression, force=True))

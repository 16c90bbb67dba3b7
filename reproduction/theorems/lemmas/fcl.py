"""The focal calibration loss: its expected squared distance, and its minimiser in ball arithmetic. L25."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import sympy as sp

from focal_lib.theory.proper import focal_calibration_minimiser
from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import Step, step


def class_share(q: Any, p: Any) -> Any:
    """What one class adds to E||q - e_Y||^2: (q-1)^2 with probability p, where it is the label, and q^2 otherwise."""
    return p * (q - 1) ** 2 + (1 - p) * q**2


def squared_distance_steps() -> tuple[Step, ...]:
    """E||q - e_Y||^2 = ||q - p||^2 + 1 - ||p||^2, class by class and so for every n."""
    q, p = sp.symbols("q_i p_i", real=True)
    n = sp.Symbol("n", integer=True, positive=True)
    classes, i = sp.IndexedBase("p"), sp.Idx("i", (1, n))
    rest = sp.Sum(classes[i] * (1 - classes[i]), (i, 1, n)).expand().doit()
    return (
        step(
            r"$\mathbb{E}\lVert q-e_Y\rVert^2 = \sum_i \big[p_i(q_i-1)^2 + (1-p_i)q_i^2\big]$, and each summand is "
            r"$(q_i-p_i)^2 + p_i(1-p_i)$",
            (class_share(q, p), (q - p) ** 2 + p * (1 - p)),
            simplify=sp.expand,
        ),
        step(
            r"$\sum_i p_i(1-p_i) = \sum_i p_i - \sum_i p_i^2 = 1 - \lVert p\rVert^2$",
            (rest, sp.Sum(classes[i], (i, 1, n)) - sp.Sum(classes[i] ** 2, (i, 1, n))),
        ),
    )


def candidate(p: Sequence[str], gamma: float, lam: float, digits: int = 15) -> list[Fraction]:
    """The numerical minimiser, rounded to decimals that sum to exactly 1."""
    found = focal_calibration_minimiser(np.array([float(Fraction(v)) for v in p]), gamma, lam)
    rounded = [Fraction(round(float(v) * 10**digits), 10**digits) for v in found]
    return [1 - sum(rounded[1:], Fraction(0)), *rounded[1:]]


def risk_slope(q: flint.arb, p: flint.arb, gamma: int, lam: Fraction) -> flint.arb:
    """Derivative of the conditional FCL risk by q_i: p L'(q) + 2 lam (q - p), with L' = -g/q."""
    return -p * formulas.gain(q, balls.exact(gamma)) / q + 2 * balls.exact(lam) * (q - p)


def risk(q: Sequence[flint.arb], p: Sequence[flint.arb], gamma: int, lam: Fraction) -> flint.arb:
    """Conditional FCL risk up to a term without q: sum_i p_i L(q_i) + lam sum_i (q_i - p_i)^2."""
    weight = balls.exact(lam)
    terms = (-pi * (1 - qi) ** gamma * qi.log() + weight * (qi - pi) ** 2 for qi, pi in zip(q, p, strict=True))
    return sum(terms, balls.exact(0))


def slack(q: Sequence[Fraction], p: Sequence[str], lam: Fraction) -> flint.arb:
    """An upper bound on the distance of q from the minimiser for gamma = 1, as a ball.

    The risk is strongly convex with modulus m = 2 lam + 2 min p: for gamma = 1, L'' = 1/q + 1/q^2 >= 2.
    So the distance is at most the norm of the gradient along the simplex over m.
    """
    with balls.precision():
        probs = [balls.exact(v) for v in p]
        slopes = [risk_slope(balls.exact(v), pi, 1, lam) for v, pi in zip(q, probs, strict=True)]
        mean = sum(slopes, balls.exact(0)) / len(slopes)
        norm = sum(((v - mean) ** 2 for v in slopes), balls.exact(0)).sqrt()
        smallest = min(Fraction(v) for v in p)
        return norm / balls.exact(2 * lam + 2 * smallest)

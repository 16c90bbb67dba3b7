"""Negative gamma in the binary map: what KK24 plugs in without analysis."""

from __future__ import annotations

import numpy as np

from focal_lib.claims.evidence import Conditional, Counterexample, Evidence, Search
from focal_lib.claims.ledger import claim
from focal_lib.theory import maps
from focal_lib.theory.certificates import balls, formulas
from focal_lib.theory.temperature_bounds import beta

CHAPTER = "03_binary"


@claim(
    "kk24.negative_inverse_sigmoid",
    source="KK24 section 3.2",
    # lines 323-326
    statement=r"'Technically, negative $\gamma$ could also be plugged into the calibration map, yielding an \"inverse\"-sigmoid shape on the "
    r"opposite side of the diagonal': confidence falls everywhere.",
    chapter=CHAPTER,
    fidelity="quoted",
)
def negative_inverse_sigmoid() -> Evidence:
    """True where the slope at 0 is below 1, that is for gamma > -0.885; refuted at -0.9."""
    gammas = np.linspace(-0.88, -0.01, 88)
    s = np.geomspace(1e-3, 40, 400)
    worst = min(float((s - maps.focal_logit(s, g)).min()) for g in gammas)
    with balls.precision():
        g, point = balls.exact("-9/10"), balls.exact("1/100")
        rise = (g + 1) * point - formulas.logit_gap(point, g) - point
    return Conditional(
        rf"$\gamma > {_slope_one():.6f}$, where the slope at 0 is 1",
        Search(r"$\gamma \in [-0.88, -0.01]$, $0 < s \le 40$", gammas.size * s.size, worst),
        Counterexample(r"$\gamma = -0.9$, $s = 0.01$: confidence rises", rise),
    )


def _slope_one() -> float:
    """The negative gamma with beta(0) = 1: gamma = gamma (2 ln 2 - 1)/(1 + gamma ln 2), gamma != 0."""
    two = float(np.log(2))
    return ((2 * two - 1) - 1) / two


@claim(
    "kk24.negative_bounds",
    source="extends KK24 Prop. 3",
    statement=r"For $-1 < \gamma < 0$ the map lies between the temperatures $1/\beta(0)$ and $1/(\gamma+1)$.",
    chapter="04_temperature_bounds",
    fidelity="ours",
)
def negative_bounds() -> Evidence:
    """beta falls from beta(0) to gamma + 1."""
    gammas = np.linspace(-0.99, -0.01, 50)
    s = np.geomspace(1e-2, 60, 400)
    worst = np.inf
    for g in gammas:
        values = np.array([beta(float(point), float(g)) for point in s])
        worst = min(worst, float(-np.diff(values).max()), float(values.min() - (g + 1)))
    return Search(r"$\gamma \in [-0.99, -0.01]$, $0.01 \le s \le 60$", gammas.size * s.size, worst, 1e-12)

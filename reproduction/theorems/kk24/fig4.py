"""KK24 Fig. 4: where the conditional risks are least, and the shape of their isolines."""

from __future__ import annotations

import numpy as np

from focal_lib.theory.maps import focal_log_probs
from focal_lib.theory.proper import (
    brier_values,
    conditional_risk,
    focal_loss_values,
    focal_minimiser,
    proper_focal_loss,
)
from reproduction.ledger.evidence import All, Evidence, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import curvature, fcl, weight

CHAPTER = "simplex"
quoted = Rows(CHAPTER, "quoted")
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")
TRUTH = (0.55, 0.3, 0.15)
PERCENTILES = (3, 12, 20)


quoted(
    "kk24.fig4_minimum",
    "Brier score, cross-entropy and proper part are minimised at the truth",
    "KK24 section 3.3 on Fig. 4",
    r"'Due to properness, conditional risks for all considered losses', Brier score, cross-entropy and the proper part of the focal "
    r"loss, 'are minimized at $q = (0.55, 0.3, 0.15)$', the ground truth.",
    lambda: derivation(
        *fcl.squared_distance_steps(),
        *weight.lagrange_steps(),
        step(
            r"at $\gamma = 0$, cross-entropy, $w(q) = q$: stationary only at $p$", (symbols.weight(gamma=0), symbols.q)
        ),
        *curvature.convexity_proof().steps,
        remark=r"Brier: the risk is a squared distance from $p$ and a constant, so it is least at $p$ and its isolines are circles. The other two risks are strictly convex in what the model says, so the stationary point is the minimum: for the focal loss where the map of $q$ "
        r"is $p$, and its proper part, a function of the mapped prediction, is least at $p$ (Prop. 4).",
    ),
    formal=formal("exact", "l25_brier_strictly_proper", "log_loss_strictly_proper", "kk24_prop4"),
)


@reading(
    "kk24.fig4_shapes",
    "Isolines are circles for the Brier score, ovals for cross-entropy",
    "KK24 section 3.3 on Fig. 4",
    r"'The Brier score displays circular isolines'; those of cross-entropy are 'more oval-like'. (Taken as: of an isoline's radius about its "
    r"centroid the harmonics 2 and 3 over the mean are 0 for the Brier score, and for cross-entropy the second is the larger. The Brier isoline at "
    r"20 % runs into the edge and is left out.)",
)
def fig4_shapes() -> Evidence:
    """Fourier coefficients of the radius of each isoline."""
    round_off = max(max(found) for found in _harmonics("brier")[:2])
    oval = min(second - third for second, third in _harmonics(0.0))
    return All(
        (
            Measurement(
                "Brier: largest of the two harmonics", "a circle, 0", round_off, holds=round_off < 1e-3, said="claimed"
            ),
            Measurement(
                "cross-entropy: second less third harmonic, least", "an oval, > 0", oval, holds=oval > 0, said="claimed"
            ),
        )
    )


@reading(
    "kk24.fig4_triangle",
    "Isolines of the proper part grow more triangular with gamma",
    "KK24 section 3.3 on Fig. 4",
    r"The isolines of the proper part are 'more akin to a curved triangle, a trend that becomes more pronounced with increasing values of "
    r"$\gamma$'. (Taken, at the least, as: the third harmonic of an isoline's radius about its centroid, over the mean, grows from cross-entropy to "
    r"$\gamma = 1$ to $3$ at each percentile of the figure. It grows with other harmonics, too: whether the shape is nearer to a triangle than to an oval "
    r"is kk24.fig4_ratio.)",
)
def fig4_triangle() -> Evidence:
    """The third Fourier coefficient grows with gamma."""
    by_gamma = {g: _harmonics(g) for g in (0.0, 1.0, 3.0)}
    parts = []
    for k, percentile in enumerate(PERCENTILES):
        thirds = [by_gamma[g][k][1] for g in (0.0, 1.0, 3.0)]
        rise = float(np.diff(thirds).min())
        quantity = (
            f"third harmonic at {percentile} %, {thirds[0]:.3f}, {thirds[1]:.3f}, {thirds[2]:.3f} for cross-entropy and "
            r"$\gamma = 1, 3$: smallest rise"
        )
        parts.append(Measurement(quantity, "> 0", rise, holds=rise > 0, said="claimed"))
    return All(tuple(parts))


@ours(
    "kk24.fig4_ratio",
    "Relative to the oval part, those isolines become less triangular",
    "KK24 section 3.3 on Fig. 4, taken further",
    r"Set against the second harmonic of an isoline's radius about its centroid, the third is smaller for the proper part, $\gamma = 1, 3$, than for cross-entropy, at each "
    r"percentile of the figure: by this measure its isolines are more oval, not more triangular. From $\gamma = 1$ to $3$ "
    r"there is no trend: the ratio falls at two of the three percentiles and rises at one.",
)
def fig4_ratio() -> Evidence:
    """The ratio of the third harmonic to the second is below cross-entropy's; from gamma 1 to 3 it falls at two."""
    base, *others = ([third / second for second, third in _harmonics(g)] for g in (0.0, 1.0, 3.0))
    falls = sum(large < small for small, large in zip(*others, strict=True))
    trend = r"percentiles at which it falls from $\gamma = 1$ to $3$"
    return All.of(
        *(
            Measurement(
                rf"third over second harmonic at {percentile} %, {before:.3f} for cross-entropy, {after:.3f} for $\gamma = {g}$: difference",
                "> 0",
                before - after,
                holds=before > after,
                said="claimed",
            )
            for g, ratios in zip((1, 3), others, strict=True)
            for percentile, before, after in zip(PERCENTILES, base, ratios, strict=True)
        ),
        Measurement.counted(trend, falls, len(PERCENTILES), 2),
    )


def _harmonics(loss: str | float, rays: int = 180, cells: int = 36) -> list[tuple[float, float]]:
    """At each percentile harmonics 2 and 3 of the isoline's radius about its centroid, over the mean radius.

    Of 'brier' or the proper part for a gamma, whose isoline is traced in what the model says, and mapped.
    """
    levels = np.percentile(_risk(loss, _grid(cells), proper=True), PERCENTILES)
    plane = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    angles = np.linspace(0, 2 * np.pi, rays, endpoint=False)
    directions = np.column_stack([np.cos(angles), np.sin(angles)]) @ plane
    start = np.array(TRUTH) if isinstance(loss, str) else focal_minimiser([TRUTH], loss)[0]
    edge = (start / np.where(directions < 0, -directions, 1e-9)).min(1) * (1 - 1e-9)
    found = []
    for level in levels:
        low, high = np.zeros(rays), edge
        for _ in range(30):
            middle = (low + high) / 2
            below = _risk(loss, start + middle[:, None] * directions) < level
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        points = start + low[:, None] * directions
        mapped = points if isinstance(loss, str) else np.exp(focal_log_probs(np.log(points), loss))
        found.append(_harmonics_of((mapped - TRUTH) @ plane.T @ np.array([1, 1j]), angles))
    return found


def _grid(cells: int) -> np.ndarray:
    """Points inside the simplex of three classes."""
    first, second = (axis.ravel() for axis in np.meshgrid(np.arange(1, cells), np.arange(1, cells)))
    inside = first + second < cells
    return np.column_stack([first, second, cells - first - second])[inside] / cells


def _risk(loss: str | float, points: np.ndarray, proper: bool = False) -> np.ndarray:
    """Conditional risk of the truth: Brier score, or focal loss with a gamma, or its proper part."""
    if isinstance(loss, str):
        return conditional_risk(brier_values(points), TRUTH)
    return conditional_risk(proper_focal_loss(points, loss) if proper else focal_loss_values(points, loss), TRUTH)


def _harmonics_of(outline: np.ndarray, angles: np.ndarray) -> tuple[float, float]:
    centred = outline - _centroid(outline)
    radius = np.interp(angles, np.angle(centred) % (2 * np.pi), np.abs(centred), period=2 * np.pi)
    sizes = np.abs(np.fft.rfft(radius))
    return float(2 * sizes[2] / sizes[0]), float(2 * sizes[3] / sizes[0])


def _centroid(outline: np.ndarray) -> complex:
    """The centre of the area inside a polygon of complex corners."""
    after = np.roll(outline, -1)
    cross = (np.conj(outline) * after).imag
    return complex(((outline + after) * cross).sum() / (3 * cross.sum()))

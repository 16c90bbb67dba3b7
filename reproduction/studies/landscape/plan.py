"""What the page on the landscape compares, written down before the curvature of any of its networks was measured.

One other network had been looked at, a two-layer one of seed 50: with larger gamma its trace fell by its own loss and
rose by cross-entropy. The signs below are not that look's: they are those that KN24 claims, for the landscape of the
loss that was trained with, and the same ones asked of one landscape for all, that of cross-entropy. Metrics are those
of `measure_landscape`. The primary contrast of a table stands for itself, the others are corrected together by Holm.

Asked besides, for the abstract's 'relationship between calibration performance and curvature': whether the rank
correlation of ECE with the top eigenvalue, and with the trace, over the gammas of a seed, is positive on average over
seeds (both by the own loss, on validation images).
"""

from __future__ import annotations

from collections.abc import Sequence

from reproduction.engine.contrasts import Contrast, Setting

GAMMAS = (0.0, 1.0, 2.0, 3.0, 5.0, 7.0)
NETWORKS = {"small-cnn": GAMMAS, "mlp": GAMMAS, "small-vit": (0.0, 1.0, 3.0, 7.0)}
MIDDLE = 3.0  # 'around gamma = 3, 4', KN24 Fig. 2


def _label(gamma: float) -> str:
    return f"focal {gamma:g}" if gamma else "cross-entropy"


def _contrast(
    table: str, metric: str, ours: float, theirs: float = 0.0, claimed: int = -1, primary: bool = False
) -> Contrast:
    first, second = _label(ours), _label(theirs)
    return Contrast(
        table, f"{metric}: {first} - {second}", metric, Setting((first,)), Setting((second,)), claimed, primary
    )


def eigenvalue_contrasts(gammas: Sequence[float] = GAMMAS) -> tuple[Contrast, ...]:
    """KN24 Fig. 2: the top eigenvalue on validation images falls from each gamma to the next; primary, over all."""
    metric = "log top own validation"
    steps = zip(gammas[1:], gammas[:-1], strict=True)
    return (
        _contrast("eigenvalue", metric, gammas[-1], gammas[0], primary=True),
        *(_contrast("eigenvalue", metric, ours, theirs) for ours, theirs in steps),
    )


def calibration_contrasts(middle: float = MIDDLE, largest: float = GAMMAS[-1]) -> tuple[Contrast, ...]:
    """KN24 Figs. 2 and 3: at a middle gamma trace and ECE are lower than at 0; at a large one the trace is lower still,
    and the ECE higher."""
    return (
        _contrast("calibration", "ece", middle, primary=True),
        _contrast("calibration", "ece", largest, middle, claimed=1),
        _contrast("calibration", "log trace own validation", middle),
        _contrast("calibration", "log trace own validation", largest, middle),
    )


def cause_contrasts(gamma: float = MIDDLE) -> tuple[Contrast, ...]:
    """At one gamma: the landscape of cross-entropy where focal loss leads; what the trace is made of; the weights."""
    metrics = [f"log trace ce {split}" for split in ("validation", "train")]
    metrics += ["log top ce validation", "log trace own train"]
    metrics += [f"log {factor} validation" for factor in ("loss factor", "spread", "sensitivity")]
    chief, *others = (*metrics, "log weight norm")
    return (
        _contrast("causes", chief, gamma, primary=True),
        *(_contrast("causes", metric, gamma, claimed=1 if "spread" in metric else -1) for metric in others),
    )

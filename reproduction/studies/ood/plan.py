"""What is compared on unknown inputs, written down before any network was shown an input it had not been trained for.

Signs of detection are those that L25 section 5.4 prints for FLSD-53 and FCL beside 'Weight Decay', cross-entropy: a
higher AUROC. Signs under shift are those that KK24 claims in distribution. The primary contrast of a table stands for
itself, the others are corrected together by Holm.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import pandas as pd

from reproduction.engine.contrasts import Contrast, Setting

CE = "cross-entropy"
SHIFTS = ("gaussian-noise", "gaussian-blur", "contrast")  # of severity 1 to 5
CIFAR_SHOWN = ("cifar100", "cifar10-c-gaussian-noise-5")  # noise of severity 5 as M20's authors have it
AUROC, FPR95 = "auroc {}", "fpr95 {}"  # by a score of focal_lib.metrics.detection


def _detection(
    table: str, loss: str, score: str = "max-probability", metric: str = AUROC, after: str = "", primary: bool = False
) -> Contrast:
    """A loss minus cross-entropy, both as trained, or both after a scaling by NLL on validation data."""
    scaled = (after, "nll") if after else ("none", "")
    name = f"{loss}, {metric.format(score)}{f', after {after}' if after else ''}"
    ours, theirs = Setting((loss,), *scaled), Setting((CE,), *scaled)
    return Contrast(table, name, metric.format(score), ours, theirs, 1 if metric == AUROC else -1, primary)


def _shift(
    loss: str, metric: str, ours: str, theirs: str = "none", primary: bool = False, table: str = "shift"
) -> Contrast:
    """Mean of a metric over corruptions and severities after one scaling, minus after another, or none; lower."""
    one, two = (Setting((loss,), method, "" if method == "none" else "nll") for method in (ours, theirs))
    return Contrast(table, f"{loss}: {ours} minus {theirs}, {metric}", metric, one, two, -1, primary)


def digit_contrasts(gammas: Sequence[float] = (1, 2, 3, 5, 7), chief: float = 3) -> tuple[Contrast, ...]:
    """Focal losses of a grid against its cross-entropy, on MNIST's digits; gamma `chief` is the primary one.

    What was written down has the gammas and the seeds of workflow/grids/fashion-mnist.yaml.
    """
    focal = f"focal {chief:g}"
    return (
        _detection("digits", focal, primary=True),
        *(_detection("digits", f"focal {gamma:g}") for gamma in gammas if gamma != chief),
        _detection("digits", focal, "entropy"),
        _detection("digits", focal, "energy"),
        _detection("digits", focal, after="temperature"),
        _detection("digits", focal, metric=FPR95),
    )


# those of fashion-mnist-unknown.yaml
RECORDED_DIGITS = (
    _detection("FCL, digits", "fcl 4 1.5", primary=True),
    _detection("FCL, digits", "fcl 2 0.5"),
    _detection("FCL, digits", "flsd-53"),
    _detection("FCL, digits", "fcl 4 1.5", "entropy"),
    _detection("FCL, digits", "fcl 4 1.5", after="temperature"),
)

# those of fashion-mnist-fresh.yaml: written down after seeds 0 to 3 were seen, and before these seeds were
FRESH_DIGITS = (
    _detection("fresh seeds", "focal 3", "energy", primary=True),
    _detection("fresh seeds", "focal 3"),
    _detection("fresh seeds", "fcl 4 1.5"),
    _detection("fresh seeds", "fcl 4 1.5", "energy"),
)

# those of cifar10-unknown.yaml
CIFAR = tuple(
    contrast
    for unknown in CIFAR_SHOWN
    for contrast in (
        _detection(f"FCL, {unknown}", "fcl 4 1.5", primary=True),
        _detection(f"FCL, {unknown}", "fcl 2 0.5"),
        _detection(f"FCL, {unknown}", "flsd-53"),
        _detection(f"FCL, {unknown}", "fcl 4 1.5", "entropy"),
        _detection(f"FCL, {unknown}", "fcl 4 1.5", after="temperature"),
        _detection(f"FCL, {unknown}", "focal 3"),
    )
)


def shift_contrasts(gamma: float = 3, table: str = "shift") -> tuple[Contrast, ...]:
    """Scalings of cross-entropy and of focal loss, fitted on clean images, on corrupted ones.

    What was written down has gamma 3, and Gaussian noise, Gaussian blur and contrast of severity 1 to 5.
    """
    both = (CE, f"focal {gamma:g}")
    ask = functools.partial(_shift, table=table)
    found = [ask(loss, "nll", "focal-temperature", "temperature", primary=loss == CE) for loss in both]
    found += [ask(loss, "adaptive-ece", "focal-temperature", "temperature") for loss in both]
    found += [ask(loss, metric, "temperature") for metric in ("nll", "adaptive-ece") for loss in both]
    return tuple(found)


# those of cifar10-unknown.yaml: all corruptions of CIFAR-10-C that could be made here then, which was without frost, of
# severity 1 to 5
CIFAR_SHIFTS = shift_contrasts(3, "CIFAR-10-C")
_LATER = ("frost",)


def corruptions_asked(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of what `CIFAR_SHIFTS` were written down for: without frost, which was made here later."""
    return table[~table["corruption"].isin(_LATER)]

"""What chapter 19 compares, written down before any network was shown an input it had not been trained for.

Signs of detection are those that L25 section 5.4 prints for FLSD-53 and FCL beside 'Weight Decay', cross-entropy: a
higher AUROC. Signs under shift are those that KK24 claims in distribution. The primary contrast of a table stands for
itself, the others are corrected together by Holm.
"""

from __future__ import annotations

from focal_lib.training.contrasts import Contrast, Setting

__all__ = ["CIFAR", "DIGITS", "RECORDED_DIGITS", "SHIFT"]

CE = "cross-entropy"
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


# the networks of workflow/grids/fashion-mnist.yaml, MNIST's digits
DIGITS = (
    _detection("digits", "focal 3", primary=True),
    *(_detection("digits", f"focal {gamma}") for gamma in (1, 2, 5, 7)),
    _detection("digits", "focal 3", "entropy"),
    _detection("digits", "focal 3", "energy"),
    _detection("digits", "focal 3", after="temperature"),
    _detection("digits", "focal 3", metric=FPR95),
)

# those of fashion-mnist-unknown.yaml
RECORDED_DIGITS = (
    _detection("FCL, digits", "fcl 4 1.5", primary=True),
    _detection("FCL, digits", "fcl 2 0.5"),
    _detection("FCL, digits", "flsd-53"),
    _detection("FCL, digits", "fcl 4 1.5", "entropy"),
    _detection("FCL, digits", "fcl 4 1.5", after="temperature"),
)

# those of cifar10-unknown.yaml: CIFAR-100, and Gaussian noise of severity 5 as M20's authors have it
CIFAR = tuple(
    contrast
    for unknown in ("cifar100", "cifar10-c-gaussian-noise-5")
    for contrast in (
        _detection(f"FCL, {unknown}", "fcl 4 1.5", primary=True),
        _detection(f"FCL, {unknown}", "fcl 2 0.5"),
        _detection(f"FCL, {unknown}", "flsd-53"),
        _detection(f"FCL, {unknown}", "fcl 4 1.5", "entropy"),
        _detection(f"FCL, {unknown}", "fcl 4 1.5", after="temperature"),
    )
)

# cross-entropy and focal loss under corruption: Gaussian noise, Gaussian blur and contrast, severities 1 to 5
SHIFT = (
    _shift(CE, "nll", "focal-temperature", "temperature", primary=True),
    _shift("focal 3", "nll", "focal-temperature", "temperature"),
    _shift(CE, "adaptive-ece", "focal-temperature", "temperature"),
    _shift("focal 3", "adaptive-ece", "focal-temperature", "temperature"),
    _shift(CE, "nll", "temperature"),
    _shift("focal 3", "nll", "temperature"),
    _shift(CE, "adaptive-ece", "temperature"),
    _shift("focal 3", "adaptive-ece", "temperature"),
)

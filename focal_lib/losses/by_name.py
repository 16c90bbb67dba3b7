"""Losses by the names that a specification uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from focal_lib.losses.ada_focal import AdaFocalLoss
from focal_lib.losses.base import TrainingLoss
from focal_lib.losses.brier import BrierLoss
from focal_lib.losses.dual_focal import DualFocalLoss
from focal_lib.losses.focal import FLSD53, FLSD532, FocalLoss, ProperFocalLoss, ScheduledFocalLoss
from focal_lib.losses.focal_calibration import FocalCalibrationLoss
from focal_lib.losses.hessian_penalty import HessianTraceLoss
from focal_lib.losses.label_smoothing import LabelSmoothingLoss
from focal_lib.losses.mmce import MMCELoss


class Setting(NamedTuple):
    """What a loss may depend on."""

    gamma: float
    lam: float
    epochs: int


def _scheduled(*gammas: float) -> Callable[[Setting], TrainingLoss]:
    """M20's schedule: gamma changes after 100 and 250 of 350 epochs, here after the same shares."""

    def build(setting: Setting) -> TrainingLoss:
        changes = (0, 2 * setting.epochs // 7, 5 * setting.epochs // 7)
        if len(set(changes)) < len(changes):
            raise ValueError(f"gamma changes after 2/7 and 5/7 of the epochs: needs at least 4. Got {setting.epochs}.")
        return ScheduledFocalLoss(list(zip(changes, gammas, strict=True)))

    return build


BUILDERS: dict[str, Callable[[Setting], TrainingLoss]] = {
    "focal": lambda s: FocalLoss(s.gamma),
    "proper-focal": lambda s: ProperFocalLoss(s.gamma),
    "brier": lambda s: BrierLoss(),
    "label-smoothing": lambda s: LabelSmoothingLoss(s.lam),
    "mmce": lambda s: MMCELoss(s.lam),
    "mmce-m20": lambda s: MMCELoss(s.lam, divided_by=2),  # as M20's published code has it
    "focal-scheduled-532": _scheduled(5, 3, 2),
    "focal-scheduled-531": _scheduled(5, 3, 1),
    "flsd-53": lambda s: FLSD53(),
    "flsd-532": lambda s: FLSD532(),
    "adafocal": lambda s: AdaFocalLoss(),
    "dual-focal": lambda s: DualFocalLoss(s.gamma),
    "hessian-trace": lambda s: HessianTraceLoss(s.lam),
    "fcl": lambda s: FocalCalibrationLoss(s.gamma, s.lam),
    "fcl-l1": lambda s: FocalCalibrationLoss(s.gamma, s.lam, norm="l1"),
}


def build(name: str, gamma: float = 0.0, lam: float = 0.0, epochs: int = 1) -> TrainingLoss:
    """A fresh loss.

    Raises:
        ValueError: an unknown name, the message lists the known ones; too few epochs for a schedule.
    """
    if name not in BUILDERS:
        raise ValueError(f"loss must be one of {', '.join(BUILDERS)}. Got {name!r}.")
    return BUILDERS[name](Setting(gamma, lam, epochs))

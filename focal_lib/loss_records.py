"""What specifications, tables and figures know of each training loss; PyTorch is not imported.

To add a loss: its class in a file of `focal_lib/losses`, and its record here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class LossRecord:
    """A loss as it is named, built, printed and drawn.

    Attributes:
        name: in specifications.
        source: module and class, or function, in `focal_lib.losses`.
        printed: in tables and legends.
        parameters: those of 'gamma' and 'lam' (the weight of the added term, or the smoothing) that it must be given.
        options: arguments that are the same in every run of the name.
        of_epochs: whether it must be told how many epochs there are.
        colour: in figures; None for one of the scale of gamma.
        papers: what papers train with, in words.
        images, texts: values of its one parameter in the papers, for images and for texts.

    Raises:
        ValueError: another parameter than 'gamma' and 'lam'.
    """

    name: str
    source: str
    printed: str
    parameters: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    of_epochs: bool = False
    colour: str | None = None
    papers: str = ""
    images: tuple[float, ...] = ()
    texts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not {"gamma", "lam"}.issuperset(self.parameters):
            raise ValueError(f"parameters of {self.name} must be of gamma, lam. Got {', '.join(self.parameters)}.")

    def say_missing(self, parameter: str, advice: str) -> str:
        """For a message: the parameter was not given, and what others take."""
        return f"{self.name} needs {parameter}{f': {advice}' if advice else ''}. Got none."

    def label(self, gamma: float, lam: float) -> str:
        """With its parameters, as 'fcl 2 0.5'; focal loss with gamma 0 is 'cross-entropy'."""
        if self.name == "focal" and gamma == 0:
            return "cross-entropy"
        given = {"gamma": gamma, "lam": lam}
        return " ".join([self.name, *(f"{given[name]:g}" for name in self.parameters)])


_ALL = (
    LossRecord("focal", "focal.FocalLoss", "focal", ("gamma",), images=(0, 1, 2, 3, 5, 7), texts=(0, 1, 2, 3)),
    LossRecord(
        "proper-focal",
        "focal.ProperFocalLoss",
        "proper focal",
        ("gamma",),
        papers="KK24 trains no network with it; its focal losses have gamma 1 to 7",
    ),
    LossRecord("brier", "brier.BrierLoss", "Brier score", colour="#1B7E2A"),
    LossRecord(
        "label-smoothing",
        "label_smoothing.LabelSmoothingLoss",
        "label smoothing",
        ("lam",),
        colour="#703F0E",
        papers="L25 has lam 0.05",
        images=(0.05,),
        texts=(0.05,),
    ),
    LossRecord(
        "mmce",
        "mmce.MMCELoss",
        "MMCE",
        ("lam",),
        colour="#85861F",
        papers="M20 has lam 2 for images and 8 for texts, in its code for mmce-m20",
    ),
    LossRecord(
        "mmce-m20",
        "mmce.MMCELoss",
        "MMCE as in M20's code",
        ("lam",),
        options={"divided_by": 2},
        colour="#5E5E10",
        papers="M20 has lam 2 for images and 8 for texts",
        images=(2,),
        texts=(8,),
    ),
    LossRecord(
        "focal-scheduled-532",
        "focal.scheduled",
        "focal 5-3-2",
        options={"gammas": (5, 3, 2)},
        of_epochs=True,
        colour="#5A5F66",
    ),
    LossRecord(
        "focal-scheduled-531",
        "focal.scheduled",
        "focal 5-3-1",
        options={"gammas": (5, 3, 1)},
        of_epochs=True,
        colour="#83888F",
    ),
    LossRecord("flsd-53", "focal.FLSD53", "FLSD-53", colour="#B2790C"),
    LossRecord("flsd-532", "focal.FLSD532", "FLSD-532", colour="#8C6A3F"),
    LossRecord("adafocal", "ada_focal.AdaFocalLoss", "AdaFocal", colour="#1D4514"),
    LossRecord(
        "dual-focal",
        "focal.DualFocalLoss",
        "dual focal",
        ("gamma",),
        colour="#9E122B",
        papers="Tao et al. (2023) have gamma 5",
        images=(5,),
        texts=(5,),
    ),
    LossRecord(
        "hessian-trace",
        "hessian.HessianTraceLoss",
        "Hessian trace",
        ("lam",),
        colour="#6B5B95",
        papers="this book's grid has lam 1e-4 to 2e-3; 0 is cross-entropy with its trace on record",
    ),
    LossRecord("fcl", "focal.FocalCalibrationLoss", "FCL", ("gamma", "lam"), colour="#CE3401"),
    LossRecord(
        "fcl-l1",
        "focal.FocalCalibrationLoss",
        "FCL with L1",
        ("gamma", "lam"),
        options={"norm": "l1"},
        colour="#E0527A",
    ),
)
LOSS_RECORDS: dict[str, LossRecord] = {}
for _record in _ALL:
    if LOSS_RECORDS.setdefault(_record.name, _record) is not _record:
        raise ValueError(f"each loss must have a name of its own. Got {_record.name} twice.")

"""What is trained on the raters' labels, and the contrasts that are written down before it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from focal_lib.loss_records import LOSS_RECORDS
from focal_lib.losses.by_name import build
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.studies.human_labels.models import KINDS, NETWORKS

GAMMA = 2.0  # of the contrasts
FCL = (2.0, 0.5)  # gamma and lambda: L25's pair with this gamma (A.10)
VALIDATED, END = "validated", "to the end"  # least own validation loss; least penalty, or last epoch
MODELS = ("linear", *NETWORKS)


@dataclass(frozen=True)
class Plan:
    """One model to train.

    Raises:
        ValueError: an unknown model, kind of labels or loss; sizes below 1.
    """

    model: str
    loss: str  # a name of losses.by_name
    gamma: float = 0.0
    lam: float = 0.0
    labels: str = "drawn"
    seed: int = 1
    classes: int = 2
    n_train: int = 8_045
    n_validation: int = 1_500
    epochs: int = 8  # of a network

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"model must be one of {', '.join(MODELS)}. Got {self.model!r}.")
        if self.labels not in KINDS:
            raise ValueError(f"labels must be one of {', '.join(KINDS)}. Got {self.labels!r}.")
        if min(self.n_train, self.n_validation, self.epochs) < 1:
            raise ValueError(f"n_train, n_validation and epochs must be at least 1. Got {self}.")
        build(self.loss, self.gamma, self.lam)

    @property
    def label(self) -> str:
        """'cross-entropy', 'focal 2', 'fcl 2 0.5'."""
        return LOSS_RECORDS[self.loss].label(self.gamma, self.lam)

    @property
    def mapped_gamma(self) -> float | None:
        """The gamma of the map that the decomposition puts after this loss, where it has one."""
        return self.gamma if self.loss == "focal" and self.gamma > 0 else None


def losses_compared(gamma: float = GAMMA) -> dict[str, dict[str, Any]]:
    """Label -> the loss, as arguments of a Plan: cross-entropy, focal, its proper part, FCL, Brier."""
    given: tuple[dict[str, Any], ...] = (
        {"loss": "focal"},
        {"loss": "focal", "gamma": gamma},
        {"loss": "proper-focal", "gamma": gamma},
        {"loss": "fcl", "gamma": FCL[0], "lam": FCL[1]},
        {"loss": "brier"},
    )
    return {Plan("linear", **arguments).label: arguments for arguments in given}


def written_contrasts(table: str, gamma: float = GAMMA, majority: bool = True) -> tuple[Contrast, ...]:
    """The contrasts of one model, its table, the primary one first; the others are corrected together, by Holm.

    Written down before the recorded runs, after a trial of each model with seed 0, which is none of theirs, but for the
    Tree-LSTM: that was added, without a trial, when the others had been seen. The test
    sentences are the same. A loss is named with its labels and with what was kept. claimed: -1 lower, 1 higher by the
    theory; 0 where it is only asked.

    Args:
        table: a name for the model.
        gamma: of focal loss, its map and its proper part.
        majority: whether there are models trained on the majority, too.
    """
    ce, focal, proper, fcl, brier = losses_compared(gamma)

    def made(loss: str, labels: str = "drawn", kept: str = VALIDATED, method: str = "none") -> Setting:
        return Setting((f"{loss}, {labels}, {kept}",), method, "nll" if "temperature" in method else "")

    after, late = made(focal, method="map"), made(focal, kept=END)
    late_after, most_after = made(focal, kept=END, method="map"), made(focal, "majority", method="map")
    found = (
        ("focal: after its map minus as it is", "kl", after, made(focal), -1),
        ("the same in squared distance", "l2", after, made(focal), -1),
        ("focal after its map minus cross-entropy", "kl", after, made(ce), 0),
        ("focal after its map minus focal after a temperature", "kl", after, made(focal, method="temperature"), 0),
        ("proper part minus focal", "kl", made(proper), made(focal), -1),
        ("FCL minus focal", "kl", made(fcl), made(focal), -1),
        ("FCL minus focal after its map", "kl", made(fcl), after, 1),
        ("Brier minus cross-entropy", "kl", made(brier), made(ce), 0),
        ("to the end: focal minus cross-entropy", "kl", late, made(ce, kept=END), -1),
        ("to the end: focal after its map minus as it is", "kl", late_after, late, 1),
        ("majority: focal after its map minus as it is", "kl", most_after, made(focal, "majority"), 0),
        ("cross-entropy: majority minus drawn", "kl", made(ce, "majority"), made(ce), 1),
    )
    kept = [each for each in found if majority or "majority" not in each[0]]
    return tuple(Contrast(table, *each, primary=not i) for i, each in enumerate(kept))

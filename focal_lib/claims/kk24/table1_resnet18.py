"""KK24 Table 1 asked of a larger network: ResNet-18 on all of CIFAR-10, by KK24's ECE, equal mass (section 5.1)."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.kk24.table1 import (
    EVERY_LOSS,
    FOCAL_LOSSES,
    GAMMA_ACCURACY,
    GAMMA_ECE,
    change_of_ece_by_gamma,
    change_of_error_by_gamma,
    gain_of_focal_losses,
    gains_by_loss,
)
from focal_lib.claims.ledger import claim

CHAPTER = "24_larger_longer"
RUNS = "cifar10-resnet18"
SIZE = "ResNet-18, 45,000 training images, 16 epochs, losses summed and gradients clipped as in KK24's published code"


@claim(
    "kk24.table1_ece_every_loss_resnet18",
    source="KK24 Table 1, section 5.2, on CIFAR-10",
    statement=EVERY_LOSS.format(size=SIZE),
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{RUNS}",
)
def table1_ece_every_loss_resnet18() -> Evidence:
    """Each loss on its own; 16 epochs of 350."""
    return All(tuple(gains_by_loss(RUNS).values()))


@claim(
    "kk24.table1_ece_focal_losses_resnet18",
    source="KK24 Table 1, section 5.2, on CIFAR-10",
    statement=FOCAL_LOSSES.format(size=SIZE),
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{RUNS}",
)
def table1_ece_focal_losses_resnet18() -> Evidence:
    """The mean over the focal losses of each seed, then over seeds."""
    return gain_of_focal_losses(RUNS)


@claim(
    "kk24.table1_gamma_ece_resnet18",
    source="KK24 section 5.2, on CIFAR-10",
    statement=GAMMA_ECE.format(size=SIZE),
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{RUNS}",
)
def table1_gamma_ece_resnet18() -> Evidence:
    """gamma = 7 against cross-entropy."""
    return change_of_ece_by_gamma(RUNS)


@claim(
    "kk24.table1_gamma_accuracy_resnet18",
    source="KK24 section 5.2, on CIFAR-10",
    statement=GAMMA_ACCURACY.format(size=SIZE),
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{RUNS}",
)
def table1_gamma_accuracy_resnet18() -> Evidence:
    """gamma = 7 against cross-entropy."""
    return change_of_error_by_gamma(RUNS)

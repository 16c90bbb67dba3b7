"""L25 section 5 on recorded CIFAR-10 runs of a small network, by L25's ECE: equal width."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.from_runs import difference
from focal_lib.claims.ledger import claim
from focal_lib.claims.measurement import Measurement
from focal_lib.claims.printed_effects import mean_difference
from focal_lib.results.recorded import read_planned, read_table
from focal_lib.training.contrasts import Setting

CHAPTER = "13_table1"
RUNS = "cifar10-resnet8"
SIZE = r"(Here: $\gamma = 3$, $\lambda = \frac12$; ResNet-8, 4,000 training images, 30 epochs.)"


def _trained(loss: str) -> str:
    """The label of the recorded runs with that loss: 'fcl 3 0.5'."""
    (label,) = (found for found in read_table(RUNS)["loss"].unique() if found.split()[0] == loss)
    return label


def _fcl_against(loss: str) -> Measurement:
    dataset = read_planned(RUNS)[0].dataset
    printed = mean_difference("L25", dataset, "ece", "pre", "fcl", loss, -1)
    return difference(RUNS, "ece", Setting((_trained("fcl"),)), Setting((_trained(loss),)), printed)


@claim(
    "l25.cifar10_cross_entropy",
    source="L25 Table 4, on CIFAR-10",
    statement=r"Before temperature scaling FCL has a lower ECE (equal width) than cross-entropy. " + SIZE,
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{RUNS}",
)
def cifar10_cross_entropy() -> Evidence:
    """With gamma and lambda of the recorded runs; L25 A.10 has 4 and 1.5 for ResNet-50."""
    return _fcl_against("cross-entropy")


@claim(
    "l25.cifar10_focal",
    source="L25 Table 4, on CIFAR-10",
    statement=r"Before temperature scaling FCL has a lower ECE (equal width) than FLSD-53 and dual focal loss. " + SIZE,
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{RUNS}",
)
def cifar10_focal() -> Evidence:
    """The same against the focal losses."""
    return All(tuple(_fcl_against(loss) for loss in ("flsd-53", "dual-focal")))

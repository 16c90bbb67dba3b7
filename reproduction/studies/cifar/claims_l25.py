"""L25 section 5 on recorded runs of all of CIFAR-10, by ECE of equal width, which L25's is taken to be."""

from __future__ import annotations

from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.shared.from_runs import difference
from reproduction.studies.shared.printed_effects import mean_difference
from reproduction.studies.shared.recorded import read_planned, read_written
from reproduction.studies.shared.written_contrasts import find_contrast

CHAPTER = "13_table1"
RUNS = "cifar10-record"
SIZE = r"(Here: $\gamma = 4$, $\lambda = 1.5$; AirBench CNN, 45,000 training images, 16 epochs.)"
add_reading = Rows(CHAPTER, "our reading", needs=f"results/{RUNS}")


def _fcl_against(name: str) -> Measurement:
    """The contrast of that name, written down for L25 Table 4."""
    asked = find_contrast([contrast for contrast in read_written(RUNS) if contrast.table == "L25 Table 4"], name)
    loss = asked.theirs.losses[0].split()[0]
    printed = mean_difference("L25", read_planned(RUNS)[0].dataset, asked.metric, "pre", "fcl", loss, asked.claimed)
    return difference(RUNS, asked.metric, asked.ours, asked.theirs, printed)


@add_reading(
    "l25.cifar10_cross_entropy",
    "L25 Table 4, on CIFAR-10",
    r"Before temperature scaling FCL has a lower ECE (equal width) than cross-entropy. " + SIZE,
)
def cifar10_cross_entropy() -> Evidence:
    """With gamma and lambda that L25 A.10 has for ResNet-50 and ResNet-110; by the cells of all its four networks."""
    return _fcl_against("cross-entropy")


@add_reading(
    "l25.cifar10_focal",
    "L25 Table 4, on CIFAR-10",
    r"Before temperature scaling FCL has a lower ECE (equal width) than FLSD-53 and dual focal loss. " + SIZE,
)
def cifar10_focal() -> Evidence:
    """The same against the focal losses."""
    return All(tuple(_fcl_against(loss) for loss in ("FLSD-53", "dual focal")))

"""L25 section 5 on recorded CIFAR-10 runs of a small network, by L25's ECE: equal width."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence, Measurement
from focal_lib.claims.from_runs import difference
from focal_lib.claims.ledger import claim
from focal_lib.claims.printed_effects import mean_difference
from focal_lib.results.recorded import load_recorded
from focal_lib.training.contrasts import Setting

CHAPTER = "13_table1"
RUNS = "cifar10-resnet8"
FCL = "fcl 3 0.5"


def _fcl_against(loss: str) -> Measurement:
    dataset = load_recorded(RUNS)[0].spec.dataset
    printed = mean_difference("L25", dataset, "ece", "pre", "fcl", loss.split()[0], -1)
    return difference(RUNS, "ece", Setting((FCL,)), Setting((loss,)), printed)


@claim(
    "l25.cifar10_cross_entropy",
    source="L25 Table 4, on CIFAR-10",
    statement=r"Before temperature scaling FCL has a lower ECE (equal width) than cross-entropy.",
    chapter=CHAPTER,
    needs=f"results/{RUNS}",
)
def cifar10_cross_entropy() -> Evidence:
    """gamma = 3, lambda = 0.5: the paper's values are lost in the text at hand."""
    return _fcl_against("cross-entropy")


@claim(
    "l25.cifar10_focal",
    source="L25 Table 4, on CIFAR-10",
    statement=r"Before temperature scaling FCL has a lower ECE (equal width) than FLSD-53 and dual focal loss.",
    chapter=CHAPTER,
    needs=f"results/{RUNS}",
)
def cifar10_focal() -> Evidence:
    """The same against the focal losses."""
    return All(tuple(_fcl_against(loss) for loss in ("flsd-53", "dual-focal 5")))

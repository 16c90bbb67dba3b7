"""L25 section 5 on recorded CIFAR-10 runs of a small network, by L25's ECE: equal width."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.from_runs import Setting, difference
from focal_lib.claims.ledger import claim

CHAPTER = "13_table1"
RUNS = "cifar10-resnet8"
FCL = Setting("fcl 3 0.5")


@claim(
    "l25.cifar10_cross_entropy",
    source="L25 Table 4, on CIFAR-10",
    statement=r"Before temperature scaling FCL has a lower ECE (equal width) than cross-entropy.",
    chapter=CHAPTER,
    needs=f"results/{RUNS}",
)
def cifar10_cross_entropy() -> Evidence:
    """gamma = 3, lambda = 0.5: the paper's values are lost in the text at hand."""
    return difference(RUNS, "ece", FCL, Setting("cross-entropy"), "negative", -1)


@claim(
    "l25.cifar10_focal",
    source="L25 Table 4, on CIFAR-10",
    statement=r"Before temperature scaling FCL has a lower ECE (equal width) than FLSD-53 and dual focal loss.",
    chapter=CHAPTER,
    needs=f"results/{RUNS}",
)
def cifar10_focal() -> Evidence:
    """The same against the focal losses."""
    others = ("flsd-53", "dual-focal 5")
    return All(tuple(difference(RUNS, "ece", FCL, Setting(loss), "negative", -1) for loss in others))

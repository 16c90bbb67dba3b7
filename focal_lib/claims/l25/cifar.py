"""L25 section 5 on recorded CIFAR-10 runs of a small network."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.from_runs import on_recorded, seeds_apart
from focal_lib.claims.ledger import claim

CHAPTER = "13_table1"
RUNS = "cifar10-resnet8"
FCL = "fcl 3 0.5"


@claim(
    "l25.cifar10_cross_entropy",
    source="L25 Table 4, on CIFAR-10",
    statement=r"Before temperature scaling FCL has a lower ECE than cross-entropy.",
    chapter=CHAPTER,
)
@on_recorded(RUNS)
def cifar10_cross_entropy() -> Evidence:
    """gamma = 3, lambda = 0.5: the paper's values are lost in the text at hand."""
    return seeds_apart(RUNS, "ece", (FCL, "pre"), ("cross-entropy", "pre"), "negative", -1)


@claim(
    "l25.cifar10_focal",
    source="L25 Table 4, on CIFAR-10",
    statement=r"Before temperature scaling FCL has a lower ECE than FLSD-53 and dual focal loss.",
    chapter=CHAPTER,
)
@on_recorded(RUNS)
def cifar10_focal() -> Evidence:
    """The same against the focal losses."""
    others = ("flsd-53", "dual-focal 5")
    return All(tuple(seeds_apart(RUNS, "ece", (FCL, "pre"), (k, "pre"), "negative", -1) for k in others))

"""M20 section 6 on recorded CIFAR-10 runs of a small network."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.from_runs import on_recorded, seeds_apart
from focal_lib.claims.ledger import claim

CHAPTER = "13_table1"
RUNS = "cifar10-resnet8"


@claim(
    "m20.cifar10_before",
    source="M20 section 6, Table 4, on CIFAR-10",
    statement=r"Before temperature scaling focal loss, with $\gamma = 3$ and with FLSD-53, has a lower ECE than cross-entropy.",
    chapter=CHAPTER,
)
@on_recorded(RUNS)
def cifar10_before() -> Evidence:
    """A small ResNet instead of the paper's four networks."""
    baseline = ("cross-entropy", "pre")
    return All(tuple(seeds_apart(RUNS, "ece", (k, "pre"), baseline, "negative", -1) for k in ("focal 3", "flsd-53")))


@claim(
    "m20.cifar10_after",
    source="M20 section 6, Table 4, on CIFAR-10",
    statement=r"After temperature scaling it still has.",
    chapter=CHAPTER,
)
@on_recorded(RUNS)
def cifar10_after() -> Evidence:
    """The same after a temperature fitted by ECE."""
    baseline = ("cross-entropy", "ts, ece")
    return All(
        tuple(seeds_apart(RUNS, "ece", (k, "ts, ece"), baseline, "negative", -1) for k in ("focal 3", "flsd-53"))
    )

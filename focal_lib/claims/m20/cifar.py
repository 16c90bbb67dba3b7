"""M20 section 6 on recorded CIFAR-10 runs of a small network, by M20's ECE: equal width."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.from_runs import Setting, difference
from focal_lib.claims.ledger import claim

CHAPTER = "13_table1"
RUNS = "cifar10-resnet8"
LOSSES = ("focal 3", "flsd-53")


@claim(
    "m20.cifar10_before",
    source="M20 section 6, Tables 1 and 4, on CIFAR-10",
    statement=r"Before temperature scaling focal loss, with $\gamma = 3$ and with FLSD-53, has a lower ECE (equal width) than cross-entropy.",
    chapter=CHAPTER,
    needs=f"results/{RUNS}",
)
def cifar10_before() -> Evidence:
    """A small ResNet instead of the paper's four networks."""
    baseline = Setting("cross-entropy")
    return All(tuple(difference(RUNS, "ece", Setting(loss), baseline, "negative", -1) for loss in LOSSES))


@claim(
    "m20.cifar10_after",
    source="M20 section 6, Tables 1 and 4, on CIFAR-10",
    statement=r"After temperature scaling, too, focal loss with $\gamma = 3$ and with FLSD-53 has a lower ECE (equal width) than cross-entropy.",
    chapter=CHAPTER,
    needs=f"results/{RUNS}",
)
def cifar10_after() -> Evidence:
    """The same after a temperature chosen by that ECE."""
    scaled = {loss: Setting(loss, "temperature", "ece") for loss in ("cross-entropy", *LOSSES)}
    baseline = scaled.pop("cross-entropy")
    return All(tuple(difference(RUNS, "ece", setting, baseline, "negative", -1) for setting in scaled.values()))

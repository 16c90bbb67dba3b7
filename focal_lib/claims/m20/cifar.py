"""M20 section 6 on recorded CIFAR-10 runs of a small network, by M20's ECE: equal width."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence, Measurement
from focal_lib.claims.from_runs import difference
from focal_lib.claims.ledger import claim
from focal_lib.claims.printed_effects import mean_difference
from focal_lib.results.recorded import load_recorded
from focal_lib.training.contrasts import Setting

CHAPTER = "13_table1"
RUNS = "cifar10-resnet8"
LOSSES = ("focal 3", "flsd-53")


def _against_cross_entropy(loss: str, stage: str) -> Measurement:
    scaling = ("temperature", "ece") if stage == "post" else ()
    ours, theirs = (Setting((name,), *scaling) for name in (loss, "cross-entropy"))
    printed = mean_difference("M20", load_recorded(RUNS)[0].spec.dataset, "ece", stage, loss, "cross-entropy", -1)
    return difference(RUNS, "ece", ours, theirs, printed)


@claim(
    "m20.cifar10_before",
    source="M20 section 6, Tables 1 and 7, on CIFAR-10",
    statement=r"Before temperature scaling focal loss, with $\gamma = 3$ and with FLSD-53, has a lower ECE (equal width) than cross-entropy.",
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{RUNS}",
)
def cifar10_before() -> Evidence:
    """A small ResNet instead of the paper's four networks."""
    return All(tuple(_against_cross_entropy(loss, "pre") for loss in LOSSES))


@claim(
    "m20.cifar10_after",
    source="M20 section 6, Tables 1 and 7, on CIFAR-10",
    statement=r"After temperature scaling, too, focal loss with $\gamma = 3$ and with FLSD-53 has a lower ECE (equal width) than cross-entropy.",
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{RUNS}",
)
def cifar10_after() -> Evidence:
    """The same after a temperature chosen by that ECE."""
    return All(tuple(_against_cross_entropy(loss, "post") for loss in LOSSES))

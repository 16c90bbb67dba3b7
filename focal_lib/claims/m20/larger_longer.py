"""M20 section 6 asked of a larger network and of a longer training, on all of CIFAR-10, by M20's ECE: equal width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from focal_lib.checkout import ROOT
from focal_lib.claims.evidence import All, Evidence, Unchecked
from focal_lib.claims.ledger import claim
from focal_lib.claims.m20.cifar import (
    AFTER_FIXED,
    AFTER_SAMPLE_DEPENDENT,
    BEFORE,
    CLIPPED,
    LOSSES,
    STEPS,
    against_cross_entropy,
    change_of_lead,
)
from focal_lib.claims.measurement import Measurement
from focal_lib.claims.printed_effects import PrintedEffect

CHAPTER = "24_larger_longer"
LARGER, FRESH = "cifar10-resnet18", "cifar10-long-fresh"
RESNET18 = f"(Here: ResNet-18, 45,000 training images, 16 epochs, {STEPS}.)"
HUNDRED = f"(Here: AirBench CNN, 45,000 training images, 100 epochs by M20's schedule, {STEPS}.)"


@claim(
    "m20.cifar10_before_resnet18",
    source="M20 sections 4 and 6, Tables 1 and 7, on CIFAR-10",
    statement=BEFORE + RESNET18,
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{LARGER}",
)
def cifar10_before_resnet18() -> Evidence:
    """16 epochs of 350, with M20's steps."""
    return All(tuple(against_cross_entropy(loss, "pre", runs=LARGER) for loss in LOSSES))


@claim(
    "m20.cifar10_after_sample_dependent_resnet18",
    source="M20 section 6, Table 1, on CIFAR-10",
    statement=AFTER_SAMPLE_DEPENDENT + RESNET18,
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{LARGER}",
)
def cifar10_after_sample_dependent_resnet18() -> Evidence:
    """The same after a temperature chosen by that ECE."""
    return against_cross_entropy("flsd-53", "post", runs=LARGER)


@claim(
    "m20.cifar10_after_fixed_resnet18",
    source="M20 section 6, Table 7, on CIFAR-10, asked of a fixed gamma",
    statement=AFTER_FIXED + RESNET18,
    chapter=CHAPTER,
    fidelity="ours",
    needs=f"results/{LARGER}",
)
def cifar10_after_fixed_resnet18() -> Evidence:
    """M20 says so of its sample-dependent policy alone."""
    return against_cross_entropy("focal 3", "post", PrintedEffect(-1, None, "negative, if it lasts"), LARGER)


def _if_run(measure: Callable[[], Measurement]) -> Evidence:
    """Of runs that are planned, and none of which may be there yet."""
    if not (ROOT / "results" / FRESH / "table.parquet").is_file():
        return Unchecked(
            f"the runs of workflow/grids/{FRESH}.yaml are planned and not made yet: seeds that were not seen before it was asked"
        )
    return measure()


@claim(
    "m20.cifar10_before_long",
    source="M20 sections 4 and 6, Tables 1 and 7, on CIFAR-10",
    statement=r"Before temperature scaling focal loss with $\gamma = 3$ has a lower ECE (equal width) than cross-entropy. "
    + HUNDRED,
    chapter=CHAPTER,
    fidelity="our reading",
)
def cifar10_before_long() -> Evidence:
    """A smaller network than the paper's, 100 of its 350 epochs, its steps; of seeds fresh since `cifar10-long`."""
    return _if_run(lambda: against_cross_entropy("focal 3", "pre", runs=FRESH))


@claim(
    "m20.longer_training_favours_focal",
    source="M20 section 6, asked of how long is trained",
    statement=r"ECE (equal width) as trained with focal loss, $\gamma = 3$, minus that with cross-entropy, is lower after 100 epochs by M20's "
    r"schedule, with plain momentum and every batch, than after 16 at rates of one cycle, with Nesterov's and without a last batch that is not full. (AirBench CNN, "
    r"45,000 training images, the same network and rule for the step.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=f"results/{CLIPPED}",
)
def longer_training_favours_focal() -> Evidence:
    """Of the seeds that both have; machine and version of PyTorch may differ, too."""
    return _if_run(lambda: change_of_lead(FRESH, CLIPPED, "by M20's longer training"))


@claim(
    "m20.larger_network_favours_focal",
    source="M20 section 6, asked of the size of the network",
    statement=r"ECE (equal width) as trained with focal loss, $\gamma = 3$, minus that with cross-entropy, is lower in ResNet-18 than in a small "
    r"network, both after 16 epochs with the same recipe. (AirBench CNN, 45,000 training images.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=f"results/{LARGER}",
)
def larger_network_favours_focal() -> Evidence:
    """Of the same seeds, with all else alike but machine, version of PyTorch and the way it does a step."""
    found = change_of_lead(LARGER, CLIPPED, "by a larger network")
    return replace(found, remark="Asked when ResNet-18's runs and the small network's first seed had been seen")

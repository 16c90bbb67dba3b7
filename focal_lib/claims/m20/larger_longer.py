"""M20 section 6 asked of a larger network and of a longer training, on all of CIFAR-10, by M20's ECE: equal width."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.ledger import claim
from focal_lib.claims.m20.cifar import CLIPPED, LOSSES, against_cross_entropy, change_of_lead
from focal_lib.claims.printed_effects import PrintedEffect

CHAPTER = "24_larger_longer"
LARGER, LONGER = "cifar10-resnet18", "cifar10-long"
RESNET18 = "(Here: ResNet-18, 45,000 training images, 16 epochs.)"
HUNDRED = "(Here: AirBench CNN, 45,000 training images, 100 epochs by M20's schedule.)"


@claim(
    "m20.cifar10_before_resnet18",
    source="M20 sections 4 and 6, Tables 1 and 7, on CIFAR-10",
    statement=r"Before temperature scaling focal loss, with $\gamma = 3$ and with FLSD-53, has a lower ECE (equal width) than cross-entropy. "
    + RESNET18,
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
    statement=r"After temperature scaling, too, focal loss with sample-dependent $\gamma$ (FLSD-53) has a lower ECE (equal width) than "
    r"cross-entropy. " + RESNET18,
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
    statement=r"After temperature scaling, too, focal loss with $\gamma = 3$ has a lower ECE (equal width) than cross-entropy. "
    + RESNET18,
    chapter=CHAPTER,
    fidelity="ours",
    needs=f"results/{LARGER}",
)
def cifar10_after_fixed_resnet18() -> Evidence:
    """M20 says so of its sample-dependent policy alone."""
    return against_cross_entropy("focal 3", "post", PrintedEffect(-1, None, "negative, if it lasts"), LARGER)


@claim(
    "m20.cifar10_before_long",
    source="M20 sections 4 and 6, Table 7, on CIFAR-10",
    statement=r"Before temperature scaling focal loss with $\gamma = 3$ has a lower ECE (equal width) than cross-entropy. "
    + HUNDRED,
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{LONGER}",
)
def cifar10_before_long() -> Evidence:
    """A smaller network than the paper's, and 100 of its 350 epochs, with its steps."""
    return against_cross_entropy("focal 3", "pre", runs=LONGER)


@claim(
    "m20.longer_training_favours_focal",
    source="M20 section 6, asked of how long is trained",
    statement=r"ECE (equal width) as trained with focal loss, $\gamma = 3$, minus that with cross-entropy, is lower after 100 epochs by M20's "
    r"schedule than after 16 at rates of one cycle, with the same network and steps. (AirBench CNN, 45,000 training images.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=f"results/{LONGER}",
)
def longer_training_favours_focal() -> Evidence:
    """Of the same seeds; schedule and Nesterov's momentum differ with the length."""
    return change_of_lead(LONGER, CLIPPED, "by a longer training")


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
    """Of the same seeds, with all else alike but the machine."""
    return change_of_lead(LARGER, CLIPPED, "by a larger network")

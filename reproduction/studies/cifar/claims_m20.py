"""M20 section 6 on recorded runs of all of CIFAR-10 and CIFAR-100, by M20's ECE, equal width."""

from __future__ import annotations

from dataclasses import replace

from reproduction.engine.contrasts import Contrast, Setting
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.shared.from_runs import difference, measure_change, with_remark
from reproduction.studies.shared.printed_effects import PrintedEffect, mean_difference
from reproduction.studies.shared.recorded import read_planned

CHAPTER = "13_table1"
RUNS = "cifar10-record"
LOSSES = ("focal 3", "flsd-53")
SIZE = "(Here: AirBench CNN, 45,000 training images, 16 epochs.)"
HUNDRED_CLASSES = "cifar100-record"
SIZE_HUNDRED_CLASSES = "(Here: AirBench CNN, 45,000 training images of CIFAR-100, 16 epochs.)"
CLIPPED = "cifar10-clipped"  # the same, with steps as M20's published code takes them
BEFORE = r"Before temperature scaling focal loss, with $\gamma = 3$ and with FLSD-53, has a lower ECE (equal width) than cross-entropy. "
AFTER_SAMPLE_DEPENDENT = (
    r"After temperature scaling, too, focal loss with sample-dependent $\gamma$ (FLSD-53) has a lower ECE (equal "
    r"width) than cross-entropy. "
)
AFTER_FIXED = (
    r"After temperature scaling, too, focal loss with $\gamma = 3$ has a lower ECE (equal width) than cross-entropy. "
)
STEPS = "with losses summed over a batch and gradients clipped at norm 2, as in M20's published code"
SEEDS_ADDED = "Two of the four seeds were planned when the difference of seed 0 had been seen"
OTHER_PROCESSOR = "Some of these runs were made on another processor than their counterparts, as their records say"
# the same of a larger network, and of a longer training
CHAPTER_LARGER = "24_larger_longer"
LARGER, FRESH = "cifar10-resnet18", "cifar10-long-fresh"
RESNET18 = f"(Here: ResNet-18, 45,000 training images, 16 epochs, {STEPS}.)"
LONG = f"(Here: AirBench CNN, 45,000 training images, 100 epochs by M20's schedule, {STEPS}.)"
add_reading = Rows(CHAPTER, "our reading", needs=f"results/{RUNS}")
add_reading_hundred_classes = Rows(CHAPTER, "our reading", needs=f"results/{HUNDRED_CLASSES}")
add_reading_larger = Rows(CHAPTER_LARGER, "our reading", needs=f"results/{LARGER}")
add_ours = Rows(CHAPTER, "ours", needs=f"results/{RUNS}")


def against_cross_entropy(loss: str, stage: str, printed: PrintedEffect | None = None, runs: str = RUNS) -> Measurement:
    """ECE (equal width) with a loss minus with cross-entropy, 'pre' or 'post' a temperature chosen by it.

    Args:
        printed: what is claimed, of what M20 does not claim.
    """
    scaling = ("temperature", "ece") if stage == "post" else ()
    ours, theirs = (Setting((name,), *scaling) for name in (loss, "cross-entropy"))
    if printed is not None:
        return difference(runs, "ece", ours, theirs, printed, "asked", by_chance=stage == "post")
    printed = mean_difference("M20", read_planned(runs)[0].dataset, "ece", stage, loss, "cross-entropy", -1)
    return difference(runs, "ece", ours, theirs, printed, by_chance=stage == "post")


# One smaller network, and 16 epochs of 350, instead of the paper's four networks.
add_reading(
    "m20.cifar10_before",
    "M20 sections 4 and 6, Tables 1 and 7, on CIFAR-10",
    BEFORE + SIZE,
    lambda: All(tuple(against_cross_entropy(loss, "pre") for loss in LOSSES)),
)

# The same after a temperature chosen by that ECE.
add_reading(
    "m20.cifar10_after_sample_dependent",
    "M20 section 6, Table 1, on CIFAR-10",
    AFTER_SAMPLE_DEPENDENT + SIZE,
    lambda: against_cross_entropy("flsd-53", "post"),
)

# M20 says so of its sample-dependent policy alone.
add_ours(
    "m20.cifar10_after_fixed",
    "M20 section 6, Table 7, on CIFAR-10, asked of a fixed gamma",
    AFTER_FIXED + SIZE,
    lambda: against_cross_entropy("focal 3", "post", PrintedEffect(-1, None, "negative, if it lasts")),
)

# `cifar10_before` with a hundred classes, and two seeds.
add_reading_hundred_classes(
    "m20.cifar100_before",
    "M20 sections 4 and 6, Tables 1 and 7, on CIFAR-100",
    BEFORE + SIZE_HUNDRED_CLASSES,
    lambda: All(tuple(against_cross_entropy(loss, "pre", runs=HUNDRED_CLASSES) for loss in LOSSES)),
)

add_reading_hundred_classes(
    "m20.cifar100_after_sample_dependent",
    "M20 section 6, Table 1, on CIFAR-100",
    AFTER_SAMPLE_DEPENDENT + SIZE_HUNDRED_CLASSES,
    lambda: against_cross_entropy("flsd-53", "post", runs=HUNDRED_CLASSES),
)

add_ours(
    "m20.cifar100_after_fixed",
    "M20 section 6, Table 7, on CIFAR-100, asked of a fixed gamma",
    AFTER_FIXED + SIZE_HUNDRED_CLASSES,
    lambda: against_cross_entropy("focal 3", "post", PrintedEffect(-1, None, "negative, if it lasts"), HUNDRED_CLASSES),
    needs=f"results/{HUNDRED_CLASSES}",
)

# `cifar10_before` of other runs: its steps go by the mean of the losses, as the paper's text lets one think.
add_reading(
    "m20.cifar10_before_clipped",
    "M20 sections 4 and 6, Tables 1 and 7, on CIFAR-10, and its published code",
    rf"Before temperature scaling focal loss with $\gamma = 3$ has a lower ECE (equal width) than cross-entropy, {STEPS}. "
    + SIZE,
    lambda: with_remark(against_cross_entropy("focal 3", "pre", runs=CLIPPED), SEEDS_ADDED),
    needs=f"results/{CLIPPED}",
)


@add_ours(
    "m20.clipping_favours_focal",
    "M20's published code, against its text",
    rf"ECE (equal width) as trained with focal loss, $\gamma = 3$, minus that with cross-entropy, is lower {STEPS}, than by "
    r"the mean and without clipping. " + SIZE,
    needs=f"results/{CLIPPED}",
)
def clipping_favours_focal() -> Evidence:
    """Of the same seeds, with all else alike but, of some runs, the processor."""
    found = change_of_lead(CLIPPED, RUNS, "by M20's steps")
    return with_remark(found, f"Asked when seed 0 of either had been seen. {SEEDS_ADDED}. {OTHER_PROCESSOR}")


def change_of_lead(first: str, second: str, by: str) -> Measurement:
    """ECE (equal width) as trained with focal loss, gamma 3, minus that with cross-entropy: `first` minus `second`."""
    asked = Contrast("", "", "ece", Setting(("focal 3",)), Setting(("cross-entropy",)), -1)
    quantity = f"change {by} in the ECE of focal 3 minus that of cross-entropy, as trained"
    return replace(measure_change(first, second, asked, quantity, PrintedEffect(-1, None, "negative")), said="asked")


# 16 epochs of 350, with M20's steps.
add_reading_larger(
    "m20.cifar10_before_resnet18",
    "M20 sections 4 and 6, Tables 1 and 7, on CIFAR-10",
    BEFORE + RESNET18,
    lambda: All(tuple(against_cross_entropy(loss, "pre", runs=LARGER) for loss in LOSSES)),
)

add_reading_larger(
    "m20.cifar10_after_sample_dependent_resnet18",
    "M20 section 6, Table 1, on CIFAR-10",
    AFTER_SAMPLE_DEPENDENT + RESNET18,
    lambda: against_cross_entropy("flsd-53", "post", runs=LARGER),
)

add_ours(
    "m20.cifar10_after_fixed_resnet18",
    "M20 section 6, Table 7, on CIFAR-10, asked of a fixed gamma",
    AFTER_FIXED + RESNET18,
    lambda: against_cross_entropy("focal 3", "post", PrintedEffect(-1, None, "negative, if it lasts"), LARGER),
    chapter=CHAPTER_LARGER,
    needs=f"results/{LARGER}",
)


def _beside_short(found: Measurement) -> str:
    """The difference after the longer training, and after shorter ones that sum and clip as it does."""
    short, large = (against_cross_entropy("focal 3", "pre", runs=name) for name in (CLIPPED, LARGER))
    return (
        f"gamma 3 minus cross-entropy: {found.measured:+.1f} points, {found.over}, M20's schedule shortened; after 16 epochs "
        f"with another schedule {short.measured:+.1f}, {short.over}, and in ResNet-18 {large.measured:+.1f}, {large.over}"
    )


# A smaller network than the paper's, 100 of its 350 epochs, its steps; of seeds fresh since `cifar10-long`.
add_reading(
    "m20.cifar10_before_long",
    "M20 sections 4 and 6, Tables 1 and 7, on CIFAR-10",
    r"Before temperature scaling focal loss with $\gamma = 3$ has a lower ECE (equal width) than cross-entropy. "
    + LONG,
    lambda: against_cross_entropy("focal 3", "pre", runs=FRESH),
    chapter=CHAPTER_LARGER,
    needs=f"results/{FRESH}",
    headline="as trained gamma 3 has a lower ECE (equal width) than cross-entropy: a small network on CIFAR-10, 100 epochs",
    instead=_beside_short,
)


@add_ours(
    "m20.longer_training_favours_focal",
    "M20 section 6, asked of how long is trained",
    r"ECE (equal width) as trained with focal loss, $\gamma = 3$, minus that with cross-entropy, is lower with M20's schedule, shortened to 100 "
    r"passes over the images, with plain momentum and every batch, than with a learning rate of one cycle, Nesterov's momentum and a last batch that is not full dropped. "
    rf"(AirBench CNN, 45,000 training images, 16 epochs there, {STEPS}.)",
    chapter=CHAPTER_LARGER,
    needs=f"results/{CLIPPED}",
)
def longer_training_favours_focal() -> Evidence:
    """Of the seeds that both have; machine and version of PyTorch may differ, too."""
    found = change_of_lead(FRESH, CLIPPED, "by M20's longer training")
    seen = "Asked when seed 0 of either had been seen; all short runs had been seen when the long ones began"
    return with_remark(found, f"{seen}. Processor or GPU, and version of PyTorch, differ, too")


@add_ours(
    "m20.larger_network_favours_focal",
    "M20 section 6, asked of the size of the network",
    r"ECE (equal width) as trained with focal loss, $\gamma = 3$, minus that with cross-entropy, is lower in ResNet-18 than in a small "
    r"network, both after 16 epochs with the same recipe. (AirBench CNN, 45,000 training images.)",
    chapter=CHAPTER_LARGER,
    needs=f"results/{LARGER}",
)
def larger_network_favours_focal() -> Evidence:
    """Of the same seeds, with all else alike but machine, version of PyTorch and the way it does a step."""
    found = change_of_lead(LARGER, CLIPPED, "by a larger network")
    return with_remark(found, "Asked when ResNet-18's runs and the small network's first seed had been seen")

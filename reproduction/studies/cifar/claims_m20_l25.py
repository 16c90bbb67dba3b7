"""M20 section 6 and L25 section 5 on recorded runs of all of CIFAR-10 and CIFAR-100, by their ECE, of equal width."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from reproduction.engine.contrasts import Contrast, Setting
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.shared.from_runs import difference, measure_change, with_remark
from reproduction.studies.shared.printed_effects import PrintedEffect, mean_difference
from reproduction.studies.shared.recorded import read_planned, read_written
from reproduction.studies.shared.regimes import like_m20_or_l25
from reproduction.studies.shared.written_contrasts import find_contrast

RUNS, HUNDRED_CLASSES = "cifar10-record", "cifar100-record"
CLIPPED = "cifar10-clipped"  # with steps as M20's published code takes them
LARGER, FRESH = "cifar10-resnet18", "cifar10-long-fresh"  # a larger network, a longer training
STEPS = "with losses summed over a batch and gradients clipped at norm 2, as in M20's published code"
SIZE = "(Here: AirBench CNN, 45,000 training images of CIFAR-10, 16 epochs.)"
SIZE_HUNDRED = "(Here: AirBench CNN, 45,000 training images of CIFAR-100, 16 epochs.)"
RESNET18 = f"(Here: ResNet-18, 45,000 training images of CIFAR-10, 16 epochs, {STEPS}.)"
LONG = f"(Here: AirBench CNN, 45,000 training images of CIFAR-10, 100 epochs by M20's schedule, {STEPS}.)"
OF_L25 = r"(Here: $\gamma = 4$, $\lambda = 1.5$; AirBench CNN, 45,000 training images of CIFAR-10, 16 epochs.)"
SEEDS_ADDED = "Two of the four seeds were planned when the difference of seed 0 had been seen"
OTHER_PROCESSOR = "Some of these runs were made on another processor than their counterparts, as their records say"

# what is asked of runs of a size, and where M20 say so
SECTIONS = "M20 sections 4 and 6, Tables 1 and 7, on CIFAR-10"
TABLE_1 = "M20 section 6, Table 1, on CIFAR-10"
FIXED = "M20 section 6, Table 7, on CIFAR-10, asked of a fixed gamma"
BEFORE = (
    r"Before temperature scaling focal loss, with $\gamma = 3$ and with FLSD-53, has a lower ECE (equal width) than "
    "cross-entropy. "
)
AFTER_SAMPLE_DEPENDENT = (
    r"After temperature scaling, too, focal loss with sample-dependent $\gamma$ (FLSD-53) has a lower ECE (equal width, "
    "which chooses the temperature) than cross-entropy. "
)
AFTER_FIXED = (
    r"After temperature scaling, too, focal loss with $\gamma = 3$ has a lower ECE (equal width, which chooses the "
    "temperature) than cross-entropy. "
)
GAMMA_3 = r"Before temperature scaling focal loss with $\gamma = 3$ has a lower ECE (equal width) than cross-entropy"
LEAD = r"ECE (equal width) as trained with focal loss, $\gamma = 3$, minus that with cross-entropy, is lower"
add_reading = Rows("table1", "our reading", needs=f"results/{RUNS}")
add_hundred = Rows("table1", "our reading", needs=f"results/{HUNDRED_CLASSES}")
add_larger = Rows("larger_longer", "our reading", needs=f"results/{LARGER}")
add_ours = Rows("table1", "ours", needs=f"results/{RUNS}")
add_ours_larger = Rows("larger_longer", "ours", needs=f"results/{LARGER}")


def against_cross_entropy(loss: str, stage: str, runs: str = RUNS) -> Measurement:
    """ECE (equal width) with a loss minus with cross-entropy, 'pre' or 'post' a temperature chosen by it."""
    printed = mean_difference("M20", read_planned(runs)[0].dataset, "ece", stage, loss, "cross-entropy", -1)
    return difference(runs, "ece", *_settings(loss, stage), printed, by_chance=stage == "post")


def _settings(loss: str, stage: str) -> tuple[Setting, Setting]:
    scaling = ("temperature", "ece") if stage == "post" else ()
    return Setting((loss,), *scaling), Setting(("cross-entropy",), *scaling)


def before(runs: str = RUNS) -> Evidence:
    """Both of M20's losses as trained; networks smaller than the paper's four, and 16 epochs of 350."""
    return All.of(*(against_cross_entropy(loss, "pre", runs) for loss in ("focal 3", "flsd-53")))


def after_fixed(runs: str = RUNS) -> Evidence:
    """Gamma 3 after a temperature: M20 claims it of its sample-dependent policy alone."""
    lasting = PrintedEffect(-1, None, "negative, if it lasts")
    return difference(runs, "ece", *_settings("focal 3", "post"), lasting, "asked", by_chance=True)


def change_of_lead(first: str, second: str, by: str) -> Measurement:
    """ECE (equal width) as trained with focal loss, gamma 3, minus that with cross-entropy: `first` minus `second`."""
    asked = Contrast("", "", "ece", *_settings("focal 3", "pre"), -1)
    quantity = f"change {by} in the ECE of focal 3 minus that of cross-entropy, as trained"
    return replace(measure_change(first, second, asked, quantity, PrintedEffect(-1, None, "negative")), said="asked")


add_reading(
    "m20.cifar10_before",
    "Focal loss is better calibrated than cross-entropy as trained, on CIFAR-10",
    SECTIONS,
    f"{BEFORE}{SIZE} Trained for long: m20.cifar10_before_long.",
    lambda: before(),
    regime=partial(like_m20_or_l25, "M20", RUNS),
)
add_reading(
    "m20.cifar10_after_sample_dependent",
    "FLSD-53 is better calibrated than cross-entropy after scaling, on CIFAR-10",
    TABLE_1,
    AFTER_SAMPLE_DEPENDENT + SIZE,
    lambda: against_cross_entropy("flsd-53", "post"),
    regime=partial(like_m20_or_l25, "M20", RUNS),
)
add_ours(
    "m20.cifar10_after_fixed",
    "Gamma 3 is better calibrated than cross-entropy after scaling, on CIFAR-10",
    FIXED,
    AFTER_FIXED + SIZE,
    lambda: after_fixed(),
)

# a hundred classes, and two seeds
add_hundred(
    "m20.cifar100_before",
    "Focal loss is better calibrated than cross-entropy as trained, on CIFAR-100",
    "M20 sections 4 and 6, Tables 1 and 7, on CIFAR-100",
    BEFORE + SIZE_HUNDRED,
    lambda: before(HUNDRED_CLASSES),
    regime=partial(like_m20_or_l25, "M20", HUNDRED_CLASSES),
)
add_hundred(
    "m20.cifar100_after_sample_dependent",
    "FLSD-53 is better calibrated than cross-entropy after scaling, on CIFAR-100",
    "M20 section 6, Table 1, on CIFAR-100",
    AFTER_SAMPLE_DEPENDENT + SIZE_HUNDRED,
    lambda: against_cross_entropy("flsd-53", "post", HUNDRED_CLASSES),
    regime=partial(like_m20_or_l25, "M20", HUNDRED_CLASSES),
)
add_ours(
    "m20.cifar100_after_fixed",
    "Gamma 3 is better calibrated than cross-entropy after scaling, on CIFAR-100",
    "M20 section 6, Table 7, on CIFAR-100, asked of a fixed gamma",
    AFTER_FIXED + SIZE_HUNDRED,
    lambda: after_fixed(HUNDRED_CLASSES),
    needs=f"results/{HUNDRED_CLASSES}",
)

# a larger network, 16 epochs of 350, with M20's steps
add_larger(
    "m20.cifar10_before_resnet18",
    "Focal loss is better calibrated than cross-entropy as trained, in ResNet-18",
    SECTIONS,
    BEFORE + RESNET18,
    lambda: before(LARGER),
    regime=partial(like_m20_or_l25, "M20", LARGER),
)
add_larger(
    "m20.cifar10_after_sample_dependent_resnet18",
    "FLSD-53 is better calibrated than cross-entropy after scaling, in ResNet-18",
    TABLE_1,
    AFTER_SAMPLE_DEPENDENT + RESNET18,
    lambda: against_cross_entropy("flsd-53", "post", LARGER),
    regime=partial(like_m20_or_l25, "M20", LARGER),
)
add_ours_larger(
    "m20.cifar10_after_fixed_resnet18",
    "Gamma 3 is better calibrated than cross-entropy after scaling, in ResNet-18",
    FIXED,
    AFTER_FIXED + RESNET18,
    lambda: after_fixed(LARGER),
)

# M20's steps: those of the runs above go by the mean of the losses, as the paper's text lets one think
add_reading(
    "m20.cifar10_before_clipped",
    "With clipped gradients gamma 3 is better calibrated than cross-entropy as trained",
    f"{SECTIONS}, and its published code",
    f"{GAMMA_3}, {STEPS}. {SIZE}",
    lambda: with_remark(against_cross_entropy("focal 3", "pre", CLIPPED), SEEDS_ADDED),
    needs=f"results/{CLIPPED}",
    regime=partial(like_m20_or_l25, "M20", CLIPPED),
)


@add_ours(
    "m20.clipping_favours_focal",
    "Summed losses and clipped gradients favour focal loss",
    "M20's published code, against its text",
    f"{LEAD} {STEPS}, than by the mean and without clipping. {SIZE}",
    needs=f"results/{CLIPPED}",
)
def clipping_favours_focal() -> Evidence:
    """Of the same seeds, with all else alike but, of some runs, the processor."""
    found = change_of_lead(CLIPPED, RUNS, "by M20's steps")
    return with_remark(found, f"Asked when seed 0 of either had been seen. {SEEDS_ADDED}. {OTHER_PROCESSOR}")


def _beside_short(_: Evidence) -> str:
    """The difference after the longer training, and after shorter ones that sum and clip as it does."""
    found = against_cross_entropy("focal 3", "pre", FRESH)
    short, large = (against_cross_entropy("focal 3", "pre", name) for name in (CLIPPED, LARGER))
    return (
        f"gamma 3 minus cross-entropy: {found.measured:+.1f} points, {found.over}, M20's schedule shortened; out of "
        f"regime, cross-entropy hardly overconfident: {short.measured:+.1f} after 16 epochs, {large.measured:+.1f} in "
        "ResNet-18"
    )


# A smaller network than the paper's, 100 of its 350 epochs, its steps; of seeds fresh since `cifar10-long`.
add_larger(
    "m20.cifar10_before_long",
    "After 100 epochs gamma 3 is better calibrated than cross-entropy as trained",
    SECTIONS,
    f"{GAMMA_3}. {LONG}",
    lambda: against_cross_entropy("focal 3", "pre", FRESH),
    needs=f"results/{FRESH}",
    in_readme=True,
    instead=_beside_short,
    regime=partial(like_m20_or_l25, "M20", FRESH),
)


@add_ours_larger(
    "m20.longer_training_favours_focal",
    "M20's longer schedule favours focal loss",
    "M20 section 6, asked of how long is trained",
    f"{LEAD} with M20's schedule, shortened to 100 passes over the images, with plain momentum and every batch, than "
    "with a learning rate of one cycle, Nesterov's momentum and a last batch that is not full dropped. (AirBench CNN, "
    f"45,000 training images of CIFAR-10, 16 epochs there, {STEPS}.)",
    needs=f"results/{CLIPPED}",
)
def longer_training_favours_focal() -> Evidence:
    """Of the seeds that both have; machine and version of PyTorch may differ, too."""
    found = change_of_lead(FRESH, CLIPPED, "by M20's longer training")
    seen = "Asked when seed 0 of either had been seen; all short runs had been seen when the long ones began"
    return with_remark(found, f"{seen}. Processor or GPU, and version of PyTorch, differ, too")


@add_ours_larger(
    "m20.larger_network_favours_focal",
    "ResNet-18 favours focal loss more than a small network does",
    "M20 section 6, asked of the size of the network",
    f"{LEAD} in ResNet-18 than in a small network, both after 16 epochs with the same recipe, {STEPS}. (The small one: "
    "AirBench CNN; 45,000 training images of CIFAR-10.)",
    instead="it favours cross-entropy",
)
def larger_network_favours_focal() -> Evidence:
    """Of the same seeds, with all else alike but machine, version of PyTorch and the way it does a step."""
    found = change_of_lead(LARGER, CLIPPED, "by a larger network")
    seen = "Asked when ResNet-18's runs and the small network's first seed had been seen"
    return with_remark(
        found, f"{seen}. The networks differ in more than size; machine and version of PyTorch differ, too"
    )


def _fcl_against(name: str) -> Measurement:
    """The contrast of that name, written down for L25 Table 4; gamma and lambda as L25 A.10 has for its ResNets."""
    asked = find_contrast([contrast for contrast in read_written(RUNS) if contrast.table == "L25 Table 4"], name)
    loss = asked.theirs.losses[0].split()[0]
    printed = mean_difference("L25", read_planned(RUNS)[0].dataset, asked.metric, "pre", "fcl", loss, asked.claimed)
    return difference(RUNS, asked.metric, asked.ours, asked.theirs, printed)


add_reading(
    "l25.cifar10_cross_entropy",
    "FCL is better calibrated than cross-entropy on CIFAR-10",
    "L25 Table 4, on CIFAR-10",
    f"Before temperature scaling FCL has a lower ECE (equal width) than cross-entropy. {OF_L25}",
    lambda: _fcl_against("cross-entropy"),
    regime=partial(like_m20_or_l25, "L25", RUNS),
)
add_reading(
    "l25.cifar10_focal",
    "FCL is better calibrated than two focal losses on CIFAR-10",
    "L25 Table 4, on CIFAR-10",
    f"Before temperature scaling FCL has a lower ECE (equal width) than FLSD-53 and dual focal loss. {OF_L25}",
    lambda: All.of(*(_fcl_against(loss) for loss in ("FLSD-53", "dual focal"))),
    regime=partial(like_m20_or_l25, "L25", RUNS),
)

"""KK24's networks against people's votes: what was expected of runs that had not been held against them."""

from __future__ import annotations

from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.studies.people.contrasts import (
    NEEDS,
    judge_contrasts,
    judge_primary,
    measure_hurts,
    measure_rare,
    measure_ratio,
    measure_ratios_above_one,
)
from reproduction.studies.people.plan import CLIPPED, EXPECTED, LONG, RATIO, RESNET18, UNSEEN

CHAPTER = "calibrated_to_whom"
_SHORT = (RESNET18, CLIPPED)
_ON = "CIFAR-10H, the temperature for labels by log-loss"
_WHERE = f"{_ON}; ResNet-18 and the small network with clipped gradients after 16 epochs"
_EVERYWHERE = f"{_WHERE}, the small network after 100"
_GAMMAS = r"$\gamma = 2$ on ResNet-18, 3 on the small network"
_LOW, _HIGH = EXPECTED["ratio"]

add = Rows(CHAPTER, "ours", needs=NEEDS)

add(
    "kk24.people_ratio",
    "People need a higher temperature than the labels do",
    "KK24 section 4.1, asked of people",
    "The temperature that brings a network nearest to people (KL) is above the one that suits the labels in every run, and for cross-entropy "
    f"{_LOW:g} to {_HIGH:g} times as high. ({_EVERYWHERE}.)",
    lambda: All((*(measure_ratio(record) for record in UNSEEN), measure_ratios_above_one())),
)


@add(
    "kk24.people_rule",
    "A label temperature leads away from people between one half and one",
    "KK24 section 4.1, asked of people",
    r"A temperature $T$ fitted on labels takes a network away from people (KL) exactly if "
    f"${RATIO**-2:.2f} < T < 1$, in at least {EXPECTED['hurts']:.0%} of the runs made. ({_EVERYWHERE}; counted, "
    "which says nothing of other runs: those of one recipe are alike.)",
)
def people_rule() -> Evidence:
    """The limits are where the network as trained is as far from the temperature for people as after T, in its log."""
    return measure_hurts()


add(
    "kk24.people_as_trained",
    "Focal loss as trained is nearer to people than scaled cross-entropy",
    "KK24 section 4, asked of people",
    "Focal loss as trained is nearer to people (KL) than cross-entropy after a temperature fitted on labels. "
    f"({_WHERE}; {_GAMMAS}. After 100 epochs: kk24.people_as_trained_long.)",
    lambda: judge_primary(*_SHORT),
)
add(
    "kk24.people_other_gammas",
    "In ResNet-18 gamma 1 and 3 are nearer to people than scaled cross-entropy",
    "KK24 section 4, asked of people",
    r"The same as kk24.people_as_trained with $\gamma = 1$ and 3 on ResNet-18. "
    f"({_ON}; after 16 epochs.)",
    lambda: judge_contrasts("as trained minus cross-entropy after a temperature", (RESNET18,), primary=False),
)
add(
    "kk24.people_as_trained_long",
    "After 100 epochs focal loss is farther from people than scaled cross-entropy",
    "KK24 section 4, asked of people",
    r"After 100 epochs focal loss ($\gamma = 3$) as trained is farther from people (KL) than cross-entropy after a temperature fitted on labels. "
    f"({_ON}; the small network, AirBench CNN, its gradients clipped.)",
    lambda: judge_primary(LONG),
)
add(
    "kk24.people_temperature_away",
    "After 16 epochs a label temperature takes focal networks away from people",
    "KK24 section 4.1, asked of people",
    rf"After 16 epochs a temperature fitted on labels takes a focal network away from people (KL). ({_WHERE}; on the first $\gamma = 1, 2, 3$ and FLSD-53, on the second $\gamma = 3$.)",
    lambda: judge_contrasts("after a temperature minus as trained", _SHORT),
)
add(
    "kk24.people_temperature_nearer",
    "After 100 epochs a label temperature brings focal networks nearer to people",
    "KK24 section 4.1, asked of people",
    r"After 100 epochs a temperature fitted on labels brings a focal network ($\gamma = 3$) nearer to people (KL). "
    f"({_ON}; the small network.)",
    lambda: judge_contrasts("after a temperature minus as trained", (LONG,)),
)
add(
    "kk24.people_squared",
    "In squared distance focal loss is farther from people than scaled cross-entropy",
    "KK24 section 4, asked of people",
    "In squared distance focal loss as trained is farther from people than cross-entropy after a temperature fitted on labels. "
    f"({_EVERYWHERE}; {_GAMMAS}.)",
    lambda: judge_contrasts("squared distance"),
)
add(
    "kk24.people_floor",
    "With a little uniform mixed in, focal loss is farther from people",
    "KK24 section 4, asked of people",
    "In KL, too, once 1 % of a uniform distribution is mixed into each network, focal loss as trained is farther from people than cross-entropy "
    f"after a temperature fitted on labels. ({_EVERYWHERE}; {_GAMMAS}.)",
    lambda: judge_contrasts("KL from 99 % of the network"),
)
add(
    "kk24.people_own_temperature",
    "With temperatures fitted to people, cross-entropy is nearer than focal loss",
    "KK24 section 4.1, asked of people",
    f"After the temperature that suits people, cross-entropy is nearer to them (KL) than focal loss. ({_EVERYWHERE}; {_GAMMAS}.)",
    lambda: judge_contrasts("both after the temperature for people"),
)
add(
    "kk24.people_map",
    "The map takes focal networks away from people",
    "KK24 section 3.3, Prop. 4, asked of people",
    f"The focal calibration map takes a focal network away from people (KL). ({_EVERYWHERE}; {_GAMMAS}.)",
    lambda: judge_contrasts("after its map minus as trained"),
)
add(
    "kk24.people_rare",
    "Much of cross-entropy's KL from people comes from classes thought improbable",
    "KK24 section 4, asked of people",
    f"Of cross-entropy after a temperature fitted on labels, at least {EXPECTED['kl_rare']:.0%} of its KL from people, and at most "
    f"{EXPECTED['l2_rare']:.0%} of its squared distance, comes from classes to which it gives less than 1 %. ({_EVERYWHERE}; over seeds alone.)",
    lambda: All((*measure_rare("kl").parts, *measure_rare("l2").parts)),
)

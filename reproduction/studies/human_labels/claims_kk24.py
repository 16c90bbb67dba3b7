"""KK24 Prop. 4 on real posteriors: does the map bring a focal network to the votes of several raters?"""

from __future__ import annotations

from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import claim
from reproduction.studies.human_labels.from_raters import (
    NEEDS,
    SIZE,
    TWO_CLASSES,
    contrast_of_raters,
    contrast_seen_afterwards,
    size_of_gap,
    temperature_left,
)
from reproduction.studies.human_labels.plan import END, VALIDATED
from reproduction.studies.human_labels.raters_record import SETTINGS
from reproduction.studies.shared.from_runs import COMPENSATION

CHAPTER = "18_human_labels"


@claim(
    "kk24.raters_after_map",
    source="KK24 section 3.3, Prop. 4",
    statement="The 'focal calibration map is observed to equal with the transformation that maps the outputs from focal minimizers to the true "
    rf"class probabilities'. (Taken as: after its map what a focal model says is nearer to the raters, in KL; {SIZE}, weights of least "
    "validation loss; a linear model with two and three classes, three small networks, the Tree-LSTM added when the others had been seen.)",
    chapter=CHAPTER,
    fidelity="our reading",
    needs=NEEDS,
)
def raters_after_map() -> Evidence:
    """The primary contrast of each model."""
    name = "focal: after its map minus as it is"
    return All(tuple(contrast_of_raters(setting, name, -1) for setting in SETTINGS))


@claim(
    "kk24.raters_proper_part",
    source="KK24 section 3.2, after Prop. 2, taken further",
    statement=rf"Trained with the proper part of focal loss, models are nearer to the raters (KL) than trained with focal loss. ({SIZE}.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def raters_proper_part() -> Evidence:
    """The map inside the loss in place of after the model."""
    return All(tuple(contrast_of_raters(setting, "proper part minus focal", -1) for setting in SETTINGS))


@claim(
    "kk24.raters_map_not_temperature",
    source="KK24 section 3.3, taken further",
    statement="With three classes the map brings a linear focal model nearer to the raters (KL) than the best temperature on held-out labels does. "
    rf"({SIZE}.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def raters_map_not_temperature() -> Evidence:
    """With two classes the two are nearly one function, and nothing is claimed."""
    name = "focal after its map minus focal after a temperature"
    return contrast_of_raters("linear, three classes", name, -1)


@claim(
    "kk24.raters_temperature_left",
    source="KK24 section 4.1, taken further",
    statement=rf"After the map a focal model needs the temperature that cross-entropy needs, to within {100 * COMPENSATION:g} %. "
    rf"({SIZE}; two classes.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def raters_temperature_left() -> Evidence:
    """Temperatures fitted on held-out labels; weights of least validation loss."""
    return All(tuple(temperature_left(setting, COMPENSATION) for setting in TWO_CLASSES))


@claim(
    "kk24.raters_overfitted",
    source="KK24 abstract",
    statement="'[F]ocal loss pushes the model to provide under-confident predictions on the training data, resulting in being better calibrated on "
    "the test data, due to the generalization gap.' (Of the second half; the first, on the training data, is not tested. Taken as: trained on to the "
    "end, as KK24 do ('Results were evaluated on the last epoch'), the mean top probability of a focal model is nearer to the share of raters who say "
    "that class than that of one of cross-entropy, and the model nearer to the raters in KL, which holds more than calibration; only the second was "
    rf"written down before the runs, and of the Tree-LSTM when the other models had been seen; {SIZE}. For weights of least validation loss: kk24.raters_validated.)",
    chapter=CHAPTER,
    fidelity="our reading",
    needs=NEEDS,
)
def raters_overfitted() -> Evidence:
    """The last epoch, or the weakest penalty."""
    name = "to the end: focal minus cross-entropy"
    sizes = (size_of_gap(setting, END, -1, "printed") for setting in SETTINGS)
    return All((*sizes, *(contrast_of_raters(setting, name, -1, "printed") for setting in SETTINGS)))


@claim(
    "kk24.raters_validated",
    source="KK24 abstract, with weights of least validation loss",
    statement="With weights of least validation loss a focal model is farther from the raters (KL) than one of cross-entropy, and its mean top "
    rf"probability farther from the share of raters who say that class. ({SIZE}; {'; '.join(SETTINGS)}; contrasts seen afterwards.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def raters_validated() -> Evidence:
    """There is little overfitting to compensate, and the underconfidence of focal loss is left."""
    sizes = (size_of_gap(setting, VALIDATED, 1) for setting in SETTINGS)
    return All((*sizes, *(contrast_seen_afterwards(setting, 1) for setting in SETTINGS)))


@claim(
    "kk24.raters_overfitted_map",
    source="KK24 abstract, taken further",
    statement=rf"Trained on to the end, the map takes a focal model away from the raters (KL). ({SIZE}.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def raters_overfitted_map() -> Evidence:
    """There underconfidence and overfitting compensate, and the map undoes the one."""
    name = "to the end: focal after its map minus as it is"
    return All(tuple(contrast_of_raters(setting, name, 1) for setting in SETTINGS))


@claim(
    "kk24.raters_majority",
    source="KK24 section 3.1, taken further",
    statement="Trained with cross-entropy on the majority of the raters, a model is farther from them (KL) than trained on labels drawn from their "
    "votes. (Film reviews, two classes.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def raters_majority() -> Evidence:
    """A proper loss finds the posterior of the labels it is given, here the majority's."""
    name = "cross-entropy: majority minus drawn"
    return All(tuple(contrast_of_raters(setting, name, 1) for setting in TWO_CLASSES))

"""KK24 Prop. 4 on real posteriors: does the map bring a focal network to the votes of several raters?"""

from __future__ import annotations

from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows, claim
from reproduction.studies.human_labels.contrasts import (
    NEEDS,
    SETTINGS,
    SIZE,
    TWO_CLASSES,
    contrast_of_raters,
    contrast_seen_afterwards,
    in_every_setting,
    size_of_gap,
    temperature_left,
)
from reproduction.studies.human_labels.plan import END, VALIDATED, Plan
from reproduction.studies.shared.from_runs import COMPENSATION

CHAPTER = "human_labels"
THE_END = f"end (epoch {Plan.epochs}; of a linear model the least penalty)"


add_reading = Rows(CHAPTER, "our reading", needs=NEEDS)
add_ours = Rows(CHAPTER, "ours", needs=NEEDS)

# The primary contrast of each model.
add_ours(
    "kk24.raters_after_map",
    "With validated weights a focal model is nearer to the raters after its map",
    "KK24 section 3.3, Prop. 4, taken to models",
    "With weights of least validation loss a focal model is nearer to the raters (KL) after its map than as it is. (KK24 say of minimisers, not of "
    "models, that the 'focal calibration map is observed to equal with the transformation that maps the outputs from focal minimizers to the true "
    rf"class probabilities': kk24.prop4_inverse_is_minimiser. {SIZE[0].upper()}{SIZE[1:]}; a linear model with two and three classes, three small "
    "networks, the Tree-LSTM added when the others had been seen. Trained to the end: kk24.raters_overfitted_map.)",
    lambda: in_every_setting("focal: after its map minus as it is", -1),
)

# The map inside the loss in place of after the model.
add_ours(
    "kk24.raters_proper_part",
    "With validated weights the proper part comes nearer to raters than focal loss",
    "KK24 section 3.2, after Prop. 2, taken further",
    "With weights of least validation loss, models trained with the proper part of focal loss are nearer to the raters (KL) than those trained with "
    rf"focal loss. ({SIZE}; {'; '.join(SETTINGS)}; the Tree-LSTM added when the others had been seen. Trained to the end they are farther on average: "
    "chapter.)",
    lambda: in_every_setting("proper part minus focal", -1),
)

# With two classes the two are nearly one function, and nothing is claimed.
add_ours(
    "kk24.raters_map_not_temperature",
    "Three classes, validated weights: the map beats a temperature in nearness to raters",
    "KK24 section 3.3, taken further",
    "With weights of least validation loss and three classes the map brings a linear focal model nearer to the raters (KL) than the best "
    rf"temperature by log-loss on held-out labels does. ({SIZE}. Trained to the end the map takes it away: kk24.raters_overfitted_map.)",
    lambda: contrast_of_raters("linear, three classes", "focal after its map minus focal after a temperature", -1),
)

# Temperatures fitted on held-out labels; weights of least validation loss.
add_ours(
    "kk24.raters_temperature_left",
    "After the map a focal model needs cross-entropy's temperature on film reviews",
    "KK24 section 4.1, taken further",
    rf"With weights of least validation loss a focal model needs after the map the temperature that cross-entropy needs, to within "
    rf"{100 * COMPENSATION:g} %. ({SIZE}; two classes; temperatures by log-loss on held-out labels.)",
    lambda: All(tuple(temperature_left(setting, COMPENSATION) for setting in TWO_CLASSES)),
    instead="not within the tolerance, for a linear model",
)

# The last epoch, or the weakest penalty.
add_reading(
    "kk24.raters_overfitted",
    "Film reviews: trained to the end, focal models are nearer to raters than cross-entropy",
    "KK24 abstract",
    "'[F]ocal loss pushes the model to provide under-confident predictions on the training data, resulting in being better calibrated on "
    "the test data, due to the generalization gap.' (Of the second half; the first, on the training data, is not tested. Taken as: trained on to the "
    f"{THE_END}, as KK24 do ('Results were evaluated on the last epoch'), the mean top probability of a focal model is nearer to the share of raters who say "
    "that class than that of one of cross-entropy, and the model nearer to the raters in KL, which holds more than calibration; only the second was "
    rf"written down before the runs, and of the Tree-LSTM when the other models had been seen; {SIZE}. The opposite, with weights of least validation loss: kk24.raters_validated.)",
    lambda: All(
        (
            *(size_of_gap(setting, END, -1, "printed") for setting in SETTINGS),
            *(
                contrast_of_raters(setting, "to the end: focal minus cross-entropy", -1, "printed")
                for setting in SETTINGS
            ),
        )
    ),
)


@claim(
    "kk24.raters_validated",
    short="With validated weights, focal models are farther from raters than cross-entropy",
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


# There underconfidence and overfitting compensate, and the map undoes the one.
add_ours(
    "kk24.raters_overfitted_map",
    "Trained to the end, the map takes focal models away from raters",
    "KK24 abstract, taken further",
    rf"Trained on to the {THE_END}, the map takes a focal model away from the raters (KL). ({SIZE}; {'; '.join(SETTINGS)}.)",
    lambda: in_every_setting("to the end: focal after its map minus as it is", 1),
)

# A proper loss finds the posterior of the labels it is given, here the majority's.
add_ours(
    "kk24.raters_majority",
    "Training on the majority vote takes cross-entropy away from raters",
    "KK24 section 3.1, taken further",
    "Trained with cross-entropy on the majority of the raters, a model with weights of least validation loss is farther from them (KL) than "
    f"trained on labels drawn from their votes. (Film reviews, two classes; {'; '.join(TWO_CLASSES)}.)",
    lambda: All(
        tuple(contrast_of_raters(setting, "cross-entropy: majority minus drawn", 1) for setting in TWO_CLASSES)
    ),
    instead="the linear model comes nearer",
)

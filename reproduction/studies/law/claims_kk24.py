"""Whether focal loss helps as trained, predicted from a cross-entropy run: KK24's decomposition on new data."""

from __future__ import annotations

from dataclasses import replace

from focal_lib.metrics.intervals import Interval
from reproduction.ledger.evidence import Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.law.judged import (
    ALWAYS,
    CELL,
    below_twice,
    choices,
    is_complete,
    over_cells,
    read_law,
    sign_predicted,
    slope,
)
from reproduction.studies.law.plan import EXPECTED, GAMMAS, SURE

ON = (
    f"(Fashion-MNIST, MNIST, CIFAR-10, CIFAR-100 and film reviews; small networks, 2 to 200 epochs; gamma {GAMMAS[0]:g} to {GAMMAS[-1]:g}; ECE of equal width; "
    "predictions made from the validation logits of the cross-entropy run alone; limits written before the first run.)"
)
ours = Rows("when_focal_loss_helps", "ours", "results/law")


def _judged(quantity: str, interval: Interval, sign: int, said: str) -> Evidence:
    cells = len(read_law()[CELL].drop_duplicates())
    found = Measurement.signed(quantity, said, interval, sign, f"{cells} cells")
    return replace(found, said="expected", complete=is_complete(read_law()))


@ours(
    "kk24.helps_sign",
    "Where a change of ECE is predicted, its sign is predicted correctly",
    "KK24 section 4, taken further",
    f"Where training with focal loss is predicted to change ECE by {SURE:g} point or more, it changes it in the predicted direction, in at least "
    f"{100 * EXPECTED['sign']:.0f} % of runs. {ON}",
)
def helps_sign() -> Evidence:
    """Of the prediction with sharpening; a cell's share is one value."""
    limit = EXPECTED["sign"]
    right = over_cells(read_law(), lambda runs: sign_predicted(runs) - limit)
    return _judged(f"share with the predicted direction, minus {limit:g}", right, 1, "positive")


@ours(
    "kk24.helps_half",
    "ECE falls exactly where the map adds less than twice the overconfidence",
    "KK24 section 4, taken further",
    f"ECE falls exactly where the map adds less confidence than twice the overconfidence of cross-entropy, D < 2 G, in at least "
    f"{100 * EXPECTED['half']:.0f} % of runs. {ON}",
)
def helps_half() -> Evidence:
    """D of the focal network's own outputs."""
    limit = EXPECTED["half"]
    right = over_cells(read_law(), lambda runs: below_twice(runs) - limit)
    return _judged(f"share of runs where it is so, minus {limit:g}", right, 1, "positive")


@ours(
    "kk24.helps_size",
    "Overconfidence after focal training is predicted within three points",
    "KK24 section 4, taken further",
    f"Overconfidence after focal training is predicted with a root mean square error of at most {EXPECTED['size']:g} points. {ON}",
)
def helps_size() -> Evidence:
    """In squares, a cell's mean one value."""
    limit = EXPECTED["size"] ** 2
    found = over_cells(read_law(), lambda runs: (runs["own"] - runs["sharper_own"]) ** 2 - limit)
    return _judged(f"mean squared error of the predicted overconfidence, minus {limit:g}", found, -1, "negative")


@ours(
    "kk24.helps_slope",
    "True overconfidence rises one for one with the predicted one",
    "KK24 section 4, taken further",
    f"The slope of the true overconfidence after focal training on the predicted one is 1, within {EXPECTED['slope']:g}. (Overconfidence of cross-entropy is a part of both, "
    f"which alone makes a slope near 1.) {ON}",
)
def helps_slope() -> Evidence:
    """Jackknife over cells."""
    found, cells = slope(read_law()), len(read_law()[CELL].drop_duplicates())
    near = Measurement.near("slope", "1", found, 1.0, EXPECTED["slope"], f"{cells} cells", said="expected")
    return replace(near, complete=is_complete(read_law()))


@ours(
    "kk24.helps_own_gap",
    "Focal networks are more overconfident than the inverse map predicts",
    "KK24 section 4, taken further",
    f"Focal networks are more overconfident than the inverse map of the cross-entropy network alone predicts. {ON}",
)
def helps_own_gap() -> Evidence:
    """The prediction without sharpening takes the map of the focal network to be the cross-entropy network."""
    found = over_cells(read_law(), lambda runs: runs["own"] - runs["plain_own"])
    return _judged("overconfidence minus the predicted one, without sharpening (points)", found, 1, "positive")


@ours(
    "kk24.helps_choice",
    "Choosing gamma by predicted ECE beats always taking gamma 3",
    "KK24 section 4, taken further",
    f"The gamma with the least predicted ECE, 0 among them, gives a network of lower test ECE than gamma {ALWAYS:g} always does. {ON}",
)
def helps_choice() -> Evidence:
    """Two trainings against one."""
    found = over_cells(choices(read_law()), lambda chosen: chosen["law"] - chosen["always"])
    return _judged(f"test ECE of that network minus gamma {ALWAYS:g} (points)", found, -1, "negative")


@ours(
    "kk24.helps_choice_all",
    "Choosing gamma by prediction costs little against training every gamma",
    "KK24 section 4, taken further",
    f"The network of kk24.helps_choice, with the gamma of least predicted ECE, has a test ECE at most {EXPECTED['against_training_all']:g} points above that of the network "
    f"chosen by validation ECE after training with every gamma. {ON}",
)
def helps_choice_all() -> Evidence:
    """Two trainings against six."""
    limit = EXPECTED["against_training_all"]
    found = over_cells(choices(read_law()), lambda chosen: chosen["law"] - chosen["all"] - limit)
    return _judged(f"test ECE minus that after training all, minus {limit:g} points", found, -1, "negative")


@ours(
    "kk24.helps_temperature",
    "Cross-entropy with a temperature beats the best predicted gamma",
    "KK24 section 4, taken further",
    f"Cross-entropy after a temperature fitted on validation has lower test ECE than the network with the best predicted gamma. {ON}",
)
def helps_temperature() -> Evidence:
    """One training against two."""
    found = over_cells(choices(read_law()), lambda chosen: chosen["law"] - chosen["temperature"])
    return _judged("test ECE of that network minus cross-entropy after a temperature (points)", found, 1, "positive")

"""Whether focal loss helps as trained, predicted from a cross-entropy run: KK24's decomposition on new data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from focal_lib.metrics.intervals import Interval
from reproduction.ledger.evidence import Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.law.judged import (
    ALWAYS,
    CELL,
    below_twice,
    choices,
    each_source_alike,
    is_complete,
    over_cells,
    over_data_sets,
    read_law,
    sign_predicted,
    slope,
    sources,
)
from reproduction.studies.law.plan import EXPECTED, GAMMAS, SURE
from reproduction.studies.shared.from_runs import with_remark

_RUNS = (
    f"(Fashion-MNIST, MNIST, CIFAR-10, CIFAR-100 and film reviews; small networks, 2 to 200 epochs; gamma {GAMMAS[0]:g} to {GAMMAS[-1]:g}; ECE of equal width; "
    "{}; limits written before the first run. The interval is over cells, the kinds of networks, as preregistered, or over these five sources of data, "
    "whichever is wider.)"
)
MEASURED = _RUNS.format(
    "no forecast: D is what the map adds to the test outputs of the focal network itself, G of cross-entropy on the same test samples"
)
ON = _RUNS.format("predictions made from the validation logits of the cross-entropy run alone")
ours = Rows("when_focal_loss_helps", "ours", "results/law")


def _judged(
    quantity: str, runs: pd.DataFrame, value: Callable[[pd.DataFrame], pd.Series], sign: int, said: str
) -> Measurement:
    found = _of_wider(Measurement.signed(quantity, said, over_cells(runs, value), sign), over_data_sets(runs, value))
    alike = each_source_alike(runs, value)
    return with_remark(
        found, f"With each source counting alike it is {alike.estimate:.4g} [{alike.low:.4g}, {alike.high:.4g}]"
    )


def _of_wider(over_cells: Measurement, over_data_sets: Interval) -> Measurement:
    """By the wider interval: the plan takes cells as independent, but those of one source share test samples."""
    runs, planned = read_law(), over_cells.interval
    assert planned is not None
    cells, sets = len(runs[CELL].drop_duplicates()), sources(runs).nunique()
    both = [(planned, f"{cells} cells"), (over_data_sets, f"{sets} sources of data")]
    both.sort(key=lambda one: one[0].low - one[0].high)
    (interval, over), (other, narrower) = both
    why = "Cells of one source share test samples and are alike, so the wider of two intervals counts"
    remark = (
        f"{why}: the other, over {narrower}, is [{other.low:.4g}, {other.high:.4g}]. Preregistered is that over cells"
    )
    found = replace(over_cells, measured=interval.estimate, interval=interval, over=over, remark=remark)
    return replace(found, said="expected", complete=is_complete(runs))


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
    quantity = f"share with the predicted direction, minus {limit:g}"
    return _judged(quantity, read_law(), lambda runs: sign_predicted(runs) - limit, 1, "positive")


@ours(
    "kk24.helps_half",
    "ECE falls exactly where the map adds less than twice the overconfidence",
    "KK24 section 4, taken further",
    f"ECE falls exactly where the map adds less confidence than twice the overconfidence of cross-entropy, D < 2 G, in at least "
    f"{100 * EXPECTED['half']:.0f} % of runs. {MEASURED}",
)
def helps_half() -> Evidence:
    """D of the focal network's own outputs."""
    limit = EXPECTED["half"]
    quantity = f"share of runs where it is so, minus {limit:g}"
    return _judged(quantity, read_law(), lambda runs: below_twice(runs) - limit, 1, "positive")


@ours(
    "kk24.helps_size",
    "Overconfidence after focal training is predicted within three points",
    "KK24 section 4, taken further",
    f"Overconfidence after focal training is predicted with a root mean square error of at most {EXPECTED['size']:g} points, with one constant fitted on earlier runs. {ON} Only film reviews stand against it.",
)
def helps_size() -> Evidence:
    """In squares, a cell's mean one value."""
    limit, runs = EXPECTED["size"] ** 2, read_law()

    def above(runs: pd.DataFrame) -> pd.Series:
        return (runs["own"] - runs["sharper_own"]) ** 2 - limit

    quantity = f"mean squared error of the predicted overconfidence, minus {limit:g}"
    without = over_data_sets(runs[sources(runs) != "film reviews"], above)
    remark = f"Without film reviews {without.estimate:.4g} [{without.low:.4g}, {without.high:.4g}]"
    return with_remark(_judged(quantity, runs, above, -1, "negative"), remark)


@ours(
    "kk24.helps_slope",
    "True overconfidence rises one for one with the predicted one",
    "KK24 section 4, taken further",
    f"The slope of the true overconfidence after focal training on the predicted one is 1, within {EXPECTED['slope']:g}. (Overconfidence of cross-entropy is a part of both, "
    f"which alone makes a slope near 1.) {ON}",
)
def helps_slope() -> Evidence:
    """Jackknife over cells, and over sources of data."""
    near = Measurement.near("slope", "1", slope(read_law()), 1.0, EXPECTED["slope"])
    return _of_wider(near, slope(read_law(), sources(read_law())))


@ours(
    "kk24.helps_own_gap",
    "Focal networks are more overconfident than the inverse map predicts",
    "KK24 section 4, taken further",
    f"On average focal networks are more overconfident than the inverse map of the cross-entropy network alone predicts. {ON}",
)
def helps_own_gap() -> Evidence:
    """The prediction without sharpening takes the map of the focal network to be the cross-entropy network."""
    quantity = "overconfidence minus the predicted one, without sharpening (points)"
    return _judged(quantity, read_law(), lambda runs: runs["own"] - runs["plain_own"], 1, "positive")


@ours(
    "kk24.helps_choice",
    "Choosing gamma by predicted ECE beats always taking gamma 3",
    "KK24 section 4, taken further",
    f"The gamma with the least predicted ECE, 0 among them, gives on average a network of lower test ECE than gamma {ALWAYS:g} always does. (Predicted with one constant fitted on earlier runs.) {ON}",
)
def helps_choice() -> Evidence:
    """Two trainings against one."""
    quantity = f"test ECE of that network minus gamma {ALWAYS:g} (points)"
    return _judged(quantity, choices(read_law()), lambda chosen: chosen["law"] - chosen["always"], -1, "negative")


@ours(
    "kk24.helps_choice_all",
    "Choosing gamma by prediction costs little against training every gamma",
    "KK24 section 4, taken further",
    f"The network of kk24.helps_choice, with the gamma of least predicted ECE, has on average a test ECE at most {EXPECTED['against_training_all']:g} points above that of the network "
    f"chosen by validation ECE after training with every gamma. {ON}",
)
def helps_choice_all() -> Evidence:
    """Two trainings against six."""
    limit = EXPECTED["against_training_all"]
    quantity = f"test ECE minus that after training all, minus {limit:g} points"
    return _judged(quantity, choices(read_law()), lambda chosen: chosen["law"] - chosen["all"] - limit, -1, "negative")


@ours(
    "kk24.helps_temperature",
    "Cross-entropy with a temperature beats the best predicted gamma",
    "KK24 section 4, taken further",
    f"Cross-entropy after a temperature fitted by log-loss on validation has on average a lower test ECE than the network with the best predicted gamma. {ON}",
)
def helps_temperature() -> Evidence:
    """One training against two."""
    quantity = "test ECE of that network minus cross-entropy after a temperature (points)"
    return _judged(quantity, choices(read_law()), lambda chosen: chosen["law"] - chosen["temperature"], 1, "positive")

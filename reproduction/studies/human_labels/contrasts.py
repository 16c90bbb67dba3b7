"""What the recorded models on raters' labels say: the contrasts written down before them, and their temperatures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import t_interval, t_interval_if_any
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.ledger.evidence import All
from reproduction.ledger.measurement import Measurement
from reproduction.studies.human_labels.measures import RECORD, name_settings
from reproduction.studies.human_labels.plan import GAMMA, VALIDATED, losses_compared, written_contrasts
from reproduction.studies.shared.from_runs import contrast_by_seed, on_one_test_set, over_seeds, paired
from reproduction.studies.shared.over_seeds import correct_together
from reproduction.studies.shared.recorded import read_table
from reproduction.studies.shared.written_contrasts import evaluate_contrasts, find_contrast

SETTINGS = {  # name -> model, classes; each is a family of contrasts
    "linear": ("linear", 2),
    "averaged embedding": ("averaged-embedding", 2),
    "GP-CNN": ("gp-cnn", 2),
    "Tree-LSTM": ("tree-lstm", 2),  # added when the others had been seen, with their contrasts
    "linear, three classes": ("linear", 3),
}
NEEDS = f"results/{RECORD}"
TWO_CLASSES = [name for name, (_, classes) in SETTINGS.items() if classes == 2]
SIZE = rf"film reviews, labels drawn from their raters' votes, $\gamma = {GAMMA:g}$"  # for statements
_METRICS = {"kl": "KL", "l2": "squared distance"}
_AFTER = {
    "none": "",
    "temperature": ", after a temperature",
    "map": ", after its map",
    "map-temperature": ", after map and temperature",
}
SEEN_AFTERWARDS = "validated: focal minus cross-entropy"


def _written(setting: str) -> tuple[Contrast, ...]:
    return written_contrasts(setting, majority=SETTINGS[setting][1] == 2)


def _rows_of(setting: str) -> pd.DataFrame:
    """The recorded rows of a setting, losses named as `written_contrasts` does."""
    return name_settings(read_table(RECORD), *SETTINGS[setting])


def evaluate_written() -> pd.DataFrame:
    """Every written contrast in every setting: what `evaluate_contrasts` gives, Holm's correction within a setting."""
    return pd.concat([evaluate_contrasts(_rows_of(name), _written(name)) for name in SETTINGS], ignore_index=True)


def seen_afterwards(setting: str) -> Contrast:
    """Focal loss minus cross-entropy in KL, weights of least validation loss: asked when the others had been seen."""
    ce, focal, *_ = losses_compared()
    ours, theirs = (Setting((f"{loss}, drawn, {VALIDATED}",), "none", "") for loss in (focal, ce))
    return Contrast(setting, SEEN_AFTERWARDS, "kl", ours, theirs, 1)


def evaluate_seen_afterwards() -> pd.DataFrame:
    """`seen_afterwards` in every setting: what `evaluate_contrasts` gives, Holm's correction over the settings."""
    found = [evaluate_contrasts(_rows_of(name), [seen_afterwards(name)]) for name in SETTINGS]
    return correct_together(pd.concat(found, ignore_index=True))


def gap_sizes(setting: str, kept: str) -> tuple[np.ndarray, np.ndarray]:
    """Of focal loss and cross-entropy, a number a seed: how far the mean top probability is from the share of raters.

    The share is that of the raters who say the top class; the distance is of means, so over- and underconfidence in
    different items may cancel. Drawn labels, as trained.
    """
    table = _rows_of(setting)
    rows = table[(table["metric"] == "gap") & (table["method"] == "none")]
    wide = rows.pivot(index="seed", columns="loss", values="value").abs()
    ce, focal, *_ = losses_compared()
    pairs = wide[[f"{focal}, drawn, {kept}", f"{ce}, drawn, {kept}"]].dropna().to_numpy()
    return pairs[:, 0], pairs[:, 1]


def temperature_ratios(model: str, classes: int, gamma: float, method: str) -> np.ndarray:
    """Fitted temperature of focal models over that of cross-entropy, a number a seed: drawn labels, VALIDATED.

    Args:
        gamma: of the focal loss.
        method: 'temperature', or 'map-temperature' for what is left after the map.

    Raises:
        ValueError: the record has no such models.
    """
    table = read_table(RECORD)
    chosen = (table["model"] == model) & (table["classes"] == classes) & (table["metric"] == "temperature")
    chosen &= (table["labels"] == "drawn") & (table["kept"] == VALIDATED)
    of_focal = chosen & (table["loss"] == f"focal {gamma:g}") & (table["method"] == method)
    of_ce = chosen & (table["loss"] == "cross-entropy") & (table["method"] == "temperature")
    focal, base = (table[rows].set_index("seed")["value"] for rows in (of_focal, of_ce))
    ratio = (focal / base).dropna()
    if ratio.empty:
        raise ValueError(f"the record must have focal {gamma:g} of {model}, {classes} classes. Got none.")
    return ratio.to_numpy()


def differences_from(table: pd.DataFrame, kept: str, metric: str = "kl") -> pd.DataFrame:
    """A metric of every loss and method minus that of cross-entropy as trained, paired over seeds; best first.

    Args:
        table: of one model and kind of labels, from `measure_outcomes`.

    Returns:
        label ('focal 2, after the map'), difference, low, high: t interval over seeds, each for itself.
    """
    rows = table[(table["kept"] == kept) & (table["metric"] == metric)]
    wide = rows.pivot(index="seed", columns=["loss", "method"], values="value")
    base, found = wide["cross-entropy", "none"], []
    for loss, method in wide.columns.to_frame(index=False).itertuples(index=False, name=None):
        if (loss, method) != ("cross-entropy", "none"):
            i = t_interval_if_any(wide[loss, method] - base)
            found.append((f"{loss}{_AFTER[method]}", i.estimate, i.low, i.high))
    columns = ["label", "difference", "low", "high"]
    return pd.DataFrame(found, columns=columns).sort_values("difference", ignore_index=True)


def contrast_of_raters(setting: str, name: str, sign: int, said: str = "claimed") -> Measurement:
    """A contrast that was written down, in one setting, against the sign claimed; paired over seeds.

    Raises:
        ValueError: none of that name was.
    """
    return _measure(setting, find_contrast(_written(setting), name), sign, said)


def in_every_setting(name: str, sign: int) -> All:
    """A contrast that was written down, in every setting, against the sign claimed."""
    return All(tuple(contrast_of_raters(setting, name, sign) for setting in SETTINGS))


def contrast_seen_afterwards(setting: str, sign: int) -> Measurement:
    """Focal loss minus cross-entropy, validated weights, in one setting, against the sign claimed."""
    return _measure(setting, seen_afterwards(setting), sign, "claimed")


def _measure(setting: str, contrast: Contrast, sign: int, said: str) -> Measurement:
    quantity = f"{_METRICS[contrast.metric]} to the raters [{setting}], {contrast.name}"
    return on_one_test_set(contrast_by_seed(quantity, _rows_of(setting), contrast, said, sign))


def size_of_gap(setting: str, kept: str, sign: int, said: str = "claimed") -> Measurement:
    """Size of focal loss's gap to the raters less cross-entropy's, in one setting, against the sign claimed."""
    what = "size of the gap between mean top probability and share of raters"
    quantity = f"{what} [{setting}], {kept}: focal minus cross-entropy"
    printed = "positive" if sign > 0 else "negative"
    return on_one_test_set(paired(quantity, printed, *gap_sizes(setting, kept), sign, said))


def temperature_left(setting: str, tolerance: float) -> Measurement:
    """The temperature that a focal model needs after its map, over that of cross-entropy, against 1.

    Raises:
        ValueError: fewer than two seeds: a number without an interval would be judged as if there were no chance.
    """
    ratio = temperature_ratios(*SETTINGS[setting], GAMMA, "map-temperature")
    quantity = rf"$T/T_{{CE}}$ after the map [{setting}]"
    return Measurement.near(quantity, "1", t_interval(ratio), 1.0, tolerance, over_seeds(ratio), said="claimed")

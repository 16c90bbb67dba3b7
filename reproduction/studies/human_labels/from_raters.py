"""Evidence from models trained on raters' labels, as recorded in results/human-labels.

Where the record is missing these functions raise FileNotFoundError, which `claim(needs=...)` turns into a reason.
"""

from __future__ import annotations

from focal_lib.metrics.intervals import t_interval
from reproduction.engine.contrasts import Contrast
from reproduction.ledger.measurement import Measurement
from reproduction.studies.human_labels.plan import GAMMA
from reproduction.studies.human_labels.raters import RECORD, name_settings
from reproduction.studies.human_labels.raters_record import (
    SETTINGS,
    find_written,
    gap_sizes,
    seen_afterwards,
    temperature_ratios,
)
from reproduction.studies.shared.from_runs import contrast_by_seed, over_seeds, paired
from reproduction.studies.shared.recorded import read_table

NEEDS = f"results/{RECORD}"
TWO_CLASSES = [name for name, (_, classes) in SETTINGS.items() if classes == 2]
SIZE = rf"film reviews, labels drawn from their raters' votes, $\gamma = {GAMMA:g}$"  # for statements
_METRICS = {"kl": "KL", "l2": "squared distance"}


def contrast_of_raters(setting: str, name: str, sign: int, said: str = "claimed") -> Measurement:
    """A contrast that was written down, in one setting, against the sign claimed; paired over seeds."""
    return _measure(setting, find_written(setting, name), sign, said)


def contrast_seen_afterwards(setting: str, sign: int) -> Measurement:
    """Focal loss minus cross-entropy, validated weights, in one setting, against the sign claimed."""
    return _measure(setting, seen_afterwards(setting), sign, "claimed")


def _measure(setting: str, contrast: Contrast, sign: int, said: str) -> Measurement:
    table = name_settings(read_table(RECORD), *SETTINGS[setting])
    quantity = f"{_METRICS[contrast.metric]} to the raters [{setting}], {contrast.name}"
    return contrast_by_seed(quantity, table, contrast, said, sign)


def size_of_gap(setting: str, kept: str, sign: int, said: str = "claimed") -> Measurement:
    """Size of focal loss's gap to the raters less cross-entropy's, in one setting, against the sign claimed."""
    what = "size of the gap between mean top probability and share of raters"
    quantity = f"{what} [{setting}], {kept}: focal minus cross-entropy"
    return paired(quantity, "positive" if sign > 0 else "negative", *gap_sizes(setting, kept), sign, said)


def temperature_left(setting: str, tolerance: float) -> Measurement:
    """The temperature that a focal model needs after its map, over that of cross-entropy, against 1.

    Raises:
        ValueError: fewer than two seeds: a number without an interval would be judged as if there were no chance.
    """
    ratio = temperature_ratios(*SETTINGS[setting], GAMMA, "map-temperature")
    quantity = rf"$T/T_{{CE}}$ after the map [{setting}]"
    return Measurement.near(quantity, "1", t_interval(ratio), 1.0, tolerance, over_seeds(ratio), said="claimed")

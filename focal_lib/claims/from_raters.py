"""Evidence from models trained on raters' labels, as recorded in results/human-labels.

Where the record is missing these functions raise FileNotFoundError, which `claim(needs=...)` turns into a reason.
"""

from __future__ import annotations

from focal_lib.claims.from_runs import contrast_by_seed, over_seeds
from focal_lib.claims.measurement import Measurement
from focal_lib.metrics.intervals import t_interval
from focal_lib.results.raters import RECORD, name_settings
from focal_lib.results.raters_record import SETTINGS, find_written, temperature_ratios
from focal_lib.results.recorded import read_table
from focal_lib.training.raters.plan import GAMMA

__all__ = ["NEEDS", "SIZE", "TWO_CLASSES", "contrast_of_raters", "temperature_left"]

NEEDS = f"results/{RECORD}"
TWO_CLASSES = [name for name, (_, classes) in SETTINGS.items() if classes == 2]
SIZE = rf"film reviews, labels drawn from their raters' votes, $\gamma = {GAMMA:g}$"  # for statements
_METRICS = {"kl": "KL", "l2": "squared distance"}


def contrast_of_raters(setting: str, name: str, sign: int, said: str = "claimed") -> Measurement:
    """A contrast that was written down, in one setting, against the sign claimed; paired over seeds."""
    contrast = find_written(setting, name)
    table = name_settings(read_table(RECORD), *SETTINGS[setting])
    quantity = f"{_METRICS[contrast.metric]} to the raters [{setting}], {name}"
    return contrast_by_seed(quantity, table, contrast, said, sign)


def temperature_left(setting: str, tolerance: float) -> Measurement:
    """The temperature that a focal model needs after its map, over that of cross-entropy, against 1.

    Raises:
        ValueError: fewer than two seeds: a number without an interval would be judged as if there were no chance.
    """
    ratio = temperature_ratios(*SETTINGS[setting], GAMMA, "map-temperature")
    quantity = rf"$T/T_{{CE}}$ after the map [{setting}]"
    return Measurement.near(quantity, "1", t_interval(ratio), 1.0, tolerance, over_seeds(ratio), said="claimed")

r"""Which gamma would calibrate a network as trained, from what it says when trained with cross-entropy: `focal gamma`.

The prediction is `focal_trained_log_probs`. How far it is off was measured on networks trained afterwards, see WITHIN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import pandas as pd
from scipy.special import log_softmax

from focal_lib.calibration.focal_training import focal_trained_log_probs
from focal_lib.calibration.methods import TEMPERATURE, build_with_prior
from focal_lib.metrics.bins import ece_of
from focal_lib.metrics.design import Design
from focal_lib.metrics.ece_interval import ece_interval_of
from focal_lib.metrics.samples import Samples
from focal_lib.tool.evaluation.comparison import cross_fit
from focal_lib.tool.evaluation.repeats import group_copies
from focal_lib.tool.inputs.logits_file import Holds, read_logits
from focal_lib.validation import check_number

GAMMAS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
LARGEST = 5.0  # gamma of the networks that the prediction was tested on
# Share of the confidence that focal training is predicted to take away by which the ECE may miss the predicted one.
# Chosen on the runs of results/law; with the error of the samples 95 of 100 of them are within.
WITHIN = 0.8
COLUMNS = ("gamma", "overconfidence", "ece", "low", "high")


@dataclass(frozen=True)
class FocalTraining:
    """What training with focal loss is predicted to do to a network, in per cent and points.

    Attributes:
        table: a row for each gamma, 0 (cross-entropy, as given) first: overconfidence (mean confidence minus accuracy),
            ece (15 bins of equal width), low and high, its 95 % interval.
        temperature_ece: ECE of the network as given after a temperature, cross-fitted.
        samples: number of samples.
        is_binary: whether there are two classes.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> logits = rng.normal(size=(2000, 3)) * 4
        >>> labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(1)  # overconfident: the temperature is 2
        >>> found = predict_focal_training((logits, labels))
        >>> found.best
        1.5
    """

    table: pd.DataFrame
    temperature_ece: float
    samples: int
    is_binary: bool = False

    @property
    def best(self) -> float:
        """The gamma with the least predicted ECE; 0: cross-entropy as it is."""
        return float(self.table["gamma"].iloc[int(self.table["ece"].argmin())])

    @property
    def words(self) -> str:
        """The table and a conclusion."""
        lines = ["gamma  overconfidence (points)  predicted ECE (%)  95 % interval"]
        for row in self.table.itertuples():
            lines.append(
                f"{row.gamma:5g}  {row.overconfidence:+23.1f}  {row.ece:17.1f}  {row.low:.1f} to {row.high:.1f}"
            )
        best = self.table.set_index("gamma").loc[self.best]
        own = self.table["ece"].iloc[0]
        if self.best == 0:
            conclusion = "Training with focal loss is not predicted to lower the ECE."
        else:
            conclusion = f"Least predicted ECE: gamma {self.best:g}, {best['ece']:.1f} % in place of {own:.1f} %."
        after = f"A temperature gives {self.temperature_ece:.1f} % without another training."
        whose = " Judged is the more probable of two classes; the probability of one, of a rare event say, is not."
        return "\n".join([*lines, f"{conclusion} {after}{whose * self.is_binary}"])

    def to_json(self) -> str:
        """One JSON object."""
        rows = self.table.to_dict("records")
        content = {"samples": self.samples, "best_gamma": self.best, "temperature_ece": self.temperature_ece}
        return json.dumps(content | {"unit": "per cent", "predictions": rows}, indent=1) + "\n"


def predict_focal_training(data: Any, gammas: Sequence[float] = GAMMAS, **holds: Unpack[Holds]) -> FocalTraining:
    """Calibration that focal loss of each gamma is predicted to give, from logits of the network trained without.

    Args:
        data: as for calibrate: logits of a network that cross-entropy trained, with labels, on samples that it was not
            trained on; of two sets the validation set is used.
        gammas: numbers above 0, at most 5.
        holds: arguments of read_logits that describe the data.

    Raises:
        ValueError: invalid data, no gammas, or gammas out of range.
        TypeError: data of another type.

    Examples:
        >>> logits = [[0.0, 2.1972], [2.1972, 0.0]] * 500  # confidence 0.9
        >>> found = predict_focal_training((logits, [1, 0] * 375 + [0, 1] * 125), gammas=[1, 2])  # accuracy 0.75
        >>> found.table["overconfidence"].round(1).tolist()
        [15.0, 3.9, -3.6]
    """
    if not len(gammas):
        raise ValueError("gammas must be at least one number. Got none.")
    wanted = sorted({check_number(gamma, "gamma", above=0.0) for gamma in gammas})
    if wanted[-1] > LARGEST:
        raise ValueError(f"gamma must be at most {LARGEST:g}, the largest that was tested. Got {wanted[-1]:g}.")
    sets = read_logits(data, **holds)
    own = group_copies(sets["validation"] if "validation" in sets else sets["all"])
    design = Design(own.weights, own.groups)
    tried = (0.0, *wanted)

    def of_chunk(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, ...]:
        log_p = log_softmax(np.asarray(logits, dtype=np.float64), axis=-1)
        confidences = (np.exp(focal_trained_log_probs(log_p, gamma).max(-1)) for gamma in tried)
        return ((log_p.argmax(-1) == labels).astype(np.float64), *confidences)

    correct, *confidences = Samples(own.logits, own.labels).gather(of_chunk)
    means = [design.mean(confidence) for confidence in confidences]
    rows = []
    for gamma, confidence, mean in zip(tried, confidences, means, strict=True):
        found = ece_interval_of(confidence, correct, design=design)
        missed = WITHIN * abs(means[0] - mean)  # beside what the samples leave open
        low = found.estimate - math.hypot(found.estimate - found.low, missed)
        high = found.estimate + math.hypot(found.high - found.estimate, missed)
        percent = 100 * np.clip([found.estimate, low, high], 0, 1)
        own_gap = 100 * (mean - design.mean(correct))
        rows.append(dict(zip(COLUMNS, (gamma, own_gap, *percent.tolist()), strict=True)))
    after = cross_fit(own, {TEMPERATURE: build_with_prior(TEMPERATURE)}).scores[TEMPERATURE]
    left = ece_of(after.confidence, after.correct, weights=design.given)
    return FocalTraining(pd.DataFrame(rows), 100 * left, len(own), own.is_binary)

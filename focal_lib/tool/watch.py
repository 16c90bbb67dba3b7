"""`CalibrationWatch`: a sequential test of whether a deployed model has drifted out of calibration.

The false-alarm rate holds over all time. Let predictions be right with probability equal to their confidence, given all
earlier samples: then the probability that an alarm is ever raised is at most `alpha` (see focal_lib.metrics.e_process).
With a tolerance this holds for every model whose confidences are off by no more. Drift means confidences that are too
high or too low; confusion of other classes at the same error rate is not detected.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from focal_lib.atomic_write import write_whole
from focal_lib.calibration.saved import json_checksum
from focal_lib.metrics.e_process import BETS, log_factors, log_wealth, overconfident
from focal_lib.metrics.scores import top_label
from focal_lib.validation import check_number

FORMAT = 2  # 1 had no tolerance
_KIND = "focal watch"
_CHUNK = 4096  # samples at once


def _zeros() -> np.ndarray:
    return np.zeros(len(BETS))


@dataclass
class _Since:
    """For each bet, its gain since it began to win, and sums over the samples since then."""

    gain: np.ndarray = field(default_factory=_zeros)
    count: np.ndarray = field(default_factory=lambda: np.zeros(len(BETS), dtype=np.int64))
    confidence: np.ndarray = field(default_factory=_zeros)  # sums
    correct: np.ndarray = field(default_factory=_zeros)

    def update(self, factors: np.ndarray, confidence: np.ndarray, correct: np.ndarray) -> None:
        """The largest gain over all starts, and its start (Page 1954)."""
        total = np.vstack([np.zeros(len(BETS)), np.cumsum(factors, axis=0)])
        last = len(total) - 1 - np.argmin(total[::-1], axis=0)  # the last of the smallest
        restart = total.min(axis=0) <= -self.gain  # also of samples that one does not bet on
        start, keep = np.where(restart, last, 0), ~restart
        sums = [np.r_[0.0, np.cumsum(values)] for values in (confidence, correct)]
        self.gain = keep * self.gain + total[-1] - total[start, np.arange(len(BETS))]
        self.count = keep * self.count + len(factors) - start
        self.confidence = keep * self.confidence + sums[0][-1] - sums[0][start]
        self.correct = keep * self.correct + sums[1][-1] - sums[1][start]


class CalibrationWatch:
    """Two-sided anytime-valid test that confidences are the probabilities of being right.

    Args:
        alpha: bound on the probability that a calibrated model ever raises an alarm.
        resolution: precision of confidences near 0 and 1, such as 1e-3 for float16.
        tolerance: confidences that are off by at most this do not count as drift; `alpha` then bounds the probability
            that a model within the tolerance ever raises an alarm.

    Attributes:
        alpha, resolution, tolerance: as given.
        steps: samples seen.
        alarm_at: the sample, counted from 1, at which the alarm was raised; None without alarm.

    Raises:
        ValueError: alpha not in (0, 1), resolution not in (0, 0.1], tolerance not in [0, 0.5).

    Examples:
        >>> watch = CalibrationWatch(alpha=0.05)
        >>> watch.update([0.99] * 10, [1, 0] * 5)  # confidence 0.99, accuracy 0.5
        True
        >>> watch.alarm_at, watch.direction
        (6, 'overconfident')
    """

    def __init__(self, alpha: float = 0.05, *, resolution: float = 1e-5, tolerance: float = 0.0) -> None:
        self.alpha, self.resolution = check_number(alpha, "alpha"), check_number(resolution, "resolution")
        self.tolerance = check_number(tolerance, "tolerance")
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must lie in (0, 1). Got {alpha}.")
        if not 0 < self.resolution <= 0.1:
            raise ValueError(f"resolution must lie in (0, 0.1]. Got {resolution}.")
        if not 0 <= self.tolerance < 0.5:
            raise ValueError(f"tolerance must lie in [0, 0.5). Got {tolerance}.")
        self.steps = 0
        self.alarm_at: int | None = None
        self._alarm_bet = 0  # the one that had won most then
        self._wealth = np.full(len(BETS), -np.inf)
        self._log_e, self._largest = 0.0, 0.0
        self._confidence, self._correct = 0.0, 0.0
        self._since = _Since()

    def __repr__(self) -> str:
        return f"CalibrationWatch(alpha={self.alpha:g}): {self.words}"

    def update(self, confidence: Any, correct: Any) -> bool:
        """Add samples in order of arrival; return whether there has been an alarm.

        The order must not depend on whether predictions were right, as it would if complaints came first.

        Args:
            confidence: probability of the predicted class, a number or (m,); or of every class, (K,) or (m, K).
            correct: 0 or 1, or booleans, a number or (m,): whether the predicted class was right. With probabilities of
                every class, the labels instead.

        Raises:
            ValueError: shapes that do not fit, confidences outside [0, 1], rows that do not sum to 1, or labels that
                are not classes; then no sample is counted.
        """
        p, y = _checked(confidence, correct)
        for start in range(0, len(p), _CHUNK):
            self._update(p[start : start + _CHUNK], y[start : start + _CHUNK])
        return self.alarm

    def _update(self, confidence: np.ndarray, correct: np.ndarray) -> None:
        factors = log_factors(confidence, correct, self.resolution, self.tolerance)
        wealth, log_e = log_wealth(factors, self._wealth, self.steps)
        reached = np.flatnonzero(log_e >= -math.log(self.alpha))
        if self.alarm_at is None and len(reached):
            self.alarm_at, self._alarm_bet = self.steps + int(reached[0]) + 1, int(np.argmax(wealth[reached[0]]))
        self._since.update(factors, confidence, correct)
        self._wealth, self._log_e = wealth[-1], float(log_e[-1])
        self._largest = max(self._largest, float(log_e.max()))
        self._confidence += float(confidence.sum())
        self._correct += float(correct.sum())
        self.steps += len(confidence)

    @property
    def alarm(self) -> bool:
        """Whether the e-value has ever reached 1 / alpha."""
        return self.alarm_at is not None

    @property
    def e_value(self) -> float:
        """Current evidence against calibration: 1 at the start; its mean is at most 1 for a calibrated model."""
        return _exp(self._log_e)

    @property
    def largest_e_value(self) -> float:
        """The largest e-value so far, which decides on the alarm."""
        return _exp(self._largest)

    @property
    def p_value(self) -> float:
        """Anytime-valid p-value: the smallest alpha that would have raised an alarm by now."""
        return min(1.0, math.exp(-self._largest))

    @property
    def direction(self) -> str:
        """'overconfident' or 'underconfident', by the bet with the largest recent gain; '' if none gains."""
        return _side(self._best) if self.since else ""

    @property
    def since(self) -> int | None:
        """The sample, counted from 1, since which the best bet has been winning; None if none is."""
        count = int(self._since.count[self._best])
        return self.steps - count + 1 if count else None

    @property
    def _best(self) -> int:
        return int(np.argmax(self._since.gain))

    @property
    def words(self) -> str:
        """The current result, in one or two sentences."""
        if not self.steps:
            return "No samples yet."
        limit = 1 / self.alpha
        if not self.alarm:
            means = _means(self._confidence, self._correct, self.steps)
            tolerance = f", tolerance {self.tolerance:g}" if self.tolerance else ""
            return (
                f"No drift so far: e-value {self.e_value:.3g}, alarm at {limit:g}{tolerance}; {self.steps:,} samples, "
                f"{means}."
            )
        by = f", by more than {self.tolerance:g}" if self.tolerance else ""
        found = (
            f"Alarm at sample {self.alarm_at:,}: the e-value reached {limit:g} (alpha {self.alpha:g}), as bets won "
            f"that the model is {_side(self._alarm_bet)}{by}."
        )
        if self.since is None:
            return f"{found} By now no bet is winning; {self.steps:,} samples."
        own, best = self._since, self._best
        means = _means(own.confidence[best], own.correct[best], int(own.count[best]))
        return f"{found} It looks {self.direction} since sample {self.since:,}: from there on {means}."

    # --- its state ------------------------------------------------------------------------

    def to_json(self) -> str:
        """The complete state, without rounding; `from_json` restores it."""
        content = {
            "format": FORMAT,
            "kind": _KIND,
            "alpha": self.alpha,
            "resolution": self.resolution,
            "tolerance": self.tolerance,
            "steps": self.steps,
            "alarm_at": self.alarm_at,
            "alarm_bet": self._alarm_bet,
            "log_e": self._log_e,
            "largest": self._largest,
            "confidence": self._confidence,
            "correct": self._correct,
            "wealth": self._wealth.tolist() if self.steps else None,  # JSON has no infinite numbers
            "since": {name: values.tolist() for name, values in vars(self._since).items()},
        }
        return json.dumps(content | {"checksum": json_checksum(content)}, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Restore a state from `to_json`.

        Raises:
            ValueError: other text, an unknown format, or a wrong checksum.
        """
        try:
            content = json.loads(text)
            checksum, kind, version = content.pop("checksum"), content["kind"], content["format"]
        except (AttributeError, KeyError, TypeError, RecursionError, ValueError):
            kind = None
        if kind != _KIND:
            raise ValueError("the state must be one written by focal watch. It is not, or it was cut.")
        if version not in (1, FORMAT):
            raise ValueError(f"the state must have format {FORMAT}, or 1. Got {version}.")
        if checksum != json_checksum(content):
            raise ValueError("the state must match its checksum. It was changed or cut.")
        try:
            return cls._of(content)
        except (KeyError, TypeError, ValueError):
            raise ValueError("the state must hold what focal watch writes. Something is missing or wrong.") from None

    @classmethod
    def _of(cls, content: dict[str, Any]) -> Self:
        found = cls(content["alpha"], resolution=content["resolution"], tolerance=content.get("tolerance", 0.0))
        found.steps, found.alarm_at = int(content["steps"]), content["alarm_at"]
        found._alarm_bet = int(content["alarm_bet"])
        found._log_e, found._largest = float(content["log_e"]), float(content["largest"])
        found._confidence, found._correct = float(content["confidence"]), float(content["correct"])
        if found.steps:
            found._wealth = np.array(content["wealth"], dtype=np.float64)
        for name, zeros in vars(_Since()).items():
            setattr(found._since, name, np.array(content["since"][name], dtype=zeros.dtype))
        if {values.shape for values in (found._wealth, *vars(found._since).values())} != {(len(BETS),)}:
            raise ValueError("a number for each bet")
        return found

    def save(self, path: str | Path) -> None:
        """Write the state atomically.

        Raises:
            OSError: the file cannot be written.
        """
        text = self.to_json()
        write_whole(Path(path), lambda part: part.write_text(text, encoding="utf-8"))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Restore a state that `save` wrote.

        Raises:
            ValueError: not such a file, or a changed or truncated one.
            OSError: the file cannot be read.
        """
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            reason = "the state must be text written by focal watch. It is not."
        except ValueError as error:
            reason = str(error)
        raise ValueError(f"{Path(path).name}: {reason}")


def _checked(confidence: Any, correct: Any) -> tuple[np.ndarray, np.ndarray]:
    """Confidences and correctness, (m,) each."""
    p, y = np.asarray(confidence), np.asarray(correct)
    if p.ndim not in (y.ndim, y.ndim + 1) or y.ndim > 1 or p.shape[: y.ndim] != y.shape:
        raise ValueError(
            "confidence and correct must be two numbers, (m,) and (m,), or with the probabilities of every class (K,) "
            f"and a label, (m, K) and (m,). Got shapes {p.shape} and {y.shape}."
        )
    if y.ndim and not y.size:
        raise ValueError("confidence and correct must not be empty. Got no samples.")
    if p.ndim > y.ndim:
        return top_label(np.atleast_2d(p), np.atleast_1d(y))
    p, y = np.atleast_1d(p), np.atleast_1d(y)
    if p.dtype.kind not in "fiu" or not (inside := (p >= 0) & (p <= 1)).all():
        wrong = f"{p[~inside][0]:g}" if p.dtype.kind in "fiu" else p.dtype
        raise ValueError(f"confidence must be numbers in [0, 1]. Got {wrong}.")
    if y.dtype.kind not in "fiub" or not (truth := np.isin(y, (0, 1))).all():
        wrong = f"{y[~truth][0]:g}" if y.dtype.kind in "fiub" else y.dtype
        raise ValueError(f"correct must be 0 or 1, or truth values. Got {wrong}.")
    return p.astype(np.float64), y.astype(np.float64)


def _side(bet: int) -> str:
    return "overconfident" if overconfident[bet] else "underconfident"


def _means(confidence: float, correct: float, count: int) -> str:
    return f"mean confidence {confidence / count:.3f} and accuracy {correct / count:.3f}"


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else math.inf

"""`CalibrationWatch`: a sequential test of whether a deployed model has drifted out of calibration.

The false-alarm rate holds over all time. Let predictions be right with probability equal to their confidence, given all
earlier samples: then the probability that an alarm is ever raised is at most `alpha` (see focal_lib.metrics.e_process).
Outcomes that depend on each other in time break that condition; of blocks of them it need hold only given the earlier
blocks. `WatchState` keeps a watch in a file, from one call to the next.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np

from focal_lib.calibration.saved import json_checksum
from focal_lib.metrics.e_process import BETS, Recent, block_factors, log_factors, log_wealth, of_extremes, overconfident
from focal_lib.metrics.scores import checked_samples, top_of_chunk
from focal_lib.tool.inputs.outcome_lines import Of
from focal_lib.validation import check_level, check_number

_FORMAT = 3
_CHUNK = 4096  # samples at once
_LONGEST_BLOCK = 10_000
_APPLICATION, _WAIT = 0x464F434C, 600.0  # SQLite's mark of whose file it is; seconds until another call is done


class _Damaged(ValueError):
    """No state, or one that was changed or cut."""


class CalibrationWatch:
    """Two-sided anytime-valid test that confidences are the probabilities of being right, or those of an event.

    Args:
        alpha: bound on the probability that a calibrated model ever raises an alarm.
        resolution: precision of confidences near 0 and 1, such as 1e-3 for float16.
        tolerance: confidences that are off by at most this do not count as drift; `alpha` then bounds the probability
            that a model within the tolerance ever raises an alarm.
        block: number of samples that are judged together. Outcomes of a block may depend on each other in any way; the
            bound holds if, given the earlier blocks, each is right with probability equal to its confidence.
        of: 'confidence', of the predicted class, or 'probability', that of an event, such as the positive class.

    Attributes:
        alpha, resolution, tolerance, block, of: as given.
        steps: samples seen.
        alarm_at: the sample, counted from 1, at which the alarm was raised; None without alarm.

    Raises:
        ValueError: alpha not in (0, 1), resolution not in (0, 0.1], tolerance not in [0, 0.5), block not
            from 1 to 10,000.

    Examples:
        >>> watch = CalibrationWatch(alpha=0.05)
        >>> watch.update([0.99] * 10, [1, 0] * 5)  # confidence 0.99, accuracy 0.5
        True
        >>> watch.alarm_at, watch.direction
        (6, 'overconfident')
        >>> watch = CalibrationWatch(of="probability")
        >>> watch.update([0.3] * 100, [0, 1] * 50)  # said 0.3, and half of all came
        True
        >>> watch.direction
        'too low'
    """

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        resolution: float = 1e-5,
        tolerance: float = 0.0,
        block: int = 1,
        of: Of = "confidence",
    ) -> None:
        check_level(alpha, "alpha")
        if not 0 < check_number(resolution, "resolution") <= 0.1:
            raise ValueError(f"resolution must lie in (0, 0.1]. Got {resolution}.")
        if not 0 <= check_number(tolerance, "tolerance") < 0.5:
            raise ValueError(f"tolerance must lie in [0, 0.5). Got {tolerance}.")
        if not 1 <= check_number(block, "block") <= _LONGEST_BLOCK or block != int(block):
            raise ValueError(f"block must be a whole number from 1 to {_LONGEST_BLOCK:,}. Got {block}.")
        if of not in get_args(Of):
            raise ValueError(f"of must be one of {', '.join(get_args(Of))}. Got {of!r}.")
        self.alpha, self.resolution, self.tolerance = float(alpha), float(resolution), float(tolerance)
        self.block, self.of = int(block), of
        self.alarm_at: int | None = None
        self._blocks = 0
        self._open = np.zeros((2, 0))  # confidences and outcomes of the block that is not full yet
        self._alarm_bet = 0  # the one that had won most then
        self._wealth = np.full(len(BETS), -1e300)  # log 0; JSON has no infinite numbers
        self._log_e, self._largest = 0.0, 0.0
        self._confidence, self._correct = 0.0, 0.0
        self._since = Recent()

    def __repr__(self) -> str:
        return f"CalibrationWatch(alpha={self.alpha:g}): {self.words}"

    def update(self, confidence: Any, correct: Any) -> bool:
        """Add samples in order of arrival; return whether there has been an alarm.

        The order must not depend on whether predictions were right, as it would if complaints came first.

        Args:
            confidence: probability of the predicted class, or of the event, a number or (m,); or of every class, (K,)
                or (m, K), of which an event has two.
            correct: 0 or 1, or booleans, a number or (m,): whether the predicted class was right, or the event came.
                With probabilities of every class, the labels instead.

        Raises:
            ValueError: shapes that do not fit, confidences outside [0, 1], rows that do not sum to 1, or labels that
                are not classes; then no sample is counted.
        """
        p, y = _checked(confidence, correct, self.of)
        self._confidence += float(p.sum())
        self._correct += float(y.sum())
        p, y = np.concatenate([self._open, [p, y]], axis=1)
        whole, step = len(p) - len(p) % self.block, max(1, _CHUNK // self.block) * self.block
        for start in range(0, whole, step):
            self._update(p[:whole][start : start + step], y[:whole][start : start + step])
        self._open = np.stack([p[whole:], y[whole:]])
        return self.alarm

    def _update(self, confidence: np.ndarray, correct: np.ndarray) -> None:
        event, strength = self.of == "probability", math.sqrt(self.block)
        each = log_factors(confidence, correct, self.resolution, self.tolerance, event=event, strength=strength)
        factors = block_factors(each, self.block)
        wealth, log_e = log_wealth(factors, self._wealth, self._blocks)
        reached = np.flatnonzero(log_e >= -math.log(self.alpha))
        if self.alarm_at is None and len(reached):
            self.alarm_at = (self._blocks + int(reached[0]) + 1) * self.block
            self._alarm_bet = int(np.argmax(wealth[reached[0]]))
        self._since.update(factors, *(values.reshape(-1, self.block).sum(1) for values in (confidence, correct)))
        self._wealth, self._log_e = wealth[-1], float(log_e[-1])
        self._largest = max(self._largest, float(log_e.max()))
        self._blocks += len(factors)

    @property
    def steps(self) -> int:
        return self._blocks * self.block + self._open.shape[1]

    @property
    def alarm(self) -> bool:
        """Whether the e-value has ever reached 1 / alpha."""
        return self.alarm_at is not None

    @property
    def e_value(self) -> float:
        """Current evidence against calibration: 1 at the start; its mean is at most 1 for a calibrated model."""
        return math.exp(min(self._log_e, 709))

    @property
    def p_value(self) -> float:
        """Anytime-valid p-value: the smallest alpha that would have raised an alarm by now."""
        return min(1.0, math.exp(-self._largest))

    @property
    def direction(self) -> str:
        """By the bet with the largest recent gain, '' if none gains: 'overconfident' or 'underconfident'.

        Probabilities of an event are 'too high' or 'too low', 'too extreme' or 'not extreme enough'.
        """
        return self._side(self._best) if self.since else ""

    @property
    def since(self) -> int | None:
        """The sample, counted from 1, since which the best bet has been winning; None if none is."""
        count = int(self._since.count[self._best])
        return (self._blocks - count) * self.block + 1 if count else None

    @property
    def _best(self) -> int:
        return int(np.argmax(self._since.gain))

    def _side(self, bet: int) -> str:
        if self.of == "confidence":
            return "overconfident" if overconfident[bet] else "underconfident"
        if of_extremes[bet]:
            return "too extreme" if overconfident[bet] else "not extreme enough"
        return "too high" if overconfident[bet] else "too low"

    @property
    def words(self) -> str:
        """The current result, in one or two sentences."""
        if not self.steps:
            return "No samples yet."
        limit, event = 1 / self.alpha, self.of == "probability"
        if not self.alarm:
            tolerance = f", tolerance {self.tolerance:g}" if self.tolerance else ""
            return (
                f"No drift so far: e-value {self.e_value:.3g}, alarm at {limit:g}{tolerance}; {self.steps:,} samples, "
                f"{self._means(self._confidence, self._correct, self.steps)}."
            )
        by = f", by more than {self.tolerance:g}" if self.tolerance else ""
        found = (
            f"Alarm at sample {self.alarm_at:,}: the e-value reached {limit:g} (alpha {self.alpha:g}), as bets won "
            f"that {'predicted probabilities are' if event else 'the model is'} {self._side(self._alarm_bet)}{by}."
        )
        if self.since is None:
            return f"{found} By now no bet is winning; {self.steps:,} samples."
        own, best = self._since, self._best
        means = self._means(own.confidence[best], own.correct[best], int(own.count[best]) * self.block)
        looks = "They look" if event else "It looks"
        return f"{found} {looks} {self.direction} since sample {self.since:,}: from there on {means}."

    def _means(self, confidence: float, correct: float, count: int) -> str:
        names = ("probability", "share of events") if self.of == "probability" else ("confidence", "accuracy")
        return f"mean {names[0]} {confidence / count:.3f} and {names[1]} {correct / count:.3f}"

    # --- its state ------------------------------------------------------------------------

    OPTIONS = ("alpha", "resolution", "tolerance", "block", "of")

    def to_json(self) -> str:
        """The complete state, without rounding; `from_json` restores it."""
        content = {"format": _FORMAT} | {name: _plain(value) for name, value in vars(self).items()}
        return json.dumps(content | {"checksum": json_checksum(content)}, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Restore a state from `to_json`.

        Raises:
            ValueError: other text, an unknown format, or a wrong checksum.
        """
        try:
            content = json.loads(text)
            if content.pop("checksum") != json_checksum(content) or content.pop("format") != _FORMAT:
                raise ValueError
            found = cls(content.pop("alpha"), **{name: content.pop(name) for name in cls.OPTIONS[1:]})
            vars(found._since).update({name: np.array(values) for name, values in content.pop("_since").items()})
            for name, value in content.items():
                setattr(found, name, np.array(value) if isinstance(value, list) else value)
        except (AttributeError, KeyError, TypeError, RecursionError, ValueError):
            raise _Damaged(f"the state must be what a CalibrationWatch of format {_FORMAT} wrote") from None
        return found


def _plain(value: Any) -> Any:
    """Arrays as lists."""
    if isinstance(value, Recent):
        return {name: values.tolist() for name, values in vars(value).items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


class WatchState:
    """A watch in an SQLite file: calls at the same time wait for each other, and a batch counts whole or not, and once.

    Args:
        path: None for memory.
        given: options of CalibrationWatch, which must be those of the state if there is one.

    Raises:
        ValueError: another file, a damaged state, or one with other options.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path | None = None, **given: Any) -> None:
        self._path, self._given = path, {name: value for name, value in given.items() if value is not None}
        self._db: sqlite3.Connection | None = None
        self.watch = CalibrationWatch(**self._given)
        if path is not None and path.exists():
            with self._transaction():
                pass

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """With the state as it is now, which no other call changes meanwhile; kept as a whole, or not at all."""
        name = "" if self._path is None else self._path.name
        try:
            db = self._db = self._db or sqlite3.connect(self._path or ":memory:", _WAIT, isolation_level=None)
            db.execute("BEGIN IMMEDIATE")
            with db:  # commits, or rolls back
                self._load(db)
                yield db
        except sqlite3.OperationalError as error:
            raise OSError(f"{name} must be a file that can be read and written. Got: {error}.") from None
        except (sqlite3.DatabaseError, _Damaged) as error:
            raise ValueError(
                f"{name} must be a state of focal watch: say another --state, which begins anew. It is damaged, "
                f"another, or of an earlier version: {error}."
            ) from None

    def _load(self, db: sqlite3.Connection) -> None:
        (mark,), (tables,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "schema_version"))
        if not mark and not tables:
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute("CREATE TABLE state (content TEXT)")
            db.execute("CREATE TABLE seen (id TEXT PRIMARY KEY) WITHOUT ROWID")
            return
        if mark != _APPLICATION or db.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
            raise _Damaged("it is not whole")
        for (text,) in db.execute("SELECT content FROM state"):
            self.watch = CalibrationWatch.from_json(text)
        for name, value in self._given.items() if self.watch.steps else ():
            if value != (own := getattr(self.watch, name)):
                raise ValueError(f"{name} must be that of the state, {own}. Got {value}: or say another --state.")

    def count(self, outcomes: Sequence[np.ndarray], of: Of, batch: str = "") -> int:
        """Add samples in their order; return how many were new.

        Args:
            outcomes: confidences or probabilities (m,), 0 or 1 (m,), ids as text (m,).
            of: what the confidences are.
            batch: its name: one that was counted is not again. '' for none, as an id of '' is none.
        """
        confidence, correct, ids = outcomes
        if not len(ids):
            return 0
        self._given["of"] = of
        with self._transaction() as db:
            if not self.watch.steps:
                self.watch = CalibrationWatch(**self._given)
            if batch and not _is_new(db, f"batch {batch}"):
                return 0
            new = np.array([not own or _is_new(db, f"sample {own}") for own in ids], dtype=bool)
            if new.any():
                self.watch.update(confidence[new], correct[new])
            db.execute("DELETE FROM state")
            db.execute("INSERT INTO state VALUES (?)", (self.watch.to_json(),))
        return int(new.sum())


def _is_new(db: sqlite3.Connection, name: str) -> bool:
    return db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (name,)).rowcount > 0


def _checked(confidence: Any, correct: Any, of: Of) -> Sequence[np.ndarray]:
    """Confidences, or probabilities of the event, and outcomes, (m,) each."""
    p, y = np.asarray(confidence), np.asarray(correct)
    p, y = (p[None], y[None]) if y.ndim == 0 else (p, y)
    samples = checked_samples(p, y.astype(np.int64) if y.dtype.kind == "f" and np.isin(y, (0, 1)).all() else y)
    if p.ndim == 2 and of == "confidence":
        return samples.gather(top_of_chunk)
    if samples.classes > 2:
        raise ValueError(f"an event must have two probabilities, 1 - p and p. Got {samples.classes}.")
    return samples.gather(lambda p, y: (p[:, 1].astype(np.float64), y.astype(np.float64)))

"""Sets of logits with labels, checked, to fit on and to test on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from focal_lib.arrays import array_namespace, largest, log_softmax, logsumexp, total
from focal_lib.metrics.samples import Samples

MISSING = -1e30
NOTHING = -87.3  # log-probabilities up to here were 0, and are read as log 1.2e-38


def is_missing(logits: Any) -> Any:
    """Mask of missing options in an array or tensor of logits, of the same shape."""
    return logits <= MISSING / 2


Given = Literal["logits", "log-probs", "probs"]
Layout = Literal["classes", "binary", "multi-label", "segmentation", "tokens", "options"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
_LOOKED_AT = 10_000  # samples, for the cause of what is refused
FLAG = {"logits": "--given logits", "log-probs": "--given log-probs", "probs": "--given probs"}


@dataclass(frozen=True)
class SelectedSamples:
    """Logits of some samples of a memory map, which stays on disk; sliced like an array."""

    values: np.ndarray
    index: np.ndarray  # rising
    given: Given = "logits"
    floor: float | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.index), *self.values.shape[1:]

    @property
    def ndim(self) -> int:
        return self.values.ndim

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    def __getitem__(self, selected: slice | np.ndarray) -> np.ndarray:
        return raise_zeros(convert(np.asarray(self.values[self.index[selected]]), self.given), self.floor)


@dataclass(frozen=True)
class LogitSet:
    """Logits (n, K), an array or samples of a memory map, with labels int64 (n,).

    Attributes:
        groups: int64 (n,), the group of each sample; samples of one group are dependent and stay together in splits.
            None: all samples are independent.
        slices: int64 (n,), the slice of each sample; errors are reported for each slice. None: for the whole only.
        weights: float64 (n,), sample weights; None: equal weights.
        score_columns: names of the score columns in the table that was read; None: not read from a table.
        class_names, slice_names: names of the columns of the logits, and of the numbers in slices.
        layout: layout of the scores that were given (focal_lib.tool.inputs.layouts).
        floor: what fits read a probability of 0 as (raise_zeros). None: as it stands.
        notes: the conversions that were applied, in sentences.

    Examples:
        >>> data = LogitSet(np.zeros((4, 3)), np.array([0, 1, 2, 0]))
        >>> len(data), data.classes, data.take(np.array([3, 1])).labels.tolist()
        (4, 3, [1, 0])
    """

    logits: np.ndarray | SelectedSamples
    labels: np.ndarray
    groups: np.ndarray | None = None
    slices: np.ndarray | None = None
    weights: np.ndarray | None = None
    score_columns: tuple[str, ...] | None = None
    class_names: tuple[str, ...] | None = None
    slice_names: tuple[str, ...] | None = None
    layout: Layout = "classes"
    floor: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def classes(self) -> int:
        return int(self.logits.shape[1])

    @property
    def is_binary(self) -> bool:
        """Whether the columns are two classes, so that the probability of class 1 is what is judged."""
        return self.classes == 2 and self.layout != "options"

    @property
    def event(self) -> str:
        """The name of class 1 of two; '' if they have none."""
        return str(self.class_names[1]) if self.class_names and len(self.class_names) == 2 else ""

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, index: np.ndarray) -> LogitSet:
        """The samples of the index, in rising order."""
        index = np.sort(index)
        of_samples = {name: getattr(self, name) for name in ("labels", "groups", "slices", "weights")}
        taken = {name: values[index] for name, values in of_samples.items() if values is not None}
        if isinstance(self.logits, SelectedSamples):
            return replace(self, logits=replace(self.logits, index=self.logits.index[index]), **taken)
        return replace(self, logits=self.logits[index], **taken)


def slices_of(sets: Sequence[LogitSet]) -> dict[str, np.ndarray]:
    """Name of each slice -> mask (n,) over the concatenated sets; {} without slices.

    A slice whose samples all have weight 0 is none.
    """
    codes = [data.slices for data in sets if data.slices is not None]
    if not codes or len(codes) < len(sets):
        return {}
    every, names = np.concatenate(codes), sets[0].slice_names
    used = np.concatenate([np.ones(len(data)) if data.weights is None else data.weights for data in sets]) > 0
    return {str(names[code]) if names else str(code): every == code for code in np.unique(every[used])}


Sets = dict[str, LogitSet]  # 'validation' and 'test', or 'all'


def as_logits(values: Any, given: Given = "logits", name: str = "logits") -> np.ndarray:
    """Convert scores (n, K) to logits: log(max(p, 1.2e-38)) of probabilities, others unchanged.

    Scores (n,) of the positive class become its log-odds, (n,). Scores of an ensemble's M members, (M, n, K) or a list
    of arrays (n, K), become the logarithm of the mean of their probabilities, (n, K).

    Raises:
        ValueError: the values are not finite, or not of the kind `given`.

    Examples:
        >>> as_logits(np.array([[0.25, 0.75]]), "probs").round(3).tolist()
        [[-1.386, -0.288]]
        >>> as_logits(np.array([0.5, 0.75]), "probs").round(3).tolist()
        [0.0, 1.099]
        >>> members = np.array([[[0.2, 0.8]], [[0.6, 0.4]]])
        >>> np.exp(as_logits(members, "probs")).round(3).tolist()
        [[0.4, 0.6]]
    """
    dimensions = np.ndim(values[0]) + 1 if isinstance(values, list | tuple) else np.ndim(values)
    if dimensions == 3:
        of_members = [log_softmax(as_logits(np.asarray(member), given, name).astype(np.float64)) for member in values]
        if len(shapes := {member.shape for member in of_members}) > 1:
            raise ValueError(f"the members' {name} must have one shape, (n, K). Got {sorted(shapes)}.")
        return logsumexp(np.stack(of_members, -1))[..., 0] - np.log(len(of_members))
    values = np.asarray(values) if isinstance(values, list | tuple) else values
    if dimensions == 1 and given != "logits":
        wide = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            p = wide if given == "probs" else np.exp(wide)
        two = as_logits(np.stack([1 - p, p], -1), "probs", name)
        return two[:, 1] - two[:, 0]
    if dimensions != 1:
        check_given(values, np.zeros(len(values), dtype=np.int64), given, name)
    elif not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite. Got {int((~np.isfinite(values)).sum())} NaN or infinite numbers.")
    return convert(values, given)


def convert(values: np.ndarray, given: Given) -> np.ndarray:
    """Convert as `as_logits`, without checks."""
    if given != "probs":
        return values
    wide = values if values.dtype == np.float64 else values.astype(np.float32)
    return np.log(np.maximum(wide, np.finfo(np.float32).tiny))  # of 0 the same for every kind of number


def floor_of_zeros(logits: Any) -> tuple[float | None, int]:
    """What fits are to read a probability of 0 as, and the number of samples (n, K) that have one.

    It is half of the smallest other probability, at most 1/(2K), so that no argmax changes. A forest whose trees agree
    says 0, and one event there has an infinite log-loss, which would decide a fit. None: no probability is 0.

    Examples:
        >>> floor_of_zeros(as_logits(np.array([[0.0, 1.0], [0.25, 0.75]]), "probs"))
        (0.125, 1)
    """

    def chunk(z: np.ndarray, _: np.ndarray) -> np.ndarray:
        zero = (z <= NOTHING) & ~is_missing(z)
        return np.array([z.min(where=z > NOTHING, initial=0.0), -np.count_nonzero(zero.any(-1))])

    found = Samples(logits, np.zeros(logits.shape[0], dtype=np.int64)).map(chunk)
    least, count = min(low for low, _ in found), -int(sum(zeros for _, zeros in found))
    return (min(float(np.exp(least)), 1 / logits.shape[1]) / 2 if count else None), count


def raise_zeros(logits: Any, floor: float | None) -> Any:
    """Log-probabilities of logits (..., K), of probabilities below the floor its logarithm; with None the logits."""
    if floor is None:
        return logits
    if isinstance(logits, SelectedSamples):
        return replace(logits, floor=floor)
    xp, logs = array_namespace(logits), log_softmax(logits)
    raised = xp.where(logs < np.log(floor), xp.full_like(logs, float(np.log(floor))), logs)
    return xp.where(is_missing(logits), logits, raised)


def look_like_probs(low: float, high: float, off_one: float) -> bool:
    """Whether values in [low, high], with sums that differ from 1 by at most off_one, may be rounded probabilities."""
    return low >= 0 and high <= 1 + 1e-3 and off_one < 1e-2


def check_given(values: np.ndarray, labels: np.ndarray, given: Given, name: str) -> None:
    """Check, in one pass over chunks, that the values (n, K) are of the kind `given`.

    Raises:
        ValueError: they are not.
    """
    if given not in FLAG:
        raise ValueError(f"given must be one of {', '.join(FLAG)}. Got {given!r}.")
    bad, minus_low, high, off_one, log_total = np.max(Samples(values, labels, name).map(_extremes), axis=0)
    if bad:
        zeros = f"; for probabilities of 0 give the probabilities, {FLAG['probs']}"
        remedy = zeros if given == "log-probs" else "; of options, -inf where there is none: --layout options"
        (not_finite,) = Samples(values, labels, name).gather(lambda z, _: (np.logical_not(np.isfinite(z).all(-1)),))
        raise ValueError(
            f"{name} must be finite. Got NaN or infinite numbers, first in sample {not_finite.argmax()}{remedy}."
        )
    like_probs = look_like_probs(-minus_low, high, off_one)
    if given == "probs" and not like_probs:
        raise ValueError(
            f"{name} were given as probabilities: they must lie in [0, 1] and sum to 1. Got values from "
            f"{-minus_low:.4g} to {high:.4g}, a sample whose sum is off by {off_one:.3g}: "
            f"{_remedy(values, -minus_low, high, off_one)}"
        )
    if given != "probs" and like_probs:
        raise ValueError(f"{name} look like probabilities, which sum to 1: say so with {FLAG['probs']}.")
    if given == "log-probs" and log_total > 1e-2:
        raise ValueError(
            f"{name} were given as log-probabilities: the exponentials of a sample must sum to 1. Got one with "
            f"logsumexp {log_total:.3g}; for plain logits say {FLAG['logits']}."
        )


def _remedy(values: np.ndarray, low: float, high: float, off_one: float) -> str:
    """Likely cause of values that are not probabilities, for messages."""
    if low < 0:
        return f"for logits say {FLAG['logits']}."
    if 1 < high <= 101:
        return "are they percentages? Then divide by 100."
    sums = np.asarray(values[:_LOOKED_AT], dtype=np.float64).sum(-1)
    if len(sums) > 1 and np.ptp(sums) < 1e-6:
        return f"every sample has the sum {sums[0]:.4g}: divide by it, if every column is a class."
    rounding = rounding_of(np.asarray(values[:_LOOKED_AT], dtype=np.float64))
    if rounding is not None and off_one <= 1.01 * rounding.unit * values.shape[1] / 2:
        return f"are they rounded, to {rounding.words}? Then give more digits, or the logits."
    return "is every column a class?"


def _extremes(z: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Whether any is not finite, -min, max, and the largest of abs(sum - 1) and of abs(logsumexp) of a sample."""
    low, high = z.min(), z.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        return np.array([1.0, 0, 0, 0, 0])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([0.0, -low, high, np.abs(total(z) - 1).max(), np.abs(logsumexp(z)).max()])


def row_numbers(data: LogitSet, decimals: int | None = None) -> np.ndarray:
    """A number for each row of scores, (n,), equal for equal rows.

    Args:
        decimals: to which the logits below the largest are rounded, so that rows that differ by a constant are equal,
            too; None: rows as they are.
    """
    weights = np.random.default_rng(0).normal(size=data.classes)

    def chunk(z: np.ndarray, _: np.ndarray) -> tuple[np.ndarray]:
        own = z if decimals is None else (z - largest(z)).round(decimals)
        own = np.ascontiguousarray(np.where(is_missing(z), 0.0, own))
        return ((own * weights).sum(-1),)  # not by BLAS: where a row lies, it rounds so

    return Samples(data.logits, data.labels).gather(chunk)[0]


def in_order(data: LogitSet) -> np.ndarray:
    """Index that sorts the samples by all that is known of them: what is drawn then is of the set, not of its order."""
    columns = data.weights, data.slices, data.groups, data.labels, row_numbers(data)
    return np.lexsort([column for column in columns if column is not None])


def split(whole: LogitSet, share: float = 0.5, seed: int = 0) -> Sets:
    """Split one set at random into validation and test parts; no group is split.

    With groups, the validation part has the share that is closest to `share` for a random order of the groups.

    Raises:
        ValueError: share not in (0, 1), a part without samples, or only one group.
    """
    count = round(share * len(whole)) if 0 < share < 1 else 0
    if not 0 < count < len(whole):
        raise ValueError(
            f"share must lie in (0, 1) and leave samples on both sides. Got {share} of {len(whole)} samples."
        )
    random = np.random.default_rng(seed)
    if whole.groups is None:
        order = random.permutation(in_order(whole))
        return {"validation": whole.take(order[:count]), "test": whole.take(order[count:])}
    _, groups, sizes = np.unique(whole.groups, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        raise ValueError("groups must be at least two, to be on both sides of a split. Got one.")
    order = random.permutation(len(sizes))
    taken = 1 + int(np.abs(np.cumsum(sizes[order])[:-1] - count).argmin())
    fit = np.isin(groups, order[:taken])
    return {"validation": whole.take(np.flatnonzero(fit)), "test": whole.take(np.flatnonzero(~fit))}


def fit_and_test_sets(sets: Sets, share: float = 0.5, seed: int = 0) -> tuple[LogitSet, LogitSet]:
    """The set to fit on and the set to test on; a single set is split.

    Raises:
        ValueError: as `split`; labels of one class only; validation and test sets of different classes or layouts.
    """
    sets = split(sets["all"], share, seed) if "all" in sets else sets
    validation, test = sets["validation"], sets["test"]
    if len(known := np.unique(validation.labels)) < 2:
        raise ValueError(f"labels to fit on must hold at least two classes. Got only class {known[0]}.")
    if validation.layout != test.layout:
        raise ValueError(f"validation and test scores must have one layout. Got {validation.layout} and {test.layout}.")
    if validation.classes != test.classes:
        raise ValueError(
            f"validation and test logits must have the same classes. Got {validation.classes} and {test.classes}."
        )
    if validation.class_names and test.class_names and validation.class_names != test.class_names:
        one, two = next(pair for pair in zip(validation.class_names, test.class_names, strict=True) if len({*pair}) > 1)
        raise ValueError(
            "validation and test columns must be the same classes in the same order. "
            f"Got {one} in one where the other has {two}."
        )
    return validation, test


_ENDS = 1000  # units: larger numbers may be off by more than a part of one, in single precision
_OFF = 0.05  # units


class Rounding(NamedTuple):
    """The rounding step, and its description: '4 decimals'."""

    unit: float
    words: str


_HALF = Rounding(2.0**-24, "half precision (float16)")
_ROUNDINGS = (Rounding(0.1, "1 decimal"), *(Rounding(10.0**-d, f"{d} decimals") for d in range(2, 9)), _HALF)


def rounding_of(p: np.ndarray) -> Rounding | None:
    """How the probabilities p (n, K) were rounded; None where no rounding is detected.

    Three conditions: the smallest number above 0 is a power of ten (or the smallest of half precision); the small
    numbers are multiples of it; not all samples sum to 1. The votes of a forest are multiples of 1 / (number of
    trees), too, but sum to 1. Two rounded classes also sum to 1; there the step must be at most 1e-4.
    """
    above = p[p > 0]
    least = above.min() if above.size else 1.0
    for rounding in _ROUNDINGS:
        unit = rounding.unit
        if abs(least / unit - 1) < _OFF:
            small = above[above < _ENDS * unit] / unit
            multiples = bool((np.abs(small - np.round(small)) < _OFF).all())
            sums = p.shape[1] > 2 and bool((np.abs(p.sum(1) - 1) > unit / 2).any())
            two = p.shape[1] == 2 and unit < 5e-4
            return rounding if multiples and (sums or two) else None
    return None

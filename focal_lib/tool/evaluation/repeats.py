"""Rows of scores that occur more than once, in one set or in both: copies of a sample, or samples that tie.

Equal rows alone tell nothing: a tree has few scores, and many samples share one. Samples that tie are sometimes right
and sometimes wrong, copies of one are all the same. So rows count as copies where groups of equal rows hold right and
wrong predictions together clearly less often than independent samples of that confidence would.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from focal_lib.arrays import label_index, largest, log_softmax
from focal_lib.calibration.logit_sets import LogitSet, row_numbers
from focal_lib.metrics.samples import Samples

FAR = 4.0  # standard errors: by chance one data set in 30,000 is as far
_SOME = 0.01  # of the samples: fewer copies change nothing
_ROWS = 20  # so many rows that tie by chance do not occur equally often
_MIXED = 0.1  # of the groups with right and wrong predictions that are expected of ties: so many may be by chance


def group_copies(data: LogitSet) -> LogitSet:
    """The set with the copies of a row as one group, and a note, if it has copies and no groups of its own.

    Copies of one sample are no further evidence: intervals that take them for independent are too narrow. Rows whose
    logits differ by a constant are equal.

    >>> logits, labels = np.random.default_rng(0).normal(size=(150, 4)), np.arange(150) % 4
    >>> found = group_copies(LogitSet(np.tile(logits, (10, 1)), np.tile(labels, 10)))
    >>> len(np.unique(found.groups)), found.notes
    (150, ('The 1,500 rows are 150 different ones: copies of a sample count as one group.',))
    """
    if data.groups is not None:
        return data
    top = _top(data)
    for decimals in _decimals(data):
        row, count = np.unique(row_numbers(data, decimals), return_inverse=True, return_counts=True)[1:]
        copied = int(count[count > 1].sum())
        if copied > max(2, _SOME * len(data)) and _are_copies(row, *top):
            note = f"The {len(data):,} rows are {len(count):,} different ones: copies of a sample count as one group."
            return replace(data, groups=row.astype(np.int64), notes=(*data.notes, note))
    return data


def _decimals(data: LogitSet) -> tuple[int, None]:
    """Decimals by which rows are compared: so that a constant added to the logits does not matter, and as they are."""
    return 9 if data.logits.dtype.itemsize >= 8 else 4, None


def in_common(validation: LogitSet, test: LogitSet) -> str:
    """Check for test samples among those to fit on: '' or a sentence."""
    confidence, correct = (np.concatenate(both) for both in zip(_top(validation), _top(test), strict=True))
    found = (_in_common(validation, test, (confidence, correct), decimals) for decimals in _decimals(test))
    return next(filter(None, found), "")


def _in_common(validation: LogitSet, test: LogitSet, top: tuple[np.ndarray, np.ndarray], decimals: int | None) -> str:
    """In-common rows of so many decimals.

    Samples that tie by chance, such as those of trees, are as often of one set as of both: of t samples with equal
    scores and labels a binomial number is of the test set. Samples that stand in both sets tie across more often.
    """
    n, numbers = len(validation), [row_numbers(data, decimals) for data in (validation, test)]
    row = np.unique(np.concatenate(numbers), return_inverse=True)[1]
    first, second = (np.bincount(part, minlength=row.max() + 1) for part in (row[:n], row[n:]))
    common = int(second[first > 0].sum())
    if common <= max(2, _SOME * len(test)):
        return ""
    result = "what is measured on them is not what new samples would show."
    if max(first.max(), second.max()) == 1 or _are_copies(row, *top):  # distinct within each set, or copies
        return f"{common:,} of {len(test):,} test samples stand among those to fit on, too: {result}"
    cell = np.unique(row * validation.classes + np.r_[validation.labels, test.labels], return_inverse=True)[1]
    first, second = (np.bincount(part, minlength=cell.max() + 1).astype(float) for part in (cell[:n], cell[n:]))
    tied = first + second > 1
    across, t, both = (first * second)[tied], (first + second)[tied], n * len(test) / len(row) ** 2
    pairs = t * (t - 1) * both
    variance = pairs * (t - 1 + both * (6 - 4 * t))
    if ((across - pairs) / variance).sum() <= FAR * np.sqrt((1 / variance).sum()):
        return ""
    equal = int(second[first > 0].sum())
    return (
        f"Some test samples stand among those to fit on, too: {equal:,} of {len(test):,} have the scores and the label "
        f"of one, more than tie by chance, and {result}"
    )


def _are_copies(row: np.ndarray, confidence: np.ndarray, correct: np.ndarray) -> bool:
    """Whether samples of equal rows agree in being right or wrong more than independent ones would; (n,) each.

    Doubts, 1 - confidence, are scaled to the errors that there are. Where every row occurs equally often no label is
    needed to tell.
    """
    count = np.bincount(row)
    if len(count) >= _ROWS and count.min() == count.max() > 1:
        return True
    tied = count[row] > 1
    doubt, wrong = 1 - confidence[tied], 1 - correct[tied]
    if not wrong.any() or wrong.all():
        return False
    doubt = np.minimum(1, doubt * (wrong.sum() / doubt.sum())) if doubt.sum() > 0 else np.full(len(doubt), wrong.mean())
    size = count[count > 1]
    place = np.cumsum(count > 1)[row[tied]] - 1  # of the group among those with more than one sample
    right, of_doubt = np.bincount(place, 1 - wrong), np.bincount(place, doubt) / size
    expected = float((1 - (1 - of_doubt) ** size - of_doubt**size).sum())
    mixed = int(((right > 0) & (right < size)).sum())
    rare = 2 * scipy.stats.norm.sf(FAR)
    return mixed <= _MIXED * expected and float(scipy.stats.poisson.cdf(mixed, expected)) < rare


def _top(data: LogitSet) -> tuple[np.ndarray, np.ndarray]:
    """Confidence of each sample, and whether its prediction is right, (n,) each."""

    def chunk(z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        top = largest(log_softmax(z))
        return np.exp(top[:, 0]), (z[label_index(y)] == largest(z))[:, 0].astype(np.float64)

    confidence, correct = Samples(data.logits, data.labels).gather(chunk)
    return confidence, correct

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
from focal_lib.calibration.logit_sets import LogitSet, is_missing
from focal_lib.metrics.samples import Samples

FAR = 4.0  # standard errors: by chance one data set in 30,000 is as far
_SOME = 0.01  # of the samples: fewer copies change nothing
_ROWS = 20  # so many rows that tie by chance do not occur equally often
_MIXED = 0.1  # of the groups with right and wrong predictions that are expected of ties: so many may be by chance


def group_copies(data: LogitSet) -> LogitSet:
    """The set with the copies of a row as one group, and a note, if it has copies and no groups of its own.

    Copies of one sample are no further evidence: intervals that take them for independent are too narrow.

    >>> logits, labels = np.random.default_rng(0).normal(size=(150, 4)), np.arange(150) % 4
    >>> found = group_copies(LogitSet(np.tile(logits, (10, 1)), np.tile(labels, 10)))
    >>> len(np.unique(found.groups)), found.notes
    (150, ('The 1,500 rows are 150 different ones: copies of a sample count as one group.',))
    """
    if data.groups is not None:
        return data
    rows, confidence, correct = _rows(data)
    row, count = np.unique(rows, return_inverse=True, return_counts=True)[1:]
    copied = int(count[count > 1].sum())
    if copied <= max(2, _SOME * len(data)) or not _are_copies(row, confidence, correct):
        return data
    note = f"The {len(data):,} rows are {len(count):,} different ones: copies of a sample count as one group."
    return replace(data, groups=row.astype(np.int64), notes=(*data.notes, note))


def in_common(validation: LogitSet, test: LogitSet) -> str:
    """Check for test samples among those to fit on: '' or a sentence.

    Two samples that tie by chance, such as those of trees, are as often of one set as of both. Samples that stand in
    both sets tie across more often, or are copies.
    """
    (seen, *more), (asked, *others) = _rows(validation), _rows(test)
    row = np.unique(np.r_[seen, asked], return_inverse=True)[1]
    first, second = (np.bincount(part, minlength=row.max() + 1) for part in (row[: len(seen)], row[len(seen) :]))
    common = int(second[first > 0].sum())
    if common <= max(2, _SOME * len(asked)):
        return ""
    across = int(((first == 1) & (second == 1)).sum())
    within = int((first + second == 2).sum()) - across
    part = len(seen) / len(row)
    share = 2 * part * (1 - part)  # of two samples that tie by chance, how often they are of different sets
    beyond = across > (across + within) * share + FAR * np.sqrt((across + within) * share * (1 - share))
    confidence, correct = (np.r_[one, other] for one, other in zip(more, others, strict=True))
    distinct = max(first.max(), second.max()) == 1  # within each set
    if not distinct and not beyond and not _are_copies(row, confidence, correct):
        return ""
    return (
        f"{common:,} of {len(asked):,} test samples stand among those to fit on, too: what is measured on them is not "
        "what new samples would show."
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


def _rows(data: LogitSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A number for each row of scores, equal for equal rows, its confidence, and whether it is right: (n,) each."""
    weights = np.random.default_rng(0).normal(size=data.classes)

    def chunk(z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        number = (np.where(is_missing(z), 0.0, z) * weights).sum(-1)  # not by BLAS: where a row lies, it rounds so
        top = largest(log_softmax(z))
        return number, np.exp(top[:, 0]), (z[label_index(y)] == largest(z))[:, 0].astype(np.float64)

    number, confidence, correct = Samples(data.logits, data.labels).gather(chunk)
    return number, confidence, correct

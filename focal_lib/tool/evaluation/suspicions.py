r"""Data checks run before any fit; each returns a message with the likely cause.

A permutation test decides whether predictions and labels belong together. With the scores :math:`s_i(k) =
\log p_i(k)` of the samples, S = sum of s_i(y_i) has under a random pairing of samples and labels, all orders equally
likely, the mean and variance of Hoeffding (1951), here exact from the class counts:

.. math:: \mathrm{E}\,S = \sum_k c_k \bar s(k), \qquad
          \mathrm{Var}\,S = \frac{1}{n-1}\sum_{ij} \big(s_i(y_j) - \bar s_i - \bar s(y_j) + \bar s\big)^2 .
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from focal_lib.arrays import label_index, largest, log_softmax, total
from focal_lib.calibration.logit_sets import NOTHING, Given, LogitSet, is_missing, rounding_of
from focal_lib.metrics.design import Design
from focal_lib.metrics.samples import Parts, Samples
from focal_lib.tool.evaluation.repeats import FAR, in_common

_FEW = 5  # samples of a class, from which it can be seen to have changed places, or to be none
_MANY = 0.01  # of the predictions: a class that so many are, and no label is, may be no class
_SHOWN = 5  # columns in a sentence
_MATRIX = 4e6  # entries of a confusion matrix that are still looked at
_LOOKED_AT = 100_000  # samples of a set whose columns are looked at
_AT_FIRST = 1000  # of them, which tell most columns of whole numbers from others
_ENOUGH = 20  # samples, from which a column can be seen to count them, or to be the label or the prediction
_WHOLE = 50  # samples, from which whole numbers are no chance, even where steps of one half are rounded to
_HUNDRED = 5.0  # how far a sum of percentages, each rounded to a whole one, may be off


def find_suspicions(
    validation: LogitSet, test: LogitSet, given: Given = "logits", *, one_set: bool = False, fitted: bool = True
) -> list[str]:
    """Run all data checks; each failed one gives a sentence with its likely cause.

    Args:
        validation: set to fit on.
        test: set to test on.
        given: kind of the scores.
        one_set: whether the two are the same set or parts of one.
        fitted: whether a method will be fitted, which needs at least one misclassified sample.
    """
    found = [] if validation.layout == "options" else [_no_class(validation), _of_numbers(validation, given)]
    no_logits = any(found)  # of which a pairing says nothing that is so of the model
    if not no_logits:
        found.append(_of_pairing(validation, fitted=fitted))
    if not one_set:
        if not no_logits and (words := _of_pairing(test)):
            found.append(f"Of the test set: {words[0].lower()}{words[1:]}")
        found += [in_common(validation, test), _groups_in_common(validation, test)]
    if fitted:  # a check of the top label does not see it
        found.append(_rounded(validation, given) or _rounded(test, given))
    return [words for words in found if words]


def find_cautions(validation: LogitSet, test: LogitSet, given: Given) -> list[str]:
    """Cautions on labels of probability 0 that are not due to rounding."""
    if _rounded(validation, given) or _rounded(test, given):
        return []  # which is suspicious
    sets = {"": test} if validation is test else {" to fit on": validation, " to test on": test}
    counts = {words: (_labels_of_nothing(data, given), len(data)) for words, data in sets.items()}
    shown = " and ".join(f"{count:,} of {n:,} labels{words}" for words, (count, n) in counts.items() if count)
    if not shown:
        return []
    return [
        f"{shown} had probability 0, as given a log-loss of 87 each (1.2e-38): they decide the NLL as given. If small "
        "probabilities were lost, give the logits."
    ]


def _name(data: LogitSet, k: int) -> str:
    return repr(data.class_names[k]) if data.class_names else str(k)


# --- predictions and labels -----------------------------------------------------------------


@dataclass(frozen=True)
class Pairing:
    """Statistics of predictions with labels.

    Attributes:
        away: mean log-probability of the labels minus that of a random pairing, in standard errors; 0 if all
            predictions are the same, or all labels are. For layout 'options' the random label is one of the sample's
            own options.
        short: shortfall of the mean log-probability of the labels from its mean under the predictions, in standard
            errors of labels drawn from them.
        predicted: predicted class of each sample, (n,).
        wrong: number of samples whose label does not have the highest score.
    """

    away: float
    short: float
    predicted: np.ndarray
    wrong: int


def read_pairing(data: LogitSet) -> Pairing:
    """Compare each sample's log-probabilities, clipped at -1000 so that squares stay finite, with its label."""
    options, n, counts = data.layout == "options", len(data), np.bincount(data.labels, minlength=data.classes)

    def chunk(z: np.ndarray, y: np.ndarray) -> Parts:
        s, own = np.maximum(log_softmax(z), -1e3), label_index(y)
        ps = np.exp(s) * s
        mean, square = total(ps)[:, 0], total(ps * s)[:, 0]
        short = np.array([(mean - s[own][:, 0]).sum(), np.maximum(square - mean * mean, 0).sum()])
        pairs = _sums_of_options(z, s, y) if options else _sums(counts / n, s, y)
        return (z.argmax(-1),), (pairs, short, int(np.count_nonzero(z[own] < largest(z))))

    (predicted,), (pairs, (missing, spread), wrong) = Samples(data.logits, data.labels).collect(chunk)
    gain, variance = pairs if options else _gain_and_variance(n, counts, pairs)
    away = gain / math.sqrt(variance) if variance > 0 else 0.0
    short = missing / math.sqrt(spread) if spread > 0 else math.copysign(math.inf, missing) if missing else 0.0
    return Pairing(float(away), float(short), predicted, int(wrong))


def _sums(shares: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Over i of s_i(k) and s_i(k)^2, (K,) each, of the mean over random labels and its square, and of s_i(y_i)."""
    mean, ones = s @ shares, np.ones(len(s))
    return np.concatenate([ones @ s, ones @ (s * s), [mean.sum(), mean @ mean, s[label_index(y)].sum()]])


def _gain_and_variance(n: int, counts: np.ndarray, sums: np.ndarray) -> tuple[float, float]:
    """S - E S and Var S; a variance of rounding errors is 0."""
    by_class, squares, (mean, mean_squares, paired) = np.split(sums, [len(counts), 2 * len(counts)])
    centre = mean / n
    # sum over i, j of (s_i(y_j) - mean_i - mean(y_j) + centre)^2
    spread = counts @ squares - n * mean_squares - n * (counts @ (by_class / n - centre) ** 2)
    variance = spread / (n - 1) if n > 1 else 0.0
    return paired - n * centre, variance if variance > 1e-18 * max(1.0, abs(centre)) ** 2 else 0.0


def _sums_of_options(z: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same, where the random label is one of the sample's own options."""
    there = ~is_missing(z)
    count = total(there.astype(np.float64))
    away = np.where(there, s - total(np.where(there, s, 0.0)) / count, 0.0)
    return np.array([away[label_index(y)].sum(), (away * away / count).sum()])


def _of_pairing(data: LogitSet, *, fitted: bool = False) -> str:
    found, n = read_pairing(data), len(data)
    never_wrong = ""
    if fitted and not found.wrong:
        never_wrong = (
            f"None of the {n:,} samples to fit on is misclassified: the best temperature tends to 0, which makes "
            "every prediction certain. Fit on more samples, or on some that the model was not trained on."
        )
    if len(np.unique(data.labels)) < 2:
        return never_wrong
    if step := swapped_classes(data, found.predicted):
        return _changed_places(step)
    if absent := _predicted_but_no_label(data, found):
        return _of_absent(data, found, absent)
    if found.away < -FAR:
        return (
            f"The labels get smaller probabilities than labels in a random order would ({-found.away:.0f} standard "
            "errors): is the sign of the scores turned, or are the classes in another order than that of the labels?"
        )
    # the share of the most frequent class is no reference: a sound model of balanced classes may be below it
    right, chance = n - found.wrong, 1 / data.classes
    independent = _independent(data, np.ones(n, dtype=bool))
    if data.layout != "options" and right / n - chance <= -FAR * math.sqrt(chance * (1 - chance) / independent):
        return (
            f"{right:,} of {n:,} predictions are right, fewer than of a guess at random among {data.classes} classes "
            f"({n * chance:,.0f}): is every column a class, and in the order of the labels?"
        )
    if found.away < FAR and found.short > FAR:  # predictions that promise no more need not be of other samples
        return (
            "The predictions say no more of the labels than of labels in a random order "
            f"({found.away:.1f} standard errors over {n:,} samples): are samples and labels in the same order, and of "
            "the same model?"
        )
    return never_wrong


def _predicted_but_no_label(data: LogitSet, found: Pairing) -> list[int]:
    """Columns that are often predicted and never a label, the most predicted one first.

    Often means at least 1 % of the predictions, and more than chance leaves without a hit at half the accuracy of the
    other columns. Samples of one group, such as the pixels of an image, count as Kish's effective number.
    """
    if data.layout == "options":
        return []
    predicted, known = np.bincount(found.predicted, minlength=data.classes), np.unique(data.labels)
    among_others = predicted[known].sum()
    right = min(1.0, (len(data) - found.wrong) / among_others) / 2 if among_others else 1 / data.classes
    log_chance = math.log(0.5 * math.erfc(FAR / math.sqrt(2)))  # that a normal variable is so far below its mean
    enough = max(float(_FEW), log_chance / math.log1p(-right) if right > 0 else math.inf)
    many = np.setdiff1d(np.flatnonzero(predicted >= max(_FEW, _MANY * len(data))), known)
    often = [int(k) for k in many if _independent(data, found.predicted == k) >= enough]
    return sorted(often, key=lambda k: -predicted[k])


def _independent(data: LogitSet, chosen: np.ndarray) -> float:
    """Effective number of groups of the chosen samples, of which there are some (Kish 1965)."""
    return Design(groups=None if data.groups is None else data.groups[chosen]).effective(int(chosen.sum()))


def _of_absent(data: LogitSet, found: Pairing, absent: list[int]) -> str:
    first, n = absent[0], len(data)
    without = [int(k) for k in np.setdiff1d(np.arange(data.classes), [first, *data.labels])]
    others = f", nor {', '.join(_name(data, k) for k in without)}" if 0 < len(without) <= _SHOWN else ""
    name = data.class_names[first] if data.class_names else ""
    remedy = f"say so (--weights {name}, --groups {name}) or leave it out" if name else "leave it out"
    return (
        f"Column {_name(data, first)} is the prediction of {int((found.predicted == first).sum()):,} of {n:,} samples, "
        f"and no label is it{others}: does it hold no class' scores, but weights, groups or something else? Then "
        f"{remedy}. Or are the samples of that class missing?"
    )


def swapped_classes(data: LogitSet, predicted: np.ndarray) -> dict[int, int]:
    """Class -> label of most of its predictions (n,), for permuted classes; {} if there are none.

    A class counts with at least 5 predictions, more than half of them with that label. Permuted classes are a shift by
    one of at least three and at least half of the classes, or else cycles.
    """
    classes = data.classes
    if classes**2 > _MATRIX or data.layout == "options":
        return {}
    matrix = np.bincount(predicted * classes + data.labels, minlength=classes**2).reshape(classes, classes)
    counts, most, k = matrix.sum(1), matrix.argmax(1), np.arange(classes)
    enough = counts >= _FEW
    clear = enough & (matrix[k, most] > counts / 2) & (most != k)
    step = {int(one): int(most[one]) for one in np.flatnonzero(clear)}
    for by in (1, -1):
        shifted = {one: label for one, label in step.items() if label - one == by}
        if len(shifted) >= max(3.0, float(enough.sum()) / 2):
            return shifted
    return {one: label for one, label in step.items() if _comes_back(one, step)}


def _comes_back(start: int, step: dict[int, int]) -> bool:
    at, seen = step[start], {start}
    while at in step and at not in seen:
        seen.add(at)
        at = step[at]
    return at == start


def _changed_places(step: dict[int, int]) -> str:
    away = {label - k for k, label in step.items()}
    if len(step) >= 3 and away in ({1}, {-1}):
        more, ask = ("more", "do the labels count from 1")
        if away == {-1}:
            more, ask = ("less", "does another column come first")
        return f"Most predictions of a class have the label that is one {more}, for {len(step)} classes: {ask}?"
    shown = ", ".join(f"{k} has {label}" for k, label in list(step.items())[:_SHOWN])
    others = f", and {len(step) - _SHOWN} others" if len(step) > _SHOWN else ""
    return (
        f"Classes have changed places, as the labels of most of their predictions say: {shown}{others}. "
        "Are the columns in the order in which the labels count the classes?"
    )


# --- the numbers ----------------------------------------------------------------------------


def _looked_at(data: LogitSet) -> np.ndarray:
    return np.asarray(data.logits[slice(0, _LOOKED_AT)], dtype=np.float64)


def _no_class(data: LogitSet) -> str:
    """Check for a column that does not hold the scores of a class: '' or a sentence on the first.

    Whole numbers are a sign only if they vary (a reference class is constant) and other columns are not whole (logits
    of a quantised network may all be).
    """
    z = _looked_at(data)
    whole_at_first = z[:_AT_FIRST] == np.round(z[:_AT_FIRST])
    constant = (z == z[0]).all(0)
    whole = [int(k) for k in np.flatnonzero(whole_at_first.all(0) & ~constant) if (z[:, k] == np.round(z[:, k])).all()]
    others_real = ~constant & (whole_at_first.mean(0) < 0.5)
    for k in whole:
        others = np.delete(np.arange(z.shape[1]), k)
        beside_real = bool(others_real[others].any() and (others_real | constant)[others].all())
        if words := _what_it_is(z, data.labels[: len(z)], k, beside_real):
            return f"Column {_name(data, k)} {words}: leave it out."
    counting = [k for k in whole if _counts_samples(z[:, k]) and len(whole) <= z.shape[1] / 2]
    if not counting:
        return ""
    return (
        f"Column {counting[0]} has a whole number of its own for every sample, as an index does and no class: leave it "
        "out."
    )


def _counts_samples(column: np.ndarray) -> bool:
    """Whether each number occurs once."""
    return len(column) > _ENOUGH and len(np.unique(column)) == len(column)


def _what_it_is(z: np.ndarray, labels: np.ndarray, k: int, beside_real: bool) -> str:
    """What a column of whole numbers holds: label, prediction or something else; '' if it may be a class."""
    column, n = z[:, k], len(z)
    if n <= _ENOUGH or _counts_samples(column):
        return ""
    sure = beside_real or len(np.unique(column)) > 2  # one of two classes may be 0 and 1, as its label
    if sure and (column == labels).all():
        return f"is the label of each of the {n:,} samples"
    if sure and z.shape[1] > 2 and (column == np.delete(z, k, 1).argmax(1)).all():
        return f"is the prediction of the others, the number of the highest, of each of the {n:,} samples"
    if beside_real and n > _WHOLE and column.min() >= 0:  # logits that were clipped have other ends
        return (
            f"holds whole numbers alone, from {column.min():g} to {column.max():g}, and the others do not, as a "
            "prediction, a label or a count does and no class' scores"
        )
    return ""


def _of_numbers(data: LogitSet, given: Given) -> str:
    if given != "logits":
        return ""
    z, one_column = _looked_at(data), data.layout in ("binary", "multi-label")
    z = z[:, 1:] if one_column else z
    low, high = z.min(), z.max()
    if low < 0:
        return ""
    if high <= 1:
        remedy = "give probabilities that sum to 1 as such"
        if one_column:
            remedy = "say --given probs if they are the probability of the positive class"
        return (
            f"All numbers lie in [0, 1], from {low:.3g} to {high:.3g}, as rounded probabilities do, or those of "
            f"one class each (a sigmoid's), and logits seldom: {remedy}, or give the logits."
        )
    if _like_percentages(z, data.labels[: len(z)]):
        which = f"lie in [0, 100], from {low:.3g} to {high:.3g}" if one_column else "sum to 100 in every sample"
        return f"The numbers {which}, as percentages do and logits do not: divide by 100 and say --given probs."
    return ""


def _like_percentages(z: np.ndarray, labels: np.ndarray) -> bool:
    """Whether numbers >= 0 are percentages; for one column, judged by their size and the share of positive labels."""
    if z.shape[1] == 1:
        return bool(20 < z.max() <= 100 and (z.max() > 50 or labels.mean() < 0.5))
    if len(np.unique(z[:_AT_FIRST])) <= 2:  # one-hot predictions times a number
        return False
    return bool(np.abs(z.sum(1) - 100).max() <= min(_HUNDRED, max(1.0, z.shape[1] / 2)))


def _labels_of_nothing(data: LogitSet, given: Given) -> int:
    if given != "probs":
        return 0
    return sum(Samples(data.logits, data.labels).map(lambda z, y: int(np.count_nonzero(z[label_index(y)] < NOTHING))))


def _rounded(data: LogitSet, given: Given) -> str:
    """Check for labels whose probability was rounded to 0."""
    if not (count := _labels_of_nothing(data, given)):
        return ""
    z = _looked_at(data)
    rounding = rounding_of(np.where(z < NOTHING, 0.0, np.exp(np.minimum(z, 0.0))))
    if rounding is None:
        return ""
    return (
        f"The probabilities are rounded to {rounding.words}, and {count:,} of {len(data):,} labels have 0, whose "
        "logarithm is not known and decides the fits: give more digits, or the logits."
    )


def _groups_in_common(validation: LogitSet, test: LogitSet) -> str:
    if validation.groups is None or test.groups is None:
        return ""
    common, groups = len(np.intersect1d(validation.groups, test.groups)), len(np.unique(test.groups))
    if not common:
        return ""
    return (
        f"{common:,} of the {groups:,} groups of the test set stand among those to fit on, too: samples of a group are "
        "not independent, so what is measured on them is not what new groups would show."
    )

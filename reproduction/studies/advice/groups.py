r"""How often intervals of differences leave out the truth where samples come in groups, by simulation.

Once told of the groups, and once not.

A population of known truth is drawn from in groups whose samples are alike. With normals :math:`a_g, b_g` of the group
and :math:`e_i, f_i` of the sample, all independent, and their shares :math:`\sqrt r` and :math:`\sqrt{1 - r}`,

.. math:: u_i = \Phi(\sqrt r\, a_g + \sqrt{1 - r}\, e_i) , \qquad v_i = \Phi(\sqrt r\, b_g + \sqrt{1 - r}\, f_i) ,

sample i is the one of the population that has the share u of easier ones below it, and its label is the one at which
the sum of the probabilities, the likeliest first, exceeds v. So a group has cases of one difficulty, and true
probabilities of its own: a probit with a random effect b, under which its model is over- or underconfident. As u and v
are uniform, a sample's logits and label alone are distributed as without groups: the truth of the population stays,
calibration included, whatever r is.

The log-losses :math:`\ell(u, v)` of two samples of a group have, with Hermite polynomials of norm 1 (Mehler 1866),

.. math:: \mathrm{Cov} = \sum_{j + k > 0} r^{j + k} c_{jk}^2 , \qquad c_{jk} = \mathrm E\,[ h_j(a) h_k(b)\,
    \ell(\Phi(a), \Phi(b)) ] ,

which rises with r, and gives the r of a correlation that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats
from scipy.optimize import brentq

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import DEFAULT, Method, build_with_prior, not_of
from focal_lib.tool.evaluation.comparison import Evaluation, differences, hold_out
from focal_lib.validation import check_number
from reproduction.studies.advice.populations import Population, rng_of
from reproduction.studies.advice.regret import expected_scores, rate_of

_SCORES = ("nll", "brier")
_TERMS = 40  # of the series in r, in each of the two normals
_LARGEST = 0.7  # correlation: beyond, r is so near to 1 that the series is cut too early


@dataclass(frozen=True)
class GroupedPopulation:
    """A population drawn from in groups.

    Attributes:
        population: its samples, the easiest first, each with its classes as they were.
        correlation: of the log-losses as given of two samples of a group, in [0, 0.7].
        alike: r, the correlation of the normals behind them.
    """

    population: Population
    correlation: float
    alike: float

    def draw(self, sizes: Sequence[int], rng: np.random.Generator) -> LogitSet:
        """Groups of these sizes, with other normals each."""
        groups = np.repeat(np.arange(len(sizes)), sizes)
        u, v = self._levels(groups, rng), self._levels(groups, rng)
        m = len(self.population.logits)
        index = np.minimum((u * m).astype(np.int64), m - 1)
        order = np.argsort(-self.population.truth[index], axis=1, kind="stable")
        steps = np.cumsum(np.take_along_axis(self.population.truth[index], order, axis=1), axis=1)
        which = (steps <= v[:, None] * steps[:, -1:]).sum(1)
        labels = order[np.arange(len(order)), np.minimum(which, order.shape[1] - 1)]
        return LogitSet(self.population.logits[index], labels.astype(np.int64), groups=groups)

    def _levels(self, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Uniform, (n,), those of one group alike."""
        common, own = rng.standard_normal(groups.max() + 1)[groups], rng.standard_normal(len(groups))
        return special.ndtr(np.sqrt(self.alike) * common + np.sqrt(1 - self.alike) * own)


def group_population(population: Population, correlation: float) -> GroupedPopulation:
    """The population whose groups have this correlation of log-losses of the logits as given.

    Raises:
        ValueError: a correlation outside [0, 0.7].
    """
    if check_number(correlation, "correlation", minimum=0.0) > _LARGEST:
        raise ValueError(f"correlation must be at most {_LARGEST}. Got {correlation}.")
    log_probs = special.log_softmax(population.logits, axis=1)
    easiest_first = np.argsort(-(population.truth * log_probs).sum(1), kind="stable")
    ordered = replace(population, logits=population.logits[easiest_first], truth=population.truth[easiest_first])
    if correlation == 0:
        return GroupedPopulation(ordered, 0.0, 0.0)
    shares = _shares_of_powers(-log_probs[easiest_first], ordered.truth)
    alike = float(brentq(lambda r: float(shares @ r ** np.arange(1, len(shares) + 1)) - correlation, 0.0, 1.0))
    return GroupedPopulation(ordered, correlation, alike)


def _shares_of_powers(losses: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Of r, r^2, ...: what each adds to the correlation of losses (m, K) by label, samples the easiest first."""
    order = np.argsort(-truth, axis=1, kind="stable")
    losses, truth = (np.take_along_axis(values, order, axis=1) for values in (losses, truth))
    mean, ends = (truth * losses).sum(1).mean(), np.cumsum(truth, axis=1)
    variance = (truth * (losses - mean) ** 2).sum(1).mean()
    of_samples = _integrals(np.arange(len(losses) + 1) / len(losses))  # (terms, m)
    of_labels = _integrals(np.column_stack([np.zeros(len(ends)), ends / ends[:, -1:]]))  # (terms, m, K)
    by_sample = (of_labels * losses).sum(-1)
    squares = (of_samples @ by_sample.T) ** 2 / variance
    powers = np.add.outer(np.arange(_TERMS), np.arange(_TERMS))
    return np.bincount(powers.ravel(), squares.ravel())[1:_TERMS]


def _integrals(ends: np.ndarray) -> np.ndarray:
    r"""Of :math:`h_j` times the normal density from each of Phi^-1(ends) (..., m + 1) to the next, (terms, ..., m)."""
    at = special.ndtri(ends)
    density = stats.norm.pdf(at)
    t = np.where(np.isfinite(at), at, 0.0)  # where the density is 0
    found, before, h = [np.diff(ends, axis=-1)], np.zeros_like(t), np.ones_like(t)
    for j in range(1, _TERMS):
        found.append(-np.diff(h * density, axis=-1) / np.sqrt(j))  # of h_j it is -h_{j-1} density / sqrt(j)
        before, h = h, (t * h - np.sqrt(j - 1) * before) / np.sqrt(j)
    return np.array(found)


def sizes_in_words(sizes: Sequence[int]) -> str:
    """'5 of 150, 150 of 5': how many groups there are of each size, the largest first."""
    found, counts = np.unique(np.asarray(sizes), return_counts=True)
    return ", ".join(f"{count} of {size}" for size, count in zip(found[::-1], counts[::-1], strict=True))


def judge_intervals_in_groups(
    grouped: GroupedPopulation, sizes: Sequence[int], seed: int, *, methods: Iterable[Method] = DEFAULT
) -> list[dict[str, Any]]:
    """The intervals on the same samples, groups of these sizes to fit on and others to test on.

    Returns:
        Once told of the groups and once not: the population's name and classes, samples, seed, 'correlation', 'sizes'
        in words, 'told', how many intervals of differences there were, whether all hold the truth, and whether one is
        on the wrong side of 0.
    """
    population, words, n = grouped.population, sizes_in_words(sizes), int(np.sum(sizes))
    rng = rng_of(f"{population.name}, {grouped.correlation:g}, {words}", population.classes, n, seed)
    fitted_on, test = grouped.draw(sizes, rng), grouped.draw(sizes, rng)
    methods = list(methods)
    left_out = not_of(methods, n, population.classes, default=True)
    evaluation = hold_out(
        fitted_on, test, {method: build_with_prior(method) for method in methods if method not in left_out}
    )
    scores = expected_scores(population, evaluation)
    setting = {"truth": population.name, "classes": population.classes, "samples": n, "seed": seed}
    setting |= {"correlation": grouped.correlation, "sizes": words}
    of = {True: evaluation, False: _as_independent(evaluation)}
    return [setting | {"told": told} | held_intervals(differences(one), scores) for told, one in of.items()]


def held_intervals(differences: pd.DataFrame, scores: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """Of the intervals of differences in the expected scores: how many, whether all hold, whether a side is wrong.

    Args:
        scores: NLL and Brier score by labels; that of the reference is its name.
    """
    known = differences[differences["low"].notna()]
    held, wrong_side = [], []
    names = ("method", "objective", "reference", "metric", "low", "high")
    for method, objective, reference, metric, low, high in zip(*(known[name] for name in names), strict=True):
        i = _SCORES.index(metric)
        truth = scores[Method(method, objective).label][i] - scores[reference][i]
        held.append(low <= truth <= high)
        wrong_side.append((low > 0 > truth) or (high < 0 < truth))
    return {"intervals": len(held), "all hold": bool(all(held)), "wrong side": bool(any(wrong_side))}


def _as_independent(evaluation: Evaluation) -> Evaluation:
    """The same had nobody said which samples belong together; fits know no groups."""
    labels = {pair: replace(found, together=1.0) for pair, found in evaluation.by_label.items()}
    parts = tuple((fits, replace(data, groups=None)) for fits, data in evaluation.parts)
    return replace(evaluation, by_label=labels, parts=parts)


def count_outside(judged: pd.DataFrame, by: Iterable[str]) -> pd.DataFrame:
    """How often one of the intervals, which should hold together with 95 %, leaves out the truth, in each setting.

    Returns:
        The setting; of what has intervals runs, wrong, and rate with low and high, exact 95 % (Clopper & Pearson 1934).
    """
    columns, known = list(by), judged[judged["intervals"] > 0]
    rows = [(*of, *rate_of(~part["all hold"].astype(bool))) for of, part in known.groupby(columns, sort=False)]
    return pd.DataFrame(rows, columns=[*columns, "runs", "wrong", "rate", "low", "high"])

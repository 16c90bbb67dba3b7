"""What following the advice costs: expected NLL of what is advised over that of the best method, in % of it.

Samples are drawn from a population of known truth, the default methods are cross-fitted and compared and the advice is
given as `calibrate` does. What each fit on all samples is worth is its expected NLL and Brier score over the
population.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.methods import AS_GIVEN, DEFAULT, TEMPERATURE, Method, build_with_prior, not_of
from focal_lib.metrics.intervals import exact_binomial_ends, t_interval_if_any
from focal_lib.tool.evaluation.comparison import OFF, Evaluation, cross_fit, differences
from focal_lib.tool.evaluation.recommendation import RELEVANT, advise
from reproduction.studies.advice.populations import Population, rng_of

FOLDS = 5
WITHOUT_PRIOR = "temperature without prior"
REFUSED = "refused"  # too few events for folds
RULES = {"as given": AS_GIVEN.label, "always a temperature": TEMPERATURE.label, WITHOUT_PRIOR: WITHOUT_PRIOR}
ADVICE = "the advice"
_SCORES = ("nll", "brier")
# expected before the first decision was recorded
MOST_MORE = 0.2  # points of mean regret that the advice may be above always a temperature, at any number of samples
MOST_CALIBRATED = 0.3  # % of mean regret on models that are calibrated
_CALIBRATED = ("calibrated", "calibrated, rarely wrong", "rare events, calibrated")


def judge_advice(population: Population, n: int, seed: int, *, methods: Iterable[Method] = DEFAULT) -> dict[str, Any]:
    """One decision on n samples, held against the truth.

    Returns:
        The population's name and classes, samples, seed; errors of the logits as given; the label of what is advised,
        or REFUSED where there are too few labels of a class for folds; and of each method and of the logits as given
        the expected 'nll: <label>' and 'brier: <label>', its NLL of held-out samples, 'held out: <label>', and the
        p-value of its calibration, 'p: <label>'. Of a temperature without prior, which is not tried, the first two.
    """
    methods = list(methods)
    data = population.draw(n, rng_of(population.name, population.classes, n, seed))
    setting = {"truth": population.name, "classes": population.classes, "samples": n, "seed": seed}
    setting["errors"] = int((data.logits[:].argmax(1) != data.labels).sum())
    others = not_of(methods, n, population.classes, default=True)
    tried = {method: build_with_prior(method) for method in methods if method not in others}
    try:
        evaluation = cross_fit(data, tried, folds=FOLDS)
    except ValueError as refusal:
        if "two classes must have at least 2 samples" not in str(refusal):
            raise
        return setting | {"advised": REFUSED}
    advice = advise(evaluation, differences(evaluation))
    found = expected_scores(population, evaluation)
    plain = TemperatureScaling().fit(data.logits, data.labels).predict_log_proba(population.logits)
    found[WITHOUT_PRIOR] = population.scores(plain)
    return setting | {
        "advised": advice.kept.label,
        **{f"{score}: {label}": values[i] for i, score in enumerate(_SCORES) for label, values in found.items()},
        **{f"held out: {method.label}": float(own.log_loss.mean()) for method, own in evaluation.scores.items()},
        **{f"p: {method.label}": evaluation.calibration_p(method) for method in evaluation.scores},
    }


def expected_scores(population: Population, evaluation: Evaluation) -> dict[str, tuple[float, float]]:
    """Expected NLL and Brier score over the population, of the logits as given and of each fit by its label."""
    logs = {AS_GIVEN: special.log_softmax(population.logits, axis=1)}
    logs |= {method: fit.predict_log_proba(population.logits) for method, fit in evaluation.fits.items()}
    return {method.label: population.scores(log_probs) for method, log_probs in logs.items()}


def kind_of(truth: str) -> str:
    """Kind of a population by its name, for tables."""
    model = truth.rpartition("events, ")[2]
    if truth.startswith("CIFAR"):
        return "recorded networks"
    if truth == "calibrated, rarely wrong":
        return truth
    return f"rare events, {model}" if model != truth else truth if truth == "calibrated" else "made up, miscalibrated"


def regrets_of(decisions: pd.DataFrame) -> pd.DataFrame:
    """Of each decision of judge_advice that was not refused: its regrets and errors.

    Returns:
        truth, classes, samples, seed, errors, kind; the regret in % of RULES and of ADVICE; `harms`, whether what is
        advised has an expected NLL that is larger than that as given by a relevant share; `shown off`, whether it keeps
        a method that it shows to be miscalibrated, and `another not`, whether of another method it does not show that;
        `costs`, by how many % the NLL of the best of these is truly larger, nan where there is none.
    """
    of = decisions[decisions["advised"] != REFUSED]
    nll, p = (_columns(of, name) for name in ("nll: ", "p: "))
    best, rows = nll.min(axis=1), np.arange(len(of))
    kept = pd.Index(of["advised"])
    advised = nll.to_numpy()[rows, nll.columns.get_indexer(kept)]
    found = of[["truth", "classes", "samples", "seed", "errors"]].assign(kind=of["truth"].map(kind_of))
    for rule, label in RULES.items():
        found[rule] = 100 * (nll[label] / best - 1)
    found[ADVICE] = 100 * (advised / best - 1)
    found["harms"] = advised > (1 + RELEVANT) * nll[AS_GIVEN.label]
    found["shown off"] = p.to_numpy()[rows, p.columns.get_indexer(kept)] < OFF
    not_shown = nll[p.columns].where(p >= OFF)
    found["another not"] = found["shown off"] & not_shown.notna().any(axis=1)
    found["costs"] = (100 * (not_shown.min(axis=1) / advised - 1)).where(found["another not"])
    return found


def _columns(decisions: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """Those of a prefix, without it."""
    return decisions.filter(regex=f"^{prefix}").rename(columns=lambda name: name.removeprefix(prefix))


def mean_regrets(regrets: pd.DataFrame, by: Iterable[str]) -> pd.DataFrame:
    """Mean regret in % of RULES and of ADVICE in each setting.

    Returns:
        The setting, decisions, the means; and of the advice `low` and `high`, `more`, by how much its mean is above
        that of always a temperature, and `more low` and `more high`: 95 % t intervals, of the paired differences.
    """
    columns, rows = list(by), []
    for setting, part in regrets.groupby(columns, sort=False):
        own = t_interval_if_any(part[ADVICE])
        more = t_interval_if_any(part[ADVICE] - part["always a temperature"])
        means = part[[*RULES, ADVICE]].mean()
        rows.append((*setting, len(part), *means, own.low, own.high, more.estimate, more.low, more.high))
    names = [*RULES, ADVICE, "low", "high", "more", "more low", "more high"]
    return pd.DataFrame(rows, columns=[*columns, "decisions", *names])


def judge_expectations(regrets: pd.DataFrame) -> pd.DataFrame:
    """The two expectations on means, by number of samples: of all decisions together, and of those that are calibrated.

    Returns:
        expectation, samples, decisions, mean with low and high, limit, and came: 'reached' or 'not reached' where the
        interval lies on one side of the limit, else 'open'.
    """
    of_all = mean_regrets(regrets, ["samples"])[["samples", "decisions", "more", "more low", "more high"]]
    of_calibrated = mean_regrets(regrets[regrets["kind"].isin(_CALIBRATED)], ["samples"])
    parts = {
        "above always a temperature": (of_all, MOST_MORE),
        "on calibrated models": (of_calibrated[["samples", "decisions", ADVICE, "low", "high"]], MOST_CALIBRATED),
    }
    names = ["samples", "decisions", "mean", "low", "high"]
    found = pd.concat(
        [part.set_axis(names, axis=1).assign(expectation=of, limit=limit) for of, (part, limit) in parts.items()]
    )
    found["came"] = np.select(
        [found["high"] <= found["limit"], found["low"] > found["limit"]], ["reached", "not reached"], "open"
    )
    return found[["expectation", *names, "limit", "came"]].sort_values(["expectation", "samples"], ignore_index=True)


def rate_of(happened: pd.Series) -> tuple[int, int, float, float, float]:
    """Runs, in how many it happened, the rate with its exact 95 % interval (Clopper & Pearson 1934)."""
    count, runs = int(happened.sum()), len(happened)
    low, high = exact_binomial_ends(count, runs, 0.025)
    return runs, count, count / runs if runs else np.nan, float(low), float(high)

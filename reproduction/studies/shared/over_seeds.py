"""Tables from many runs: measured to parquet, summarised and compared over seeds.

focal grid workflow/grids/cifar10-resnet8.yaml --table table.parquet
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.typing import DataFrameGroupBy
from scipy.special import softmax

from focal_lib.atomic_write import check_target, write_whole
from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS
from focal_lib.calibration.calibrators.temperature import M20_TEMPERATURES
from focal_lib.calibration.methods import build
from focal_lib.metrics.by_name import METRICS, all_metrics
from focal_lib.metrics.intervals import t_interval_if_any
from focal_lib.metrics.significance import holm, t_p_value
from reproduction.engine.contrasts import SCALINGS
from reproduction.engine.spec import Spec
from reproduction.engine.store import Logits, Result
from reproduction.pages.tables import in_words
from reproduction.studies.shared.two_way import IMAGES, LEFT_OUT, BySeed, changes_in, kept_images

Column = Literal["loss", "method", "objective"]

ONE_TEST_SET = "alone, one test set"  # after '4 seeds': other test samples are not in the interval
RUN = ["dataset", "model", "loss", "seed"]  # tells runs apart, 'loss' with its parameters
_ROW = ["dataset", "model", "loss", "method", "objective", "metric", "seed"]  # tells rows apart

GRIDS: dict[tuple[str, str], dict[str, Any]] = {  # others than the calibrators' own
    ("temperature", "ece"): {"temperatures": M20_TEMPERATURES},
    ("focal-temperature", "adaptive-ece"): {"gammas": PAPER_GAMMAS},
}


def measure(results: Iterable[Result], scalings: Sequence[tuple[str, str]] = SCALINGS) -> pd.DataFrame:
    """One row a run, scaling and metric, on the test split.

    Columns: dataset, model, loss, gamma, seed; where runs have all of these in common, the settings in which they
    differ, as learning_rate; method and objective of SCALINGS, with the temperature and calibration gamma that they
    chose; metric of METRICS, value as tables show it, errors and calibration errors in per cent; where all runs of a
    data set have the same test labels, images, of how many test images, and LEFT_OUT, what leaving out a group of them
    changes in the value, see `two_way`.
    """
    rows: list[dict[str, Any]] = []
    runs = list(results)
    apart, shared = _settings_apart([result.spec for result in runs]), _with_one_test_set(runs)
    for result in runs:
        spec = result.spec
        run = run_columns(spec) | {name: value for name, value in _settings(spec).items() if name in apart}
        found = measure_logits(result.validation, result.test, scalings, by_images=spec.dataset in shared)
        rows += [run | row for row in found]
    return pd.DataFrame(rows)


def measure_logits(
    validation: Logits, test: Logits, scalings: Iterable[tuple[str, str]] = SCALINGS, *, by_images: bool
) -> list[dict[str, Any]]:
    """The columns of `measure` that are of the logits alone, a row a scaling and metric.

    Args:
        by_images: whether with IMAGES and LEFT_OUT.
    """
    rows: list[dict[str, Any]] = []
    labels, logits = test.labels, test.logits.astype(np.float64)
    for method, objective in scalings:
        chosen = {"method": method, "objective": objective, "temperature": 1.0, "calibration_gamma": 0.0}
        if method == "none":
            probs = softmax(logits, -1)
        else:
            scaling = build(method, objective, **GRIDS.get((method, objective), {}))
            fit = scaling.fit(validation.logits, validation.labels)
            probs = fit.predict_proba(logits)
            chosen |= {"temperature": fit.temperature_, "calibration_gamma": getattr(fit, "gamma_", 0.0)}
        parts = kept_images(len(labels)) if by_images else [slice(None)]
        found = [all_metrics(probs[kept], labels[kept]) for kept in parts]
        for name, metric in METRICS.items():
            values = [metric.unit * of_images[name] for of_images in found]
            changes = {IMAGES: len(labels)} | changes_in(values) if len(values) > 1 else {}
            rows.append(chosen | {"metric": name, "value": values[0]} | changes)
    return rows


def _with_one_test_set(runs: Iterable[Result]) -> set[str]:
    """The data sets whose runs all have the same test labels."""
    labels: dict[str, set[bytes]] = {}
    for run in runs:
        labels.setdefault(run.spec.dataset, set()).add(run.test.labels.tobytes())
    return {dataset for dataset, found in labels.items() if len(found) == 1}


def run_key(spec: Spec) -> tuple[str, str, str, int]:
    """What tells a run from others in tables: RUN."""
    return spec.dataset, spec.model, spec.label, spec.seed


def run_columns(spec: Spec) -> dict[str, Any]:
    """Columns that say of which run a row is."""
    return {"dataset": spec.dataset, "model": spec.model, "loss": spec.label, "gamma": spec.gamma, "seed": spec.seed}


def _settings(spec: Spec) -> dict[str, Any]:
    """What else decides the numbers of a run, as it is trained: the recipe's where the run has nothing of its own."""
    recipe, others = spec.training, [f.name for f in fields(spec) if f.name not in RUN]
    return {name: getattr(recipe, name, getattr(spec, name)) for name in others}


def _settings_apart(specs: Iterable[Spec]) -> list[str]:
    """The settings in which runs differ that have the same data set, network, loss and seed; none where none have."""
    first: dict[tuple[str, str, str, int], dict[str, Any]] = {}
    differing: dict[str, None] = {}
    for spec in specs:
        own = _settings(spec)
        of_first = first.setdefault(run_key(spec), own)
        differing |= {name: None for name, value in own.items() if value != of_first[name]}
    return list(differing)


def keep_whole_seeds(table: pd.DataFrame, planned: Iterable[Spec]) -> pd.DataFrame:
    """The rows of seeds that all losses have which are planned with the same seeds: other means are not comparable.

    For a grid that is recorded run by run; of one that is there as a whole it is every row. A loss that is finished is
    left out as long as another one that is planned with its seeds is not. Rows of runs that are not planned are, too.

    Args:
        table: what `measure` gives of some of its runs.
        planned: all of its runs.

    Raises:
        ValueError: runs are planned that have the same data set, network, loss and seed.
    """
    specs = list(dict.fromkeys(planned))
    grid = pd.DataFrame(map(run_key, specs), columns=RUN)
    if (alike := grid.duplicated(keep=False)).any():
        one = specs[alike.argmax()]
        raise ValueError(
            f"planned runs must differ in dataset, model, loss or seed. Got {alike.sum()} that do not, as {one.name}, "
            f"{one.model}, {one.dataset}: they differ in {', '.join(_settings_apart(specs))}."
        )
    grid["seeds"] = grid.groupby(RUN[:-1])["seed"].transform(lambda own: str(sorted(own)))
    there = grid.merge(table[RUN].drop_duplicates(), how="left", indicator="there")
    there["whole"] = there["there"] == "both"
    whole = there.groupby(["dataset", "model", "seeds", "seed"])["whole"].transform("all")
    return table.merge(there.loc[whole, RUN])


def say_seeds(there: int, planned: int | None = None) -> str:
    """'4 seeds'; '2 of 4 planned seeds' as long as not all that are planned are there."""
    if planned is not None and there < planned:
        return f"{there} of {planned} planned {'seed' if planned == 1 else 'seeds'}"
    return f"{there} {'seed' if there == 1 else 'seeds'}"


def say_over(found: BySeed, metric: str | None = None, planned: int | None = None) -> str:
    """What an interval is over: '4 seeds and 10,000 test images', or '4 seeds alone, one test set'.

    Of a metric that is not in METRICS '4 seeds': it need not be of a test set. Runs that are missing come first.
    """
    seeds = say_seeds(len(found.seeds), planned)
    if (metric is not None and metric not in METRICS) or (planned is not None and len(found.seeds) < planned):
        return seeds
    return f"{seeds} and {found.images:,} test images" if found.images else f"{seeds} {ONE_TEST_SET}"


def name_seeds(table: pd.DataFrame) -> str:
    """How many seeds each loss has: '4 seeds', or '4 seeds (2 of Brier score, FCL)'."""
    counts = table.groupby("loss", sort=False)["seed"].nunique()
    fewer = counts[counts < counts.max()].groupby(counts, sort=True)
    said = [f"{count} of {', '.join(map(in_words, of_count.index))}" for count, of_count in fewer]
    whole = say_seeds(counts.max())
    return f"{whole} ({'; '.join(said)})" if said else whole


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """To parquet, whole or not at all. Raises ValueError for another ending than .parquet."""
    check_target(path, ending=".parquet")
    write_whole(path, frame.to_parquet)


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard deviation and number of seeds, a row each data set, model, loss, scaling and metric.

    Args:
        table: what `measure` gives.

    Raises:
        ValueError: rows of one seed that none of these tells apart; the message names the columns that do.
    """
    _require_apart(table)
    groups = table.groupby(_ROW[:-1], sort=False, dropna=False)
    columns = {"mean": ("value", "mean"), "sd": ("value", "std"), "seeds": ("value", "size")}
    columns |= {name: (name, "mean") for name in ("temperature", "calibration_gamma")}
    found: pd.DataFrame = groups.agg(**columns).reset_index()
    return found


def contrast(table: pd.DataFrame, column: Column, baseline: str) -> pd.DataFrame:
    """Differences to the runs whose `column` is `baseline`, paired by seed, with the t interval of `two_way`.

    All else is equal in a pair: data set, model, metric, seed, and of loss, method and objective the other two.
    The method 'none' has no objective, so as a baseline it goes with every one.

    Args:
        column: 'loss', 'method' or 'objective'.
        baseline: 'cross-entropy', 'temperature', 'nll'.

    Returns:
        dataset, model, loss, method, objective, metric; difference, low, high, degrees of freedom; seeds; over, see
        `say_over`; p, the two-sided p value of no difference. With one seed low, high, degrees and p are nan. For
        several at once see `correct_together`.

    Raises:
        ValueError: no rows have that baseline, or as `summarise`.
    """
    _require_apart(table)
    first, rest = table[table[column] == baseline], table[table[column] != baseline]
    if first.empty:
        raise ValueError(
            f"baseline must be a {column} of the table: {', '.join(table[column].unique())}. Got {baseline!r}."
        )
    shared = [key for key in _ROW if key != column and (key != "objective" or baseline != "none")]
    kept = [name for name in ("value", IMAGES, *LEFT_OUT) if name in table]
    pairs = rest.merge(first[[*shared, *kept]], on=shared, suffixes=("", "_of_baseline"))
    of_baseline = pairs[[f"{name}_of_baseline" for name in kept]].set_axis(kept, axis="columns")
    found = []
    for key, part in pairs.groupby(_ROW[:-1], sort=False):
        theirs = of_baseline.loc[part.index].assign(seed=part["seed"])
        differences = BySeed.of_rows(part) - BySeed.of_rows(theirs)
        interval = differences.interval()
        p = t_p_value(interval) if interval.kind else np.nan
        numbers = (interval.estimate, interval.low, interval.high, interval.degrees or np.nan)
        found.append((*key, *numbers, len(part), say_over(differences, str(part["metric"].iloc[0])), p))
    return pd.DataFrame(found, columns=[*_ROW[:-1], "difference", "low", "high", "degrees", "seeds", "over", "p"])


def correct_together(frame: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Rows with a column p, with p_adjusted by Holm over all of them, and significant: p_adjusted at most 1 - level.

    Rows whose p is nan are not counted and not significant.
    """
    known = frame["p"].notna()
    adjusted = pd.Series(np.nan, index=frame.index)
    adjusted[known] = holm(frame.loc[known, "p"])
    return frame.assign(p_adjusted=adjusted, significant=adjusted <= 1 - level)


def _require_apart(table: pd.DataFrame) -> None:
    """Refuses rows that _ROW does not tell apart, as means and pairs would take them for seeds."""
    alike = table[table.duplicated(_ROW, keep=False)]
    if alike.empty:
        return
    measured = ["value", "temperature", "calibration_gamma", *LEFT_OUT]
    groups = alike.drop(columns=measured, errors="ignore").groupby(_ROW, dropna=False, sort=False)
    counts = groups.nunique(dropna=False).max()
    differing = ", ".join(map(str, counts.index[counts > 1]))
    names, many = next(iter(groups.groups)), groups.size().iloc[0]
    helps = f": keep the rows with one value of {differing}" if differing else ", and no column tells them apart"
    raise ValueError(
        f"rows of a table must differ in {', '.join(_ROW[:-1])} or {_ROW[-1]}. "
        f"Got {many} with {', '.join(str(name) for name in names if name != '')}{helps}."
    )


# metric -> objectives by which KK24 Table 1 chooses for it, and its heading
_KK24 = {"error": ("", "error (%)"), "nll": ("nll", "NLL"), "adaptive-ece": ("adaptive-ece", "adaptive ECE (%)")}
_SHOWN = {"none": "as trained", "temperature": "temperature", "focal-temperature": "focal temperature"}


def format_as_kk24(table: pd.DataFrame) -> pd.DataFrame:
    """In the form of KK24 Table 1: a row a loss, 'mean ± sd (mean temperature)', a column a metric and method.

    NLL after scalings chosen by NLL; adaptive ECE, KK24's ECE (section 5.1), after scalings chosen by adaptive ECE.
    """
    frame = summarise(table)
    columns = {}
    for metric, (objective, heading) in _KK24.items():
        for method, shown in _SHOWN.items():
            chosen = "" if method == "none" else objective
            which = (frame["metric"] == metric) & (frame["method"] == method) & (frame["objective"] == chosen)
            if which.any():
                columns[heading, shown] = _as_text(frame[which].set_index("loss"), 3 if metric == "nll" else 2, method)
    return pd.DataFrame(columns).rename_axis(index="loss", columns=("", ""))


def _as_text(part: pd.DataFrame, digits: int, method: str) -> pd.Series:
    text = _mean_sd(part["mean"], part["sd"], digits)
    return text if method == "none" else text + " (" + part["temperature"].map("{:.2f}".format) + ")"


def means_and_halves(wide: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Of each column, a number a seed, the mean and half of its 95 % t interval, nan of one seed."""
    intervals = [t_interval_if_any(wide[column]) for column in wide]
    return np.array([i.estimate for i in intervals]), np.array([(i.high - i.low) / 2 for i in intervals])


def format_mean_sd(groups: DataFrameGroupBy, digits: int = 2) -> pd.DataFrame:
    """Text table 'mean ± standard deviation' of each group, over seeds say: ``frame.groupby("loss")``."""
    mean, sd = groups.mean(), groups.std(ddof=1)
    return pd.DataFrame({column: _mean_sd(mean[column], sd[column], digits) for column in mean})


def _mean_sd(mean: pd.Series, sd: pd.Series, digits: int) -> pd.Series:
    """'0.25 ± 0.03'; one value has no standard deviation and stands alone."""
    return mean.map(f"{{:.{digits}f}}".format) + sd.map(lambda one: "" if np.isnan(one) else f" ± {one:.{digits}f}")

"""What the recorded text classifiers say: the written contrasts, their order beside the printed one, other texts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from focal_lib.metrics.intervals import Interval, correlation_interval, t_interval_if_any
from focal_lib.metrics.significance import smallest_effect, t_p_value
from reproduction.engine.contrasts import Contrast
from reproduction.ledger.evidence import All
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import printed_tables
from reproduction.studies.shared.from_runs import (
    contrast_by_seed,
    name_metric,
    on_one_test_set,
    over_seeds,
    signed_if_any,
    with_remark,
)
from reproduction.studies.shared.over_seeds import correct_together, means_and_halves, say_seeds
from reproduction.studies.shared.printed_effects import compare_with_printed, printed_name
from reproduction.studies.shared.recorded import read_table
from reproduction.studies.shared.written_contrasts import difference_by_seed, evaluate_contrasts, find_contrast
from reproduction.studies.texts.measures import RECORD, name_kept
from reproduction.studies.texts.plan import BEST, ELSEWHERE, SEEN, SETTINGS, written_contrasts
from reproduction.studies.texts.train import IN

NEEDS = f"results/{RECORD}"
# of all settings, for statements
_OF_CNN, _OF_TREES = (f"{s.n_train:,} texts, {s.epochs} epochs" for s in [*SETTINGS.values()][1:])
NETWORKS = f"GP-CNN on film reviews in two and in three classes ({_OF_CNN}), Tree-LSTM in two ({_OF_TREES})"
SIZE = f"{NETWORKS}, weights of the best validation accuracy"
PRINTED_ROWS = {  # as printed -> the networks of the rows on texts that both papers' losses are in
    "SST Binary": "Tree-LSTM",
    "20 Newsgroups": "Global Pooling CNN",
    "AG News": "Global Pooling CNN",
}
_OF_DATASET = {"20-newsgroups": "20 Newsgroups", "20-newsgroups-m20": "20 Newsgroups", "ag-news": "AG News"}
_GAP = "FLSD-53 minus cross-entropy"  # of written_contrasts, and there at the last epoch too
_STAGES = {"pre": "", "post": "ece"}  # objective of the temperature
_ROWS = (("M20", "20 Newsgroups"), ("M20", "SST Binary"), ("L25", "20 Newsgroups"), ("L25", "AG News"))


def printed_row(dataset: str) -> str:
    """The printed data set that is nearest to one of ours: itself, else SST, which is on film reviews too."""
    return _OF_DATASET.get(dataset, "SST Binary")


def record_of(setting: str) -> pd.DataFrame:
    """The rows of one of SETTINGS in results/texts.

    Raises:
        ValueError: none of SETTINGS.
    """
    if setting not in SETTINGS:
        raise ValueError(f"setting must be one of {', '.join(SETTINGS)}. Got {setting!r}.")
    table, own = read_table(RECORD), SETTINGS[setting]
    return table[(table["dataset"] == own.dataset) & (table["model"] == own.model)]


def evaluate_written_texts() -> pd.DataFrame:
    """Every written contrast in every setting: what `evaluate_contrasts` gives, Holm's correction within a setting."""
    found = [evaluate_contrasts(name_kept(record_of(name)), written_contrasts(name)) for name in SETTINGS]
    return pd.concat(found, ignore_index=True)


def _select(table: pd.DataFrame, metric: str, objective: str | None = None, kept: str = BEST) -> pd.DataFrame:
    """Rows of a metric in distribution; of an objective, '' for as trained, or of all."""
    own = table[(table["source"] == IN) & (table["kept"] == kept) & (table["metric"] == metric)]
    return own if objective is None else own[own["objective"] == objective]


def beside_printed(table: pd.DataFrame, metric: str, dataset: str) -> pd.DataFrame:
    """Our means and standard deviations beside what a row of the papers prints: see `compare_with_printed`.

    Args:
        table: from `measure_texts`; of it the BEST weights, in distribution.
        dataset: as printed, of PRINTED_ROWS.
    """
    own = table[(table["source"] == IN) & (table["kept"] == BEST)].assign(calibration_gamma=0.0)
    return compare_with_printed(own, metric, dataset, PRINTED_ROWS[dataset])


def summarise_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds of the BEST weights, in distribution: a row a loss.

    Returns:
        error; ece, adaptive-ece and nll, each before and after the temperature that the papers choose for it: by the
        same error, for the NLL by ECE; T, the mean temperature by ECE.
    """
    found = {}
    for metric, objective in {"error": "", "ece": "ece", "adaptive-ece": "adaptive-ece", "nll": "ece"}.items():
        found[metric] = _select(table, metric, "").groupby("loss", sort=False)["value"].mean()
        if objective:
            found[f"{metric}, after"] = _select(table, metric, objective).groupby("loss", sort=False)["value"].mean()
    return pd.DataFrame(found | {"T": _select(table, "ece", "ece").groupby("loss", sort=False)["temperature"].mean()})


def _order(paper: str, dataset: str, stage: str) -> pd.Series:
    """ECE of each loss in a row of the papers, the first table that has it."""
    cells = printed_tables().query("paper == @paper and dataset == @dataset and stage == @stage and metric == 'ece'")
    return cells.drop_duplicates("loss").set_index("loss")["value"]


def _tau(one: pd.Series, two: pd.Series) -> float:
    both = pd.concat([one, two], axis="columns", keys=["one", "two"]).dropna()
    return float(kendalltau(both["one"], both["two"]).statistic) if len(both) > 2 else np.nan


def printed_text_row(paper: str, dataset: str) -> pd.DataFrame:
    """What a paper prints for a data set, a row a loss: error, and before and after scaling ECE, AdaECE, NLL, and T."""
    cells = printed_tables().query("paper == @paper and dataset == @dataset")
    cells = cells.drop_duplicates(["loss", "metric", "stage"])
    wide = cells.pivot(index="loss", columns=["metric", "stage"], values="value")
    kept = [(m, s) for m in ("error", "ece", "adaptive-ece", "nll") for s in _STAGES if (m, s) in wide]
    named = wide[kept].set_axis([m if s == "pre" else f"{m}, after" for m, s in kept], axis="columns")
    by_ece = cells[(cells["metric"] == "ece") & (cells["stage"] == "post")].set_index("loss")["temperature"]
    return named.assign(T=by_ece).loc[list(dict.fromkeys(cells["loss"]))]


def printed_orders(among: Iterable[str] | None = None) -> pd.DataFrame:
    """Kendall's tau between the orders of the losses by ECE in two printed rows on texts, of those both have.

    Args:
        among: losses of our tables, to which the rows are held; default: all of them.

    Returns:
        rows ('M20 20 Newsgroups, M20 SST Binary'), stage, losses, tau.
    """
    found = []
    for (one, two), stage in itertools.product(itertools.combinations(_ROWS, 2), _STAGES):
        a, b = _order(*one, stage), _order(*two, stage)
        shared = a.index.intersection(b.index)
        if among is not None:
            shared = shared.intersection([printed_name(loss) for loss in among])
        found.append((f"{' '.join(one)}, {' '.join(two)}", stage, len(shared), _tau(a[shared], b[shared])))
    return pd.DataFrame(found, columns=["rows", "stage", "losses", "tau"])


def _eces_by_seed(table: pd.DataFrame, stage: str) -> pd.DataFrame:
    """ECE of the BEST weights, in distribution: a row a seed, a column a loss, named as the papers' tables do."""
    own = _select(table, "ece", _STAGES[stage])
    return own.assign(loss=own["loss"].map(printed_name)).pivot(index="seed", columns="loss", values="value")


def order_with_printed(table: pd.DataFrame, paper: str, dataset: str, stage: str) -> pd.Series:
    """Kendall's tau between the order of the losses by ECE here and in a printed row, a number a seed.

    Of the BEST weights, in distribution; after a temperature by ECE for stage 'post'. nan with fewer than three losses.
    """
    printed = _order(paper, dataset, stage)
    wide = _eces_by_seed(table, stage)
    return pd.Series({seed: _tau(row, printed) for seed, row in wide.iterrows()}).dropna()


def tau_interval(
    table: pd.DataFrame, taus: pd.Series, paper: str, dataset: str, stage: str, level: float = 0.95
) -> Interval:
    """Of what `order_with_printed` gives: `correlation_interval`, whose step is that of so many losses in common."""
    shared = len(_eces_by_seed(table, stage).columns.intersection(_order(paper, dataset, stage).index))
    return correlation_interval(taus, 4 / (shared * (shared - 1)), level=level)


def p_of_no_relation(table: pd.DataFrame, paper: str, dataset: str, stage: str) -> float:
    """Share of all orders of a printed row's losses whose mean tau over seeds is as far from 0 as the printed order's.

    Exact and two-sided; the losses of all seeds are reordered alike. What counts as chance is which loss has which
    printed value, and not the seeds.
    """
    wide, printed = _eces_by_seed(table, stage).dropna(), _order(paper, dataset, stage)
    shared = wide.columns.intersection(printed.index)
    theirs = printed.reindex(shared).to_numpy()
    here = np.sign(wide[shared].to_numpy()[:, :, None] - wide[shared].to_numpy()[:, None, :])  # (seeds, n, n)
    there = np.sign(np.subtract.outer(theirs, theirs))
    norms = np.sqrt((here**2).sum((1, 2)) * (there**2).sum())
    mean = (here / norms[:, None, None]).mean(0)
    every = [(mean * there[np.ix_(order, order)]).sum() for order in itertools.permutations(range(len(shared)))]
    return float(np.mean(np.abs(every) >= abs((mean * there).sum()) - 1e-12))


def near_chance(table: pd.DataFrame, chance: float = 50.0) -> tuple[str, ...]:
    """Losses whose mean error is nearer to chance than to the lowest of the losses: BEST weights, in distribution.

    Args:
        chance: the error of a guess, in per cent.
    """
    errors = _select(table, "error", "").groupby("loss", sort=False)["value"].mean()
    return tuple(errors.index[errors > (errors.min() + chance) / 2])


def rank_correlations(table: pd.DataFrame, without: Sequence[str] = (), level: float = 0.95) -> pd.DataFrame:
    """`order_with_printed` against each printed row on texts: mean over seeds, Student's t interval cut at -1 and 1.

    Args:
        without: losses to leave out, as the table names them.

    Returns:
        label, stage, losses, seeds, tau, low, high, p (see `p_of_no_relation`); rows with fewer than three losses in
        common are left out.
    """
    found = []
    table = table[~table["loss"].isin(without)]
    names = {printed_name(loss) for loss in table["loss"].unique()}
    sst_first = (_ROWS[1], _ROWS[0], *_ROWS[2:])
    for (paper, dataset), stage in itertools.product(sst_first, _STAGES):
        taus = order_with_printed(table, paper, dataset, stage)
        if len(taus):
            i = tau_interval(table, taus, paper, dataset, stage, level)
            shared = len(names & set(_order(paper, dataset, stage).index))
            p = p_of_no_relation(table, paper, dataset, stage)
            found.append((f"{paper} {dataset}", stage, shared, len(taus), i.estimate, i.low, i.high, p))
    return pd.DataFrame(found, columns=["label", "stage", "losses", "seeds", "tau", "low", "high", "p"])


def gap_last_minus_best(level: float = 0.95) -> pd.DataFrame:
    """FLSD-53 minus cross-entropy in ECE as trained, at the last epoch of both, less the same at the best one.

    A row a setting. None of `written_contrasts`: asked when the results had been seen, as the difference of two
    contrasts that are, one of which is significant in more settings than the other. Paired over seeds; Holm over the
    settings.

    Returns:
        table (setting), name; difference, low, high (t interval, each for itself), seeds, p, p_adjusted, significant;
        smallest, as `evaluate_contrasts`.
    """
    rows = []
    for setting in SETTINGS:
        table, written = name_kept(record_of(setting)), written_contrasts(setting)
        late, early = (find_contrast(written, name) for name in (f"last epoch: {_GAP}", _GAP))
        gaps = [difference_by_seed(table, each.metric, each.ours, each.theirs) for each in (late, early)]
        values = (gaps[0] - gaps[1]).dropna()
        i = t_interval_if_any(values, level=level)
        p, smallest = (t_p_value(i), smallest_effect(i)) if i.kind else (np.nan, np.nan)
        rows.append((setting, f"{_GAP}: last epoch minus best", i.estimate, i.low, i.high, len(values), p, smallest))
    columns = ["table", "name", "difference", "low", "high", "seeds", "p", "smallest"]
    return correct_together(pd.DataFrame(rows, columns=columns), level)


def spread_over_seeds(table: pd.DataFrame, kept: str, without: Sequence[str] = ()) -> float:
    """Standard deviation over seeds of the ECE as trained, in points: mean over losses; weights BEST or LAST."""
    own = _select(table, "ece", "", kept)
    return float(own[~own["loss"].isin(without)].groupby("loss")["value"].std(ddof=1).mean())


def minus_cross_entropy_in_ece(table: pd.DataFrame, objective: str) -> pd.DataFrame:
    """ECE minus that of cross-entropy, both as trained (objective '') or after a temperature by it; BEST, IN.

    Returns:
        loss, difference, low, high: paired over seeds, t interval, each for itself.
    """
    wide = _select(table, "ece", objective).pivot(index="seed", columns="loss", values="value")
    found = []
    for loss in dict.fromkeys(table["loss"]):
        if loss != "cross-entropy":
            i = t_interval_if_any(wide[loss] - wide["cross-entropy"])
            found.append((loss, i.estimate, i.low, i.high))
    return pd.DataFrame(found, columns=["loss", "difference", "low", "high"])


def points_by_source(table: pd.DataFrame, metric: str, objective: str) -> dict[str, tuple[np.ndarray, ...]]:
    """Loss -> numbers of the sources, IN the first, means of a metric, and half of a t interval over seeds; BEST.

    Args:
        objective: of the temperature, fitted in distribution; '' for none.
    """
    own = table[(table["kept"] == BEST) & (table["metric"] == metric) & (table["objective"] == objective)]
    sources = list(dict.fromkeys(own["source"]))
    found: dict[str, tuple[np.ndarray, ...]] = {}
    for loss in dict.fromkeys(own["loss"]):
        wide = own[own["loss"] == loss].pivot(index="seed", columns="source", values="value")[sources]
        found[loss] = (np.arange(len(sources)), *means_and_halves(wide))
    return found


def settings_with(name: str) -> tuple[str, ...]:
    """The settings for which a contrast of that name was written down."""
    return tuple(setting for setting in SETTINGS if name in [c.name for c in written_contrasts(setting)])


def size_with(name: str) -> str:
    """The settings that have a contrast, for statements."""
    return f"film reviews, {_OF_CNN}; {' and '.join(settings_with(name))}; weights of the best validation accuracy"


def _asked(setting: str, name: str) -> tuple[str, pd.DataFrame, Contrast]:
    """What a written contrast compares, in words; the record; the contrast."""
    contrast = find_contrast(written_contrasts(setting), name)
    metric, elsewhere, _ = contrast.metric.partition(ELSEWHERE)
    quantity = f"{name_metric(metric)}{elsewhere} of {contrast.ours}, minus {contrast.theirs} [{setting}]"
    return quantity, name_kept(record_of(setting)), contrast


def contrast_of_texts(setting: str, name: str, sign: int, said: str = "claimed") -> Measurement:
    """A contrast that was written down, in one setting, against the sign claimed; paired over seeds."""
    quantity, table, contrast = _asked(setting, name)
    values = difference_by_seed(table, contrast.metric, contrast.ours, contrast.theirs)
    found = on_one_test_set(contrast_by_seed(quantity, table, contrast, said, sign))
    return _of_planned(found, setting, len(values.dropna()))


def _of_planned(found: Measurement, setting: str, seeds: int) -> Measurement:
    """What so many seeds of a setting say: not complete as long as seeds that are planned for it are missing.

    A remark says how many of them had been seen when the others were planned.
    """
    planned = SETTINGS[setting].seeds
    if seeds >= planned:
        return with_remark(found, f"{SEEN[setting]} of these seeds had been seen when the others were planned")
    return replace(found, over=say_seeds(seeds, planned), complete=False)


def contrasts_everywhere(*names: str, sign: int, said: str = "claimed") -> All:
    """Contrasts that were written down, each in every setting that has it."""
    return All(tuple(contrast_of_texts(setting, name, sign, said) for name in names for setting in settings_with(name)))


def similar_by(setting: str, name: str, tolerance: float) -> Measurement:
    """A contrast that was written down, against 0 within a tolerance; paired over seeds."""
    quantity, table, contrast = _asked(setting, name)
    values = difference_by_seed(table, contrast.metric, contrast.ours, contrast.theirs)
    found = Measurement.near(quantity, "about 0", t_interval_if_any(values), 0.0, tolerance, over_seeds(values))
    return _of_planned(on_one_test_set(found), setting, len(values.dropna()))


def error_of_texts(setting: str, loss: str, expected: float, tolerance: float) -> Measurement:
    """The test error of a loss in per cent against a number, as trained; BEST weights."""
    own = _select(record_of(setting), "error", "")
    values = own[own["loss"] == loss].set_index("seed")["value"]
    quantity = f"test error (%) of {loss} [{setting}]"
    interval, over = t_interval_if_any(values), over_seeds(values)
    found = Measurement.near(quantity, f"{expected:g}", interval, expected, tolerance, over, said="asked")
    return _of_planned(on_one_test_set(found), setting, len(values))


def temperature_of_texts(setting: str, loss: str, other: str, sign: int) -> Measurement:
    """The temperature by ECE of one loss minus that of another, paired over seeds; BEST weights."""
    own = _select(record_of(setting), "ece", "ece")
    wide = own.pivot(index="seed", columns="loss", values="temperature")
    quantity = f"$T$ by ECE (equal width), {loss} minus {other} [{setting}]"
    apart = (wide[loss] - wide[other]).dropna()
    found = signed_if_any(quantity, "negative" if sign < 0 else "positive", apart, sign)
    return _of_planned(found, setting, len(apart))

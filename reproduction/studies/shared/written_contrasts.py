"""Contrasts that were written down before the runs, evaluated on the table of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler

from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.intervals import Interval, welch_interval
from focal_lib.metrics.significance import smallest_effect, t_p_value
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.shared.over_seeds import contrast as paired_contrast
from reproduction.studies.shared.over_seeds import correct_together, say_over
from reproduction.studies.shared.recorded import read_written
from reproduction.studies.shared.two_way import BySeed

# of metrics that are whole numbers, or shares of so many: an image of 10,000, the most that are tested here, is 0.01 %
STEPS = {"epochs-to-low": 1.0, "epochs-to-error": 1.0, "error": 0.01}
FINDINGS = ("borne out", "contradicted", "not borne out", "too few seeds to tell", "new", "open")  # by large runs
ECES = ("ece", "adaptive-ece", "classwise-ece", "smooth-ece")  # of METRICS
_EVALUATED = ["table", "name", "compared", "primary", "metric", "claimed", "difference", "low", "high", "degrees"]
_EVALUATED += ["seeds", "over", "p", "p_adjusted", "smallest", "significant"]
_SHOWN = {"name": "contrast", "difference": "difference", "interval": "95 % t interval", "over": "over", "p": "p"}
_SHOWN |= {"p_adjusted": "p, corrected (Holm)", "significant": "significant", "smallest": "smallest that would show"}
_STAR = "\u00a0*"  # of a significant difference in a cell
_AFTER = {"none": "as trained", "temperature": "after a temperature"}
# compared in the runs for which nothing was written down before; to add gamma 2 afterwards would be a choice by result
_NOT_WRITTEN = ("focal 1", "focal 3", "focal 5", "focal 7", "flsd-53")


def primary_contrast(name: str, table: str = "KK24 Table 1") -> tuple[Contrast, bool]:
    """The primary contrast of a table for the runs in results/<name>, and whether their grid file had it before them.

    Of runs without any, what was compared in the first of them: focal temperature scaling minus temperature scaling, by
    adaptive ECE, over KK24's focal losses.

    Raises:
        ValueError: the grid file has contrasts, but none of that table.
    """
    written = read_written(name)
    if not written:
        ece = "adaptive-ece"
        ours, theirs = (Setting(_NOT_WRITTEN, method, ece) for method in ("focal-temperature", "temperature"))
        return Contrast(table, "focal losses", ece, ours, theirs, -1, primary=True), False
    for contrast in written:
        if contrast.table == table and contrast.primary:
            return contrast, True
    raise ValueError(f"table must be one of {', '.join(dict.fromkeys(c.table for c in written))}. Got {table!r}.")


def find_contrast(written: Iterable[Contrast], name: str) -> Contrast:
    """The one of that name.

    Raises:
        ValueError: there is none.
    """
    named = {contrast.name: contrast for contrast in written}
    if name not in named:
        raise ValueError(f"contrast must be one of {', '.join(named)}. Got {name!r}.")
    return named[name]


def keep_evaluable(contrasts: Iterable[Contrast], table: pd.DataFrame) -> tuple[Contrast, ...]:
    """Those of the tables whose contrasts all have two seeds or more, as a family is corrected as a whole."""
    seeds = table.groupby("loss")["seed"].agg(set).to_dict()
    every = tuple(contrasts)
    waiting = {c.table for c in every if len(set.intersection(*(seeds.get(loss, set()) for loss in c.losses))) < 2}
    return tuple(c for c in every if c.table not in waiting)


def difference_by_seed(table: pd.DataFrame, metric: str, ours: Setting, theirs: Setting) -> pd.Series:
    """`paired_by_seed` on all test images: a number a seed."""
    return paired_by_seed(table, metric, ours, theirs).of_all


def paired_by_seed(table: pd.DataFrame, metric: str, ours: Setting, theirs: Setting) -> BySeed:
    """A metric of one setting minus that of another, of each seed that both have, in order; means over their losses.

    Args:
        table: what `measure` gives, of one data set and network; without LEFT_OUT an interval is over seeds alone.

    Raises:
        ValueError: several data sets or networks, not one run a loss and seed of either setting, or no seed in common.
    """
    networks = table[["dataset", "model"]].drop_duplicates()
    if len(networks) != 1:
        raise ValueError(f"table must be of one data set and network. Got {len(networks)} pairs.")
    one, two = (_mean_by_seed(table, metric, setting) for setting in (ours, theirs))
    differences = one - two
    if not differences.seeds:
        raise ValueError(f"runs are paired by seed: one must be of both. Got {list(one.seeds)} and {list(two.seeds)}.")
    return differences


def _mean_by_seed(table: pd.DataFrame, metric: str, setting: Setting) -> BySeed:
    chosen = table[table["loss"].isin(setting.losses) & (table["metric"] == metric)]
    chosen = chosen[(chosen["method"] == setting.method) & (chosen["objective"] == setting.objective)]
    if chosen.empty or chosen.duplicated(["loss", "seed"]).any():
        raise ValueError(f"table must have one row a loss and seed of {metric}, {setting}. Got {len(chosen)}.")
    wide = chosen.pivot(index="seed", columns="loss", values="value")
    if wide.shape[1] < len(setting.losses) or wide.isna().any(axis=None):
        raise ValueError(f"every loss must have a run of each seed. Got {int(wide.count().sum())} of {setting}.")
    return BySeed.of_rows(chosen)


def interval_of(differences: BySeed, metric: str) -> Interval:
    """The t interval of what `paired_by_seed` gives of a metric; of one seed none. Knows whole numbers."""
    return differences.interval(STEPS.get(metric, 0.0))


def evaluate_contrasts(table: pd.DataFrame, contrasts: Iterable[Contrast]) -> pd.DataFrame:
    """One row a contrast: its mean difference with its t interval, see `two_way`, and whether it is significant.

    The primary contrast of a table stands for itself; the p values of its others are adjusted together, by Holm.

    Args:
        table: what `measure` gives; of several data sets or networks where every contrast names one.

    Returns:
        table, name, compared (`say_what_is_compared`), primary, metric, claimed (-1 or 1); difference, with low and
        high each for itself, and degrees of freedom; seeds; over, see `say_over`; p and p_adjusted; significant:
        p_adjusted at most 0.05; smallest: the difference that these data would have shown with probability 0.8,
        uncorrected. With one seed the numbers after the difference are nan, with two the last.

    Raises:
        ValueError: as `difference_by_seed`.
    """
    rows = []
    for c in contrasts:
        differences = paired_by_seed(_rows_of(table, c), c.metric, c.ours, c.theirs)
        i, seeds = interval_of(differences, c.metric), len(differences.seeds)
        p = t_p_value(i) if i.kind else np.nan
        smallest = smallest_effect(i) if seeds > 2 else np.nan  # two tell next to nothing of the spread
        rows.append(
            {"table": c.table, "name": c.name, "compared": say_what_is_compared(c), "primary": c.primary}
            | {"metric": c.metric, "claimed": c.claimed}
            | {"difference": i.estimate, "low": i.low, "high": i.high, "degrees": i.degrees or np.nan}
            | {"seeds": seeds, "over": say_over(differences, c.metric)}
            | {"p": p, "p_adjusted": p, "smallest": smallest}
        )
    if not rows:
        return pd.DataFrame(columns=_EVALUATED)
    found = pd.DataFrame(rows)
    for _, family in found[~found["primary"]].groupby("table", sort=False):
        found.loc[family.index, "p_adjusted"] = correct_together(family)["p_adjusted"]
    return found.assign(significant=found["p_adjusted"] <= 0.05)


def _rows_of(table: pd.DataFrame, contrast: Contrast) -> pd.DataFrame:
    """Those of the data set and network that a contrast names, if it names any."""
    if not contrast.dataset:
        return table
    return table[(table["dataset"] == contrast.dataset) & (table["model"] == contrast.model)]


def say_what_is_compared(contrast: Contrast) -> str:
    """'FLSD-53 minus cross-entropy, as trained'; a scaling is by the contrast's metric where nothing else is said."""
    ours, theirs = contrast.ours, contrast.theirs

    def chosen_by(setting: Setting, *, always: bool = False) -> str:
        told = setting.objective and (always or setting.objective != contrast.metric)
        return f" by {in_words(setting.objective)}" if told else ""

    def scaled(setting: Setting, *, always: bool = False) -> str:
        return (
            "as trained" if setting.method == "none" else in_words(setting.method) + chosen_by(setting, always=always)
        )

    def of(losses: tuple[str, ...]) -> str:
        return in_words(losses[0]) if len(losses) == 1 else f"mean over {len(losses)} losses"

    def after(setting: Setting) -> str:
        return _AFTER.get(setting.method, f"after {in_words(setting.method)}") + chosen_by(setting)

    if ours.losses == theirs.losses:
        always = ours.method == theirs.method
        return f"{of(ours.losses)}, {scaled(ours, always=always)} minus {scaled(theirs, always=always)}"
    if (ours.method, ours.objective) == (theirs.method, theirs.objective):
        return f"{of(ours.losses)} minus {of(theirs.losses)}, {after(ours)}"
    return f"{of(ours.losses)} {after(ours)} minus {of(theirs.losses)} {after(theirs)}"


def name_in_full(found: pd.DataFrame) -> pd.DataFrame:
    """What `evaluate_contrasts` found, for a page's table: as names the tables, what is compared, metric and claim."""
    metric, claimed = found["metric"].map(in_words), found["claimed"].map({-1: "lower", 1: "higher"})
    return found.assign(name=found["table"] + ": " + found["compared"] + ", " + metric + ", claimed " + claimed)


def significant_signs(evaluated: pd.DataFrame) -> pd.Series:
    """The sign of each difference that is significant, 0 of the others; by name and table, of `evaluate_contrasts`."""
    signs = np.sign(evaluated["difference"]).where(evaluated["significant"].astype(bool), 0)
    return signs.set_axis(pd.MultiIndex.from_frame(evaluated[["name", "table"]])).sort_index()


def tabulate_contrasts(evaluated: pd.DataFrame, shown: Mapping[str, str], digits: int) -> pd.DataFrame:
    """'-11.2 *' of what `evaluate_contrasts` gives, * where significant: a row a contrast, a column a table.

    Args:
        shown: names of contrasts, and what to call them.
        digits: behind the point.
    """
    cells = [f"{row.difference:+.{digits}f}{_STAR * bool(row.significant)}" for row in evaluated.itertuples()]
    wide = evaluated.assign(cell=cells).pivot(index="name", columns="table", values="cell")
    wide = wide.loc[list(shown), list(evaluated["table"].unique())]
    return wide.rename(index=shown).rename_axis(index=None, columns=None).fillna("")


def format_contrasts(found: pd.DataFrame, caption: str, *, precision: int | None = 3) -> Styler:
    """What `evaluate_contrasts` found as a table for a page, names in words; the primary contrast says so.

    Args:
        precision: digits behind the point; None: two of a metric in per cent, four of another.
    """
    digits = [digits_of(metric) if precision is None else precision for metric in found.get("metric", found["name"])]

    def say(column: str, sign: str = "+") -> list[str]:
        return [f"{value:{sign}.{n}f}" for value, n in zip(found[column], digits, strict=True)]

    primary = found.get("primary", pd.Series(False, index=found.index))
    said = pd.Series("yes", index=found.index)
    if "claimed" in found:
        sides = found["difference"] * found["claimed"]  # 0 where nothing is claimed
        said += np.select([sides > 0, sides < 0], [", as claimed", ", the other way"], "")
    smallest = found.get("smallest", pd.Series(np.nan, index=found.index))
    found = found.assign(smallest=smallest)
    shown = found.assign(
        name=found["name"].map(in_words) + np.where(primary, " (primary)", ""),
        difference=say("difference"),
        interval=[f"{low} to {high}" for low, high in zip(say("low"), say("high"), strict=True)],
        significant=said.where(found["significant"].astype(bool), "no"),
        smallest=np.where(smallest.isna(), "", say("smallest", "")),
    )
    left_out = {"smallest"} if smallest.isna().all() else set()
    named = shown[[column for column in _SHOWN if column in shown and column not in left_out]].rename(columns=_SHOWN)
    return captioned(named, caption, index=False)


def compare_eces(table: pd.DataFrame, contrasts: Iterable[Contrast], eces: Sequence[str] = ECES) -> pd.DataFrame:
    """The contrasts by each ECE, what was trained and how it was scaled staying as it is; other metrics are left out.

    Returns:
        table, name, compared, metric, own (whether by the contrast's own ECE), difference, low, high, seeds; apart:
        whether the sign, or whether the interval for itself holds 0, is other than by the contrast's own ECE.
    """
    parts = []
    for contrast in contrasts:
        if contrast.metric in eces:
            found = evaluate_contrasts(table, [replace(contrast, metric=ece) for ece in eces])
            own = found["metric"] == contrast.metric
            parts.append(found.assign(own=own, apart=are_apart(found, contrast.metric)))
    columns = ["table", "name", "compared", "metric", "own", "difference", "low", "high", "seeds", "apart"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def are_apart(found: pd.DataFrame, metric: str) -> pd.Series:
    """Whether the sign, or whether the interval holds 0, is other than in the row of that metric.

    Args:
        found: columns metric, difference, low, high.
    """
    said = _said(found["difference"], found["low"], found["high"])
    return said != said[found["metric"] == metric].iloc[0]


def compare_small_with_large(
    contrasts: Iterable[Contrast], small: pd.DataFrame, large: pd.DataFrame, of_small: Iterable[Contrast] = ()
) -> pd.DataFrame:
    """What small runs suggested beside what large ones show, for the contrasts whose losses they have.

    Args:
        of_small: contrasts of the small runs' own, which take the place of those of the same table and name.

    Returns:
        table, name, compared, metric; small_difference, small_low, small_high, small_seeds, and the same of large_*,
        each interval for itself; found, of FINDINGS. Where small runs have an interval without 0: 'borne out' or
        'contradicted' if large ones have one, too, on the same or the other side; 'not borne out' if theirs holds 0
        and the two differences are apart by Welch's interval, for itself; 'too few seeds to tell' if it
        holds 0, too, or there is none. Else: 'new' or 'open'.
    """
    own = {(c.table, c.name): c for c in of_small}
    pairs = [(own.get((c.table, c.name), c), c) for c in contrasts]
    tables = (small, large)
    there = [pair for pair in pairs if all(c.losses <= set(t["loss"]) for c, t in zip(pair, tables, strict=True))]
    one, two = (evaluate_contrasts(table, [pair[k] for pair in there]) for k, table in enumerate(tables))
    suggested, shown = ((f["low"] > 0).astype(int) - (f["high"] < 0) for f in (one, two))
    apart = np.array([_apart(*pair) for pair in zip(_as_means(one), _as_means(two), strict=True)], dtype=bool)
    cases = (shown == suggested, shown == -suggested, apart, ~apart)
    words = np.select([*((suggested != 0) & case for case in cases), shown != 0], FINDINGS[:-1], FINDINGS[-1])
    columns = ["difference", "low", "high", "seeds"]
    numbers = (one[columns].add_prefix("small_"), two[columns].add_prefix("large_"))
    return pd.concat([two[["table", "name", "compared", "metric"]], *numbers], axis="columns").assign(found=words)


def _as_means(found: pd.DataFrame) -> list[Interval]:
    """The t intervals of a table's difference, low, high and degrees."""
    columns = found[["difference", "low", "high", "degrees"]].itertuples(index=False, name=None)
    none = (np.nan, np.nan)
    return [
        Interval(mean, *none) if np.isnan(degrees) else Interval(mean, low, high, "t", degrees=degrees)
        for mean, low, high, degrees in columns
    ]


def subtract_means(first: Interval, second: Interval) -> Interval:
    """The first mean minus the second, by Welch's interval; both are t intervals of independent values.

    Of one value, which has no interval, the difference with nan and nan.
    """
    counts = [(interval.degrees or 0) + 1 for interval in (first, second)]
    change = first.estimate - second.estimate
    if min(counts) < 2:
        return Interval(change, np.nan, np.nan)
    deviations = [interval.standard_error * n**0.5 for interval, n in zip((first, second), counts, strict=True)]
    if not any(deviations):
        return Interval(change, change, change, "t")
    return welch_interval((1, -1), (first.estimate, second.estimate), deviations, counts)


def _apart(*pair: Interval) -> bool:
    """Whether two means differ, by Welch's interval; not where one of them is of one seed."""
    found = subtract_means(*pair)
    return found.low > 0 or found.high < 0


def format_small_with_large(compared: pd.DataFrame) -> pd.DataFrame:
    """What `compare_small_with_large` gives as text, 'difference [low, high]' under 'small runs, 3 seeds' and so on."""

    def say(size: str) -> tuple[str, list[str]]:
        seeds = compared[f"{size}_seeds"]
        range_of = " to ".join(map(str, sorted({seeds.min(), seeds.max()})))
        many = f", {range_of} seed{'s' * (range_of != '1')}" if len(seeds) else ""
        rows = compared[["metric", *(f"{size}_{column}" for column in ("difference", "low", "high"))]]
        return f"{size} runs{many}", [_with_interval(*row) for row in rows.itertuples(index=False, name=None)]

    named = compared["table"] + ": " + compared["compared"] + ", " + compared["metric"].map(in_words)
    return pd.DataFrame({"contrast": named, "found": compared["found"], **dict(map(say, ("small", "large")))})


def _with_interval(metric: str, difference: float, low: float, high: float) -> str:
    """'-0.12 [-0.30, +0.06]'; of what is no percentage two digits more."""
    number = f"{{:+.{digits_of(metric)}f}}".format
    return number(difference) + ("" if np.isnan(low) else f" [{number(low)}, {number(high)}]")


def digits_of(metric: str) -> int:
    """Behind the point: two of what is in per cent."""
    return 2 if METRICS[metric].per_cent else 4


def _said(difference: pd.Series, low: pd.Series, high: pd.Series) -> pd.Series:
    """'lower', 'lower, without 0' and so on."""
    sign = np.select([difference < 0, difference > 0], ["lower", "higher"], "equal")
    return pd.Series(sign, index=difference.index) + np.where((low > 0) | (high < 0), ", without 0", "")


def compare_data_sets(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """ECE (equal width, %) as trained, minus cross-entropy's with the same seed, by loss and data set.

    Losses that all data sets have, in the order of the first. Seeds of two data sets are no pairs: their images differ.

    Args:
        tables: data set -> what `measure` gives of its runs.

    Returns:
        Index loss, data set; difference, low, high, the t interval; seeds; change, change_low, change_high:
        the difference minus that on the first data set, by Welch's interval, 0 there.

    Raises:
        ValueError: no loss but cross-entropy that all have, or none with cross-entropy.
    """
    asked = "metric == 'ece' and method == 'none'"
    found = {
        title: paired_contrast(table.query(asked), "loss", "cross-entropy").set_index("loss")
        for title, table in tables.items()
    }
    rows = {}
    for loss in next(iter(found.values())).index:
        if all(loss in own.index for own in found.values()):
            first, *others = (_as_means(own.loc[[loss]])[0] for own in found.values())
            changes = [Interval(0, 0, 0), *(subtract_means(other, first) for other in others)]
            for title, own, change in zip(found, (first, *others), changes, strict=True):
                seeds = int(found[title].loc[loss, "seeds"])
                numbers = own.estimate, own.low, own.high, seeds
                rows[loss, title] = (*numbers, *astuple(change)[:3])
    if not rows:
        raise ValueError(f"tables must have a loss beside cross-entropy in common. Got none in {', '.join(tables)}.")
    index = pd.MultiIndex.from_tuples(list(rows), names=["loss", "data set"])
    columns = ["difference", "low", "high", "seeds", "change", "change_low", "change_high"]
    return pd.DataFrame(list(rows.values()), index, columns)

"""What the chapter on unknown inputs shows: means over corruptions, contrasts on several sets, counts in words.

Tables of corrupted images are those of `measure_shift`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import t_interval_if_any
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.engine.data.corruptions import CORRUPTION_KINDS
from reproduction.pages.tables import in_words
from reproduction.studies.ood.measures import compare_by_shift, mean_over_shifts
from reproduction.studies.shared.over_seeds import correct_together, means_and_halves
from reproduction.studies.shared.recorded import read_unknown
from reproduction.studies.shared.written_contrasts import difference_by_seed, evaluate_contrasts


def over_severity(
    table: pd.DataFrame, loss: str, method: str, metric: str, corruptions: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Severities, the mean of a metric over corruptions, and half of its t interval over seeds, (m,) each.

    Raises:
        ValueError: no such rows, or of one seed alone.
    """
    kept = table[(table["loss"] == loss) & (table["method"] == method) & (table["metric"] == metric)]
    kept = kept[kept["corruption"].isin(corruptions)]
    if kept.empty:
        raise ValueError(f"table must have {metric} of {loss}, {method}, under {', '.join(corruptions)}. Got no rows.")
    wide = kept.pivot_table(index="seed", columns="severity", values="value", aggfunc="mean")
    return wide.columns.to_numpy(), *means_and_halves(wide)


def tells_apart(table: pd.DataFrame) -> bool:
    """Whether a table of `measure_shift` has detection by severity: a record made before it was measured has not."""
    return bool(table["metric"].str.startswith("auroc").any())


def detection_by_severity(table: pd.DataFrame, losses: Sequence[str]) -> pd.DataFrame:
    """AUROC and FPR at 95 % of telling corrupted images from clean ones as trained, in per cent, as text.

    Returns:
        A row a loss and severity, a column a metric, the mean over corruptions and seeds, '61.2 ± 0.9' with half of its
        95 % t interval over seeds, '61.2' of one seed.

    Raises:
        ValueError: there is none in the table, or not of these losses.
    """
    kept = table[(table["method"] == "none") & table["metric"].str.startswith(("auroc", "fpr95"))]
    kept = kept[kept["loss"].isin(losses)]
    if kept.empty:
        raise ValueError(f"table must have AUROC by severity of {', '.join(losses)}. Got none.")
    means = kept.groupby(["loss", "severity", "metric", "seed"], sort=False)["value"].mean()
    said = means.groupby(["loss", "severity", "metric"], sort=False).agg(_mean_and_half)
    return said.unstack("metric", sort=False).rename_axis(columns=None)


def _mean_and_half(values: pd.Series) -> str:
    i = t_interval_if_any(values)
    return f"{i.estimate:.1f}" + (f" ± {(i.high - i.low) / 2:.1f}" if i.kind else "")


def levels_under_shift(table: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, of clean images and of all corruptions and severities: error, adaptive ECE (%) and NLL.

    Returns:
        A row a loss; columns (what, 'clean' or 'corrupted'), the last two metrics as trained and after a temperature.
    """
    shown = {"error (%)": ("none", "error")}
    for name, metric in (("adaptive ECE (%)", "adaptive-ece"), ("NLL", "nll")):
        shown |= {f"{name}, as trained": ("none", metric), f"{name}, temperature": ("temperature", metric)}
    parts = {}
    for name, (method, metric) in shown.items():
        kept = table[(table["method"] == method) & (table["metric"] == metric)]
        for images, rows in (("clean", kept["severity"] == 0), ("corrupted", kept["severity"] > 0)):
            parts[name, images] = kept[rows].groupby("loss", sort=False)["value"].mean()
    return pd.DataFrame(parts).rename_axis(index=None)


def extremes_over_corruptions(
    table: pd.DataFrame, loss: str, method: str = "none", metric: str = "adaptive-ece"
) -> tuple[tuple[str, float], tuple[str, float]]:
    """The corruptions at whose highest severity the metric is least and largest, with its means over seeds."""
    kept = table[(table["loss"] == loss) & (table["method"] == method) & (table["metric"] == metric)]
    means = kept[kept["severity"] == table["severity"].max()].groupby("corruption")["value"].mean()
    least, most = means.idxmin(), means.idxmax()
    return (str(least), float(means[least])), (str(most), float(means[most]))


def minus_cross_entropy_under_shift(table: pd.DataFrame, loss: str) -> pd.DataFrame:
    """A loss minus cross-entropy over all corruptions and severities, as trained and after a temperature by NLL.

    Written down by nobody before: t intervals over seeds, each for itself.

    Returns:
        What `evaluate_contrasts` does, a row for adaptive ECE and NLL, (metric, method) as index.
    """
    asked = {}
    for metric in ("adaptive-ece", "nll"):
        for method, objective in (("none", ""), ("temperature", "nll")):
            ours, theirs = (Setting((one,), method, objective) for one in (loss, "cross-entropy"))
            asked[metric, method] = Contrast("seen afterwards", f"{metric}, {method}", metric, ours, theirs, -1)
    found = evaluate_contrasts(mean_over_shifts(table), asked.values())
    return found.set_index(pd.MultiIndex.from_tuples(list(asked), names=["metric", "method"]))


def temperature_under(table: pd.DataFrame, corruption: str, loss: str) -> pd.Series:
    """Adaptive ECE after a temperature by NLL minus as trained, mean over the severities of a corruption, by seed.

    Raises:
        ValueError: no such corruption or loss.
    """
    ours, theirs = Setting((loss,), "temperature", "nll"), Setting((loss,))
    return difference_by_seed(mean_over_shifts(table[table["corruption"] == corruption]), "adaptive-ece", ours, theirs)


def temperature_changes(table: pd.DataFrame) -> pd.DataFrame:
    """Adaptive ECE after a temperature minus as trained, a row a loss, corruption and severity; Holm over all of them.

    Nobody had written them down before: they are corrected together.

    Returns:
        What `compare_by_shift` and `correct_together` do, and name: 'focal 3, contrast 3'.
    """
    found = compare_by_shift(table, "adaptive-ece", "temperature", "none")
    found = correct_together(found[found["severity"] > 0].reset_index(drop=True))
    place = found["corruption"].map(in_words) + " " + found["severity"].astype(str)
    return found.assign(name=found["loss"] + ", " + place)


def tabulate_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """What `temperature_changes` gives in a column a severity, in points, * where significant after Holm."""
    said = [f"{row.difference:+.1f}{' *' * bool(row.significant)}" for row in changes.itertuples()]
    kept = changes.assign(said=said, corruption=changes["corruption"].map(in_words))
    wide = kept.pivot_table(
        index=["loss", "corruption"], columns="severity", values="said", aggfunc="first", sort=False
    )
    return wide.rename_axis(index=["loss", "corruption"], columns="severity")


def largest_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """Largest rise and largest fall of each loss in what `temperature_changes` gives, for `format_contrasts`."""
    by_loss = changes.groupby("loss", sort=False)["difference"]
    ends = pd.concat([by_loss.idxmax(), by_loss.idxmin()])
    return changes.loc[ends.sort_index(kind="stable").to_numpy()]


def say_better(row: pd.Series) -> str:
    """'better than' or 'worse than' of a row of `evaluate_contrasts` on AUROC, or that neither is measured."""
    if not row["significant"]:
        return "not measurably better or worse than"
    return "better than" if row["difference"] > 0 else "worse than"


def say_harm(changes: pd.DataFrame, loss: str) -> str:
    """Where a temperature raises a loss's adaptive ECE after Holm: 'contrast 2, 3', or 'nowhere'."""
    raised = changes[(changes["loss"] == loss) & changes["significant"] & (changes["difference"] > 0)]
    where = raised.groupby("corruption", sort=False)["severity"]
    said = [f"{in_words(name)} {', '.join(map(str, found))}" for name, found in where]
    return "; ".join(said) or "nowhere"


def say_absent(table: pd.DataFrame) -> str:
    """Which corruptions of CIFAR-10-C, all of which are made here, a table of `measure_shift` is without: 'frost'.

    Returns:
        Their names as a list in words, 'none' where all are there.
    """
    there = set(table["corruption"])
    absent = [in_words(name) for kind in CORRUPTION_KINDS.values() for name in kind if name not in there]
    return " and ".join(filter(None, [", ".join(absent[:-1]), *absent[-1:]])) or "none"


def energy_minus_probability(table: pd.DataFrame) -> pd.DataFrame:
    """AUROC by energy minus by the largest probability, as trained, in points: a row a seed, a column a loss.

    Args:
        table: what `measure_detection` gives, of one set of unknown images.
    """
    trained = table[table["method"] == "none"]
    wide = trained.pivot(index="seed", columns=["metric", "loss"], values="value")
    gain = wide.xs("auroc energy", axis="columns") - wide.xs("auroc max-probability", axis="columns")
    return pd.DataFrame(gain)[list(trained["loss"].unique())]


def evaluate_by_unknown(grid: str, contrasts: Iterable[Contrast], unknown: Sequence[str]) -> pd.DataFrame:
    """`evaluate_contrasts` of a recorded grid for each set of images, whose name ends the name of a contrast's table.

    Returns:
        What `evaluate_contrasts` does, names with what was shown before them; Holm within each table.

    Raises:
        FileNotFoundError, ValueError: as `read_unknown` and `evaluate_contrasts`.
    """
    asked, parts = list(contrasts), []
    for name in unknown:
        own = [contrast for contrast in asked if contrast.table.endswith(name)]
        found = evaluate_contrasts(read_unknown(grid, name), own)
        parts.append(found.assign(name=f"{name}: " + found["name"]))
    return pd.concat(parts, ignore_index=True)


def say_significant(found: pd.DataFrame) -> str:
    """'none of 8 is significant', or how many are, and of how many the sign is the claimed one.

    Args:
        found: what `evaluate_contrasts` gives.
    """
    clear = found[found["significant"]]
    if clear.empty:
        return f"none of {len(found)} is significant"
    claimed = int((np.sign(clear["difference"]) == clear["claimed"]).sum())
    if len(clear) == 1:
        return f"1 of {len(found)} is significant, {'with' if claimed else 'against'} the sign asked for"
    share = "all" if claimed == len(clear) else f"{claimed} of them" if claimed else "none"
    return f"{len(clear)} of {len(found)} are significant, {share} with the sign asked for"

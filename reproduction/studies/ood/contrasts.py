"""What the chapter on unknown inputs shows: means over corruptions, contrasts on several sets.

Tables of corrupted images are those of `measure_shift`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import paired_t_interval
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.pages.tables import in_words
from reproduction.studies.ood.measures import compare_by_shift, mean_over_shifts
from reproduction.studies.ood.plan import CE
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


def auroc_by_gamma(table: pd.DataFrame, score: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gammas, the mean AUROC as trained minus that of cross-entropy by a score, half of its t interval: (m,) each."""
    trained = table[(table["method"] == "none") & (table["metric"] == f"auroc {score}")]
    wide = trained.pivot(index="seed", columns="gamma", values="value")
    return wide.columns[1:].to_numpy(), *means_and_halves(wide.drop(columns=0.0).sub(wide[0.0], axis=0))


def detection_gains(compared: Iterable[tuple[str, str, str]], scores: Iterable[str]) -> pd.DataFrame:
    """AUROC as trained of a loss beside cross-entropy's, in per cent, by each score: over paired seeds.

    Args:
        compared: a recorded grid, what it is shown and a loss, each.

    Returns:
        grid, unknown, loss, score; cross-entropy, the mean; difference, low and high, its 95 % t interval.
    """
    rows = []
    for grid, unknown, loss in compared:
        trained = read_unknown(grid, unknown).query("method == 'none'")
        for score in scores:
            wide = trained[trained["metric"] == f"auroc {score}"].pivot(index="seed", columns="loss", values="value")
            i = paired_t_interval(wide[loss], wide[CE])
            found = {"cross-entropy": wide[CE].mean(), "difference": i.estimate, "low": i.low, "high": i.high}
            rows.append({"grid": grid, "unknown": unknown, "loss": loss, "score": score} | found)
    return pd.DataFrame(rows)


def tabulate_gains(gains: pd.DataFrame, sets: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """What `detection_gains` gives: cross-entropy's by the first score, '+6.6 (+3.7 to +9.5)' by each; a row a loss.

    Args:
        sets: what to call a grid and what it is shown.
    """
    spans = [f"{row.difference:+.1f} ({row.low:+.1f} to {row.high:+.1f})" for row in gains.itertuples()]
    named = [sets[key] for key in zip(gains["grid"], gains["unknown"], strict=True)]
    by = gains["score"].map(in_words)
    shown = gains.assign(named=named, span=spans, score="minus cross-entropy, by " + by)
    shown = shown.rename(columns={"named": "trained on"})
    wide = shown.pivot_table(index=["trained on", "loss"], columns="score", values="span", aggfunc="first", sort=False)
    first = gains["score"] == gains["score"].iloc[0]
    wide.insert(0, f"cross-entropy, by {by.iloc[0]}", gains.loc[first, "cross-entropy"].to_numpy())
    return wide.reset_index().rename_axis(columns=None)


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

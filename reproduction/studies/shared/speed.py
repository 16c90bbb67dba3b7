"""What was recorded of speed: against other libraries, beside busy processes, of what is in a file; and of training.

The record is of the machine that it names, and may be absent: each sentence says so then. Whether ratios are below 1 is
counted, not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.metrics.by_name import METRICS
from reproduction.checkout import ROOT
from reproduction.engine.cost import images_to_train
from reproduction.engine.machine import spell_cores
from reproduction.engine.spec import Spec
from reproduction.pages.tables import in_words

RECORD = "speed"  # the folder in results
_TABLES = {"libraries": "libraries.parquet", "busy": "busy.parquet", "large": "large.parquet"}
_COMMANDS = dict.fromkeys(_TABLES, "`make bench RECORD=1`") | {"large": "`make bench RECORD=1 LARGE=1`"}
_ABOUT = {
    "libraries": "speed against other libraries",
    "busy": "speed on a busy machine",
    "large": "samples that lie in a file",
}
_MATCH = ["what", "library", "form"]
_ONE_BY_ONE = ("ece", "adaptive_ece", "classwise_ece", "nll", "brier")  # of the busy table, as functions
_AT_ONCE = {"busy": "all_metrics", "large": "all-metrics"}
_AT_ONCE_SAID = "all metrics at once"
_QUIET = 0.1  # cores that others had: from here on the machine is not called quiet
_EQUAL = 1e-12  # NLLs that differ by less


def read_speed(name: str, folder: Path | None = None) -> pd.DataFrame | None:
    """A table of the record, or None where there is none, as before the first measurement.

    Args:
        name: libraries, busy or large.
        folder: default results/speed of the checkout.

    Raises:
        ValueError: another name.
    """
    if name not in _TABLES:
        raise ValueError(f"name must be one of {', '.join(_TABLES)}. Got {name!r}.")
    path = (folder or ROOT / "results" / RECORD) / _TABLES[name]
    return pd.read_parquet(path) if path.is_file() else None


def _absent(name: str) -> str:
    return f"There is no record of {_ABOUT[name]}: {_COMMANDS[name]} makes one."


def say_made(table: pd.DataFrame) -> str:
    """'on AMD EPYC, 2 cores, x86_64, at commit ...; other processes had at most 0.02 cores meanwhile'.

    Args:
        table: with columns machine, commit, others.
    """
    machines, commits = (" and ".join(dict.fromkeys(table[column])) for column in ("machine", "commit"))
    made = f"on {machines}, at commit {commits or 'unknown'}"
    others = table["others"].max()
    if np.isnan(others):
        return made
    busy = " (not a quiet machine)" if others >= _QUIET else ""
    return f"{made}; other processes had at most {others:.2f} cores meanwhile{busy}"


def _size(n: Any, classes: Any) -> str:
    return f"{n:,} x {classes}"


# --- other libraries --------------------------------------------------------------------


def compare_ratios(libraries: pd.DataFrame) -> pd.DataFrame:
    """A row each call of another library: at each size the ratio, and the difference of both results.

    Ratio: median seconds of theirs by that of ours. Difference: theirs minus ours, of temperatures theirs by ours minus
    1. 'why not' stands where a library was missing or raised.

    Args:
        libraries: lines of benchmarks.libraries.
    """
    columns = {}
    keyed = libraries.set_index(_MATCH)
    for (n, classes), part in keyed.groupby(["n", "classes"], sort=False):
        columns[f"ratio, {_size(n, classes)}"] = part["ratio"]
        columns[f"difference, {_size(n, classes)}"] = part["difference"].map(_signed)
    failed = libraries[libraries["ratio"].isna()].groupby(_MATCH, sort=False)["note"].first()
    order = keyed.index.drop_duplicates()
    found = pd.DataFrame({name: column.reindex(order) for name, column in columns.items()}, index=order)
    if len(failed):
        found["why not"] = failed.reindex(order).fillna("")
    return found.reset_index()


def _signed(value: float) -> str:
    return "" if np.isnan(value) else "0" if value == 0 else f"{value:+.0e}"


def say_ratios(libraries: pd.DataFrame | None) -> str:
    """The smallest ratio, how many are below 1 and which, what was not compared, and whose temperatures are nearer."""
    if libraries is None:
        return _absent("libraries")
    known = libraries[libraries["ratio"].notna()].sort_values("ratio")
    begun = f"Measured {say_made(libraries)}."
    missing = _say_missing(libraries[libraries["ratio"].isna()])
    if known.empty:
        return f"{begun} No call was compared. {missing}".strip()
    below = known[known["ratio"] < 1]
    names = ": " + "; ".join(map(_say_row, below.to_dict("records"))) if len(below) else ""
    smallest = f"The smallest ratio is {known['ratio'].iloc[0]:.2f}, {_say_row(known.iloc[0].to_dict())}."
    counted = f"{len(below)} of {len(known)} ratios {'is' if len(below) == 1 else 'are'} below 1{names}."
    return " ".join(filter(None, (begun, smallest, counted, missing, _say_nearer(known))))


def _say_row(row: dict) -> str:
    return f"{row['what']} of {row['library']} ({row['form']}) at {_size(row['n'], row['classes'])}"


def _say_missing(failed: pd.DataFrame) -> str:
    if failed.empty:
        return ""
    which = ", ".join(dict.fromkeys(failed["library"]))
    return f"{len(failed)} of the calls could not be compared ({which}), as the table says."


def _say_nearer(known: pd.DataFrame) -> str:
    """Of temperatures, by how much either NLL is lower."""
    gaps = known["nll_gap"].dropna()
    if gaps.empty:
        return ""
    ours, theirs = (gaps > _EQUAL).sum(), (gaps < -_EQUAL).sum()
    return (
        f"Of {len(gaps)} temperatures ours has the lower NLL in {ours}, theirs in {theirs}, "
        f"and in {len(gaps) - ours - theirs} they are equal to {_EQUAL:.0e}."
    )


# --- a busy machine ---------------------------------------------------------------------


def tabulate_busy(busy: pd.DataFrame) -> pd.DataFrame:
    """Of each size and call milliseconds quiet and busy, their ratio, the share of the memory's speed while quiet."""
    sizes = [_size(n, classes) for n, classes in zip(busy["n"], busy["classes"], strict=True)]
    return pd.DataFrame(
        {
            "size": sizes,
            "what": busy["what"].map(_call_name),
            "quiet (ms)": busy["quiet_ms"],
            "busy (ms)": busy["busy_ms"],
            "busy / quiet": busy["ratio"],
            "share of reading speed": busy["reading_share"],
        }
    )


def say_busy(busy: pd.DataFrame | None) -> str:
    """The largest ratio, the largest share of reading speed, and one pass for all metrics beside one for each."""
    if busy is None:
        return _absent("busy")
    worst, fastest = (busy.iloc[int(busy[column].argmax())] for column in ("ratio", "reading_share"))
    parts = [
        f"With {busy['taken'].iloc[0]} of {busy['cores'].iloc[0]} cores taken by processes that never rest, a call "
        f"takes at most {worst['ratio']:.2f} times as long ({_say_call(worst)}).",
        f"The share of reading speed is {100 * busy['reading_share'].min():.2g} to "
        f"{100 * fastest['reading_share']:.2g} %, the largest for {_say_call(fastest)}.",
    ]
    for (n, classes), part in busy.groupby(["n", "classes"], sort=False):
        times = part.set_index("what")["quiet_ms"]
        if {_AT_ONCE["busy"], *_ONE_BY_ONE} <= set(times.index):
            one, each = times[_AT_ONCE["busy"]], times[list(_ONE_BY_ONE)].sum()
            parts.append(
                f"At {_size(n, classes)} all {len(METRICS)} metrics in one pass took {one:,.1f} ms, the "
                f"{len(_ONE_BY_ONE)} of the table one after another {each:,.1f} ms."
            )
    return f"Measured {say_made(busy)}. " + " ".join(parts)


def _say_call(row: pd.Series) -> str:
    return f"{_call_name(row['what'])} at {_size(row['n'], row['classes'])}"


def _call_name(what: str) -> str:
    return _AT_ONCE_SAID if what == _AT_ONCE["busy"] else in_words(what.replace("_", "-"))


# --- samples in a file ------------------------------------------------------------------


def caption_large(large: pd.DataFrame) -> str:
    """Of what size the samples are, and what they would take in float64."""
    first = large.iloc[0]
    wide = 8 * first["samples"] * first["classes"] / 2**30
    return (
        f"Logits {_size(first['samples'], first['classes'])}, {first['dtype']}, {first['file_gb']:.2f} GiB in a file "
        f"({wide:.2f} GiB as float64)"
    )


def tabulate_large(large: pd.DataFrame) -> pd.DataFrame:
    """Of each method and metric seconds, the most memory, the number found, and how far that is from memory's.

    'minus in memory': that number minus the same one of the block of samples that the file repeats, from an array.
    """
    return pd.DataFrame(
        {
            "what": [_say_large_row(what) for what in large["what"]],
            "seconds": [
                "" if np.isnan(s) else f"{s:,.1f}" + " (estimate)" * bool(estimate)
                for s, estimate in zip(large["seconds"], large["estimate"], strict=True)
            ],
            "memory (GiB)": large["memory_gb"],
            "of it before (GiB)": large["before_gb"],
            "found": ["" if np.isnan(value) else f"{value:.6f}" for value in large["value"]],
            "it is": large["value_of"],
            "minus in memory": (large["value"] - large["in_memory"]).map(_signed),
            "note": large["note"],
        }
    )


def _say_large_row(what: str) -> str:
    return _AT_ONCE_SAID if what == _AT_ONCE["large"] else in_words(what.replace(":", " by "))


def say_large(large: pd.DataFrame | None) -> str:
    """How many rows are measured, estimated or left out; the most memory and time; one pass beside one for each."""
    if large is None:
        return _absent("large")
    timed = large[large["seconds"].notna()]
    measured, estimates = timed[~timed["estimate"].astype(bool)], timed["estimate"].sum()
    left = len(large) - len(timed)
    parts = [
        f"Measured {say_made(large)}.",
        f"Of {len(large)} rows {len(measured)} are measured, {estimates} {'is' if estimates == 1 else 'are'} estimated "
        f"from a part of the samples, and {left} {'has' if left == 1 else 'have'} no time, for the reason in the note.",
    ]
    if measured["memory_gb"].notna().any():
        most = measured.iloc[int(measured["memory_gb"].argmax())]
        parts.append(
            f"The most memory is {most['memory_gb']:.2f} GiB ({_say_large_row(most['what'])}), "
            f"{most['before_gb']:.2f} GiB of it before that began; the file has {most['file_gb']:.2f} GiB."
        )
    parts += [_say_one_pass(measured), _say_difference(large)]
    return " ".join(filter(None, parts))


def _say_one_pass(measured: pd.DataFrame) -> str:
    seconds = measured.set_index("what")["seconds"]
    if not {_AT_ONCE["large"], *METRICS} <= set(seconds.index):
        return ""
    one, each = seconds[_AT_ONCE["large"]], seconds[list(METRICS)].sum()
    return f"All {len(METRICS)} metrics in one pass took {one:,.1f} s, one after another {each:,.1f} s."


def _say_difference(large: pd.DataFrame) -> str:
    known = large[large["in_memory"].notna() & large["value"].notna()]
    if known.empty:
        return ""
    apart = np.abs(known["value"] / known["in_memory"] - 1).to_numpy()
    most = int(apart.argmax())
    if apart[most] == 0:
        return f"All {len(apart)} numbers are those found in memory, to the last digit."
    which = _say_large_row(known["what"].iloc[most])
    return f"Relative to the numbers found in memory, {len(apart)} differ by at most {apart[most]:.0e} ({which})."


# --- training ---------------------------------------------------------------------------


def read_training_rates(folder: Path | None = None) -> pd.DataFrame | None:
    """What `python -m benchmarks.training --out results/speed/training.json` measured; None where there is none.

    Args:
        folder: default results/speed of the checkout.
    """
    path = (folder or ROOT / "results" / RECORD) / "training.json"
    if not path.is_file():
        return None
    rates = pd.read_json(path)
    return None if rates.empty else rates.assign(device=rates["device"].map(spell_cores))


def tabulate_training(rates: pd.DataFrame) -> pd.DataFrame:
    """Images a second of each loop, how many times those of the plain one, and the share of a large product's rate.

    Device and network stand there where there are several. What no run does, steps that are not deterministic, is left
    out.
    """
    kept = _of_runs(rates)
    times = kept["images_per_second"] / kept[_TRAINED].apply(tuple, axis="columns").map(_plain_rates(kept))
    shown = {
        "loop": kept["loop"],
        "precision": kept["precision"],
        "steps": kept["way"],
        "runs at once": kept["at_once"],
        "images/s": kept["images_per_second"].round().astype(int),
        "times torchvision's": times,
        "share of a large product's rate (%)": 100 * kept["share"],
    }
    named = kept.assign(network=kept["network"].map(in_words))
    several = {column: named[column] for column in _TRAINED if named[column].nunique() > 1}
    return pd.DataFrame(several | shown)


def say_training(rates: pd.DataFrame | None) -> str:
    """Of each device, network and precision: which way of a step is the fastest, and how many times the others.

    One device is not named.
    """
    if rates is None:
        return "There is no record of training: `python -m benchmarks.training --out <file>` makes one."
    kept, said = _of_runs(rates), []

    def on(device: object) -> str:
        return f" on {device}" if kept["device"].nunique() > 1 else ""

    alone = kept[(kept["loop"] == "ours") & (kept["at_once"] == 1)]
    for (device, network, precision), part in alone.groupby([*_TRAINED, "precision"], sort=False):
        by_way = part.set_index("way")["images_per_second"].sort_values(ascending=False)
        best, others = by_way.iloc[0], by_way.iloc[1:]
        plain = _plain_rates(kept).get((str(device), str(network)))
        times = [] if plain is None else [f"{best / plain:.1f} times torchvision's loop"]
        times += [f"{best / rate:.1f} times the {way} step" for way, rate in others.items()]
        how = f"by {by_way.index[0]} steps" if others.empty else f"by the fastest, the {by_way.index[0]} step"
        reached = f"{in_words(str(network))} in {precision}{on(device)}: {best:,.0f} images a second {how}"
        said.append(f"{', '.join([reached, *times])}.")
    by_precision = alone.pivot_table("images_per_second", _TRAINED, "precision", aggfunc="max", sort=False)
    by_precision = by_precision.reindex(columns=["float32", "bf16"])
    times_of_bf16 = (by_precision["bf16"] / by_precision["float32"]).dropna().reset_index(name="times")
    said += [
        f"{in_words(str(row.network))}{on(row.device)} does {row.times:.1f} times as many in bf16 as in float32."
        for row in times_of_bf16.itertuples()
    ]
    several = kept[(kept["loop"] == "ours") & (kept["at_once"] > 1)]
    both = several.merge(alone, on=_ALIKE, suffixes=("", "_alone"))
    both = both.assign(times=both["images_per_second"] / both["images_per_second_alone"])
    said += [
        f"{row.at_once} runs at once of {in_words(str(row.network))} in {row.precision} by {row.way} steps do "
        f"{row.images_per_second:,.0f} together, {row.times:.2f} times one."
        for row in both.itertuples()
    ]
    return " ".join(said)


def say_cost(rates: pd.DataFrame, grid: str, specs: Sequence[Spec]) -> str:
    """How long a grid of one network would train on each device that its rate was measured on; '' of none.

    By the fastest of ours, one run at a time, in the precision that the grid asks for if it asks for one; else by
    torchvision's, which no run takes. Evaluation is not counted.

    Args:
        grid: its name, to be told; specs: its runs.

    Raises:
        ValueError: runs of several networks.
    """
    networks = {spec.model for spec in specs}
    if len(networks) != 1:
        raise ValueError(f"specs must be of one network. Got {', '.join(sorted(networks)) or 'none'}.")
    (network,), images, said = networks, sum(images_to_train(spec) for spec in specs), []
    asked = {spec.training.precision for spec in specs} - {"auto"}
    kept = _of_runs(rates)
    for device, part in kept[(kept["network"] == network) & (kept["at_once"] == 1)].groupby("device", sort=False):
        ours = part[(part["loop"] == "ours") & (part["precision"].isin(asked) if asked else True)]
        taken = part[part["loop"] == "torchvision"] if ours.empty else ours
        if taken.empty:
            continue
        best = taken.sort_values("images_per_second").iloc[-1]
        loop = "torchvision's loop, which no run takes," if ours.empty else "our loop"
        lacking = " Ours was not measured." if ours.empty else ""
        hours = images / best["images_per_second"] / 3600
        time = f"{hours:,.0f} hours" if hours >= 1.5 else f"{60 * hours:,.0f} minutes"
        said.append(
            f"On {device} {loop} trains {in_words(network)} in {best['precision']} with "
            f"{best['images_per_second']:,.0f} images a second. At that rate the {len(specs)} runs of {grid}.yaml, "
            f"{images:,} images, would take {time}, evaluation not counted.{lacking}"
        )
    return " ".join(said)


_TRAINED = ["device", "network"]
_ALIKE = [*_TRAINED, "precision", "way"]


def _of_runs(rates: pd.DataFrame) -> pd.DataFrame:
    """The plain loop, and of ours what a run does; of what was measured twice the last."""
    kept = rates[(rates["loop"] == "torchvision") | rates["deterministic"]]
    return kept.drop_duplicates([*_TRAINED, "loop", "precision", "way", "at_once"], keep="last")


def _plain_rates(kept: pd.DataFrame) -> dict[tuple[str, str], float]:
    plain = kept[kept["loop"] == "torchvision"]
    return dict(zip(plain[_TRAINED].itertuples(index=False, name=None), plain["images_per_second"], strict=True))

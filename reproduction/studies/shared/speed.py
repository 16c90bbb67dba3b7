"""What was recorded of speed, as tables: against other libraries, beside busy processes, of a file; and of training.

The record is of the machine that its captions name, and may be absent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reproduction.checkout import ROOT
from reproduction.engine.machine import spell_cores
from reproduction.pages.tables import in_words

RECORD = "speed"  # the folder in results
_COMMANDS = {"libraries": "make bench RECORD=1", "busy": "make bench RECORD=1", "large": "make bench RECORD=1 LARGE=1"}
_AT_ONCE = "all metrics at once"
_MATCH = ["what", "library", "form"]
_TRAINED = ["device", "network"]


def read_speed(name: str, folder: Path | None = None) -> pd.DataFrame:
    """A table of the record; without rows before the first measurement.

    Args:
        name: libraries, busy or large.
        folder: default results/speed of the checkout.

    Raises:
        ValueError: another name.
    """
    if name not in _COMMANDS:
        raise ValueError(f"name must be one of {', '.join(_COMMANDS)}. Got {name!r}.")
    path = (folder or ROOT / "results" / RECORD) / f"{name}.parquet"
    return pd.read_parquet(path) if path.is_file() else pd.DataFrame()


def say_made(name: str, table: pd.DataFrame) -> str:
    """'Measured on AMD EPYC, 2 cores, at commit abc; other processes had at most 0.02 cores'; or how to measure."""
    if table.empty:
        return f"Not measured: `{_COMMANDS[name]}` does it."
    machines, commits = (" and ".join(dict.fromkeys(table[column])) for column in ("machine", "commit"))
    others = f"; other processes had at most {table['others'].max():.2f} cores" if table["others"].notna().any() else ""
    return f"Measured on {machines}, at commit {commits or 'unknown'}{others}."


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
        columns[f"ratio, {n:,} x {classes}"] = part["ratio"]
        columns[f"difference, {n:,} x {classes}"] = part["difference"].map(_signed)
    failed = libraries[libraries["ratio"].isna()].groupby(_MATCH, sort=False)["note"].first()
    order = keyed.index.drop_duplicates()
    found = pd.DataFrame({name: column.reindex(order) for name, column in columns.items()}, index=order)
    if len(failed):
        found["why not"] = failed.reindex(order).fillna("")
    return found.reset_index()


def tabulate_busy(busy: pd.DataFrame) -> pd.DataFrame:
    """Of each size and call milliseconds quiet and busy, their ratio, the share of the memory's speed while quiet."""
    return pd.DataFrame(
        {
            "size": [f"{n:,} x {classes}" for n, classes in zip(busy["n"], busy["classes"], strict=True)],
            "what": busy["what"].map(_call_name),
            "quiet (ms)": busy["quiet_ms"],
            "busy (ms)": busy["busy_ms"],
            "busy / quiet": busy["ratio"],
            "share of reading speed": busy["reading_share"],
        }
    )


def tabulate_large(large: pd.DataFrame) -> pd.DataFrame:
    """Of each method and metric seconds, the most memory, the number found, and how far that is from memory's.

    'minus in memory': that number minus the same one of the block of samples that the file repeats, from an array.
    """
    seconds = large["seconds"].map("{:,.1f}".format).where(large["seconds"].notna(), "")
    return pd.DataFrame(
        {
            "what": large["what"].map(_call_name),
            "seconds": seconds + np.where(large["estimate"].astype(bool), " (estimate)", ""),
            "memory (GiB)": large["memory_gb"],
            "of it before (GiB)": large["before_gb"],
            "found": large["value"].map("{:.6f}".format).where(large["value"].notna(), ""),
            "it is": large["value_of"],
            "minus in memory": (large["value"] - large["in_memory"]).map(_signed),
            "note": large["note"],
        }
    )


def caption_large(large: pd.DataFrame) -> str:
    """Of what size the samples are, and what they would take in float64."""
    first = large.iloc[0]
    wide = 8 * first["samples"] * first["classes"] / 2**30
    return (
        f"Logits {first['samples']:,} x {first['classes']}, {first['dtype']}, {first['file_gb']:.2f} GiB in a file "
        f"({wide:.2f} GiB as float64)"
    )


def _signed(value: float) -> str:
    return "" if np.isnan(value) else "0" if value == 0 else f"{value:+.0e}"


def _call_name(what: str) -> str:
    plain = what.replace("_", "-").replace(":", " by ")
    return _AT_ONCE if plain == "all-metrics" else in_words(plain)


def read_training_rates(folder: Path | None = None) -> pd.DataFrame:
    """What `python -m benchmarks.training --out results/speed/training.json` measured; without rows before that.

    Args:
        folder: default results/speed of the checkout.
    """
    path = (folder or ROOT / "results" / RECORD) / "training.json"
    rates = pd.read_json(path) if path.is_file() else pd.DataFrame()
    return rates if rates.empty else rates.assign(device=rates["device"].map(spell_cores))


def tabulate_training(rates: pd.DataFrame) -> pd.DataFrame:
    """Images a second of each loop, how many times those of the plain one, and the share of a large product's rate.

    Device and network stand there where there are several. What no run does, steps that are not deterministic, is left
    out; of what was measured twice the last stands.
    """
    kept = rates[(rates["loop"] == "torchvision") | rates["deterministic"]]
    kept = kept.drop_duplicates([*_TRAINED, "loop", "precision", "way", "at_once"], keep="last")
    plain = kept[kept["loop"] == "torchvision"].set_index(_TRAINED)["images_per_second"]
    shown: dict[str, Any] = {
        "loop": kept["loop"],
        "precision": kept["precision"],
        "steps": kept["way"],
        "runs at once": kept["at_once"],
        "images/s": kept["images_per_second"].round().astype(int),
        "times torchvision's": kept["images_per_second"] / kept[_TRAINED].apply(tuple, axis="columns").map(plain),
        "share of a large product's rate (%)": 100 * kept["share"],
    }
    named = kept.assign(network=kept["network"].map(in_words))
    several = {column: named[column] for column in _TRAINED if named[column].nunique() > 1}
    return pd.DataFrame(several | shown)

"""What was recorded of speed, as tables: against other libraries, beside busy processes, of a file; and of training.

`make bench RECORD=1` measures, with LARGE=1 the file, too; `python -m benchmarks.training` the rates of training.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from reproduction.checkout import ROOT
from reproduction.engine.machine import spell_cores
from reproduction.pages.tables import in_words

RECORD = ROOT / "results" / "speed"
_MATCH = ["what", "library", "form"]
_TRAINED = ["device", "network"]


def read_speed(name: str) -> pd.DataFrame:
    """A table of the record: 'libraries', 'busy' or 'large'."""
    return pd.read_parquet(RECORD / f"{name}.parquet")


def say_made(table: pd.DataFrame) -> str:
    """'Measured on AMD EPYC, 2 cores, at commit abc; other processes had at most 0.02 cores.'"""
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
    found = pd.DataFrame(columns, index=keyed.index.drop_duplicates())
    if len(failed):
        found["why not"] = failed.reindex(found.index).fillna("")
    return found.reset_index()


def tabulate_busy(busy: pd.DataFrame) -> pd.DataFrame:
    """Of each size and call milliseconds quiet and busy, their ratio, the share of the memory's speed while quiet."""
    shown = busy.assign(
        size=busy["n"].map("{:,}".format) + " x " + busy["classes"].astype(str), what=busy["what"].map(_call_name)
    )
    names = {"size": "size", "what": "what", "quiet_ms": "quiet (ms)", "busy_ms": "busy (ms)", "ratio": "busy / quiet"}
    names["reading_share"] = "share of reading speed"
    return shown[list(names)].rename(columns=names)


def tabulate_large(large: pd.DataFrame) -> pd.DataFrame:
    """Of each method and metric seconds, the most memory, the number found, and how far that is from memory's.

    'minus in memory': that number minus the same one of the block of samples that the file repeats, from an array.
    """
    seconds = large["seconds"].map("{:,.1f}".format).where(large["seconds"].notna(), "")
    columns = {
        "what": large["what"].map(_call_name),
        "seconds": seconds + np.where(large["estimate"].astype(bool), " (estimate)", ""),
        "memory (GiB)": large["memory_gb"],
        "of it before (GiB)": large["before_gb"],
        "found": large["value"].map("{:.6f}".format).where(large["value"].notna(), ""),
        "it is": large["value_of"],
        "minus in memory": (large["value"] - large["in_memory"]).map(_signed),
        "note": large["note"],
    }
    return pd.DataFrame(columns)


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
    return "all metrics at once" if plain == "all-metrics" else in_words(plain)


def read_training_rates(path: Path = RECORD / "training.json") -> pd.DataFrame:
    """What `python -m benchmarks.training --out results/speed/training.json` measured."""
    rates = pd.read_json(path)
    return rates.assign(device=rates["device"].map(spell_cores))


def tabulate_training(rates: pd.DataFrame) -> pd.DataFrame:
    """Images a second of each loop, how many times those of the plain one, and the share of a large product's rate.

    Device and network stand there where there are several. What no run does, steps that are not deterministic, is left
    out; of what was measured twice the last stands.
    """
    kept = rates[(rates["loop"] == "torchvision") | rates["deterministic"]]
    kept = kept.drop_duplicates([*_TRAINED, "loop", "precision", "way", "at_once"], keep="last")
    plain = kept[kept["loop"] == "torchvision"].set_index(_TRAINED)["images_per_second"]
    named = kept.assign(network=kept["network"].map(in_words))
    columns = {column: named[column] for column in _TRAINED if named[column].nunique() > 1} | {
        "loop": kept["loop"],
        "precision": kept["precision"],
        "steps": kept["way"],
        "runs at once": kept["at_once"],
        "images/s": kept["images_per_second"].round().astype(int),
        "times torchvision's": kept["images_per_second"] / kept[_TRAINED].apply(tuple, axis="columns").map(plain),
        "share of a large product's rate (%)": 100 * kept["share"],
    }
    return pd.DataFrame(columns)

"""When a watch raises its alarm, recorded: streams with and without drift, into results/watch/alarms.parquet.

    nice python -m reproduction.studies.advice.record_watch_rates --runs 500      # about four minutes of processor time

Each stream has its number as its seed. `notebooks/in_use.py` reads what this leaves.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse

import pandas as pd

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT
from reproduction.studies.advice.watch_rates import alarm_times

OUT = ROOT / "results" / "watch" / "alarms.parquet"
CALM = 100_000  # samples of a stream without drift
AFTER = 20_000  # samples after a drift
CHANGES = (0, 1_000, 10_000)  # samples before it
TEMPERATURES = (0.5, 0.67, 1.5, 2.0)  # of labels and model after it; below 1 the model is underconfident


def main() -> None:
    """Simulate every setting and write when each alarm came."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500, help="streams without drift; a fifth as many of each with one")
    runs = parser.parse_args().runs
    parts = [_part(1.0, CALM, CALM, alarm_times(runs, CALM))]
    for temperature in TEMPERATURES:
        for change in CHANGES:
            horizon = change + AFTER
            times = alarm_times(runs // 5, horizon, change=change, temperature=temperature, seed=1)
            parts.append(_part(temperature, change, horizon, times))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    write_whole(OUT, lambda part: pd.concat(parts, ignore_index=True).to_parquet(part))


def _part(temperature: float, change: int, horizon: int, times: object) -> pd.DataFrame:
    return pd.DataFrame({"temperature": temperature, "change": change, "horizon": horizon, "alarm at": times})


if __name__ == "__main__":
    main()

"""The experiments side by side: what each grid reproduces, in what it differs from the paper, what it took."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from reproduction.checkout import ROOT
from reproduction.engine.cost import images_to_train
from reproduction.engine.grids import GridNotes, read_grid, read_notes
from reproduction.engine.store import SPEC, Result
from reproduction.studies.shared.compute_used import folder_in_words, in_words


@dataclass(frozen=True)
class Experiment:
    """A grid, its notes, how many runs and images it has, and what became of it."""

    name: str
    notes: GridNotes
    runs: int
    images: int
    status: str


def list_experiments(live: Mapping[str, Sequence[Result]]) -> tuple[Experiment, ...]:
    """Each grid of `workflow/grids` that says what it reproduces.

    Args:
        live: name of a grid -> its runs, which `make book` trains; those of others are looked for in `results`.
    """
    found = []
    for path in sorted((ROOT / "workflow" / "grids").glob("*.yaml")):
        notes = read_notes(path)
        if notes.reproduces:
            specs = read_grid(path)
            images = sum(images_to_train(spec) for spec in specs)
            found.append(Experiment(path.stem, notes, len(specs), images, _status(path.stem, len(specs), live)))
    return tuple(found)


def _status(name: str, planned: int, live: Mapping[str, Sequence[Result]]) -> str:
    if name in live:
        return f"trained by make book: {in_words(live[name])}"
    recorded, compute = folder_in_words(ROOT / "results" / name)
    if recorded:
        part = "" if recorded == planned else f" in part, {recorded} runs"
        if part and len(runs_in_table(ROOT / "results" / name / "table.parquet")) == planned:
            part = f", a table of all runs and the logits of {recorded}"
        return f"recorded{part}; compute used: {compute}"
    results = ROOT / "results"
    if (results / "unknown-inputs" / f"{name}.parquet").is_file() or (results / name / "table.parquet").is_file():
        return "trained; its tables are recorded, not its runs"
    return "not run"


def runs_in_table(path: Path) -> set[tuple[object, ...]]:
    """Data set, network, loss and seed of the runs in a parquet file; none where there is none, or no such columns."""
    columns = ["dataset", "model", "loss", "seed"]
    if not path.is_file() or not set(columns) <= set(pq.read_schema(path).names):
        return set()
    return set(pd.read_parquet(path, columns=columns).itertuples(index=False, name=None))


def experiment_table(found: Sequence[Experiment]) -> pd.DataFrame:
    """A row for each, those that were run first; a line for each difference."""
    rows = []
    for one in sorted(found, key=lambda one: one.status == "not run"):
        differs = (*one.notes.differs, *(f"missing: {line.replace('`', '')}" for line in one.notes.missing))
        runs = f"{one.runs:,} runs, {one.images:,} images; {one.status}"
        rows.append((f"{one.name}: {one.notes.reproduces}", "\n".join(f"• {line}" for line in differs), runs))
    return pd.DataFrame(rows, columns=["experiment", "differs from the paper in", "runs"])


def recorded_data() -> dict[str, str]:
    """Folder of recorded runs in `results` -> the data set whose logits and labels it holds."""
    found = {}
    for path in sorted((ROOT / "results").glob(f"*/*/{SPEC}")):
        found[path.parent.parent.name] = json.loads(path.read_text())["spec"]["dataset"]
    return found

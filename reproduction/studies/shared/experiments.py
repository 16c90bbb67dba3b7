"""The experiments side by side: what each grid reproduces, in what it differs from the paper, what its runs cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT
from reproduction.engine.cost import Compute, images_to_train, total_compute
from reproduction.engine.grids import GridNotes, read_grid, read_notes
from reproduction.engine.machine import spell_cores
from reproduction.engine.store import SPEC
from reproduction.pages.blocks import replace_block

START, END = "<!-- compute used: focal grid --record -->", "<!-- end -->"


@dataclass(frozen=True)
class Experiment:
    """A grid, its notes, how many runs and images it has, and what became of it."""

    name: str
    notes: GridNotes
    runs: int
    images: int
    status: str


def list_experiments() -> tuple[Experiment, ...]:
    """Each grid of `workflow/grids` that says what it reproduces."""
    found = []
    for path in sorted((ROOT / "workflow" / "grids").glob("*.yaml")):
        notes = read_notes(path)
        if notes.reproduces:
            specs = read_grid(path)
            images = sum(images_to_train(spec) for spec in specs)
            found.append(Experiment(path.stem, notes, len(specs), images, _status(path.stem, len(specs))))
    return tuple(found)


def _status(name: str, planned: int) -> str:
    results = ROOT / "results"
    recorded, table = _records(results / name), results / name / "table.parquet"
    if recorded:
        part = "" if len(recorded) == planned else f" in part, {len(recorded)} runs"
        if part and len(runs_in_table(table)) == planned:
            part = f", a table of all runs and the logits of {len(recorded)}"
        return f"recorded{part}; compute used: {say_compute(map(Compute.of_record, recorded))}"
    if (results / "unknown-inputs" / f"{name}.parquet").is_file() or table.is_file():
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


def say_compute(computes: Iterable[Compute | None]) -> str:
    """'1,260,000 images in 3.5 hours of one run at a time, on AMD EPYC', for the runs whose records say so."""
    every = list(computes)
    known = [compute for compute in every if compute is not None]
    if not known:
        return "not on record"
    used = total_compute(known)
    partly = (
        "" if len(known) == len(every) else f", for {len(known)} of {len(every)}: of the others it is not on record"
    )
    took = f"{used.hours:.1f} hours" if used.hours >= 0.5 else f"{60 * used.hours:.0f} minutes"
    machines = spell_cores("; ".join(used.machines))
    return f"{used.images:,} images in {took} of one run at a time, on {machines}{partly}"


def _records(kept: Path) -> list[dict[str, Any]]:
    """Those of the runs in a folder."""
    return [_record(path) for path in sorted(kept.glob(f"*/{SPEC}"))]


def _record(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} must be a run's record. Got {error}.") from None


def compute_table(folder: Path) -> str:
    """Markdown: a row for each folder of recorded runs, their number and what they cost."""
    lines = ["| folder | runs | compute used |", "|---|---|---|"]
    for kept in sorted(path for path in folder.iterdir() if path.is_dir()):
        if records := _records(kept):
            lines.append(f"| `{kept.name}` | {len(records)} | {say_compute(map(Compute.of_record, records))} |")
    return "\n".join(lines)


def update_readme(path: Path) -> bool:
    """Put today's table between the marks of the README; False where there is no README with such marks."""
    if not path.is_file() or START not in (text := path.read_text()):
        return False
    text = replace_block(text, START, END, compute_table(path.parent))
    write_whole(path, lambda part: part.write_text(text))
    return True

"""What the recorded runs cost, in words and in the table of results/README.md: nothing in it is typed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from focal_lib.atomic_write import write_whole
from reproduction.engine.cost import Compute, total_compute
from reproduction.engine.machine import spell_cores
from reproduction.engine.store import SPEC, Result
from reproduction.pages.blocks import replace_block

START, END = "<!-- compute used: focal grid --record -->", "<!-- end -->"


def in_words(results: Iterable[Result]) -> str:
    """'1,260,000 images in 3.5 hours of one run at a time, on AMD EPYC', for the runs whose records say so."""
    return _in_words([result.compute for result in results])


def _in_words(computes: list[Compute | None]) -> str:
    known = [compute for compute in computes if compute is not None]
    if not known:
        return "not on record"
    used = total_compute(known)
    some = f", for {len(known)} of {len(computes)}: of the others it is not on record"
    partly = "" if len(known) == len(computes) else some
    took = f"{used.hours:.1f} hours" if used.hours >= 0.5 else f"{60 * used.hours:.0f} minutes"
    machines = spell_cores("; ".join(used.machines))
    return f"{used.images:,} images in {took} of one run at a time, on {machines}{partly}"


def folder_in_words(kept: Path) -> tuple[int, str]:
    """The number of runs recorded in a folder, and what they cost."""
    records = [_record(path) for path in sorted(kept.glob(f"*/{SPEC}"))]
    return len(records), _in_words([Compute.of_record(record) for record in records])


def _record(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} must be a run's record. Got {error}.") from None


def say_how_made(kept: Path, runs: Iterable[Result]) -> str:
    """'AMD EPYC, 1 core, x86_64 (PyTorch 2.15.0, plain steps, commit f62e95f41f7c)': runs recorded in a folder."""
    records = [_record(kept / run.spec.digest / SPEC) for run in runs]
    machines = " and ".join(dict.fromkeys(machine for record in records for machine in record["machines"]))
    commits: dict[str, dict[str, None]] = {}
    for record in records:
        how = f"PyTorch {record['versions']['torch']}, {record['step']} steps"
        commits.setdefault(how, {})[record["commit"][:12]] = None
    code = (f"{how}, {'commit' if len(own) == 1 else 'commits'} {', '.join(own)}" for how, own in commits.items())
    return f"{spell_cores(machines)} ({'; '.join(code)})"


def table(folder: Path) -> str:
    """A row for each folder of recorded runs: their number and what they cost."""
    lines = ["| folder | runs | compute used |", "|---|---|---|"]
    for kept in sorted(path for path in folder.iterdir() if path.is_dir()):
        runs, words = folder_in_words(kept)
        if runs:
            lines.append(f"| `{kept.name}` | {runs} | {words} |")
    return "\n".join(lines)


def update_readme(path: Path) -> bool:
    """Put today's table between the marks of the README; False where there is no README with such marks."""
    if not path.is_file() or START not in (text := path.read_text()):
        return False
    text = replace_block(text, START, END, table(path.parent))
    write_whole(path, lambda part: part.write_text(text))
    return True

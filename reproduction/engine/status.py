"""Where the runs of a grid stand, from the files in their folders and their locks."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reproduction.engine.locks import is_locked
from reproduction.engine.spec import Spec
from reproduction.engine.store import (
    CHECKPOINT,
    FAILURE,
    HISTORY,
    LOG,
    LOGITS,
    PROGRESS,
    VERSION,
    WEIGHTS,
    RunDamaged,
    checked_bytes,
    load,
    read_record,
    run_folder,
    version_of,
)

CALL_AGAIN = 75  # exit status: the next call goes on (EX_TEMPFAIL)


class Status(NamedTuple):
    """Where a run stands, and a word on it.

    'done', 'outdated', 'damaged', 'running', 'failed', 'stopped' or 'waiting'.
    """

    spec: Spec
    state: str
    detail: str


def status(specs: Iterable[Spec], root: str | Path | None = None, *, whole: bool = False) -> list[Status]:
    """Where each run stands, from the files in its folder and its lock.

    Args:
        whole: read the logits of finished runs, too, whose damage nothing else may tell.
    """
    return [Status(spec, *_state(spec, root, whole)) for spec in specs]


def runs_to_do(found: Iterable[Status], *, again: bool = False) -> list[Spec]:
    """Those that a call would do: not finished, but for `again`, and nobody else's."""
    left_out = {"running"} if again else {"running", "done"}
    return [entry.spec for entry in found if entry.state not in left_out]


def exit_status(states: Iterable[str]) -> int:
    """0 where every run is done; 1 where the rest has failed; else CALL_AGAIN."""
    left = {state for state in states if state != "done"}
    if not left:
        return 0
    return 1 if left == {"failed"} else CALL_AGAIN


def _state(spec: Spec, root: str | Path | None, whole: bool) -> tuple[str, str]:
    folder = run_folder(spec, root)
    if is_locked(folder):
        return "running", _progress(folder, running=True)
    if (folder / LOGITS).exists():
        return _finished_state(spec, root, whole)
    if (folder / FAILURE).is_file():
        return "failed", _failure(folder / FAILURE)
    if not (folder / CHECKPOINT).is_file() and (folder / WEIGHTS).is_file():
        return "damaged", f"no {LOGITS}"
    return ("stopped", _progress(folder)) if folder.is_dir() else ("waiting", "")


def _failure(path: Path) -> str:
    try:
        return str(json.loads(path.read_text())["reason"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"for a reason that {path.name} does not tell"


def _finished_state(spec: Spec, root: str | Path | None, whole: bool) -> tuple[str, str]:
    """By the record, and what can be seen of the other files without reading the large ones, but for `whole`."""
    folder = run_folder(spec, root)
    try:
        record = read_record(spec, folder)
        checked_bytes(folder, record, HISTORY)
        if (version := version_of(record)) != VERSION:
            return "outdated", f"training code {version}, today's is {VERSION}"
        if found := _seen_damage(folder / LOGITS, record):
            return "damaged", found
        if whole:
            load(spec, root)
    except RunDamaged as error:
        return "damaged", str(error)
    weights = _seen_damage(folder / WEIGHTS, record) if (folder / LOG).is_file() else ""  # copies have none
    return "done", f"but {weights}: --again trains it anew" if weights else ""


def _seen_damage(path: Path, record: Mapping[str, Any]) -> str:
    """'no weights.pt', 'logits.npz is cut', '' where nothing is to be seen: both are zip files, whose end says much."""
    if not path.is_file():
        return f"no {path.name}"
    wanted, size = record.get("files", {}).get(path.name, {}).get("bytes"), path.stat().st_size
    if wanted not in (None, size):
        return f"{path.name} has {size} bytes, not {wanted}"
    with path.open("rb") as file:  # what may not be read is not cut
        return "" if zipfile.is_zipfile(file) else f"{path.name} is cut"


def _progress(folder: Path, *, running: bool = False) -> str:
    """'epoch 40 of 350, about 3.1 h left, last checkpoint 9 s ago': of the epoch that a next call would go on from."""
    if not (folder / CHECKPOINT).is_file():
        return "no checkpoint yet"
    age = time.time() - (folder / CHECKPOINT).stat().st_mtime
    kept = f"last checkpoint {age:.0f} s ago"
    try:
        epoch, epochs, seconds = json.loads((folder / PROGRESS).read_text()).values()
        left = seconds / epoch * (epochs - epoch) - (age if running else 0)
    except (OSError, ValueError, AttributeError, TypeError, ArithmeticError):  # begun before this was
        return kept
    return f"epoch {epoch} of {epochs}, about {_in_words(max(left, 0))} left, {kept}"


def _in_words(seconds: float) -> str:
    """'50 s', '12 min', '3.1 h'."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"

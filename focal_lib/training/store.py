"""Where runs are kept: one folder a run, named by the hash of its specification."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import shlex
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from focal_lib.checkout import ROOT, require_checkout
from focal_lib.training.cost import Compute
from focal_lib.training.files import write
from focal_lib.training.grids import default_grid, read_grid
from focal_lib.training.locks import is_locked
from focal_lib.training.spec import Spec
from focal_lib.training.version import VERSION

__all__ = [
    "Logits",
    "NewerRun",
    "OtherSpecification",
    "Result",
    "RunDamaged",
    "RunMissing",
    "Status",
    "default_runs",
    "describe",
    "load",
    "load_runs",
    "record_runs",
    "status",
]

# what a finished run is, the logits last: their presence ends it
SPEC, HISTORY, WEIGHTS, LOGITS = "spec.json", "history.parquet", "weights.pt", "logits.npz"
CHECKPOINT, FAILURE, LOG = "checkpoint", "failed.json", "log.jsonl"


class RunMissing(FileNotFoundError):
    """A run that has not been made, or not to its end; the message says which command makes it."""


class RunDamaged(ValueError):
    """A finished run with a file that is missing or not as it was written."""


class NewerRun(ValueError):
    """A run of a newer training code than this one, which must not repeat it."""


class OtherSpecification(ValueError):
    """A folder that holds another run than the one it is named by."""


@dataclass(frozen=True)
class Logits:
    """Logits float32 (n, K) and labels int64 (n,) of one split."""

    logits: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Result:
    """A finished run."""

    spec: Spec
    history: pd.DataFrame  # a row an evaluated epoch and split; see monitor.summary
    validation: Logits
    test: Logits
    train: Logits | None  # not kept in recorded runs
    training_version: int = VERSION  # of the code that made it
    compute: Compute | None = None  # None: recorded before this was


def default_runs() -> Path:
    """Where runs are kept: FOCAL_RUNS, from the current folder, else _build/runs of the checkout.

    Raises:
        FileNotFoundError: neither is there.
    """
    given = os.environ.get("FOCAL_RUNS")
    return (
        Path(given).absolute() if given else require_checkout("a run without --root or FOCAL_RUNS") / "_build" / "runs"
    )


def run_folder(spec: Spec, root: str | Path | None) -> Path:
    return (ROOT / root if root else default_runs()) / spec.digest


def load(spec: Spec, root: str | Path | None = None) -> Result:
    """A finished run, whatever version of the training code made it.

    Raises:
        RunMissing: it has not been made, or not to the end.
        RunDamaged: a file of it is missing or was changed.
        OtherSpecification: the folder holds another run.
    """
    folder = run_folder(spec, root)
    if not (folder / LOGITS).is_file():
        raise RunMissing(f"{_named(spec)} is not there, or not finished. It is made by: {_command(spec, root)}")
    try:
        record = json.loads((folder / SPEC).read_text())
        given, checksum, version = record["spec"], record["checksum"], int(record.get("training_version", 0))
        compute = Compute.of_record(record)
        history_bytes = (folder / HISTORY).read_bytes()
        history = pd.read_parquet(io.BytesIO(history_bytes))
        with np.load(folder / LOGITS, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:  # each reader has its own
        raise RunDamaged(f"{_named(spec)} in {folder} must be whole. Got {type(error).__name__}: {error}.") from None
    if given != spec.as_dict:
        raise OtherSpecification(f"{folder} must hold the specification it is named by. Got {given}.")
    if array_checksum(arrays) != checksum:
        raise RunDamaged(f"{folder / LOGITS} must match its checksum. It does not.")
    if record.get("history_checksum", checksum_of(history_bytes)) != checksum_of(history_bytes):
        raise RunDamaged(f"{folder / HISTORY} must match its checksum. It does not.")
    validation, test = (Logits(arrays[f"{name}_logits"], arrays[f"{name}_labels"]) for name in ("validation", "test"))
    train = Logits(arrays["train_logits"], arrays["train_labels"]) if "train_logits" in arrays else None
    return Result(spec, history, validation, test, train, version, compute)


def load_runs(path: str | Path | None = None, root: str | Path | None = None) -> list[Result]:
    """Every run of a grid, in the grid's order.

    Raises:
        RunMissing: a run that is not there yet; the message has the command that makes them all.
        RunDamaged: one that was changed, or runs of several versions of the training code.
    """
    path = ROOT / (path or default_grid())
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    command = f"focal grid {shlex.quote(str(shown))}{_at(root)}"
    specs, results = read_grid(path), []
    for spec in specs:
        try:
            results.append(load(spec, root))
        except RunMissing:
            missing = sum(not (run_folder(s, root) / LOGITS).is_file() for s in specs)
            message = f"{missing} of {len(specs)} runs are not there, {_named(spec)} first. They are made by: {command}"
            raise RunMissing(message) from None
        except RunDamaged as error:
            raise RunDamaged(f"{error} It is repeated by: {command}") from None
    if len(versions := sorted({result.training_version for result in results})) > 1:
        listed = ", ".join(map(str, versions))
        raise RunDamaged(f"runs must be of one version of the training code. Got {listed}. Mended by: {command}")
    return results


def _named(spec: Spec) -> str:
    return f"run {spec.digest} ({spec.name})"


def _at(root: str | Path | None) -> str:
    return f" --root {shlex.quote(str(root))}" if root else ""


def _command(spec: Spec, root: str | Path | None) -> str:
    return spec.command + _at(root)


def array_checksum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + str(arrays[name].dtype).encode() + str(arrays[name].shape).encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def checksum_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def as_npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def record_runs(specs: Iterable[Spec], destination: Path, root: str | Path | None = None) -> int:
    """Copy finished runs to keep: history, specification, logits of validation and test. Returns their number.

    What is there already is not written again.

    Raises:
        RunMissing, RunDamaged: a run that is not finished, or not whole.
        DiskFull: no room for a copy.
    """
    count = 0
    for spec in specs:
        result = load(spec, root)
        target = destination / spec.digest
        if not (target / LOGITS).is_file():
            target.mkdir(parents=True, exist_ok=True)
            arrays: dict[str, np.ndarray] = {}
            for name in ("validation", "test"):
                part = getattr(result, name)
                arrays |= {f"{name}_logits": part.logits, f"{name}_labels": part.labels}
            source = run_folder(spec, root)
            record = json.loads((source / SPEC).read_text()) | {"checksum": array_checksum(arrays)}
            write(target / HISTORY, (source / HISTORY).read_bytes())
            write(target / SPEC, (json.dumps(record, indent=1) + "\n").encode())
            write(target / LOGITS, as_npz(arrays))
        count += 1
    return count


def log_attempt(folder: Path, event: str, **details: Any) -> None:
    """A line in the run's log.jsonl: who did what when. Lines are appended, so that no attempt is forgotten."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "event": event, "host": platform.node(), "pid": os.getpid()}
    with suppress(OSError), (folder / LOG).open("a") as file:  # a full disk is told by what matters
        file.write(json.dumps(line | details) + "\n")


class Status(NamedTuple):
    """Where a run stands, and a word on it.

    'done', 'outdated', 'newer', 'damaged', 'running', 'failed', 'stopped' or 'waiting'.
    """

    spec: Spec
    state: str
    detail: str


def status(specs: Iterable[Spec], root: str | Path | None = None) -> list[Status]:
    """Where each run stands, from the files in its folder and its lock."""
    return [Status(spec, *_state(run_folder(spec, root))) for spec in specs]


def _state(folder: Path) -> tuple[str, str]:
    checkpoint = folder / CHECKPOINT
    if is_locked(folder):
        return "running", _age(checkpoint)
    if (folder / LOGITS).is_file():
        return _finished_state(folder)
    if (folder / FAILURE).is_file():
        return "failed", _failure(folder / FAILURE)
    return ("stopped", _age(checkpoint)) if folder.is_dir() else ("waiting", "")


def _failure(path: Path) -> str:
    try:
        return str(json.loads(path.read_text())["reason"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"for a reason that {path.name} does not tell"


def _finished_state(folder: Path) -> tuple[str, str]:
    try:
        version = json.loads((folder / SPEC).read_text())["training_version"]
    except (OSError, ValueError, KeyError, TypeError):
        return "damaged", f"no readable {SPEC}"
    if version == VERSION:
        return "done", ""
    return "newer" if version > VERSION else "outdated", f"training code {version}, today's is {VERSION}"


def _age(checkpoint: Path) -> str:
    if not checkpoint.is_file():
        return "no checkpoint yet"
    return f"last checkpoint {time.time() - checkpoint.stat().st_mtime:.0f} s ago"


def describe(result: Result) -> str:
    """'focal 2, seed 0: test accuracy 0.830, adaptive ECE 0.051'."""
    last = result.history[result.history["split"] == "test"].iloc[-1]
    return f"{result.spec.name}: test accuracy {last.accuracy:.3f}, adaptive ECE {last.adaptive_ece:.3f}"

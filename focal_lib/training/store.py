"""Where runs are kept: one folder a run, named by the hash of its specification."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from focal_lib.atomic_write import write_whole

if TYPE_CHECKING:
    pass
from focal_lib.checkout import ROOT
from focal_lib.training.spec import Spec, default_grid, read_grid

__all__ = [
    "FILES",
    "Logits",
    "Result",
    "Status",
    "default_runs",
    "describe",
    "forget_older",
    "load",
    "load_runs",
    "record_runs",
    "status",
]

FILES = ("spec.json", "history.parquet", "logits.npz")


@dataclass(frozen=True)
class Logits:
    """Logits float32 (n, K) and labels int64 (n,) of one split."""

    logits: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Result:
    """A finished run."""

    spec: Spec
    history: pd.DataFrame  # a row an evaluated epoch and split; see training.summary
    validation: Logits
    test: Logits
    train: Logits | None  # not kept in recorded runs


def default_runs() -> Path:
    """Where runs are kept: FOCAL_RUNS, else _build/runs of the project."""
    return Path(os.environ.get("FOCAL_RUNS") or ROOT / "_build" / "runs")


def load_runs(path: str | Path | None = None, root: str | Path | None = None) -> list[Result]:
    """Every run of a grid, in the grid's order.

    Raises:
        FileNotFoundError: a run that is not there yet.
    """
    return [load(spec, root) for spec in read_grid(path or default_grid())]


def array_checksum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + str(arrays[name].dtype).encode() + str(arrays[name].shape).encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def run_folder(spec: Spec, root: str | Path | None) -> Path:
    return (ROOT / root if root else default_runs()) / spec.digest


def load(spec: Spec, root: str | Path | None = None) -> Result:
    """A finished run.

    Raises:
        FileNotFoundError: it has not been run, or not to the end.
        ValueError: the folder holds another specification, or its logits do not match their checksum.
    """
    folder = run_folder(spec, root)
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise FileNotFoundError(f"run {spec.digest} ({spec.label}, seed {spec.seed}) has no {missing[0]}.")
    record = json.loads((folder / "spec.json").read_text())
    if record["spec"] != spec.as_dict:
        raise ValueError(f"{folder.name} must hold the specification it is named by. Got {record['spec']}.")
    try:
        with np.load(folder / "logits.npz", allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:
        raise ValueError(f"{folder.name}/logits.npz must be whole. Got {error}.") from None
    if array_checksum(arrays) != record["checksum"]:
        raise ValueError(f"{folder.name}/logits.npz must match its checksum. It does not.")
    parts = [
        Logits(arrays[f"{n}_logits"], arrays[f"{n}_labels"]) if f"{n}_logits" in arrays else None
        for n in ("validation", "test", "train")
    ]
    return Result(spec, pd.read_parquet(folder / "history.parquet"), *parts)  # type: ignore[arg-type]


def record_runs(specs: Iterable[Spec], destination: Path, root: str | Path | None = None) -> int:
    """Copy finished runs to keep: history, specification, logits of validation and test. Returns their number.

    What is there already is not written again.

    Raises:
        FileNotFoundError: a run that is not finished.
    """
    count = 0
    for spec in specs:
        result = load(spec, root)
        target = destination / spec.digest
        if not (target / "logits.npz").is_file():
            target.mkdir(parents=True, exist_ok=True)
            arrays: dict[str, np.ndarray] = {}
            for name in ("validation", "test"):
                part = getattr(result, name)
                arrays |= {f"{name}_logits": part.logits, f"{name}_labels": part.labels}
            source = json.loads((run_folder(spec, root) / "spec.json").read_text())
            text = json.dumps(source | {"checksum": array_checksum(arrays)}, indent=1) + "\n"
            write_whole(target / "history.parquet", result.history.to_parquet)
            write_whole(target / "spec.json", lambda path, text=text: path.write_text(text))  # type: ignore[misc]
            write_whole(target / "logits.npz", lambda path, arrays=arrays: save_npz(path, arrays))  # type: ignore[misc]
        count += 1
    return count


def forget_older(spec: Spec, than: float, root: str | Path | None = None) -> None:
    """Remove what a run left before that time (seconds since 1970), finished or not: other code made it."""
    folder = run_folder(spec, root)
    for name in ("logits.npz", "checkpoint.pt"):  # logits first: without them a run is not finished
        file = folder / name
        if file.is_file() and file.stat().st_mtime < than:
            file.unlink()


def log_attempt(folder: Path, event: str, **details: Any) -> None:
    """A line in the run's log.jsonl: who did what when. Lines are appended, so that no attempt is forgotten."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "event": event, "host": platform.node(), "pid": os.getpid()}
    with (folder / "log.jsonl").open("a") as file:
        file.write(json.dumps(line | details) + "\n")


class Status(NamedTuple):
    """Where a run stands: 'done', 'failed', 'started' or 'waiting', and a word on it."""

    spec: Spec
    state: str
    detail: str


def status(specs: Iterable[Spec], root: str | Path | None = None) -> list[Status]:
    """Where each run stands, from the files in its folder. 'started' is running, or was interrupted."""
    found = []
    for spec in specs:
        folder = run_folder(spec, root)
        checkpoint = folder / "checkpoint.pt"
        if (folder / "logits.npz").is_file():
            found.append(Status(spec, "done", ""))
        elif (folder / "failed.json").is_file():
            found.append(Status(spec, "failed", json.loads((folder / "failed.json").read_text())["reason"]))
        elif folder.is_dir():
            age = time.time() - checkpoint.stat().st_mtime if checkpoint.is_file() else None
            detail = "no checkpoint yet" if age is None else f"last checkpoint {age:.0f} s ago"
            found.append(Status(spec, "started", detail))
        else:
            found.append(Status(spec, "waiting", ""))
    return found


def save_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    with path.open("wb") as file:  # savez would add a suffix to the name
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def describe(result: Result) -> str:
    """'focal 2, seed 0: test accuracy 0.830, ECE 0.051'."""
    last = result.history[result.history["split"] == "test"].iloc[-1]
    name = f"{result.spec.label}, seed {result.spec.seed}"
    return f"{name}: test accuracy {last.accuracy:.3f}, adaptive ECE {last.adaptive_ece:.3f}"

"""Where runs are kept: one folder a run, named by the hash of its specification."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import shlex
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from reproduction.checkout import ROOT, require_checkout
from reproduction.engine.cost import Compute
from reproduction.engine.grids import read_grid
from reproduction.engine.spec import Spec

# Of the code that trains: a run is current while its record bears this number. Raise it when the numbers of a run
# change, and only then: every finished run is then made anew. test_version.py notices when the code has changed.
VERSION = 1

# what a finished run is, the logits last: their presence ends it
SPEC, HISTORY, WEIGHTS, LOGITS = "spec.json", "history.parquet", "weights.pt", "logits.npz"
CHECKPOINT, PROGRESS, FAILURE, LOG = "checkpoint", "progress.json", "failed.json", "log.jsonl"

_AFTER = "test_logits_"  # an epoch, in the names of arrays

COPY_AGAIN = "It is a copy: move it away, and record the run again."


class RunMissing(FileNotFoundError):
    """A run that has not been made, or not to its end; the message says which command makes it."""


class RunDamaged(ValueError):
    """A finished run with a file that is missing or not as it was written."""


class SeveralVersions(ValueError):
    """Runs that are not to be compared: the training code changed between them."""


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
    test_by_epoch: Mapping[int, Logits] = field(default_factory=dict)  # of the epochs on the way that were kept


def default_runs() -> Path:
    """Where runs are kept: FOCAL_RUNS, from the current folder, else _build/runs of the checkout.

    Raises:
        FileNotFoundError: neither is there.
        NotADirectoryError: FOCAL_RUNS is something else.
    """
    if not (given := os.environ.get("FOCAL_RUNS")):
        return require_checkout("a run without --root or FOCAL_RUNS") / "_build" / "runs"
    if (folder := Path(given).absolute()).exists() and not folder.is_dir():
        raise NotADirectoryError(f"FOCAL_RUNS must be a folder, or nothing yet. Got {given!r}, which is none.")
    return folder


def run_folder(spec: Spec, root: str | Path | None) -> Path:
    return (ROOT / root if root else default_runs()) / spec.digest


def load(spec: Spec, root: str | Path | None = None) -> Result:
    """A finished run, whatever version of the training code made it.

    Raises:
        RunMissing: it has not been made, or not to the end.
        RunDamaged: a file of it is missing or was changed, or the folder holds another run.
    """
    folder = run_folder(spec, root)
    if not (folder / LOGITS).exists():
        raise RunMissing(f"{named(spec)} is not there, or not finished. It is made by: {spec.command}{_at(root)}")
    record = read_record(spec, folder)
    history = checked_bytes(folder, record, HISTORY)
    logits = _read(folder / LOGITS)
    try:  # of bytes in memory: what a disk or a permission refuses has been told by now
        frame = pd.read_parquet(io.BytesIO(history))
        with np.load(io.BytesIO(logits), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        whole = array_checksum(arrays) == record["checksum"]
        validation, test = (_part(arrays, f"{name}_logits", name) for name in ("validation", "test"))
        train = _part(arrays, "train_logits", "train") if "train_logits" in arrays else None
        kept = sorted(name for name in arrays if name.startswith(_AFTER))
        by_epoch = {int(name.removeprefix(_AFTER)): _part(arrays, name, "test") for name in kept}
        compute = Compute.of_record(record)
    except (MemoryError, ImportError):
        raise
    except Exception as error:  # parquet, zip, zlib, npy: each has its own
        raise RunDamaged(f"{named(spec)} in {folder} must be whole. Got {type(error).__name__}: {error}.") from None
    if not whole:
        raise RunDamaged(f"{folder / LOGITS} must match its checksum. It does not.")
    return Result(spec, frame, validation, test, train, version_of(record), compute, by_epoch)


def _part(arrays: Mapping[str, np.ndarray], logits: str, split: str) -> Logits:
    return Logits(arrays[logits].astype(np.float32, copy=False), arrays[f"{split}_labels"])


def logits_after(epoch: int) -> str:
    """The name of the array of test logits after an epoch on the way."""
    return f"{_AFTER}{epoch:04}"


def read_record(spec: Spec, folder: Path) -> dict[str, Any]:
    """What a finished run says of itself.

    Raises:
        RunDamaged: there is none, none that can be read, or one of another run.
    """
    content = _read(folder / SPEC)
    try:
        record: dict[str, Any] = json.loads(content)
        given, _ = record["spec"], record["checksum"]
        version_of(record)
        for described in dict(record.get("files") or {}).values():
            dict(described)
    except (ValueError, KeyError, TypeError) as error:
        raise RunDamaged(
            f"{named(spec)} in {folder} must have a readable {SPEC}. Got {type(error).__name__}: {error}."
        ) from None
    if given != spec.as_dict:
        raise RunDamaged(f"{folder} must hold the specification it is named by. Got that of another run.")
    return record


def version_of(record: Mapping[str, Any]) -> int:
    """Of the training code that made the run."""
    return int(record.get("training_version", 0))


def checked_bytes(folder: Path, record: Mapping[str, Any], name: str) -> bytes:
    """A file of a finished run, as its record describes it.

    Raises:
        RunDamaged: it is missing, or was changed.
    """
    content = _read(folder / name)
    described = (record.get("files") or {}).get(name)  # records of before describe none
    if described is not None and checksum_of(content) != described.get("sha256"):
        raise RunDamaged(f"{folder / name} must match its checksum. It does not.")
    return content


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise RunDamaged(f"{path.parent} must hold {path.name}. It does not.") from None


def describe_files(contents: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    """Size and checksum of each file, for a run's record."""
    return {name: {"bytes": len(content), "sha256": checksum_of(content)} for name, content in contents.items()}


def load_runs(path: str | Path, root: str | Path | None = None, *, part: bool = False) -> list[Result]:
    """Every run of a grid, in the grid's order.

    Args:
        part: those that are there, at least one.

    Raises:
        RunMissing: a run that is not there yet; the message has the command that makes them all.
        RunDamaged: one that was changed.
        SeveralVersions: of the training code.
    """
    path = ROOT / path
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    command = f"focal grid {shlex.quote(str(shown))}{_at(root)}"
    specs, results = read_grid(path), []
    if part:  # of none that are there the first is missed below
        specs = [spec for spec in specs if (run_folder(spec, root) / LOGITS).exists()] or specs
    for spec in specs:
        try:
            results.append(load(spec, root))
        except RunMissing:
            missing = sum(not (run_folder(s, root) / LOGITS).exists() for s in specs)
            message = f"{missing} of {len(specs)} runs are not there, {named(spec)} first. They are made by: {command}"
            raise RunMissing(message) from None
        except RunDamaged as error:
            is_copy = not (run_folder(spec, root) / LOG).is_file()
            raise RunDamaged(f"{error} {COPY_AGAIN if is_copy else f'It is repeated by: {command}'}") from None
    counts = Counter(result.training_version for result in results)
    if len(counts) > 1:
        listed = ", ".join(f"{counts[version]} of version {version}" for version in sorted(counts))
        raise SeveralVersions(f"runs must be of one version of the training code. Got {listed}. Mended by: {command}")
    return results


def named(spec: Spec) -> str:
    """A run in messages: 'run 0123456789abcdef (focal 3, seed 0)'."""
    return f"run {spec.digest} ({spec.name})"


def _at(root: str | Path | None) -> str:
    return f" --root {shlex.quote(str(root))}" if root else ""


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


def log_attempt(folder: Path, event: str, **details: Any) -> None:
    """A line in the run's log.jsonl: who did what when. Lines are appended, so that no attempt is forgotten."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "event": event, "host": platform.node(), "pid": os.getpid()}
    with suppress(OSError), (folder / LOG).open("a") as file:  # a full disk is told by what matters
        file.write(json.dumps(line | details) + "\n")


def describe(result: Result) -> str:
    """'focal 2, seed 0: test accuracy 0.830, adaptive ECE 0.051', of the weights kept."""
    from focal_lib.metrics.bins import adaptive_ece  # slow to import

    logits, labels = result.test.logits.astype(np.float64), result.test.labels
    accuracy, ece = np.mean(logits.argmax(-1) == labels), adaptive_ece(softmax(logits, -1), labels)
    return f"{result.spec.name}: test accuracy {accuracy:.3f}, adaptive ECE {ece:.3f}"

"""Copies of finished runs to keep: what tables and claims need, without weights."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from reproduction.engine.files import write
from reproduction.engine.store import (
    COPY_AGAIN,
    HISTORY,
    LOGITS,
    SPEC,
    Result,
    RunDamaged,
    array_checksum,
    as_npz,
    describe_files,
    load,
    logits_after,
    run_folder,
)


def not_recorded(results: Iterable[Result], destination: Path) -> list[Result]:
    """Those of the runs that have no copy there yet.

    Raises:
        RunDamaged: a copy there is not whole.
        FileExistsError: a copy of another attempt at a run is in the way.
    """
    left = []
    for result in results:
        target = destination / result.spec.digest
        if not (target / LOGITS).exists():
            left.append(result)
            continue
        try:
            kept = load(result.spec, destination)
        except RunDamaged as error:
            raise RunDamaged(f"{error} {COPY_AGAIN}") from None
        if not _is_copy(kept, result):
            raise FileExistsError(f"{target} must be a copy of this run, or nothing yet. Got one of another attempt.")
    return left


def _is_copy(kept: Result, result: Result) -> bool:
    """One in half precision is a copy, too."""
    pairs = ((kept.validation, result.validation), (kept.test, result.test))
    return kept.training_version == result.training_version and all(
        np.array_equal(one.logits.astype(np.float16), other.logits.astype(np.float16)) for one, other in pairs
    )


def copy_runs(
    results: Iterable[Result], destination: Path, root: str | Path | None = None, *, half: bool = False
) -> None:
    """Write history, specification and logits of loaded runs that have no copy there.

    Logits are those of validation and test, and of training where it has no more samples than the test.

    Args:
        half: as float16, in half the size, which metrics and fits are then of.

    Raises:
        DiskFull: no room for a copy.
    """
    for result in results:
        source, target = run_folder(result.spec, root), destination / result.spec.digest
        parts = {"validation": result.validation, "test": result.test}
        if result.train is not None and len(result.train.labels) <= len(result.test.labels):
            parts["train"] = result.train
        logits = {f"{name}_logits": part.logits for name, part in parts.items()}
        logits |= {logits_after(epoch): part.logits for epoch, part in result.test_by_epoch.items()}
        arrays = {name: values.astype(np.float16) for name, values in logits.items()} if half else logits
        arrays |= {f"{name}_labels": part.labels for name, part in parts.items()}
        contents = {HISTORY: (source / HISTORY).read_bytes(), LOGITS: as_npz(arrays)}
        record = json.loads((source / SPEC).read_text())
        record |= {"checksum": array_checksum(arrays), "files": describe_files(contents)}
        target.mkdir(parents=True, exist_ok=True)
        write(target / HISTORY, contents[HISTORY])
        write(target / SPEC, (json.dumps(record, indent=1) + "\n").encode())
        write(target / LOGITS, contents[LOGITS])

"""Copies of finished runs to keep: what tables need, without weights and training logits."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from reproduction.engine.files import write
from reproduction.engine.spec import Spec
from reproduction.engine.store import (
    COPY_AGAIN,
    HISTORY,
    LOGITS,
    SPEC,
    Logits,
    Result,
    RunDamaged,
    array_checksum,
    as_npz,
    describe_files,
    load,
    logits_after,
    require_one_version,
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
        if (target / LOGITS).exists():
            try:
                kept = load(result.spec, destination)
            except RunDamaged as error:
                raise RunDamaged(f"{error} {COPY_AGAIN}") from None
            _require_copy(kept, result, target)
        else:
            left.append(result)
    return left


def record_runs(specs: Iterable[Spec], destination: Path, root: str | Path | None = None) -> int:
    """Copy finished runs to keep: history, specification, logits of validation and test. Returns their number.

    What is there already is not written again.

    Raises:
        RunMissing, RunDamaged: a run that is not finished, or not whole; or the copy there is not.
        SeveralVersions: of the training code.
        FileExistsError: a copy of another attempt at a run is in the way.
        DiskFull: no room for a copy.
    """
    results = [load(spec, root) for spec in specs]
    require_one_version(results)
    copy_runs(not_recorded(results, destination), destination, root)
    return len(results)


def copy_runs(results: Iterable[Result], destination: Path, root: str | Path | None = None) -> None:
    """Write copies of loaded runs that have none there; errors as `record_runs`."""
    for result in results:
        _write_copy(result, run_folder(result.spec, root), destination / result.spec.digest)


def _require_copy(kept: Result, result: Result, target: Path) -> None:
    """A copy in half precision, as some on record are, is one, too."""
    same = kept.training_version == result.training_version
    for name in ("validation", "test"):
        one, two = (getattr(which, name).logits.astype(np.float16) for which in (kept, result))
        same = same and np.array_equal(one, two)
    if not same:
        raise FileExistsError(f"{target} must be a copy of this run, or nothing yet. Got one of another attempt.")


def _write_copy(result: Result, source: Path, target: Path) -> None:
    arrays: dict[str, np.ndarray] = {}
    for name in ("validation", "test"):
        part: Logits = getattr(result, name)
        arrays |= {f"{name}_logits": part.logits, f"{name}_labels": part.labels}
    arrays |= {logits_after(epoch): part.logits for epoch, part in result.test_by_epoch.items()}
    contents = {HISTORY: (source / HISTORY).read_bytes(), LOGITS: as_npz(arrays)}
    record = json.loads((source / SPEC).read_text())
    record |= {"checksum": array_checksum(arrays), "files": describe_files(contents)}
    target.mkdir(parents=True, exist_ok=True)
    write(target / HISTORY, contents[HISTORY])
    write(target / SPEC, (json.dumps(record, indent=1) + "\n").encode())
    write(target / LOGITS, contents[LOGITS])

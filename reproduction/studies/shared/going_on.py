"""Records of simulations and trainings that go on where they stopped: one recorder for all studies."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from focal_lib.atomic_write import write_whole
from reproduction.checkout import commit
from workflow.dependencies import digest

_SAVED_EVERY = 30.0  # seconds


def made_by(module: str) -> dict[str, str]:
    """Columns that say which code made a row: a commit for readers, and a digest of what its numbers depend on."""
    return {"commit": commit(written="results"), "code": digest(Path(module))}


def rows_so_far(record: Path, code: str) -> list[dict[Any, Any]]:
    """Rows of a record that this code made; none where there is no record.

    Raises:
        SystemExit: another code made some of them.
    """
    if not record.exists():
        return []
    found = pd.read_parquet(record)
    others = found["code"].ne(code).sum() if "code" in found else len(found)
    if others:
        raise SystemExit(
            f"{record.name} must hold rows of one code, {code} today. Got {others:,} of {len(found):,} of another: "
            "move it aside to begin anew."
        )
    return found.to_dict("records")


def go_on(
    out: Path,
    module: str,
    keys: Sequence[str],
    todo: Iterable[tuple[tuple[Any, ...], Callable[[], pd.DataFrame | list[dict[str, Any]]]]],
    minutes: float = math.inf,
) -> None:
    """Rows of the settings that a record has not, until all are there or the processor time is used up.

    Args:
        out: the record, written whole every half minute and at the end.
        module: file of the recorder, whose code the rows name.
        keys: columns that tell settings apart.
        todo: each setting, its values in these columns, and what gives its rows. These get the values, and the seconds
            of processor time that they took, as columns.
        minutes: of processor time.

    Raises:
        SystemExit: another code made some of the rows that there are.
    """
    code = made_by(module)
    rows = rows_so_far(out, code["code"])
    done = {tuple(row[key] for key in keys) for row in rows}
    end, saved = time.process_time() + 60 * minutes, time.monotonic()
    out.parent.mkdir(parents=True, exist_ok=True)

    def save() -> None:
        write_whole(out, lambda part: pd.DataFrame(rows).to_parquet(part, index=False))

    for setting, judge in todo:
        if time.process_time() > end:
            break
        if setting not in done:
            started, found = time.process_time(), judge()
            new = found.to_dict("records") if isinstance(found, pd.DataFrame) else found
            own = dict(zip(keys, setting, strict=True)) | {"cpu_seconds": time.process_time() - started} | code
            rows += [row | own for row in new]
        if time.monotonic() - saved > _SAVED_EVERY:
            save()
            saved = time.monotonic()
    save()


def read_options(description: str | None, *, minutes: float, **counts: int) -> dict[str, Any]:
    """Of a recorder's command line: minutes of processor time, and whole numbers by their names."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=minutes, help="of processor time; default: %(default)s")
    for name, default in counts.items():
        parser.add_argument(f"--{name}", type=int, default=default, help="default: %(default)s")
    return vars(parser.parse_args())

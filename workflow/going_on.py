"""Records of simulations that go on where they stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from focal_lib.checkout import commit
from workflow.dependencies import digest

__all__ = ["made_by", "rows_so_far"]


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

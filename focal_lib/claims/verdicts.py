"""The verdicts on record, and their comparison with those of today.

python -m focal_lib.claims.record      record them anew, then read the difference
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import torch
from threadpoolctl import threadpool_limits

from focal_lib.claims.evidence import Verdict
from focal_lib.claims.ledger import find, ledger

__all__ = ["FILE", "Check", "check_all", "recorded", "write"]

FILE = Path(__file__).with_name("verdicts.json")


class Check(NamedTuple):
    """One claim checked now."""

    id: str
    verdict: str
    seconds: float
    recorded: str | None

    @property
    def changed(self) -> bool:
        """Whether the verdict differs from the record. Without the training runs it cannot be compared."""
        without_runs = self.verdict == Verdict.UNCHECKABLE and find(self.id).needs == "runs"
        return self.verdict != self.recorded and not without_runs


def recorded() -> dict[str, str]:
    """Claim id -> verdict on record."""
    return dict(json.loads(FILE.read_text()))


def _one_thread() -> None:
    """The processes share the cores: threads inside them would only wait for each other."""
    threadpool_limits(1)
    torch.set_num_threads(1)


def _check(ids: list[str]) -> list[tuple[str, str, float]]:
    return [(id, str(find(id).verdict), find(id).seconds) for id in ids]


def check_all(ids: list[str] | None = None, processes: int | None = None) -> Iterator[Check]:
    """Check claims in parallel, as they finish. Claims of one module share a process: they share work.

    Raises:
        ValueError: an unknown id.
    """
    claims = ledger() if ids is None else [find(id) for id in ids]
    groups = defaultdict(list)
    for claim in claims:
        groups[claim.check.__module__ if claim.needs is None else "runs"].append(claim.id)
    on_record = recorded()
    # spawn: PyTorch's threads do not survive a fork
    with ProcessPoolExecutor(
        processes or os.cpu_count(), mp_context=get_context("spawn"), initializer=_one_thread
    ) as pool:
        longest_first = sorted(groups, key=lambda name: (name != "runs", -len(groups[name])))
        for done in as_completed([pool.submit(_check, groups[name]) for name in longest_first]):
            for id, verdict, seconds in done.result():
                yield Check(id, verdict, seconds, on_record.get(id))


def write() -> None:
    """Record the verdicts as they are now, in the order of the ledger."""
    now = {check.id: check.verdict for check in check_all()}
    ordered = {claim.id: now[claim.id] for claim in ledger()}
    temporary = FILE.with_suffix(".part")
    temporary.write_text(json.dumps(ordered, indent=1) + "\n")
    temporary.replace(FILE)


if __name__ == "__main__":
    write()

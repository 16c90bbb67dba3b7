"""The verdicts on record, and their comparison with those of today.

focal claims --verify      compute every verdict anew and compare
focal claims --record      record them, here and in the README; then read the difference
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import torch
from threadpoolctl import threadpool_limits

from focal_lib.atomic_write import write_whole
from focal_lib.checkout import require_checkout
from focal_lib.claims import readme
from focal_lib.claims.evidence import Verdict
from focal_lib.claims.ledger import find, ledger

__all__ = ["FILE", "Check", "check_all", "record", "recorded", "recorded_instead"]

FILE = Path(__file__).with_name("verdicts.json")


class Check(NamedTuple):
    """One claim checked now, beside its record."""

    id: str
    verdict: str
    instead: str  # for the README, see Claim.instead
    recorded: str | None
    recorded_instead: str

    @property
    def missing(self) -> bool:
        """Whether the runs that the claim is about are not there, so that it can be neither compared nor recorded."""
        return self.verdict == Verdict.UNCHECKABLE and find(self.id).needs is not None

    @property
    def changed(self) -> bool:
        """Whether verdict or correction differ from the record."""
        now, before = (self.verdict, self.instead), (self.recorded, self.recorded_instead)
        return now != before and not self.missing


def recorded() -> dict[str, str]:
    """Claim id -> verdict on record."""
    return dict(json.loads(FILE.read_text())["verdicts"])


def recorded_instead() -> dict[str, str]:
    """Claim id -> what holds instead, for the claims of the README that say so."""
    return dict(json.loads(FILE.read_text())["instead"])


def _one_thread() -> None:
    """The processes share the cores: threads inside them would only wait for each other."""
    threadpool_limits(1)
    torch.set_num_threads(1)


def _check(ids: list[str]) -> list[tuple[str, str, str]]:
    return [(id, str(find(id).verdict), find(id).instead) for id in ids]


def check_all(ids: list[str] | None = None, processes: int | None = None) -> Iterator[Check]:
    """Check claims in parallel, as they finish. Claims of one module share a process: they share work.

    Raises:
        ValueError: an unknown id.
    """
    claims = ledger() if ids is None else [find(id) for id in ids]
    groups = defaultdict(list)
    for claim in claims:
        groups[claim.needs or claim.check.__module__].append(claim.id)
    on_record, instead = recorded(), recorded_instead()
    # spawn: PyTorch's threads do not survive a fork
    with ProcessPoolExecutor(
        processes or os.cpu_count(), mp_context=get_context("spawn"), initializer=_one_thread
    ) as pool:
        longest_first = sorted(groups, key=lambda name: (name != "runs", -len(groups[name])))
        for done in as_completed([pool.submit(_check, groups[name]) for name in longest_first]):
            for id, verdict, correction in done.result():
                yield Check(id, verdict, correction, on_record.get(id), instead.get(id, ""))


def record(checks: Iterable[Check]) -> None:
    """Write checks of the whole ledger, in its order, to verdicts.json and to the README's table.

    Raises:
        FileNotFoundError: no checkout to write to, or no runs for a claim about runs.
        ValueError: claims of the ledger are left out.
    """
    root = require_checkout("recording verdicts")
    found = {check.id: check for check in checks}
    order = [claim.id for claim in ledger()]
    if left_out := [id for id in order if id not in found]:
        raise ValueError(f"every claim must be checked to be recorded. Got none of {', '.join(left_out)}.")
    if missing := [id for id in order if found[id].missing]:
        raise FileNotFoundError(
            f"claims about runs need the runs, which `make book` makes. Got none for {', '.join(missing)}."
        )
    now = {
        "verdicts": {id: found[id].verdict for id in order},
        "instead": {id: found[id].instead for id in order if found[id].instead},
    }
    write_whole(FILE, lambda path: path.write_text(json.dumps(now, indent=1) + "\n"))
    page = root / "README.md"
    text = readme.with_table(page.read_text(), readme.table(now["verdicts"], now["instead"]))
    write_whole(page, lambda path: path.write_text(text))

"""The verdicts on record, and their comparison with those of today.

focal claims --verify      compute every verdict anew and compare
focal claims --record      record them, here and in the README; then read the difference
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import torch
from threadpoolctl import threadpool_limits

from focal_lib.atomic_write import write_whole
from reproduction.checkout import require_checkout
from reproduction.ledger.evidence import outline, wording
from reproduction.ledger.formal import stale, statements
from reproduction.ledger.judgement import HOLDS, Verdict
from reproduction.ledger.ledger import find, ledger

FILE = Path(__file__).with_name("verdicts.json")


class Record(NamedTuple):
    """What is on record of a claim."""

    verdict: str  # of its evidence, without Coq's kernel
    instead: str = ""  # what holds instead, for the README, see Claim.instead
    formal: bool = False  # whether the kernel has checked it
    evidence: str = ""  # what it consists of, see `outline`
    words: str = ""  # of its steps and remarks, a line each, see `wording`

    @property
    def in_full(self) -> str:
        """The verdict, FORMALLY PROVED where the claim holds and the kernel has checked it."""
        return str(Verdict.FORMALLY_PROVED) if self.formal and self.verdict in HOLDS else self.verdict

    @property
    def label(self) -> str:
        """As 'REFUTED (FORMALLY PROVED)', the verdict and whether the kernel settled it."""
        settled = f" ({Verdict.FORMALLY_PROVED})" if self.formal and self.verdict not in HOLDS else ""
        return f"{self.in_full}{settled}"

    def describe(self) -> str:
        """'FORMALLY PROVED (PROVED without Coq), up to 0.0012': all three in words."""
        without = f" ({self.verdict} without Coq)" if self.in_full != self.verdict else ""
        kernel = ", checked by Coq" if self.formal and not without else ""
        return f"{self.in_full}{without}{kernel}{f', {self.instead}' if self.instead else ''}"


class Check(NamedTuple):
    """One claim checked now, beside its record."""

    id: str
    now: Record
    before: Record | None
    missing: bool = False  # the runs that it is about are not there: it can be neither compared nor recorded
    proofs: bool = True  # what Coq's kernel says is known here, not in an installed package: there it is not compared

    @property
    def changed(self) -> bool:
        """Whether anything differs from the record."""
        if self.missing:
            return False
        if self.before is None or self.proofs:
            return self.now != self.before
        return self.now._replace(formal=self.before.formal) != self.before


def records() -> dict[str, Record]:
    """Claim id -> what is on record of it."""
    found = json.loads(FILE.read_text())
    return {
        id: Record(
            verdict,
            found["instead"].get(id, ""),
            id in found["formal"],
            found["evidence"].get(id, ""),
            found["words"].get(id, ""),
        )
        for id, verdict in found["verdicts"].items()
    }


def recorded() -> dict[str, str]:
    """Claim id -> verdict on record."""
    return {id: found.in_full for id, found in records().items()}


def expect_verdict(verdict: str, *ids: str, on_record: Mapping[str, str] | None = None) -> None:
    """Stop where a text was written for this verdict of these claims, and another is on record.

    Raises:
        ValueError: one of them has another verdict, or none.
    """
    found = recorded() if on_record is None else on_record
    for id in ids:
        if found.get(id) != verdict:
            raise ValueError(f"the text is written for {id}: {verdict}. Got {found.get(id)}: rewrite it.")


def _one_thread() -> None:
    """The processes share the cores: threads inside them would only wait for each other."""
    threadpool_limits(1)
    torch.set_num_threads(1)


def _check(ids: list[str]) -> list[Check]:
    """The claims checked in this process, beside no record yet."""
    found = []
    for claim in map(find, ids):
        said = outline(claim.evidence), "\n".join(wording(claim.evidence))
        now = Record(str(claim.without_kernel), claim.instead, claim.formally_proved, *said)
        missing = getattr(claim.evidence, "lacks_runs", False)
        found.append(Check(claim.id, now, None, missing))
    return found


def check_all(ids: list[str] | None = None, processes: int | None = None) -> Iterator[Check]:
    """Check claims in parallel, as they finish. Claims of one module share a process: they share work.

    Raises:
        ValueError: an unknown id.
    """
    claims = ledger() if ids is None else [find(id) for id in ids]
    groups = defaultdict(list)
    for claim in claims:
        groups[claim.needs or claim.check.__module__].append(claim.id)
    on_record, proofs = records(), bool(statements())
    longest_first = sorted(groups, key=lambda name: (not name.startswith("results/"), -len(groups[name])))
    for checks in _checked([groups[name] for name in longest_first], processes or os.cpu_count() or 1):
        for check in checks:
            yield check._replace(before=on_record.get(check.id), proofs=proofs)


def _checked(groups: list[list[str]], processes: int) -> Iterator[list[Check]]:
    """Each group in a process, as they finish; a single one here, for a process takes seconds to start."""
    if len(groups) == 1:
        yield _check(groups[0])
        return
    # spawn: PyTorch's threads do not survive a fork
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        for done in as_completed([pool.submit(_check, ids) for ids in groups]):
            yield done.result()


def record(checks: Iterable[Check], rewrite: Callable[[str, dict[str, str], dict[str, str]], str]) -> None:
    """Write checks to verdicts.json and to the README's table; claims that were not checked stay as on record.

    Args:
        rewrite: of the README's text, verdicts and what holds instead, the new text: `tally.rewrite_readme`, which
            pages with chips should not depend on.

    Raises:
        FileNotFoundError: no checkout to write to, or no runs for a claim about runs.
        ValueError: claims of the ledger are neither checked nor on record, a check failed, or the formal proofs on
            record are not those of the sources.
    """
    root = require_checkout("recording verdicts")
    found, before = {check.id: check for check in checks}, records()
    order = [claim.id for claim in ledger()]
    if left_out := [id for id in order if id not in found and id not in before]:
        raise ValueError(
            f"every claim must be checked, or on record, to record some. Got none of {', '.join(left_out)}."
        )
    if missing := [id for id in order if id in found and found[id].missing]:
        raise FileNotFoundError(
            f"claims about runs need the runs, recorded in results/ of the project. Got none for {', '.join(missing)}."
        )
    if stale() and any(find(id).formal is not None for id in found):
        raise ValueError(
            "proofs/ must be as proofs/theorems.json has it, for a claim with a formal proof to be recorded. "
            "Got another version: python3 workflow/proofs.py --record, which needs Coq."
        )
    now = {id: found[id].now if id in found else before[id] for id in order}
    content: dict[str, Any] = {
        "verdicts": {id: claim.verdict for id, claim in now.items()},
        "formal": [id for id, claim in now.items() if claim.formal],
        "instead": {id: claim.instead for id, claim in now.items() if claim.instead},
        "evidence": {id: claim.evidence for id, claim in now.items()},
        "words": {id: claim.words for id, claim in now.items()},
    }
    page = root / "README.md"
    text = rewrite(page.read_text(), {id: claim.in_full for id, claim in now.items()}, content["instead"])
    write_whole(FILE, lambda path: path.write_text(json.dumps(content, indent=1) + "\n"))
    write_whole(page, lambda path: path.write_text(text))

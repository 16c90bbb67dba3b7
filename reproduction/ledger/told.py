"""What the check of a claim found, as text: pages of one build tell each other, and none repeats a check it is told of.

They do where FOCAL_CHECKED names a folder, which a build empties at its start: nothing in it is older than the build.
What was found of runs that are not all there yet is told to nobody who has more of them.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from focal_lib.atomic_write import write_whole
from reproduction.ledger.evidence import Conditional, Evidence
from reproduction.ledger.judgement import Verdict


@dataclass(frozen=True)
class Told:
    """The evidence of another page's check, without what it was concluded from."""

    verdict: Verdict
    weaker: Verdict | None  # of a `Conditional`
    description: str
    conclusion: str
    change: str
    seconds: float  # that the check took

    def describe(self) -> str:
        return self.description

    def conclude(self) -> str:
        return self.conclusion

    def would_change(self) -> str:
        return self.change


def place_of(id: str) -> Path | None:
    """Where what was found of a claim is told, as long as the runs are those of now; None outside a build."""
    folder = os.environ.get("FOCAL_CHECKED")
    return Path(folder, _name_runs(), f"{id}.json") if folder else None


def _name_runs() -> str:
    """A name for the finished runs there are, by place, time and size of their logits."""
    runs, found = Path(os.environ.get("FOCAL_RUNS", "")), []
    for path in sorted(runs.glob("*/logits.npz")):
        with suppress(OSError):  # it has just been moved aside
            found.append((path.as_posix(), path.stat().st_mtime_ns, path.stat().st_size))
    return hashlib.sha256(repr(found).encode()).hexdigest()[:16]


def look_up(place: Path | None) -> Told | None:
    """What another page of this build has told there."""
    if place is None:
        return None
    try:
        told = json.loads(place.read_text())
        weaker = told.pop("weaker")
        return Told(verdict=Verdict(told.pop("verdict")), weaker=weaker and Verdict(weaker), **told)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # none, or half of one
        return None


def tell(place: Path | None, evidence: Evidence, verdict: Verdict, seconds: float) -> None:
    """Tell the other pages of this build, where it can be written; else they check themselves."""
    if place is None:
        return
    weaker = evidence.weaker if isinstance(evidence, Conditional) else None
    told = Told(verdict, weaker, evidence.describe(), evidence.conclude(), evidence.would_change(), seconds)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, lambda part: part.write_text(json.dumps(asdict(told))))

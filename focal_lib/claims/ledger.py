"""Registry of claims: a decorated function that returns its evidence is a claim."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from focal_lib.claims.evidence import Evidence, Verdict

__all__ = ["Claim", "Shown", "claim", "find", "ledger", "show"]

_REGISTRY: dict[str, Claim] = {}
PAPERS = {"kk24": "KK24", "m20": "M20", "kn24": "KN24", "l25": "L25"}  # in the order of the book


@dataclass(frozen=True)
class Claim:
    """One statement of one paper. `evidence` and `verdict` are computed on first use."""

    id: str  # 'kk24.prop1'
    source: str  # 'KK24 Prop. 1, App. A.1'
    statement: str  # MyST markdown with LaTeX
    chapter: str  # notebook that derives it: '02_convexity'
    check: Callable[[], Evidence]
    corrects: tuple[str, ...] = ()  # ids of the claims this one puts right
    needs: str | None = None  # 'runs': the evidence is read from the default training runs

    @cached_property
    def _checked(self) -> tuple[Evidence, Verdict, float]:
        started = time.perf_counter()
        evidence = self.check()
        return evidence, evidence.verdict, time.perf_counter() - started

    @property
    def evidence(self) -> Evidence:
        return self._checked[0]

    @property
    def verdict(self) -> Verdict:
        return self._checked[1]

    @property
    def seconds(self) -> float:
        """What the check cost on this machine."""
        return self._checked[2]

    @property
    def paper(self) -> str:
        """'kk24', the part of the id before the dot."""
        return self.id.split(".")[0]

    @property
    def location(self) -> str:
        """Where the check is: 'focal_lib/claims/kk24/prop1.py:12'."""
        check = inspect.unwrap(self.check)
        path = Path(inspect.getfile(check)).resolve()
        root = Path(__file__).resolve().parents[2]
        return f"{path.relative_to(root).as_posix()}:{inspect.getsourcelines(check)[1]}"

    def _repr_markdown_(self) -> str:
        corrected = f" Corrects {', '.join(f'`{id}`' for id in self.corrects)}." if self.corrects else ""
        return (
            f"**{self.verdict}** — `{self.id}` ({self.source}).{corrected}\n\n"
            f"{self.statement}\n\n{self.evidence.describe()}"
        )


def claim(
    id: str,
    *,
    source: str,
    statement: str,
    chapter: str,
    corrects: str | tuple[str, ...] = (),
    needs: str | None = None,
) -> Callable[[Callable[[], Evidence]], Callable[[], Evidence]]:
    """Register the decorated function as the check of a claim.

    Raises:
        ValueError: the id is taken.
    """

    def register(check: Callable[[], Evidence]) -> Callable[[], Evidence]:
        if id in _REGISTRY and inspect.getfile(_REGISTRY[id].check) != inspect.getfile(check):
            raise ValueError(f"claim id must be unique. Got {id!r} a second time.")
        put_right = (corrects,) if isinstance(corrects, str) else corrects
        _REGISTRY[id] = Claim(id, source, statement, chapter, check, put_right, needs)
        return check

    return register


def ledger(paper: str | None = None) -> list[Claim]:
    """Every claim, or those of one paper, in the order of the book. Nothing is checked yet.

    Raises:
        ValueError: an unknown paper; the message lists the known ones.
    """
    for name in PAPERS:
        package = importlib.import_module(f"focal_lib.claims.{name}")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"paper must be one of {', '.join(PAPERS)}. Got {paper!r}.")
    claims = [c for c in _REGISTRY.values() if paper is None or c.id.startswith(paper + ".")]
    return sorted(claims, key=_order)


def _order(claim: Claim) -> tuple[Any, ...]:
    module = claim.check.__module__.rsplit(".", 1)[1]
    numbered = module.startswith(("prop", "thm", "lemma"))  # propositions before what surrounds them
    line = inspect.getsourcelines(claim.check)[1]
    return list(PAPERS).index(claim.paper), claim.chapter, not numbered, module, line


def find(id: str) -> Claim:
    """The claim of that id.

    Raises:
        ValueError: no such claim; the message names the nearest ones.
    """
    known = {c.id: c for c in ledger()}
    if id not in known:
        near = difflib.get_close_matches(id, known, n=3, cutoff=0.3)
        raise ValueError(f"claim id must be a known one, such as {', '.join(near) or 'kk24.prop1'}. Got {id!r}.")
    return known[id]


@dataclass(frozen=True)
class Shown:
    """Claims for display in a notebook."""

    claims: tuple[Claim, ...]

    def _repr_markdown_(self) -> str:
        return "\n\n".join(claim._repr_markdown_() for claim in self.claims)


def show(*ids: str) -> Shown:
    """The claims, checked, for display in a notebook: the verdicts at a chapter's end.

    Raises:
        ValueError: an unknown id.
    """
    found = Shown(tuple(find(id) for id in ids))
    for claim in found.claims:
        _ = claim.verdict
    return found

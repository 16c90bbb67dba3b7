"""Registry of claims: a decorated function that returns its evidence is a claim, and so is a row of `Rows`."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import pkgutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from focal_lib.threads import one_thread
from reproduction.checkout import ROOT
from reproduction.ledger.evidence import Conditional, Evidence, Unchecked
from reproduction.ledger.formal import Faithful, Formal, coq_version
from reproduction.ledger.judgement import HOLDS, Verdict

Regime = Callable[[Evidence], Evidence]
_REGISTRY: dict[str, Claim] = {}
PRINTED = "reproduction/studies/printed_tables"  # what the papers' tables print, as data
PAPERS = {"kk24": "KK24", "m20": "M20", "kn24": "KN24", "l25": "L25"}  # in the order of the book
RETIRED = {  # ids that are never used again: id -> the claims that say now what can fairly be said
    "kk24.class_weights_search": "kk24.class_weights",
    "kk24.fig5_top_rises": "kk24.prop5_three_classes",
    "kk24.many_printed": "kk24.prop3_not_for_three",
    "kk24.prop2_below_minus_one": "kk24.prop2_below",
    "kk24.prop3_proof_comparison": "kk24.prop3_proof_bound, kk24.prop3_proof_gap",
    "kk24.prop3_proof_derivative": "kk24.prop3_proof_bound, kk24.prop3_proof_gap",
    "kk24.prop4_same_reasoning": "kk24.prop4_bijection, kk24.prop4_negative",
    "kk24.prop5_dominates_corrected": "kk24.prop5_dominates",
    "kk24.table1_nll": "kk24.nll_kept, kk24.choose_by_nll",
    "kn24.curvature_logit": "kn24.theorem1, kn24.curvature_logit_larger",
    "kn24.curvature_probability": "kn24.theorem1, kn24.curvature_probability_high",
    "kn24.logit_convex": "kn24.logit_convex_corrected",
    "l25.a6_root": "l25.a6_mapping, l25.a6_root_corrected",
    "l25.fcl_consistently_lower": "l25.fcl_overall_lower, l25.fcl_mostly_lower",
    "l25.focal_overconfident": "l25.overconfident_often, l25.focal_overconfident_where",
    "l25.table9_consistently": "l25.table9_average, l25.table9_rows",
    "l25.tables": "l25.fcl_overall_lower, l25.fcl_among_lowest, l25.state_of_the_art",
    "l25.thm42": "l25.order_preserving",
    "m20.cifar10_after": "m20.cifar10_after_sample_dependent, m20.cifar10_after_fixed",
    "m20.entropy_always": "m20.entropy_binary, m20.entropy_many_classes",
    "m20.flsd_outperforms_all": "m20.flsd_broadly_lowest, m20.flsd_outperforms_most",
    "m20.policy_accelerate": "m20.policy_accelerate_corrected",
    "m20.prop2": "m20.prop2_inequality, m20.prop2_equality",
    "m20.tables": "m20.flsd_broadly_lowest, m20.almost_all_cases",
}


class Fidelity(StrEnum):
    """How near the statement of a claim is to a paper's."""

    QUOTED = "quoted"  # in the paper's words or formula, with its conditions
    PARAPHRASED = "paraphrased"  # the paper's claim in other words, nothing added, nothing left out
    READING = (
        "our reading"  # the paper leaves open what it means, or measures, exactly: the statement says how it is taken
    )
    OURS = "ours"  # in none of the four papers: a correction, a sharper statement, an answer to a question left open


_PROVED_WITHOUT_COQ = (Verdict.PROVED, Verdict.CERTIFIED)
NOT_TRIED = "not on the list of what was to be formalised, and not tried"
_SETTLED = (*HOLDS, Verdict.CONDITIONAL, Verdict.REFUTED, Verdict.NOT_REPRODUCED)
_OF_OURS = {Verdict.REPRODUCED: Verdict.CONFIRMED, Verdict.NOT_REPRODUCED: Verdict.NOT_CONFIRMED}


@dataclass(frozen=True)
class Claim:
    """One statement of one paper, or of ours about it. `evidence` and `verdict` are computed on first use."""

    id: str  # 'kk24.prop1'
    short: str  # what it says, in four to fourteen plain words: its line in a chapter, in the README, on its card
    source: str  # 'KK24 Prop. 1, App. A.1'
    statement: str  # MyST markdown with LaTeX
    chapter: str  # notebook that derives it: 'convexity', or 'open_questions'
    check: Callable[[], Evidence]
    corrects: tuple[str, ...] = ()  # ids of the claims this one puts right
    fidelity: Fidelity = Fidelity.OURS
    needs: str | None = None  # what the evidence is read from: 'results/<folder>', or PRINTED
    in_readme: bool = False  # whether it is one of the best-known claims, which have a row in the README
    formal: Formal | None = None  # the theorems in Coq that say it, or deny it where it is refuted
    _instead: str | Callable[[Any], str] = ""
    not_formalised: str = NOT_TRIED  # why, of a claim that sympy or ball arithmetic proves
    _number: Callable[[], str] | None = None
    regime: Regime | None = None  # what must hold of the networks before they say anything of it

    @cached_property
    def _checked(self) -> tuple[Evidence, Verdict, float]:
        started = time.perf_counter()
        with one_thread():  # as on the pages of the book, whose builds share the cores
            evidence = self.check()
        return evidence, evidence.verdict, time.perf_counter() - started

    @property
    def evidence(self) -> Evidence:
        return self._checked[0]

    @property
    def without_kernel(self) -> Verdict:
        """That of the evidence; a statement of ours is confirmed where a paper's would be reproduced."""
        found = self._checked[1]
        return found if self.of_paper else _OF_OURS.get(found, found)

    @property
    def formally_proved(self) -> bool:
        """Whether the evidence reaches a verdict that Coq's kernel has checked, too."""
        return self.formal is not None and self.formal.proves and self.without_kernel in _SETTLED

    @property
    def verdict(self) -> Verdict:
        """FORMALLY PROVED where the claim holds and the kernel has checked it; else `without_kernel`."""
        holds = self.without_kernel in HOLDS
        return Verdict.FORMALLY_PROVED if holds and self.formally_proved else self.without_kernel

    @property
    def of_paper(self) -> bool:
        """Whether a paper says it, in these words or others."""
        return self.fidelity != Fidelity.OURS

    @property
    def verdict_in_full(self) -> str:
        """The verdict, where it is settled with what it rests on, as 'CONDITIONAL (NUMERIC)'."""
        found = self.evidence
        if self.formally_proved and self.verdict != Verdict.FORMALLY_PROVED:
            return f"{self.verdict} ({Verdict.FORMALLY_PROVED})"
        weaker = found.weaker if isinstance(found, Conditional) else None
        return f"{self.verdict} ({weaker})" if weaker else str(self.verdict)

    @property
    def seconds(self) -> float:
        """What the check cost on this machine."""
        return self._checked[2]

    @property
    def instead(self) -> str:
        """What holds instead, in a few words; its numbers come from the evidence.

        '' where the evidence, or other runs that the words name, are not there.
        """
        if isinstance(self._instead, str):
            return self._instead
        try:
            return "" if self.verdict == Verdict.UNCHECKABLE else self._instead(self.evidence)
        except FileNotFoundError:
            return ""

    @property
    def paper(self) -> str:
        """'kk24', the part of the id before the dot."""
        return self.id.split(".")[0]

    @property
    def place(self) -> str:
        """The page, as 'Open questions' of 'open_questions'."""
        return self.chapter.replace("_", " ").capitalize()

    @property
    def location(self) -> str:
        """Where the check is, as 'reproduction/theorems/kk24/prop1.py:12'."""
        check = inspect.unwrap(self.check)
        path = Path(inspect.getfile(check)).resolve()
        return f"{path.relative_to(ROOT).as_posix()}:{self.line}"

    @property
    def function(self) -> str:
        """The name of the check in its module; '' of a row."""
        return "" if self.check.__name__ == "<lambda>" else self.check.__name__

    @property
    def line(self) -> int:
        """The first line of the check in its file, a decorator's."""
        check: Any = inspect.unwrap(self.check)
        return int(check.__code__.co_firstlineno)  # without reading the file: every ledger is sorted by it

    @property
    def number(self) -> str:
        """The number that matters most, in a few words; '' for none."""
        return self._number() if self._number else self.evidence.number()

    def conclude(self) -> str:
        """What the verdict means for this claim, in one line."""
        said = self.evidence.conclude()
        if self.formally_proved and self.formal is not None:
            how = " of an equivalent statement" if self.formal.faithful == Faithful.EQUIVALENT else ""
            checked = f"is checked with Coq {coq_version()} ({self.formal.names})"
            if self.verdict == Verdict.FORMALLY_PROVED:
                said = f"it holds: a proof{how} {checked}"
            elif self.verdict == Verdict.REFUTED:
                said = f"it is false: a proof of the contrary{how} {checked}"
            else:
                said += f": a proof{how} {checked}"
        put_right = corrected_by(self.id)
        return said + (f". Put right by {', '.join(f'`{id}`' for id in put_right)}" if put_right else "")

    def would_change(self) -> str:
        """What would make the verdict change, in one line."""
        without = self.evidence.would_change()
        if not self.formally_proved or self.formal is None:
            return without
        said = "does not say just this" if self.formal.faithful == Faithful.EXACT else "is not equivalent to this"
        return f"a formal statement that {said}, or an error of the kernel; without Coq, {without}"

    def summary(self) -> str:
        """Two lines of Markdown: the verdict in words, and what would change it."""
        return (
            f"**{self.verdict_in_full}**: {self.conclude()}.\\\n*What would change the verdict*: {self.would_change()}."
        )

    def proof(self) -> str:
        """Markdown: the evidence, and the formal proofs or why there are none."""
        return "\n\n".join(filter(None, (self.evidence.describe(), self.coq())))

    def coq(self) -> str:
        """Markdown: formal proofs the verdict does not rest on, or why there are none of a claim that is proved."""
        if why := self.why_not_formalised(self.without_kernel):
            return f"Not formalised in Coq: {why}."
        return self.formal.describe() if self.formal and not self.formally_proved else ""

    def why_not_formalised(self, verdict: str | None) -> str | None:
        """The reason, of a claim with this verdict without Coq that sympy or ball arithmetic proves, not Coq."""
        return self.not_formalised if self.formal is None and verdict in _PROVED_WITHOUT_COQ else None

    def describe(self) -> str:
        """Markdown: what it says, where, what holds of it, and the proof."""
        corrected = f" Corrects {', '.join(f'`{id}`' for id in self.corrects)}." if self.corrects else ""
        said = f"**{self.short}**: `{self.id}` ({self.source}; {self.fidelity}).{corrected}"
        return "\n\n".join(filter(None, (said, self.statement, self.summary(), self.proof())))


def claim(
    id: str,
    *,
    source: str,
    statement: str,
    chapter: str,
    fidelity: str,
    short: str = "",
    corrects: str | tuple[str, ...] = (),
    needs: str | None = None,
    in_readme: bool = False,
    formal: Formal | None = None,
    instead: str | Callable[[Any], str] = "",
    not_formalised: str = NOT_TRIED,
    number: Callable[[], str] | None = None,
    regime: Regime | None = None,
) -> Callable[[Callable[[], Evidence]], Callable[[], Evidence]]:
    """Register the decorated function as the check of a claim.

    Args:
        id: '<paper>.<name>'.
        source: where the paper says so, the shortest name first: 'KK24 Prop. 1, App. A.1'.
        statement: what it says, MyST Markdown.
        chapter: the notebook that derives it.
        fidelity: how near the statement is to the paper's: 'quoted', 'paraphrased', 'our reading' or 'ours'.
        short: the claim, not its verdict, in four to fourteen plain words; without it, the statement is as short.
        corrects: ids of the claims that this one puts right.
        needs: 'results/<folder>' for recorded runs; where they are missing the claim is unchecked, and says so. PRINTED
            for the papers' own tables.
        in_readme: whether the claim, one of the best-known of its paper, has a row in the README.
        formal: the theorems in Coq that say it, or its negation where it is refuted; see `ledger.formal.formal`.
        instead: what holds instead, in a few words, or a function of the evidence that puts the numbers in.
        not_formalised: why there is no formal proof, where one was tried.
        number: the number that matters most, in words, where it is not that of the evidence.
        regime: of a claim about a paper's networks, what must hold of ours first, see `studies.shared.regimes`.

    Raises:
        ValueError: the id is taken or retired; `fidelity` is none of the four, or not 'ours' for a correction;
            `needs` is no such folder; a row in the README for a claim of ours; `short` is not four to fourteen words,
            or has a formula in it.
    """
    if id in RETIRED:
        raise ValueError(f"claim id must not be a retired one: {id!r} is now {RETIRED[id]}.")
    if fidelity not in list(Fidelity):
        raise ValueError(f"fidelity must be one of {', '.join(map(repr, map(str, Fidelity)))}. Got {fidelity!r}.")
    if corrects and fidelity != Fidelity.OURS:
        raise ValueError(f"fidelity must be 'ours' for a correction. Got {fidelity!r} for {id!r}.")
    if in_readme and fidelity == Fidelity.OURS:
        raise ValueError(f"in_readme must be of a paper's claim. Got 'ours' for {id!r}.")
    if needs not in (None, PRINTED) and not str(needs).startswith("results/"):
        raise ValueError(f"needs must be 'results/<folder>' or PRINTED. Got {needs!r}.")
    said = short or statement.removesuffix(".")
    if not 4 <= len(said.split()) <= 14 or "$" in said:
        raise ValueError(f"short must be four to fourteen words, without a formula. Got {said!r} for {id!r}.")

    def register(check: Callable[[], Evidence]) -> Callable[[], Evidence]:
        first = _origin(_REGISTRY[id].check) if id in _REGISTRY else _origin(check)
        if first != _origin(check):  # the same one comes again where its module is loaded again
            raise ValueError(f"claim id must be unique. Got {id!r} of {first} and of {_origin(check)}.")
        judged = check if regime is None else _within(check, regime)
        checked = judged if needs is None or needs == PRINTED else _where_present(judged, needs)
        put_right = (corrects,) if isinstance(corrects, str) else corrects
        near = Fidelity(fidelity)
        _REGISTRY[id] = Claim(
            id,
            said,
            source,
            statement,
            chapter,
            checked,
            put_right,
            near,
            needs,
            in_readme,
            formal,
            instead,
            not_formalised,
            number,
            regime,
        )
        return checked

    return register


@dataclass(frozen=True)
class Rows:
    """Claims whose evidence is one call, as rows of a table: a call of this for each, with what they do not share.

    Which module a claim is in is read from these calls without importing it: ids are written out, and tables have
    names in their module.
    """

    chapter: str
    fidelity: str
    needs: str | None = None
    regime: Regime | None = None

    def __call__(
        self,
        id: str,
        short: str,
        source: str,
        statement: str,
        check: Callable[[], Evidence] | None = None,
        **options: Any,
    ) -> Callable[[Callable[[], Evidence]], Callable[[], Evidence]]:
        """Register a claim, as `claim` does, or decorate the function that is its check.

        Args:
            short: the claim in a few words; '' where the statement is as short.
            check: of a row, a lambda in it, so that the claim's line is the row's.
            options: of `claim`; `chapter`, `needs` and `regime` are in place of the table's.
        """
        shared: dict[str, Any] = {"chapter": self.chapter, "fidelity": self.fidelity}
        shared |= {"needs": self.needs, "regime": self.regime}
        register = claim(id, short=short, source=source, statement=statement, **(shared | options))
        if check is not None:
            register(check)
        return register


def _origin(check: Callable[[], Evidence]) -> str:
    """'reproduction.theorems.kk24.prop1.prop1', module and name of a check, of a row its line."""
    function: Any = inspect.unwrap(check)
    name = function.__code__.co_firstlineno if function.__name__ == "<lambda>" else function.__qualname__
    return f"{function.__module__}.{name}"


def _within(check: Callable[[], Evidence], regime: Regime) -> Callable[[], Evidence]:
    """The check, with what must hold first around what it finds."""

    @functools.wraps(check)
    def checked() -> Evidence:
        return regime(check())

    return checked


def _where_present(check: Callable[[], Evidence], needs: str) -> Callable[[], Evidence]:
    """The check, unchecked with a reason where the files of the runs it reads are missing."""

    @functools.wraps(check)
    def checked() -> Evidence:
        try:
            return check()
        except FileNotFoundError as missing:
            return Unchecked(f"needs the runs recorded in {needs} of the project: {missing}", lacks_runs=True)

    return checked


@functools.cache
def _load() -> None:
    """Import every module of claims, which registers them: the theorems, and `claims_*` of each study."""
    for place in ("theorems", "studies"):
        for package in pkgutil.iter_modules(importlib.import_module(f"reproduction.{place}").__path__):
            if not package.ispkg or package.name == "lemmas":
                continue
            found = importlib.import_module(f"reproduction.{place}.{package.name}")
            for module in pkgutil.iter_modules(found.__path__):
                if place == "theorems" or module.name.startswith("claims_"):
                    importlib.import_module(f"{found.__name__}.{module.name}")


def ledger(paper: str | None = None) -> list[Claim]:
    """Every claim, or those of one paper: propositions by number, then what else a page has. Nothing is checked yet.

    Raises:
        ValueError: an unknown paper; the message lists the known ones.
    """
    _load()
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"paper must be one of {', '.join(PAPERS)}. Got {paper!r}.")
    claims = [c for c in _REGISTRY.values() if paper is None or c.id.startswith(paper + ".")]
    return sorted(claims, key=_order)


def _order(claim: Claim) -> tuple[Any, ...]:
    module = claim.check.__module__.rsplit(".", 1)[1]
    numbered = module.startswith(("prop", "thm", "lemma"))
    page = "" if numbered else claim.chapter
    return list(PAPERS).index(claim.paper), not numbered, page, module, claim.line


def corrected_by(id: str) -> list[str]:
    """Ids of the claims that put a claim right."""
    _load()
    return [claim.id for claim in _REGISTRY.values() if id in claim.corrects]


def find(id: str) -> Claim:
    """The claim of that id.

    Raises:
        ValueError: no such claim; the message names the nearest ones, or what took its place.
    """
    if id in RETIRED:
        raise ValueError(f"claim id must be a known one; {id!r} is retired, see {RETIRED[id]}.")
    _load()
    if id not in _REGISTRY:
        near = _nearest(id, [claim.id for claim in ledger()])
        raise ValueError(f"claim id must be a known one, such as {near}. Got {id!r}.")
    return _REGISTRY[id]


def search(text: str, paper: str | None = None) -> list[Claim]:
    """The claim of that id; else those with the text in their id, then those with it in what they say.

    Upper and lower case are alike.

    Raises:
        ValueError: no such claim; the message names the nearest ids, or what took its place; an unknown paper.
    """
    claims, wanted = ledger(paper), " ".join(text.casefold().split())
    if exact := [c for c in claims if c.id.casefold() == wanted]:
        return exact
    if wanted in RETIRED:
        return [find(wanted)]
    by_id = [c for c in claims if wanted in c.id.casefold()]
    by_statement = [
        c for c in claims if c not in by_id and wanted in " ".join(f"{c.short} {c.statement}".casefold().split())
    ]
    if not by_id + by_statement:
        near = _nearest(text, [c.id for c in claims])
        raise ValueError(f"text must be in the id or the statement of a claim; near are {near}. Got {text!r}.")
    return by_id + by_statement


def _nearest(id: str, known: list[str]) -> str:
    near = difflib.get_close_matches(id.casefold(), known, n=3, cutoff=0.3)
    bare = {name.split(".")[1]: name for name in known}  # without the paper in front
    near += [bare[name] for name in difflib.get_close_matches(id.casefold(), bare, n=3, cutoff=0.5)]
    return ", ".join(dict.fromkeys(near)) or "kk24.prop1"

"""A mutation run: each formula of focal_lib/theory is changed in turn, and the nearest tests or the ledger must notice.

    python -m workflow.mutants [FILE ...] [--jobs N] [--sample N] [--stages N] [--list] [--equivalent]
                               [--known] [--record]

Works on copies in _build/mutants, made anew each time, never on the tree: killed at any moment it leaves the tree as it
was. What it found so far is in _build/mutants/found.jsonl, and a new run goes on from there; a result counts as long as
the test that noticed it is the same, with all that it uses; where nobody noticed, all tests that it met. With
`--record` it is kept in results/mutants, too, where other machines go on from it and readers find it. A mutant meets,
until one notices,

1. the tests of its module: theory/maps.py has tests/focal_lib/theory/test_maps.py;
2. the other tests of theory and of theorems that use the module, the quickest first;
3. the claims that depend on it: a recorded verdict must change, or a check fail.

Tests that fail without any change are named and left out. workflow/mutants_equivalent.yaml lists the mutants that
change nothing that matters, each with its reason. Survivors are written, as differences, to
_build/mutants/survivors.txt; with any, or with an entry of the list that fits nothing, the run fails.

Why no library: mutmut leaves out decorated functions and constants outside functions; cosmic-ray starts an interpreter,
and so imports PyTorch, for each mutant. Neither has stages, and their numbers move by 1, where one per cent matters.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import hashlib
import json
import multiprocessing
import os
import queue
import random
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from focal_lib.atomic_write import write_whole
from workflow import dependencies
from workflow.mutants_operators import Mutant, mutants_of, pieces
from workflow.mutants_tests import Ran, run_tests

ROOT = Path(__file__).resolve().parents[1]
SUBJECT = "focal_lib/theory"
TESTS = "tests/focal_lib/theory"
THEOREMS = "tests/reproduction/theorems"
CLAIMS = "tests/reproduction/ledger/test_ledger.py"
VERDICTS = "reproduction/ledger/verdicts.json"
VERDICT = CLAIMS + "::test_verdict_is_as_recorded[{}]"
BUILD = ROOT / "_build" / "mutants"
FOUND = BUILD / "found.jsonl"
UNCHANGED = BUILD / "unchanged.jsonl"  # what the tests do without a change
SURVIVORS = BUILD / "survivors.txt"
RECORD = ROOT / "results" / "mutants" / "noticed.parquet"
EQUIVALENT = ROOT / "workflow" / "mutants_equivalent.yaml"
NOT_COPIED = ("_build", ".*", "__pycache__", "*.egg-info", "html", "benchmarks")
STAGES = ("its tests", "tests of theory", "claims")
SURVIVED = ""
LISTED = "listed"  # stands for a stage in the record


# --- which tests ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """Tests that a mutant meets together."""

    name: str
    tests: tuple[str, ...]
    sources: tuple[str, ...]  # files that their outcome depends on

    def digest(self, without: str = "") -> str:
        """Of the contents of all its files, but for the one that is changed."""
        return _digest(repr(self.tests), {*self.sources} - {without})


def _digest(said: str, files: Iterable[str]) -> str:
    found = hashlib.sha256(said.encode())
    for path in sorted(files):
        content = (ROOT / path).read_bytes()
        found.update(path.encode() + (_code(content) if path.endswith(".py") else content))
    return found.hexdigest()[:16]


@functools.lru_cache(maxsize=4096)
def _code(source: bytes) -> bytes:
    """What Python sees of it but for docstrings: other comments and line breaks leave a result standing.

    Of a mutant that is no Python any more, the source.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = node.body[ast.get_docstring(node, clean=False) is not None :]
    return ast.dump(tree).encode()


def _above(path: str) -> list[str]:
    """The conftest.py and __init__.py that a test file is collected with."""
    folders = [parent for parent in Path(path).parents if parent != Path(".")]
    beside = [folder / name for folder in folders for name in ("conftest.py", "__init__.py")]
    return [file.as_posix() for file in beside if (ROOT / file).exists()]


@functools.cache
def _sources_of_test(path: str) -> frozenset[str]:
    own = [path, *_above(path)]
    modules = {module for file in own for module in dependencies.modules_used(ROOT / file)}
    data = [p.relative_to(ROOT).as_posix() for p in (ROOT / path).parent.glob("*.json")]
    return frozenset([*own, *data, *dependencies.sources(modules)])


def stages(path: str) -> list[Stage]:
    """What a mutant of this file meets, in order; a stage without tests is left out."""
    within = Path(path).relative_to(SUBJECT)
    nearest = (Path(TESTS) / within.parent / f"test_{within.name}").as_posix()
    files = sorted(
        p.relative_to(ROOT).as_posix() for tests in (TESTS, THEOREMS) for p in (ROOT / tests).rglob("test_*.py")
    )
    others = tuple(file for file in files if file != nearest and path in _sources_of_test(file))
    module = ".".join(Path(path).with_suffix("").parts)
    claims = dependencies.claims_that_use(module)
    ledger = {VERDICTS, CLAIMS, *_above(CLAIMS), *dependencies.sources({module, *claims.values()})}
    own = (nearest,) if nearest in files else ()
    found = [
        Stage(STAGES[0], own, tuple(source for file in own for source in _sources_of_test(file))),
        Stage(STAGES[1], others, tuple({source for file in others for source in _sources_of_test(file)})),
        Stage(STAGES[2], tuple(VERDICT.format(id) for id in claims), tuple(sorted(ledger))),
    ]
    return [stage for stage in found if stage.tests]


@functools.cache
def noticing(noticed: str, path: str) -> str:
    """Digest of the one test that noticed a mutant of this file, and of what it uses but for the file.

    '' where it was none, 'out of time', or there is no such test any more.
    """
    file, _, test = noticed.removesuffix(" (import)").partition("::")
    if not file.endswith(".py") or not (ROOT / file).exists():
        return ""
    if file != CLAIMS or not test:
        return _digest(noticed, _sources_of_test(file) - {path})
    id = test.partition("[")[2].removesuffix("]")
    if noticed != VERDICT.format(id) or id not in (module := dependencies.claim_modules()):
        return ""
    verdict = json.loads((ROOT / VERDICTS).read_text())["verdicts"].get(id)
    return _digest(f"{noticed} {verdict}", {CLAIMS, *_above(CLAIMS), *dependencies.sources({module[id]})} - {path})


def preloaded(files: Iterable[str]) -> list[str]:
    """Other people's packages that these files import: loaded once, before the first mutant."""
    names = {"pytest", "hypothesis.strategies", "workflow.mutants_tests"}
    for file in files:
        if file.endswith(".py"):
            for node in ast.walk(ast.parse((ROOT / file).read_text())):
                if isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names.add(node.module)
    own = {"focal_lib", "reproduction", "tests", *sys.stdlib_module_names}
    return sorted(name for name in names if name.split(".")[0] not in own)


# --- which mutants -------------------------------------------------------------------------


def sources_to_change(named: list[str]) -> list[str]:
    """The files named, or each of focal_lib/theory.

    Raises:
        ValueError: a file that does not lie there.
    """
    known = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / SUBJECT).rglob("*.py"))
    if odd := [name for name in named if name not in known]:
        raise ValueError(f"files to change must lie in {SUBJECT}. Got {', '.join(odd)}.")
    return named or known


def equivalent(mutants: list[Mutant], sources: dict[str, bytes]) -> dict[Mutant, str]:
    """Listed mutant -> reason. An entry covers every change within its `code`, or the one that makes it `becomes`.

    Raises:
        ValueError: an entry of one of these files that fits no mutant, or has no reason.
    """
    found: dict[Mutant, str] = {}
    listed = yaml.safe_load(EQUIVALENT.read_text()) if EQUIVALENT.exists() else None
    for path, functions in (listed or {}).items():
        if not (ROOT / path).exists():
            raise ValueError(f"{EQUIVALENT.name} must name files that exist. Got {path}.")
        for function, entries in functions.items() if path in sources else ():
            for entry in entries:
                fits = list(_fitting(entry, str(function or ""), [m for m in mutants if m.path == path], sources[path]))
                if not fits or not str(entry.get("because", "")).strip():
                    raise ValueError(
                        f"an entry of {EQUIVALENT.name} must fit a mutant and say why. Got {path}, {function}: {entry}."
                    )
                found |= dict.fromkeys(fits, entry["because"])
    return found


def _fitting(entry: dict[str, str], function: str, mutants: list[Mutant], source: bytes) -> Iterable[Mutant]:
    for begin, end in pieces(source, function, entry["code"]):
        for mutant in mutants:
            if begin <= mutant.begin and mutant.end <= end:
                changed = mutant.applied(source[:end])[begin:].decode()
                if changed == entry.get("becomes", changed):
                    yield mutant


# --- the run -------------------------------------------------------------------------------


class Run:
    """Mutants against their stages, each job in a copy of its own; `found.jsonl` grows by a line for each."""

    def __init__(self, sources: dict[str, bytes], count: int = 3) -> None:
        self.sources = sources
        self.stages = {path: [s for s in stages(path) if s.name in STAGES[:count]] for path in sources}
        self.lock, self.told = threading.Lock(), set[str]()
        self.unchanged = {row["digest"]: Ran(**row["ran"]) for row in _lines(UNCHANGED)}
        BUILD.mkdir(parents=True, exist_ok=True)
        self.trees = queue.Queue[Path]()
        self.context = multiprocessing.get_context("forkserver")
        used = {file for found in self.stages.values() for stage in found for file in stage.sources}
        self.context.set_forkserver_preload(preloaded(used))

    def without_changes(self, stage: Stage, tree: Path) -> Ran:
        """What its tests do with the project as it is: the failing ones do not count, and the time sets a limit."""
        key = stage.digest()
        with self.lock:
            if key not in self.unchanged:
                ran = run_tests(self.context, tree, list(stage.tests), seconds=3600, first=False)
                if ran.ended:
                    raise RuntimeError(f"tests must end without a change. Got {ran.ended}, {stage.name}:\n{ran.told}")
                self.unchanged[key] = ran
                with UNCHANGED.open("a") as file:
                    file.write("\n" + json.dumps({"digest": key, "ran": vars(ran)}) + "\n")
            if (failed := self.unchanged[key].failed) and key not in self.told:
                self.told.add(key)
                print(f"left out, for they fail without any change: {', '.join(failed)}", flush=True)
            return self.unchanged[key]

    def meet(self, mutant: Mutant) -> dict[str, Any]:
        """The row of a mutant: who noticed it, or nobody."""
        started, stage, noticed = time.perf_counter(), None, SURVIVED
        tree, source = self.trees.get(), self.sources[mutant.path]
        place = tree / mutant.path
        try:
            for stage in self.stages[mutant.path]:
                usual = self.without_changes(stage, tree)
                if usual.seconds:
                    place.write_bytes(mutant.applied(source))
                    tests, limit = _quickest_first(stage.tests, usual), 5 + 2 * usual.cpu
                    noticed = run_tests(self.context, tree, tests, seconds=limit, left_out=usual.failed).noticed
                    place.write_bytes(source)
                if noticed != SURVIVED:
                    break
        finally:
            place.write_bytes(source)
            self.trees.put(tree)
        until = stage.name if stage else ""
        seconds = round(time.perf_counter() - started, 2)
        digest = self.digest(mutant.path, until, noticed)
        found = {"stage": until, "digest": digest, "noticed": noticed, "s": seconds}
        return self.key(mutant) | found

    def key(self, mutant: Mutant) -> dict[str, str]:
        changed = hashlib.sha256(_code(mutant.applied(self.sources[mutant.path]))).hexdigest()[:16]
        return {"path": mutant.path, "mutant": changed}

    def digest(self, path: str, until: str, noticed: str) -> str:
        """Of all that the outcome depends on, where the stage of this name was the last."""
        if one := noticing(noticed, path):
            return one
        names = [stage.name for stage in self.stages[path]]
        return _digests(tuple(self.stages[path][: names.index(until) + 1]) if until in names else (), path)

    def known(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Rows of earlier runs that still count."""
        rows = {}
        for row in (*_recorded(), *_lines(FOUND)):
            met = self.stages.get(row["path"], [])
            complete = row["noticed"] != SURVIVED or (bool(met) and row["stage"] == met[-1].name)
            if not complete or row["path"] not in self.sources:
                continue
            if row["digest"] == self.digest(row["path"], row["stage"], row["noticed"]):
                rows[row["path"], row["mutant"]] = row
        return rows

    def found(self, mutants: list[Mutant]) -> dict[Mutant, dict[str, Any]]:
        """Mutant -> row, of those that have one from before."""
        known = self.known()
        keys = {m: (m.path, self.key(m)["mutant"]) for m in mutants}
        return {m: known[keys[m]] for m in mutants if keys[m] in known}

    def all(self, mutants: list[Mutant], jobs: int) -> dict[Mutant, dict[str, Any]]:
        """Mutant -> row; those without a row yet meet their tests now."""
        rows = self.found(mutants)
        todo = [m for m in mutants if m not in rows]
        print(f"{len(mutants)} mutants, {len(rows)} known from before", flush=True)
        for number in range(jobs):
            self.trees.put(_copy(BUILD / f"copy-{number}"))
        pool = ThreadPoolExecutor(jobs)
        with FOUND.open("a") as file, contextlib.ExitStack() as stack:
            stack.callback(pool.shutdown, wait=False, cancel_futures=True)
            file.write("\n")  # the last line may be half of one
            for number, (mutant, row) in enumerate(zip(todo, pool.map(self.meet, todo), strict=True), 1):
                rows[mutant] = row
                file.write(json.dumps(row) + "\n")
                file.flush()
                if row["noticed"] == SURVIVED or number % 25 == 0 or number == len(todo):
                    what = "SURVIVED" if row["noticed"] == SURVIVED else "noticed"
                    line = mutant.line(self.sources[mutant.path])
                    print(f"{number}/{len(todo)} {mutant.path}:{line} {what} ({row['s']:.0f} s)", flush=True)
        return rows


@functools.cache
def _digests(found: tuple[Stage, ...], path: str) -> str:
    return "-".join(stage.digest(without=path) for stage in found)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text().splitlines() if file.exists() else ():
        with contextlib.suppress(json.JSONDecodeError):  # a run was killed while it wrote
            yield json.loads(line)


def _recorded() -> list[dict[Any, Any]]:
    return pd.read_parquet(RECORD).query("stage != @LISTED").to_dict("records") if RECORD.exists() else []


def record(run: Run, rows: dict[Mutant, dict[str, Any]], listed: dict[Mutant, str]) -> None:
    """Keep what became of the mutants of these files; of the listed ones the reason. Other files' rows stay."""
    kept = pd.read_parquet(RECORD) if RECORD.exists() else pd.DataFrame({"path": []})
    others = kept[~kept["path"].isin(list(run.sources))].to_dict("records")
    found = [{name: value for name, value in row.items() if name != "s"} for m, row in rows.items() if m not in listed]
    found += [run.key(m) | {"stage": LISTED, "digest": "", "noticed": reason} for m, reason in listed.items()]
    table = pd.DataFrame([*others, *found]).sort_values(["path", "mutant"])
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    write_whole(RECORD, lambda part: table.to_parquet(part, index=False))


def _quickest_first(tests: tuple[str, ...], usual: Ran) -> list[str]:
    spent: Counter[str] = Counter()
    for id, seconds in usual.seconds.items():
        spent[id if id in tests else id.split("::")[0]] += seconds  # type: ignore[assignment]
    left = [test for test in tests if test in spent]
    return sorted(left, key=lambda test: spent[test])


def _copy(where: Path) -> Path:
    """The project as it is now, without what is built."""
    if where.exists():
        shutil.rmtree(where)
    shutil.copytree(ROOT, where, ignore=shutil.ignore_patterns(*NOT_COPIED))
    return where


def _report(rows: dict[Mutant, dict[str, Any]], listed: dict[Mutant, str], sources: dict[str, bytes]) -> list[Mutant]:
    survivors = [m for m, row in rows.items() if row["noticed"] == SURVIVED and m not in listed]
    print(f"\n{'file':48} mutants  noticed by its tests  of theory  claims  listed  SURVIVED")
    for path in sources:
        own = [row for m, row in rows.items() if m.path == path]
        by = Counter(row["stage"] for row in own if row["noticed"] != SURVIVED)
        listed_here, left = sum(m.path == path for m in listed), sum(m.path == path for m in survivors)
        counts = (*(by[name] for name in STAGES), listed_here, left)
        total = len(own) + sum(m.path == path and m not in rows for m in listed)
        print(f"{path:48} {total:7} {counts[0]:21} {counts[1]:10} {counts[2]:7} {counts[3]:7} {counts[4]:9}")
    text = "\n".join(m.diff(sources[m.path]) + "\n" for m in survivors)
    SURVIVORS.write_text(text)
    if survivors:
        print(f"\n{text}\n{len(survivors)} mutants that nobody noticed, also in {SURVIVORS.relative_to(ROOT)}")
    for mutant in (m for m in listed if m in rows and rows[m]["noticed"] != SURVIVED):
        line = mutant.line(sources[mutant.path])
        print(f"listed as equivalent, but noticed: {mutant.path}:{line} {mutant.new!r}, {rows[mutant]['noticed']}")
    return survivors


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 1 with survivors, or where not all are known."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"of {SUBJECT}; all of them by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time, each in a copy")
    parser.add_argument("--sample", type=int, help="only so many, drawn at random but the same each time")
    parser.add_argument(
        "--stages", type=int, default=3, help="only the first so many; of 1 or 2, more survive than should"
    )
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    parser.add_argument("--known", action="store_true", help="say what is known from before, run nothing")
    parser.add_argument("--record", action="store_true", help="keep what was found in results/mutants")
    parser.add_argument("--equivalent", action="store_true", help="run those of the list of equivalent ones, too")
    options = parser.parse_args(arguments)
    try:
        sources = {path: (ROOT / path).read_bytes() for path in sources_to_change(options.files)}
        mutants = [mutant for path, source in sources.items() for mutant in mutants_of(path, source)]
        listed = equivalent(mutants, sources)
    except ValueError as wrong:
        sys.exit(str(wrong))
    todo = [m for m in mutants if options.equivalent or m not in listed]
    if options.sample is not None and options.sample < len(todo):
        drawn = set(random.Random(0).sample(todo, options.sample))
        todo = [m for m in todo if m in drawn]
    if options.list:
        for m in todo:
            source = sources[m.path]
            print(f"{m.path}:{m.line(source)} {m.function}: {source[m.begin : m.end].decode()!r} -> {m.new!r}")
        print(f"{len(todo)} mutants, {len(listed)} listed as equivalent")
        return 0
    os.environ["OMP_NUM_THREADS"] = "1"
    run = Run(sources, count=options.stages)
    rows = run.found(todo) if options.known else run.all(todo, options.jobs)
    if options.record:
        record(run, rows, listed)
    survivors = _report(rows, listed, sources)
    if left := len(todo) - len(rows):
        print(f"{left} of {len(todo)} mutants have met no test yet, or tests that have changed")
    return 1 if survivors or left else 0


if __name__ == "__main__":
    sys.exit(main())

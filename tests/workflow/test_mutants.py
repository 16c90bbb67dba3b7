"""The mutation run: which changes it makes, and that it finds a formula without a test and leaves the tree alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from workflow import mutants
from workflow.mutants_operators import Mutant, mutants_of, pieces

ROOT = Path(__file__).resolve().parents[2]


def changed(source: str) -> set[str]:
    """The one line of each mutant that is not as it was."""
    text = source.encode()
    found = set()
    for mutant in mutants_of("x.py", text):
        before, after = text.decode().splitlines(), mutant.applied(text).decode().splitlines()
        found |= {line.strip() for old, line in zip(before, after, strict=True) if old != line}
    return found


# --- changes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = a + b", {"y = a - b"}),
        ("y = a * b / c", {"y = a / b / c", "y = a * b * c"}),
        ("y = -x", {"y = x"}),
        ("y = r**gamma", {"y = r**(gamma + 1)"}),
        ("y = r**2", {"y = r**(2 * 1.01)"}),
        ("y = 2 * x", {"y = (2 * 1.01) * x", "y = 2 / x"}),
        ("C = 2.8176", {"C = (2.8176 * 1.01)"}),
        ("y = f(x, 3)", {"y = f(x, 4)"}),
        ("y = x[n - 1]", {"y = x[n + 1]", "y = x[n - 2]"}),
        ("y = q < p", {"y = q <= p", "y = q >= p"}),
        ("y = g == -1", {"y = g != -1", "y = g == 1", "y = g == -2"}),
        ("y = a and not b", {"y = a or not b", "y = a and  b"}),
        ("y = x is not None", {"y = x is None"}),
        ("y = np.maximum(a, b)", {"y = np.minimum(a, b)"}),
        ("y = f(flag=True)", {"y = f(flag=False)"}),
        ("y = a if b else c", {"y = a if (not b) else c"}),
        ("y = (a  # * no operator\n     ) * b", {") / b"}),
        ("y = 'é' if q else r * t", {"y = 'é' if (not q) else r * t", "y = 'é' if q else r / t"}),
        ("y = brentq(f, p, q, xtol=1e-15)", set()),
        ("y = 'a' + f'{2 * x}'", set()),
        ("x: int | None", set()),
    ],
)  # fmt: skip
def test_a_formula_is_changed(line, expected):
    assert changed(line) == expected


def test_what_a_function_returns_is_off_by_one_per_cent_and_what_it_raises_stays():
    source = """
def slope(gamma, n=3):
    '''gamma + 1'''
    if gamma < 0:
        raise ValueError(f"{gamma} + 1" + str(n - 1))
    return gamma
"""
    expected = {
        "def slope(gamma, n=4):",
        "if gamma <= 0:",
        "if gamma >= 0:",
        "if gamma < 0.01:",
        "return 1.01 * (gamma)",
    }
    assert changed(source) == expected
    assert {m.function for m in mutants_of("x.py", source.encode())} == {"slope"}


def test_no_truth_value_gets_a_factor():
    assert changed("def f(x) -> bool:\n    return x") == set()
    assert changed("def f(x):\n    return x, g(x)") == {"return 1.01 * (x), g(x)", "return x, 1.01 * (g(x))"}


@pytest.fixture(scope="module")
def of_theory():
    """File of theory -> its mutants."""
    return {path: mutants_of(path, (ROOT / path).read_bytes()) for path in mutants.sources_to_change([])}


@pytest.mark.slow
def test_each_file_of_theory_has_mutants_that_are_python(of_theory):
    for path, found in of_theory.items():
        assert path.endswith("__init__.py") or len(found) > 1


def test_code_is_found_in_its_function_alone():
    source = b"def f():\n    return x < 1\n\n\nclass A:\n    def f(self):\n        return x < 1\n"
    assert [begin for begin, _ in pieces(source, "A.f", "x < 1")] == [source.rindex(b"x < 1")]
    assert len(list(pieces(source, "", "x < 1"))) == 2
    assert not list(pieces(source, "g", "x < 1"))


# --- stages and the list ------------------------------------------------------------------


def test_the_nearest_tests_come_first_and_the_claims_last():
    found = mutants.stages("focal_lib/theory/gain.py")
    assert [stage.name for stage in found] == ["its tests", "tests of theory", "claims"]
    assert found[0].tests == ("tests/focal_lib/theory/test_gain.py",)
    assert "tests/focal_lib/theory/test_confidence.py" in found[1].tests
    assert "tests/focal_lib/theory/test_entropy_ratio.py" not in found[1].tests
    assert mutants.VERDICT.format("kk24.prop5") in found[2].tests
    assert "focal_lib/theory/gain.py" in found[2].sources


def test_a_digest_is_of_all_but_the_file_that_is_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    for name in "ab":
        (tmp_path / name).write_text(name)
    stage = mutants.Stage("its tests", ("a",), ("a", "b"))
    before = stage.digest(without="b")
    (tmp_path / "b").write_text("new")
    assert stage.digest(without="b") == before
    (tmp_path / "a").write_text("new")
    assert stage.digest(without="b") != before


def test_a_digest_is_of_code_and_not_of_what_is_said_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    stage = mutants.Stage("its tests", ("a.py",), ("a.py",))

    def digest(text: str) -> str:
        (tmp_path / "a.py").write_text(text)
        return stage.digest()

    one = digest('"""Of a."""\n\n\ndef f(x):\n    """Twice."""\n    return 2 * x\n')
    assert digest("def f(x):\n    return (2 *  # twice\n        x)\n") == one
    assert digest('def f(x):\n    "Thrice."\n    return 3 * x\n') != one
    assert digest("def f(x):\n    return 2 * x\n\n'a text at the end'\n") != one
    assert digest("def f(x:\n") != digest("def f(y:\n")  # no Python


def test_a_result_depends_on_the_test_that_noticed_and_no_other(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "reproduction/ledger").mkdir(parents=True)
    (tmp_path / mutants.VERDICTS).write_text('{"verdicts": {"kk24.prop1": "PROVED", "kk24.prop2": "PROVED"}}')
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "_sources_of_test", lambda path: frozenset([path]))
    monkeypatch.setattr(mutants.dependencies, "sources", lambda modules: [])
    maps, noticed = "focal_lib/theory/maps.py", "tests/focal_lib/theory/test_maps.py::test_x"
    verdicts = [mutants.VERDICT.format(id) for id in ("kk24.prop1", "kk24.prop2")]

    def digests() -> list[str]:
        mutants.noticing.cache_clear()
        return [mutants.noticing(by, maps) for by in (noticed, *verdicts)]

    before = digests()
    assert len({*before, ""}) == 4
    (tmp_path / "tests/focal_lib/theory/test_proper.py").write_text("x = 1")
    assert digests() == before
    (tmp_path / mutants.VERDICTS).write_text('{"verdicts": {"kk24.prop1": "PROVED", "kk24.prop2": "FALSE"}}')
    assert [a == b for a, b in zip(digests(), before, strict=True)] == [True, True, False]
    (tmp_path / "tests/focal_lib/theory/test_maps.py").write_text("x = 1")
    assert digests()[0] != before[0]
    gone = "tests/focal_lib/theory/gone.py::test_x"
    assert mutants.noticing("out of time", maps) == mutants.noticing(gone, maps) == ""
    mutants.noticing.cache_clear()


@pytest.mark.slow
def test_every_entry_of_the_list_fits_and_has_a_reason(of_theory):
    sources = {path: (ROOT / path).read_bytes() for path in of_theory}
    found = [mutant for mutants in of_theory.values() for mutant in mutants]
    listed = mutants.equivalent(found, sources)
    assert 0 < len(listed) < len(found) / 4


@pytest.mark.parametrize(
    "entry", ["{code: x < 2, because: it}", "{code: x < 1}", "{code: x < 1, becomes: x == 1, because: it}"]
)
def test_an_entry_that_fits_nothing_or_has_no_reason_is_an_error(tmp_path, monkeypatch, entry):
    listed = tmp_path / "list.yaml"
    listed.write_text(f"focal_lib/theory/gain.py: {{f: [{entry}]}}")
    monkeypatch.setattr(mutants, "EQUIVALENT", listed)
    source = b"def f(x):\n    return x < 1\n"
    with pytest.raises(ValueError, match="must fit a mutant and say why"):
        mutants.equivalent(mutants_of("focal_lib/theory/gain.py", source), {"focal_lib/theory/gain.py": source})


def test_an_entry_covers_the_changes_within_its_code(tmp_path, monkeypatch):
    listed = tmp_path / "list.yaml"
    path = "focal_lib/theory/gain.py"
    listed.write_text(f"{path}: {{f: [{{code: x < 1, becomes: x <= 1, because: it}}, {{code: y + 2, because: it}}]}}")
    monkeypatch.setattr(mutants, "EQUIVALENT", listed)
    source = b"def f(x, y) -> bool:\n    return x < 1 and y + 2\n"
    found = mutants.equivalent(mutants_of(path, source), {path: source})
    assert {m.applied(source).splitlines()[1].strip() for m in found} == {
        b"return x <= 1 and y + 2",
        b"return x < 1 and y - 2",
        b"return x < 1 and y + (2 * 1.01)",
    }


def test_only_files_of_theory_are_changed():
    with pytest.raises(ValueError, match=r"must lie in focal_lib/theory. Got README.md"):
        mutants.sources_to_change(["README.md"])


# --- runs, of a small project -------------------------------------------------------------

FORMULAS = """
def doubled(x):
    return 2 * x


def endless(x):
    while x > 1:
        x -= 1
    return x


def untested(x):
    return x + 1
"""
TESTS = """
from focal_lib.theory.planted import doubled, endless


def test_doubled():
    assert doubled(3) == 6


def test_endless():
    assert endless(2) == 1
    assert endless(2.5) == 0.5


def test_fails_anyway():
    assert doubled(1) == 3
"""


@pytest.fixture
def project(tmp_path):
    """A project with a formula that has a test, one whose mutants may not end, and one that no test knows."""
    for package in (
        "focal_lib",
        "focal_lib/theory",
        "reproduction",
        "tests",
        "tests/focal_lib",
        "tests/focal_lib/theory",
    ):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "workflow").mkdir()
    for name in ("__init__.py", "dependencies.py", "mutants.py", "mutants_operators.py", "mutants_tests.py"):
        shutil.copy(ROOT / "workflow" / name, tmp_path / "workflow")
    shutil.copy(ROOT / "focal_lib/atomic_write.py", tmp_path / "focal_lib")
    (tmp_path / "focal_lib/theory/planted.py").write_text(FORMULAS)
    (tmp_path / "tests/focal_lib/theory/test_planted.py").write_text(TESTS)
    return tmp_path


def start(project: Path, *options: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(project)}
    command = [sys.executable, "-m", "workflow.mutants", "--jobs", "1", *options]
    return subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def contents(project: Path) -> dict[str, str]:
    files = [p for p in project.rglob("*") if p.is_file() and "_build" not in p.parts]
    return {p.relative_to(project).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def rows(project: Path) -> list[dict[str, str]]:
    file = project / "_build/mutants/found.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines() if line] if file.exists() else []


@pytest.mark.slow
def test_a_formula_without_a_test_is_found_and_a_killed_run_goes_on(project):
    before = contents(project)
    killed = start(project)
    deadline = time.monotonic() + 300
    while len(rows(project)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert contents(project) == before
    done = rows(project)
    assert len(done) >= 2

    second = start(project)
    told, _ = second.communicate(timeout=600)
    assert second.returncode == 1, told
    assert contents(project) == before
    assert f"{len(done)} known from before" in told
    failing = "tests/focal_lib/theory/test_planted.py::test_fails_anyway"
    assert f"left out, for they fail without any change: {failing}" in told
    survivors = (project / "_build/mutants/survivors.txt").read_text()
    assert "+    return x - 1" in survivors
    assert "+    return 1.01 * (x + 1)" in survivors
    assert survivors.count("@@") == 2 * 3  # no other: each is of `untested`
    noticed = {row["noticed"] for row in rows(project)}
    assert {"tests/focal_lib/theory/test_planted.py::test_doubled", "out of time", ""} <= noticed
    every = len(rows(project))
    assert len({row["mutant"] for row in rows(project)}) == every

    (project / "workflow/mutants_equivalent.yaml").write_text(
        "focal_lib/theory/planted.py: {untested: [{code: x + 1, becomes: x - 1, because: of the test}]}"
    )
    start(project, "--record").communicate(timeout=600)
    recorded = pd.read_parquet(project / "results/mutants/noticed.parquet").set_index("mutant")
    assert recorded["noticed"].eq("").sum() == 2  # of the three of `untested`
    assert recorded[recorded["stage"].eq("listed")]["noticed"].tolist() == ["of the test"]
    shutil.rmtree(project / "_build")  # another machine
    told, _ = start(project).communicate(timeout=600)
    assert f"{every - 1} mutants, {every - 1} known from before" in told

    planted = project / "focal_lib/theory/planted.py"
    planted.write_text(planted.read_text() + "\n\ndef thrice(x):\n    return 3 * x\n")  # so each mutant is another one
    new = start(project, "--known")
    told, _ = new.communicate(timeout=600)
    assert new.returncode == 1
    assert re.search(r"(\d+) of \1 mutants have met no test yet", told), told


def test_a_mutant_says_where_it_is():
    source = b"def f(x):\n    return 2 * x\n"
    mutant = Mutant("focal_lib/theory/x.py", "f", source.index(b"*"), source.index(b"*") + 1, "/")
    assert mutant.line(source) == 2
    assert "-    return 2 * x\n+    return 2 / x" in mutant.diff(source)


@pytest.mark.slow
def test_every_mutant_on_record_was_noticed_or_has_its_reason():
    recorded = pd.read_parquet(mutants.RECORD)
    assert (recorded["noticed"].str.len() > 0).all()
    assert set(recorded["stage"]) <= {*mutants.STAGES, mutants.LISTED}
    assert set(recorded["path"]) >= {p for p in mutants.sources_to_change([]) if mutants_of(p, (ROOT / p).read_bytes())}

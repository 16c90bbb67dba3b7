"""What CONTRIBUTING says is where it says, and its recipes work: each is followed in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reproduction.checkout import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
RECIPES = TEXT[TEXT.index("## Five recipes") : TEXT.index("## New pinned versions")]
COPIED = ("focal_lib", "reproduction", "notebooks", "book", "tests", "workflow", "proofs", "results")
PART = re.compile(
    r"^# ((?:[\w-]+/)+[\w.]+|_toc\.yml|pyproject\.toml)(?:,[^`\n]*?(at its end|after|before)(?: `(.+)`)?)?\n", re.M
)
SMALL = ("-p", "n_train", "60", "-p", "n_validation", "30", "-p", "batch_size", "20")


def test_files_and_folders_it_names_are_there():
    named = [path for path in re.findall(r"`([\w./-]+/[\w./-]*)`", TEXT) if not path.startswith("_build/")]
    assert len(named) > 30
    assert TEXT.count("\n| ") <= 16  # the tree says the rest
    assert [path for path in named if not (ROOT / path).exists()] == []


def parts(recipe):
    """Of the recipe's blocks: (path, where in it, at which text, what is to be put there)."""
    found = []
    for block in blocks(recipe):
        heads = list(PART.finditer(block))
        ends = [head.start() for head in heads[1:]] + [len(block)]
        found += [(*head.groups(), block[head.end() : end]) for head, end in zip(heads, ends, strict=True)]
    return found


def blocks(recipe):
    return re.findall(r"^```\w*\n(.*?)^```$", recipe, re.MULTILINE | re.DOTALL)


def put(folder, path, where, at, content):
    """Into the copy: a new file, or at the end of one, or after a text that it holds, or before a line that is so."""
    file, content = folder / path, content.strip("\n") + "\n"
    if where is None:
        assert not file.exists()
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
        return
    text = file.read_text()
    if where == "at its end":
        changed = f"{text}\n\n{content}"
    elif where == "after":
        before, after = text.split(at, 1)
        gap = "\n" * (after[0] == "\n")  # after the end of a line comes a line
        changed = f"{before}{at}{gap}{content[:-1]}{after}"
    else:
        start = re.search(f"^{re.escape(at)}$", text, re.MULTILINE).start()
        gap = "\n" * text[:start].endswith("\n\n")
        changed = f"{text[:start]}{content}{gap}{text[start:]}"
    file.write_text(changed)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy in which all four were followed."""
    folder = tmp_path_factory.mktemp("copy")
    for path in ROOT.iterdir():
        if path.name == "results":
            (folder / path.name).symlink_to(path)
        elif path.name in COPIED:
            shutil.copytree(path, folder / path.name, symlinks=True)
        elif path.is_file():
            shutil.copy(path, folder)
    for copied in re.findall(r"^cp .*$", RECIPES, re.MULTILINE):
        subprocess.run(copied.split(), cwd=folder, check=True)
    for part in parts(RECIPES):
        put(folder, *part)
    return folder


@pytest.fixture(scope="module")
def call(copy):
    """Runs Python with these arguments in the copy; what it says."""

    def called(*arguments, **environment):
        environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"} | environment
        done = subprocess.run([sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return called


def commands(begin):
    """Commands of the recipes that begin so, without `focal`."""
    found = [command.split()[1:] for command in re.findall(rf"`(?:\.venv/bin/)?({begin}[^`]*)`", RECIPES)]
    assert found
    return found


def test_each_recipe_has_its_parts_and_they_are_written_as_the_rest_is(copy):
    names = [path for path, *_ in parts(RECIPES)]
    assert len(names) == 9
    assert [len(parts(recipe)) for recipe in re.split(r"^\*\*A ", RECIPES, flags=re.MULTILINE)] == [0, 3, 2, 2, 2]
    python = [name for name in names if name.endswith(".py")] + ["reproduction/studies/coin", "notebooks/coin_page.py"]
    for check in (["check", "-q"], ["format", "-q", "--check"]):
        done = subprocess.run(
            [Path(sys.executable).with_name("ruff"), *check, *python], cwd=copy, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_loss_is_built_named_drawn_and_refused_without_its_parameter(call):
    said = call(
        "-c",
        """if True:
        import torch
        from focal_lib.losses.by_name import build
        from focal_lib.plots.colours import colour_of
        from reproduction.engine.spec import Spec
        from reproduction.pages.tables import in_words
        logits = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda z: build("gce", lam=0.7)(z, torch.arange(5) % 3), logits)
        print(Spec(loss="gce", lam=0.7).label, colour_of("gce 0.7"), in_words("gce 0.7"), sep="; ")
        for make in (lambda: Spec(loss="gce"), lambda: build("gce"), lambda: Spec(loss="gce", gamma=2, lam=1)):
            try:
                make()
            except ValueError as error:
                print(error)
        """,
    ).splitlines()
    needs = "gce needs lam: Zhang (2018) has lam 0.7. Got none."
    assert said == ["gce 0.7; #A21AFC; generalised CE (λ 0.7)", needs, needs, "gce has no gamma: leave it out. Got 2."]


@pytest.mark.slow
def test_a_loss_trains_and_the_tests_of_all_losses_are_its_own(call, copy, tmp_path, write_npz):
    write_npz(tmp_path / "data" / "fashion-mnist", n_train=100, n_test=30)
    [command] = commands("focal run")
    run = ("-m", "focal_lib.cli", *command, *SMALL, "--device", "cpu", "--root", str(tmp_path / "runs"))
    assert "gce 0.7" in call(*run, FOCAL_DATA=str(tmp_path / "data"))
    assert len(list((tmp_path / "runs").glob("*/weights.pt"))) == 1
    tests = re.findall(r"`(tests/(?:focal_lib|reproduction/engine)/[\w./]+)`", RECIPES)
    assert len(tests) == 3
    call("-m", "pytest", "-q", "-k", "gce or every_loss or told_apart or all_alike", "-m", "", *tests)
    loss = copy / "focal_lib/losses/gce.py"
    loss.write_text((right := loss.read_text()).replace("return -torch.expm1", "return torch.expm1"))
    with pytest.raises(AssertionError, match=r"assert -1\.0 == 1\.0"):
        call("-m", "pytest", "-q", "tests/focal_lib/losses/test_gce.py")
    loss.write_text(right)


@pytest.mark.slow
def test_a_claim_is_found_recorded_and_falls_with_the_formula(call, copy):
    show, record = commands("focal claims kk24")
    assert "it holds: sympy reduced the one step" in call("-m", "focal_lib.cli", *show)
    call("-m", "focal_lib.cli", *record)
    assert '"kk24.half_weight": "PROVED"' in (copy / "reproduction/ledger/verdicts.json").read_text()
    planted = """if True:
        from reproduction.ledger import find
        from reproduction.theorems import symbols
        right, check = symbols.focal_loss, find("kk24.half_weight").check
        symbols.focal_loss = lambda q: 2 * right(q)
        print(check().verdict)
        """
    assert call("-c", planted) == "CHECK FAILED\n"


@pytest.mark.slow
def test_a_study_has_its_claim_judged_and_the_floors_hold(call, copy):
    planted = """if True:
        from reproduction.ledger import find
        from reproduction.studies.coin import claims_kk24
        print(find("kk24.coin_underconfident").verdict)
        claims_kk24.reported = lambda seed, gamma: 0.8 + seed / 1000
        print(claims_kk24.coin_underconfident().verdict)
        """
    assert call("-c", planted) == "CONFIRMED\nNOT REPRODUCED\n"
    lint = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    done = subprocess.run(lint, cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_a_chapter_runs_and_is_in_the_book(call, copy):
    [command] = commands("focal notebook")
    call("-m", "focal_lib.cli", *command, "--html", "coin.html")
    shown = (copy / "coin.html").read_text()
    assert ">CONFIRMED</strong>" in shown
    assert shown.count("<img") == 1
    tests = ("tests/test_book.py", "tests/book/test_contents.py", "tests/book/test_prose.py")
    call("-m", "pytest", "-q", "-k", "coin_page or convexity or every_page or module_of_claims or cards_are", *tests)

"""What `make test` does with what its parts say, by programs in their place."""

import os
import shutil
import subprocess

import pytest
import yaml

from reproduction.checkout import ROOT

PYTHON = """#!/bin/sh
case "$*" in
-c*) echo 2 ;;
*{part}*) echo "{part} ran"; exit {status} ;;
*) echo "another ran" ;;
esac
"""


@pytest.fixture
def make_test(tmp_path):
    """`make test` in a folder of its own where the linters and one part of the tests exit as told."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a.py").write_text("nbval-check-output\n")
    (tmp_path / "_build" / "notebooks").mkdir(parents=True)
    (tmp_path / "_build" / "notebooks" / "a.ipynb").touch()

    def run(ruff, part, status, *options):
        programs = {
            "ruff": f"#!/bin/sh\necho ruff ran; exit {ruff}\n",
            "python": PYTHON.format(part=part, status=status),
        }
        for name in ("mypy", "lint-imports", "pre-commit"):
            programs[name] = "#!/bin/sh\n"
        for name, text in programs.items():
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        command = ["make", "--no-print-directory", "test", "READY=", f"BIN={tmp_path}", *options]
        # what the make around these tests was told, SLOW=1 in CI, is not for this one
        told = {name: said for name, said in os.environ.items() if "MAKE" not in name and name != "SLOW"}
        return subprocess.run(command, cwd=tmp_path, env=told, capture_output=True, text=True)

    return run


@pytest.mark.parametrize("part", ["no:cacheprovider", "snakemake"])
def test_what_lint_finds_is_told_last_and_fails_nothing(make_test, part):
    done = make_test(1, part, 0)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-2:] == ["ruff ran", "The tests passed. What is above is for make lint."]


def test_nothing_is_told_where_lint_finds_nothing(make_test):
    done = make_test(0, "snakemake", 0)
    assert (done.returncode, done.stdout.splitlines()) == (0, ["another ran", "snakemake ran", "another ran"])


@pytest.mark.parametrize(("part", "before"), [("no:cacheprovider", 2), ("snakemake", 1), ("loadscope", 0)])
def test_a_part_that_fails_ends_it(make_test, part, before):
    done = make_test(1, part, 3)
    assert done.returncode
    assert done.stdout.splitlines() == [*["another ran"] * before, f"{part} ran"]


@pytest.mark.parametrize(("options", "asked"), [((), False), (("SLOW=1",), True)])
def test_pages_with_slow_cells_are_run_again_where_slow_tests_are(make_test, tmp_path, options, asked):
    (tmp_path / "notebooks" / "b.py").write_text('# %% tags=["nbval-check-output", "slow"]\n')
    done = make_test(0, "snakemake", 0, *options)  # b.ipynb is not there
    assert bool(done.returncode) == asked
    assert ("b.ipynb" in done.stderr) == asked


@pytest.mark.parametrize(("options", "asked"), [((), False), (("SLOW=1",), True)])
def test_slow_pages_run_where_slow_tests_do(make_test, options, asked):
    assert bool(make_test(0, "leave_out=", 3, *options).returncode) == asked


def test_pages_that_wait_for_slow_are_pages():
    left_out = yaml.safe_load((ROOT / "workflow" / "smoke.yaml").read_text())["leave_out"]
    assert left_out
    assert all((ROOT / "notebooks" / f"{name}.py").is_file() for name in left_out)

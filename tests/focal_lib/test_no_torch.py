"""The library without torch and what else the extras bring: what modules import at once, and what works."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
LIGHT = ("theory", "metrics", "calibration", "plots", "tool", "cli")
EXTRAS = {
    *("captum", "duckdb", "filelock", "flint", "matplotlib_inline", "mpmath", "onnx", "onnxscript", "platformdirs"),
    *("psutil", "pyarrow", "seaborn", "sympy", "torch", "torchvision", "tqdm", "yaml"),
}


def test_few_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert len(project["dependencies"]) <= 8
    assert not any(text.startswith(tuple(EXTRAS)) for text in project["dependencies"])


# --- where they are not installed ---------------------------------------------------------

WITHOUT = f"""
import sys

class Missing:
    @staticmethod
    def find_spec(name, *rest):
        if name.partition(".")[0] in {EXTRAS}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing)
"""


def without(code, *arguments):
    command = [sys.executable, "-c", WITHOUT + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


MAIN = "from focal_lib.cli import main; main()"


def focal(*arguments):
    return without(MAIN, *arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, draw_logits):
    """With logits as npz, csv and parquet, and what `focal calibrate` leaves."""
    folder, data = tmp_path_factory.mktemp("core"), draw_logits(600, 2.0)
    np.savez(folder / "z.npz", logits=data.logits, labels=data.labels)
    table = pd.DataFrame(data.logits, columns=list("abcdefghij")[: data.classes]).assign(label=data.labels)
    table.to_csv(folder / "z.csv", index=False)
    table.to_parquet(folder / "z.parquet")
    done = focal("calibrate", folder / "z.csv", "--resamples", 50, "--out", folder / "report")
    assert done.returncode == 0, done.stderr
    assert (folder / "report" / "report.html").is_file()
    return folder


def test_every_module_of_the_core_is_imported():
    paths = [
        path.relative_to(ROOT).with_suffix("") for name in LIGHT for path in (ROOT / "focal_lib" / name).rglob("*.py")
    ]
    needs_torch = "focal_lib.calibration.calibrators.torch_module"  # imported when a module is asked for
    modules = {".".join(path.parts).removesuffix(".__init__") for path in paths} - {
        needs_torch,
        "focal_lib.cli.__main__",
    }
    modules.add("focal_lib.boosting")
    done = without("import sys, importlib; [importlib.import_module(name) for name in sys.argv[1:]]", *sorted(modules))
    assert (done.returncode, done.stderr) == (0, "")
    planted = without(f"import {needs_torch}")
    assert planted.stderr.endswith("a module needs the package torch: pip install 'focal-lib[torch]'\n")


@pytest.mark.parametrize(("module", "rest"), [("calibration", set()), ("tool", {"pandas"})])
def test_what_takes_long_to_import_is_imported_when_it_is_used(module, rest):
    slow = {"jinja2", "matplotlib", "pandas", "scipy.optimize", "scipy.special", "scipy.stats", "sklearn"}
    done = without(f"import focal_lib.{module}; print(*sorted({slow} & {{*sys.modules}}))")
    assert (set(done.stdout.split()), done.stderr) == (rest, "")


def test_help_needs_no_numpy():
    done = without("import atexit; atexit.register(lambda: print('numpy' in sys.modules))\n" + MAIN, "--help")
    assert done.stdout.startswith("Usage: ")
    assert done.stdout.endswith("False\n")


@pytest.mark.parametrize("source", ["z.npz", "z.csv"])
def test_commands_on_files(folder, source):
    done = focal("apply", folder / "report" / "calibrator.json", folder / source, "--out", folder / "p.npy")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(folder / "p.npy").sum(1), 1)
    done = focal("check", folder / source, "--max-ece", 0.5)
    assert done.returncode == 0, done.stderr


def test_outcomes_are_watched(folder):
    (folder / "outcomes.csv").write_text("confidence,correct\n" + "0.7,1\n0.8,1\n0.6,0\n" * 5)
    done = focal("watch", folder / "outcomes.csv", "--state", folder / "watch.json")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("export", "report/calibrator.json", "--out", "c.onnx"), "torch"),
        (("check", "z.parquet", "--max-ece", 0.5), "parquet"),
        (("apply", "report/calibrator.json", "z.csv", "--out", "p.parquet"), "parquet"),
    ],
)
def test_what_is_needed_is_said_in_a_line(folder, arguments, extra):
    done = focal(*(folder / a if "." in str(a) and isinstance(a, str) else a for a in arguments))
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"pip install 'focal-lib[{extra}]'")


def test_losses_say_what_they_need():
    done = without("from focal_lib.losses import FocalLoss")
    assert done.stderr.splitlines()[-1].endswith("needs the package torch: pip install 'focal-lib[torch]'")

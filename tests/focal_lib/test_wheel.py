"""The installed package alone, from the wheel of a source distribution: what needs no extra, and export and claims."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from focal_lib.tool.report.report import FILES

ROOT = Path(__file__).parents[2]
PACKAGES = ("focal_lib", "reproduction")
FILES_BESIDE = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")
PIP = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
# of the extras of pyproject.toml what no test here needs
NEVER = (
    *("IPython", "betacal", "dask", "distributed", "grimp", "ipykernel", "jupytext", "myst_nb", "nbconvert"),
    *("nbformat", "netcal", "onnxruntime", "papermill", "snakemake", "sphinx"),
)


@pytest.fixture(scope="session")
def distributions(tmp_path_factory):
    """The source distribution, of a folder with more in it than belongs there, and the wheel that is made from it."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES_BESIDE:
        shutil.copy(ROOT / name, source / name)
    for name in ("results", "notebooks", "book", "tests"):
        (source / name).mkdir()
        (source / name / "test_book.py").touch()
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(made)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=source, check=True, stdout=subprocess.DEVNULL)
    (sdist,) = made.glob("*.tar.gz")
    subprocess.run([*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", made, sdist], check=True)
    (wheel,) = made.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="session")
def installed(distributions, tmp_path_factory):
    """A folder with the package as its wheel has it, and without what no test here needs."""
    target = tmp_path_factory.mktemp("installed")
    subprocess.run([*PIP, "install", "--no-deps", "--no-compile", "--target", target, distributions[1]], check=True)
    for name in NEVER:
        (target / name).with_suffix(".py").write_text(f"raise ModuleNotFoundError('No module {name}', name={name!r})\n")
    return target


@pytest.fixture(scope="session")
def focal(installed, tmp_path_factory):
    """Runs the command in an empty folder, where the checkout cannot be imported: -S leaves out editable installs."""
    folder = tmp_path_factory.mktemp("empty")
    packages = dict.fromkeys([str(installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FOCAL_")}
    environment |= {"PYTHONPATH": os.pathsep.join(packages), "OMP_NUM_THREADS": "1"}

    def run(*arguments):
        command = [sys.executable, "-S", "-m", "focal_lib.cli", *map(str, arguments)]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    run.folder = folder
    run.environment = environment
    return run


@pytest.fixture(scope="session")
def calibrated(focal, draw_logits):
    """The folder with logits z.npz and new.npy, and what `focal calibrate` left in it."""
    data = draw_logits(600, 2.0)
    np.savez(focal.folder / "z.npz", logits=data.logits, labels=data.labels)
    np.save(focal.folder / "new.npy", data.logits[:50])
    done = focal("calibrate", "z.npz", "--methods", "temperature,vector", "--resamples", 50, "--out", "report")
    assert done.returncode == 0, done.stderr
    return focal.folder, done.stdout


@pytest.mark.slow
def test_distributions_hold_the_packages_and_nothing_of_results_or_pages(distributions):
    sdist, wheel = distributions
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    ours = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == ours
    with tarfile.open(sdist) as archive:
        packed = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    made = {"PKG-INFO", "setup.cfg"}
    assert {name for name in packed - made if ".egg-info/" not in name} == {*ours, *FILES_BESIDE}


@pytest.mark.slow
def test_the_package_is_the_wheels(focal, installed):
    code = "import focal_lib; from importlib.util import find_spec; print(focal_lib.__file__, find_spec('workflow'))"
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(command, cwd=focal.folder, env=focal.environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(installed / "focal_lib" / "__init__.py"), "None"]


@pytest.mark.slow
def test_calibrate(calibrated):
    folder, printed = calibrated
    assert "Use temperature scaling: the NLL falls by" in printed
    assert sorted(path.name for path in (folder / "report").iterdir()) == sorted(FILES)
    assert "data:image/svg+xml" in (folder / "report" / "report.html").read_text()


@pytest.mark.slow
def test_apply_and_check(focal, calibrated):
    folder, _ = calibrated
    for command in (
        ("apply", "report/calibrator.json", "new.npy", "--out", "p.npy"),
        ("check", "z.npz", "--max-ece", 0.5),
    ):
        done = focal(*command)
        assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(folder / "p.npy").sum(1), 1)


@pytest.mark.slow
def test_the_core_takes_little_room(installed):
    """By the records of what is installed here; without torch, and what comes with it."""
    (project,) = importlib.metadata.distributions(name="focal-lib", path=[str(installed)])
    sizes, todo = {}, [project]
    while todo:
        one = todo.pop()
        sizes[one.name] = sum(file.size or 0 for file in one.files)
        wanted = [Requirement(text) for text in one.requires or ()]
        names = {need.name for need in wanted if need.marker is None or need.marker.evaluate({"extra": ""})}
        todo += [importlib.metadata.distribution(name) for name in names - {*sizes}]
    assert "torch" not in sizes
    assert sum(sizes.values()) < 400e6


@pytest.mark.slow
def test_export(focal, calibrated):
    folder, _ = calibrated
    done = focal("export", "report/calibrator.json", "--out", "c.onnx")
    assert done.returncode == 0, done.stderr
    runtime = pytest.importorskip("onnxruntime")
    logits = np.load(folder / "new.npy")
    (probs,) = runtime.InferenceSession(folder / "c.onnx").run(None, {"logits": logits.astype(np.float32)})
    assert (probs.argmax(1) == logits.argmax(1)).all()


@pytest.mark.slow
def test_claims(focal):
    done = focal("claims", "--paper", "l25")
    assert done.returncode == 0, done.stderr
    assert all("l25." in line for line in done.stdout.splitlines())
    assert "not on record" not in done.stdout  # the verdicts came along


@pytest.mark.slow
@pytest.mark.parametrize("command", [["notebook", "temperature_bounds"], ["grid", "grid.yaml"]])
def test_what_needs_a_checkout_says_so(focal, command):
    (focal.folder / "grid.yaml").write_text("gamma: [0, 1]\n")
    done = focal(*command)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "needs a checkout of the project" in line

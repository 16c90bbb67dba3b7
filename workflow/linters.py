"""Linters of what is not Python: the citation, the container, GitHub's workflows, the crate of results.

    python -m workflow.linters                # all
    python -m workflow.linters citation

They have an environment of their own, `.venv-lint`, made at the first call from workflow/lint.lock, since some want
older packages than the project has. They then need no network. What a linter says is printed where it fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

from reproduction.checkout import ROOT
from workflow.crate import METADATA

HOME = ROOT / ".venv-lint"
LOCK = ROOT / "workflow" / "lint.lock"

LINTERS = {  # name -> command, of a program of .venv-lint
    "citation": ("cffconvert", "--validate"),
    "container": ("hadolint", "Dockerfile"),
    "workflows": ("zizmor", "--offline", "--no-progress", "--quiet", ".github"),
    "crate": (
        *("rocrate-validator", "--disable-color", "--no-interactive", "validate", "--verbose", "--no-paging"),
        *("--offline", "--cache-path", str(HOME / "ro-crate"), "results"),
    ),
}
VALID_CRATE = HOME / "valid-crate"  # a copy of the last that was found valid: ten seconds of work, once for each crate


def prepare(home: Path = HOME, lock: Path = LOCK) -> None:
    """Make the environment where it is not there or of another lock file.

    Raises:
        subprocess.CalledProcessError: packages could not be installed.
    """
    context = str(files("rocrate") / "data" / "ro-crate.jsonld")
    made_of = home / "made-of.lock"
    if made_of.is_file() and made_of.read_text() == lock.read_text():
        return
    venv.create(home, with_pip=True, clear=True)  # of another lock file, or half made
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-qq", "-r", lock], check=True)
    subprocess.run([python, ROOT / "workflow" / "ro_crate_cache.py", context, home / "ro-crate"], check=True)
    made_of.write_text(lock.read_text())


def complaints(names: Iterable[str], root: Path = ROOT, home: Path = HOME) -> dict[str, str]:
    """What each of the linters says that fails on the checkout in `root`; they run side by side."""

    def run(name: str) -> tuple[str, subprocess.CompletedProcess[str]]:
        program, *arguments = LINTERS[name]
        return name, subprocess.run([home / "bin" / program, *arguments], cwd=root, capture_output=True, text=True)

    with ThreadPoolExecutor() as threads:
        return {name: done.stdout + done.stderr for name, done in threads.map(run, names) if done.returncode}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"among {', '.join(LINTERS)}; default: all")
    names = parser.parse_args().names or list(LINTERS)
    crate = (ROOT / "results" / METADATA).read_text()
    if VALID_CRATE.is_file() and VALID_CRATE.read_text() == crate:
        names = [name for name in names if name != "crate"]
    if unknown := sorted(set(names) - set(LINTERS)):
        parser.error(f"NAME must be among {', '.join(LINTERS)}. Got {', '.join(unknown)}.")
    try:
        prepare()
    except subprocess.CalledProcessError as error:  # no network
        print(f"The linters of what is not Python did not run: {' '.join(map(str, error.cmd))} failed.")
        return 1
    found = complaints(names)
    if "crate" in names and "crate" not in found:
        VALID_CRATE.write_text(crate)
    for name, text in found.items():
        print(f"{name} ({' '.join(LINTERS[name])}):\n{text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

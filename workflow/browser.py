"""Tests of the built book in a browser: tests/browser, over _build/html; and of a report that `focal calibrate` leaves.

    python -m workflow.browser                    # make browser
    python -m workflow.browser -k binary       # what pytest takes

They have an environment of their own, `.venv-browser`, which make makes of workflow/browser.lock. The browser is
this machine's Chromium, since playwright's own is a download from elsewhere; the Nu HTML checker needs Java.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from reproduction.checkout import ROOT
from workflow.chromium import find_chromium

HOME = ROOT / ".venv-browser"
TESTS = ROOT / "tests" / "browser"
BOOK = ROOT / "_build" / "html" / "index.html"
REPORT = ROOT / "_build" / "browser-report"
PREDICTIONS = ROOT / "results" / "cifar10-resnet8" / "598cf2a97b66ca1c" / "logits.npz"


def missing() -> list[str]:
    """What the tests need and this machine lacks, each with where to get it."""
    needed = {
        "Chromium or Google Chrome (Debian, Ubuntu: apt install chromium)": find_chromium(),
        "Java 11 or newer (Debian, Ubuntu: apt install default-jre-headless)": shutil.which("java"),
        "the book (make book)": BOOK.is_file(),
        "the packages of workflow/browser.lock (make .venv-browser/ready)": (HOME / "ready").is_file(),
    }
    return [what for what, found in needed.items() if not found]


def main(arguments: list[str]) -> int:
    if lacking := missing():
        print("The browser tests need what is not here:", *lacking, sep="\n  ", file=sys.stderr)
        return 1
    calibrate = [sys.executable, "-m", "focal_lib.cli", "calibrate", str(PREDICTIONS), "--out", str(REPORT)]
    calibrate += ["--methods", "all", "--resamples", "50"]
    subprocess.run(calibrate, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    options = ["-p", "no:cacheprovider", "--confcutdir", str(TESTS), "-n", "auto", "--maxschedchunk", "1", *arguments]
    command = [str(HOME / "bin" / "python"), "-m", "pytest", *options, str(TESTS)]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

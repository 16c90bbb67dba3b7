"""What a build saves as its pages are forks of one process (workflow/warm.py): python -m benchmarks.warm

Seconds from the command to its end, median of 3, of a short page and of `focal --version`: as `python -m`, and as a
call of a server, whose imports are told apart; and their ratio.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from reproduction.checkout import ROOT
from workflow import warm

TIMES = 3


def main() -> None:
    """A line for each command."""
    os.environ.update(warm.ONE_THREAD)
    if (server := warm.start()) is None:
        print("forks: not measured, as there is no server here (Linux without a GPU)")
        return
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "focal --version": ["--version"],
            "focal notebook 02_convexity": ["notebook", "02_convexity", "--for-book", "--out", f"{folder}/page.ipynb"],
        }
        print(f"imports of the server: {_seconds(['--version']):.1f} s; then seconds as python -m, as its call, ratio")
        calls = {name: _median(command) for name, command in commands.items()}
        warm.end([server])
        for name, command in commands.items():
            alone = _median(command)
            print(f"  {name:28} {alone:6.2f} {calls[name]:6.2f} {alone / calls[name]:6.1f} x")


def _median(command: list[str]) -> float:
    return statistics.median(_seconds(command) for _ in range(TIMES))


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    caller = [sys.executable, str(ROOT / "workflow" / "warm.py"), "-m", "focal_lib.cli"]
    subprocess.run([*caller, *command], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()

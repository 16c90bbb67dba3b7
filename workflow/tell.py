"""Say how a job of a build ended, in one line with the time left, or the end of its log; and end with its exit status.

    python workflow/tell.py STATUS SECONDS NAME LOG       at the end of each rule's shell command

FOCAL_MADE names a file of this call of Snakemake: its first line says how many jobs there are and when they began; each
job that has ended adds one. Where it is not there, or the disk is full, nothing is said of the time left.
"""

import os
import sys
import time
from pathlib import Path

REASON, STOPPED = "Error: ", "Stopped: "  # how the last line of `focal run` begins: a reason, in one line
SHOWN = 60  # lines of the log of a failed job


def left() -> str:
    """How many jobs are left, and the time, as if each took as long as those before."""
    try:
        with Path(os.environ["FOCAL_MADE"]).open("r+") as file:
            first, *others = file.readlines()
            jobs, began = map(float, first.split())
            file.write("\n")
    except (KeyError, OSError, ValueError):
        return ""
    done, passed = len(others) + 1, time.time() - began
    if done >= jobs:
        return f"   the last, after {passed / 60:.1f} min"
    return f"   {jobs - done:.0f} of {jobs:.0f} left, about {passed * (jobs / done - 1) / 60:.0f} min"


def tell(status: int, seconds: str, name: str, log: Path) -> str:
    """What is said of a job that ended so."""
    rest = left()
    if not status:
        return f"{name:40} {seconds:>5} s{rest}"
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    last = lines[-1] if lines else ""
    if last.startswith((STOPPED, REASON)):
        return f"{name} {'stopped' if last.startswith(STOPPED) else 'FAILED'}: {last.partition(': ')[2]}"
    return "\n".join(
        [f"{name} FAILED, status {status}. The end of {log}:", *(f"    {line}" for line in lines[-SHOWN:])]
    )


if __name__ == "__main__":
    _, exit_status, seconds, name, log = sys.argv
    print(tell(int(exit_status), seconds, name, Path(log)), file=sys.stderr, flush=True)
    sys.exit(int(exit_status))

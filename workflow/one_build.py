"""One build at a time in a folder: python -m workflow.one_build COMMAND ...

Two builds at once would write the same pages, and Sphinx would read the half of one. The second waits for the first.
The command takes this process's place and keeps the lock, which the system gives back when it ends, be it killed.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

__all__ = ["LOCK", "main", "take_turn"]

LOCK = Path("_build/.building")


def take_turn(lock: Path = LOCK) -> int:
    """Wait until no other build has the lock; the descriptor that holds it, for the programs after this one, too.

    Raises:
        OSError: the file cannot be made.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    held = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Another build is at work in this folder: waiting for its end.", flush=True)
        fcntl.flock(held, fcntl.LOCK_EX)
    os.set_inheritable(held, True)
    return held


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("a command is expected after workflow.one_build. Got none.")
    take_turn()
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()

"""One build by make at a time in a folder: python -m workflow.one_build COMMAND ...

Two builds at once would write the same pages, and Sphinx would read the half of one. The second waits for the first.
The command takes this process's place and keeps a lock on the folder (filelock's would be closed there), which the
system gives back when it ends, be it killed; what a killed one had started may go on for a while. Where the file
system has no locks there is none.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path


def take_turn(folder: Path = Path()) -> int:
    """Wait until no other build has the folder; the descriptor that holds it, for the programs after this one, too.

    Raises:
        OSError: the folder cannot be opened.
    """
    held = os.open(folder, os.O_RDONLY)  # nothing that `make clean` could remove
    os.set_inheritable(held, True)
    try:
        if not _lock(held, fcntl.LOCK_EX | fcntl.LOCK_NB):
            print("Another build is at work in this folder: waiting for its end.", flush=True)
            _lock(held, fcntl.LOCK_EX)
    except OSError as error:
        print(f"No lock here ({error.strerror}): do not build twice at once.", file=sys.stderr)
    return held


def _lock(held: int, how: int) -> bool:
    """Whether it is had; False where another has it."""
    try:
        fcntl.flock(held, how)
    except BlockingIOError:
        return False
    return True


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("a command is expected after workflow.one_build. Got none.")
    try:
        take_turn()
        os.execvp(sys.argv[1], sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except FileNotFoundError:
        raise SystemExit(f"a command that there is must come after workflow.one_build. Got {sys.argv[1]}.") from None


if __name__ == "__main__":
    main()

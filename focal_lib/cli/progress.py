"""Progress in one line on standard error that is rewritten, if that is a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_BAR = 20  # characters


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function (description, steps done, steps in all) that shows progress; the line is erased at the end."""
    stream, start, width = sys.stderr, time.monotonic(), 0
    shown = stream is not None and stream.isatty()

    def write(line: str) -> None:
        nonlocal width
        if shown:
            line = line[: shutil.get_terminal_size().columns - 1]
            stream.write(f"\r{line:{width}}")
            stream.flush()
            width = len(line)

    def show(doing: str, done: int, of: int) -> None:
        minutes, seconds = divmod(int(time.monotonic() - start), 60)
        write(f"{doing}  {'#' * (_BAR * done // of):{_BAR}} {minutes:02}:{seconds:02}")

    try:
        yield show
    finally:
        write("")
        write("")

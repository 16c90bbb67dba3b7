"""What a command is doing, in one line on standard error that is rewritten; only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None]]:
    """A function of what is being done, the steps done, and how many there are; the line is gone at the end."""
    from tqdm import tqdm

    with tqdm(file=sys.stderr, disable=None, leave=False, bar_format="{desc}  {bar:20} {elapsed}") as bar:

        def show(doing: str, done: int, of: int) -> None:
            bar.total, bar.n = of, done
            bar.set_description_str(doing)

        yield show

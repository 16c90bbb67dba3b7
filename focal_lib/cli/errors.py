"""Report an error in one line and set the exit status."""

from __future__ import annotations

import functools
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

# what people's files, options and machines can be the cause of
EXPECTED = (ValueError, TypeError, ArithmeticError, ImportError, OSError, MemoryError, RuntimeError)
_CLICKS_OWN = (click.ClickException, click.exceptions.Exit, click.Abort)
_LONGEST = 600


def in_a_line(error: BaseException | str) -> str:
    """An error's message, else its type, without line breaks and control characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", text).encode(errors="replace").decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


class FileCommand(click.Command):
    """A command that reads and writes users' files.

    Errors caused by files, options or the machine are reported in one line, as are warnings; a closed pipe is not
    reported. Signals that end the process leave no partial file.
    """

    failed, word = 1, "Error"
    caught: tuple[type[Exception], ...] = EXPECTED

    def invoke(self, context: click.Context) -> Any:
        _open_standard_streams()
        with _ended_by_signals(), warnings.catch_warnings():
            said = functools.cache(lambda text: click.echo(f"Warning: {text}", err=True))  # of each fold once
            warnings.showwarning = lambda message, *_, **__: said(in_a_line(str(message)))
            try:
                found = super().invoke(context)
                if sys.stdout is not None:
                    sys.stdout.flush()  # a full disk is heard of here, not at the interpreter's end
                return found
            except _CLICKS_OWN:
                raise
            except BrokenPipeError:
                discard_output()
                raise SystemExit(self.failed) from None
            except self.caught as error:
                try:
                    if sys.stdout is not None:
                        sys.stdout.flush()
                except (OSError, ValueError):
                    discard_output()
                click.echo(f"{self.word}: {described(error)}", err=True)
                raise SystemExit(self.failed) from None


class CheckingCommand(FileCommand):
    """A FileCommand with a verdict: exit status 1 is a verdict, so a command that did not run ends with 2."""

    failed = 2
    caught = (Exception,)

    def __init__(self, *args: Any, word: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.word = word

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (KeyboardInterrupt, click.Abort):
            click.echo(f"{self.word}: interrupted.", err=True)
            raise SystemExit(self.failed) from None


def described(error: Exception) -> str:
    """An error in a line; a fault of the library with its place."""
    if isinstance(error, EXPECTED):
        return in_a_line(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return in_a_line(f"{type(error).__name__} in {place.name}: {error}. This is a fault of focal_lib.")


def _open_standard_streams() -> None:
    """Replace closed standard streams: else the next file opened gets their number, and output goes into it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def discard_output() -> None:
    """Discard remaining output after a closed pipe, or the interpreter reports an error at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the process as an error does, so that partial files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ends = [own for own in ends if signal.getsignal(own) is signal.SIG_DFL]  # nohup has SIGHUP ignored
    before = {own: signal.signal(own, end) for own in ends}
    try:
        yield
    finally:
        for own, handler in before.items():
            signal.signal(own, handler)

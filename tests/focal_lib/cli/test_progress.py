"""The line on what a command does."""

import io
import sys

from focal_lib.cli.calibrate import progress_line


class Terminal(io.StringIO):
    def isatty(self):
        return True


def work(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_line() as show:
        show("reading", 0, 3)
        show("fitting vector, 1 of 1", 1, 3)
    return stream.getvalue()


def test_a_terminal_sees_one_line_rewritten_and_gone_at_the_end(monkeypatch):
    text = work(Terminal(), monkeypatch)
    assert "\n" not in text
    shown = [part.strip() for part in text.split("\r") if part.strip()]
    assert shown[-2].startswith("reading")
    assert shown[-1].startswith("fitting vector, 1 of 1")
    assert 0 < shown[-1].count("#") + shown[-1].count("\N{FULL BLOCK}") < 20
    assert text.split("\r")[-2].strip() == ""


def test_others_see_nothing(monkeypatch):
    assert work(io.StringIO(), monkeypatch) == ""

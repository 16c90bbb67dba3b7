"""What a build says: one line for each finished run and page, how many are left and the time left; and what failed.

    PYTHONPATH=workflow/plugins snakemake --logger focal ...

Made of Snakemake's log events, https://snakemake.readthedocs.io (logger plugins). All else that Snakemake says below a
warning is left out, but for --verbose.
"""

from __future__ import annotations

import logging
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

KINDS = {"data": "data set", "train": "run", "notebook": "page", "html": "book"}  # rule: what it makes
OF_JOBS = ("RuleException", "WorkflowError")  # say that a command failed, which its log says better
REASON, STOPPED = "Error: ", "Stopped: "  # how the last line of `focal run` begins: a reason, in one line
SHOWN = 60  # lines of the log of a failed job


@dataclass(frozen=True)
class Job:
    rule: str
    label: str
    started: float  # s since the epoch, as log records have it

    @property
    def name(self) -> str:
        return f"{KINDS[self.rule]} {self.label}".rstrip()


class LogHandler(LogHandlerBase):
    """Snakemake finds it by this name."""

    writes_to_stream = True  # instead of Snakemake's own
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self.left: dict[str, int] = {}  # by rule
        self.seconds: dict[str, list[float]] = {}  # by rule, of each finished job
        self.running: dict[int, Job] = {}
        self.at_once = 1
        self.failed: list[str] = []
        self.stopped = False  # a run, whose time was up
        self.errors: list[Any] = []  # told at the end
        self.started: float | None = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._handle(record, getattr(record, "event", None))
        except Exception:
            self.handleError(record)

    def _handle(self, record: logging.LogRecord, event: LogEvent | None) -> None:
        if event == LogEvent.RUN_INFO:
            self._begin(record)
        elif event == LogEvent.JOB_INFO:
            self._start(record)
        elif event == LogEvent.JOB_FINISHED:
            self._finish(record)
        elif event == LogEvent.JOB_ERROR:
            self._fail(record)
        elif event == LogEvent.ERROR:
            self.errors.append(record)
        elif self.common_settings.verbose or record.levelno == logging.WARNING:
            say(record.getMessage())

    def _begin(self, record: Any) -> None:
        if self.common_settings.dryrun or self.started is not None:
            return
        self.started = record.created
        self.left = {rule: record.stats[rule] for rule in KINDS if rule in record.stats}
        parts = [f"{n} {KINDS[rule]}{'s' * (n > 1)}" for rule, n in self.left.items()]
        if parts:
            say(f"To make: {', '.join(parts)}.")

    def _start(self, record: Any) -> None:
        if record.rule_name not in KINDS:
            return
        label = record.rule_msg or ", ".join(map(str, record.wildcards.values()))
        job = Job(record.rule_name, label, record.created)
        if self.common_settings.dryrun:
            say(f"{job.name}: {textwrap.shorten(record.reason, 200)}")
            return
        self.left.setdefault(job.rule, 1)
        self.running[record.jobid] = job
        self.at_once = max(self.at_once, len(self.running))

    def _finish(self, record: Any) -> None:
        job = self.running.pop(record.job_id, None)
        if job is None:
            return
        seconds = record.created - job.started
        self.seconds.setdefault(job.rule, []).append(seconds)
        self.left[job.rule] -= 1
        if left := sum(self.left.values()):
            rest = f"{left} left, about {duration(self._time_left(record.created))}"
        else:
            rest = f"the last, after {duration(record.created - (self.started or job.started))}"
        say(f"{job.name:40} {seconds:5.0f} s   {rest}")

    def _time_left(self, now: float) -> float:
        """As long as those of the same rule took, or any where none has finished; as many at once as so far."""
        known = [value for values in self.seconds.values() for value in values]
        mean = {rule: average(self.seconds.get(rule, known)) for rule in self.left}
        work = sum(n * mean[rule] for rule, n in self.left.items())
        work -= sum(min(now - job.started, mean[job.rule]) for job in self.running.values())
        return work / min(self.at_once, sum(self.left.values()))

    def _fail(self, record: Any) -> None:
        job = self.running.pop(record.jobid, None)
        name = job.name if job else str(record.rule_name)
        if job:
            self.left[job.rule] -= 1
        logs = {log: log.read_text(errors="replace").splitlines() for log in map(Path, record.log) if log.is_file()}
        last = next((lines[-1] for lines in logs.values() if lines), "")
        if last.startswith(STOPPED):
            self.stopped = True
            say(f"{name} stopped: {last.removeprefix(STOPPED)}")
            return
        self.failed.append(name)
        if last.startswith(REASON):
            say(f"{name} FAILED: {last.removeprefix(REASON)}")
            return
        say(f"{name} FAILED")
        for log, lines in logs.items():
            for line in lines[-SHOWN:]:
                say(f"    {line}")
            if len(lines) > SHOWN:
                say(f"    The {len(lines) - SHOWN} lines before are in {log}.")

    def close(self) -> None:
        for error in self.errors:
            if not ((self.failed or self.stopped) and error.exception in OF_JOBS):
                say(error.getMessage())
        if self.failed:
            say(f"Failed: {', '.join(self.failed)}. What is finished is kept.")
        self.failed, self.errors = [], []  # Snakemake closes more than once
        super().close()


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def average(values: list[float]) -> float:
    return sum(values) / len(values)


def duration(seconds: float) -> str:
    """A time as one says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

"""What a build says, from Snakemake's log events."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "workflow" / "plugins"
SNAKEFILE = """
rule book:
    input: "html.txt"
rule train:
    output: touch("run{i}")
    message: "focal {wildcards.i}"
    shell: "echo chatter > /dev/null"
rule notebook:
    input: "run1", "run2"
    output: "{page}.ipynb"
    log: "{page}.log"
    shell: "(seq 90; echo cell 3 of {wildcards.page}: no such name; test -e good && touch {output}) > {log} 2>&1"
rule html:
    input: "01_a.ipynb"
    output: "html.txt"
    threads: workflow.cores
    shell: "touch {output}"
"""


@pytest.fixture
def build(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--nolock", "--logger=focal", *arguments]
        environment = os.environ | {"PYTHONPATH": str(PLUGINS)}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


@pytest.mark.slow
def test_one_line_for_each_finished_run_and_page(build, tmp_path):
    (tmp_path / "good").touch()
    done = build("book")
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert lines[0] == "To make: 2 runs, 1 page, 1 book."
    patterns = [
        r"run focal [12] +\d+ s   3 left, about \d+ s",
        r"run focal [12] +\d+ s   2 left, about \d+ s",
        r"page 01_a +\d+ s   1 left, about \d+ s",
        r"book +\d+ s   the last, after \d+ s",
    ]
    for line, pattern in zip(lines[1:], patterns, strict=True):
        assert re.fullmatch(pattern, line)
    assert done.stdout == ""


@pytest.mark.slow
def test_a_failed_page_is_named_with_the_end_of_its_log(build):
    done = build("book")
    assert done.returncode == 1
    lines = done.stderr.splitlines()[3:]
    assert lines[0] == "page 01_a FAILED"
    assert lines[-3:] == [
        "    cell 3 of 01_a: no such name",
        "    The 31 lines before are in 01_a.log.",
        "Failed: page 01_a. What is finished is kept.",
    ]
    assert "Error" not in done.stderr  # of Snakemake


@pytest.fixture
def handler(monkeypatch):
    monkeypatch.syspath_prepend(str(PLUGINS))
    from snakemake_logger_plugin_focal import LogHandler

    return LogHandler(SimpleNamespace(dryrun=False, verbose=False), None)


def tell(handler, at: float, event: LogEvent | None, level: int = logging.INFO, **fields) -> None:
    record = logging.makeLogRecord({"levelno": level, "created": at, "event": event, **fields})
    handler.emit(record)


def start(handler, at: float, job: int, rule: str) -> None:
    told = {"jobid": job, "rule_name": rule, "rule_msg": "", "wildcards": {"name": f"x{job}"}, "reason": "new"}
    tell(handler, at, LogEvent.JOB_INFO, **told)


def test_time_left_is_that_of_the_same_rule_shared_by_the_jobs_at_once(handler, capsys):
    tell(handler, 0, LogEvent.RUN_INFO, stats={"train": 4, "notebook": 2, "book": 1, "total": 7})
    start(handler, 0, 1, "train")
    start(handler, 0, 2, "train")
    tell(handler, 100, LogEvent.JOB_FINISHED, job_id=1)  # 3 runs and 2 pages, all as long; the second is due now
    tell(handler, 100, LogEvent.JOB_FINISHED, job_id=2)
    start(handler, 100, 3, "notebook")
    tell(handler, 110, LogEvent.JOB_FINISHED, job_id=3)  # 2 runs of 100 s, 1 page of 10 s, two at once
    told = [line.split("   ")[-1] for line in capsys.readouterr().err.splitlines()]
    assert told == ["To make: 4 runs, 2 pages.", "5 left, about 3 min", "4 left, about 3 min", "3 left, about 2 min"]


def test_inner_talk_is_left_out_and_warnings_and_errors_are_not(handler, capsys):
    tell(handler, 0, None, msg="Select jobs to execute...")
    tell(handler, 0, LogEvent.JOB_STARTED, msg="Execute 1 jobs...")
    tell(handler, 0, None, logging.WARNING, msg="the disk is full")
    tell(handler, 0, LogEvent.ERROR, logging.ERROR, msg="no rule to make tea", exception="MissingRuleException")
    handler.close()
    assert capsys.readouterr().err == "the disk is full\nno rule to make tea\n"


def test_a_dry_run_says_what_would_be_made_and_why(handler, capsys):
    handler.common_settings.dryrun = True
    start(handler, 0, 1, "notebook")
    assert capsys.readouterr().err == "page x1: new\n"


def test_a_failed_run_is_one_line_and_a_stopped_one_has_not_failed(handler, capsys, tmp_path):
    for job, lines in enumerate(("waiting\nError: the disk is full", "Stopped: time is up after epoch 3 of 9")):
        log = tmp_path / f"{job}.txt"
        log.write_text(f"{lines}\n")
        start(handler, 0, job, "train")
        tell(handler, 1, LogEvent.JOB_ERROR, jobid=job, rule_name="train", log=[str(log)])
    handler.close()
    assert capsys.readouterr().err.splitlines() == [
        "run x0 FAILED: the disk is full",
        "run x1 stopped: time is up after epoch 3 of 9",
        "Failed: run x0. What is finished is kept.",
    ]

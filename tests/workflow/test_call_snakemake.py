"""Snakemake ends after a signal, whatever it is doing when it comes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SNAKEFILE = """
rule both:
    input: "one", "two"
rule touch:
    output: touch("{which}")
"""
AT_SELECTION = """
import os, signal
from snakemake.scheduling.{module} import Scheduler

choose = Scheduler.select_jobs
def choose_at_a_signal(*args):
    os.kill(os.getpid(), signal.SIGTERM)
    return choose(*args)
Scheduler.select_jobs = choose_at_a_signal
"""
CALL = """
import sys
from workflow.call_snakemake import handle_in_thread, main

if {mended}:
    handle_in_thread()
main(sys.argv[1:])
"""


def call(folder, scheduler, mended, seconds):
    (folder / "Snakefile").write_text(SNAKEFILE)
    module = "milp" if scheduler == "ilp" else scheduler
    script = AT_SELECTION.format(module=module) + CALL.format(mended=mended)
    command = [sys.executable, "-c", script, "--cores", "1", "--nolock", "--scheduler", scheduler]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["ilp", "greedy"])
def test_a_signal_while_jobs_are_chosen_lets_that_job_end_and_begins_no_other(scheduler, tmp_path):
    done = call(tmp_path, scheduler, mended=True, seconds=120)
    assert done.returncode == 1, done.stderr
    assert "Will exit after finishing currently running jobs" in done.stderr
    assert len([name for name in ("one", "two") if (tmp_path / name).exists()]) == 1


@pytest.mark.slow
def test_snakemake_alone_still_needs_it(tmp_path):
    """Where a new Snakemake ends by itself, `workflow.call_snakemake` can go."""
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        call(tmp_path, "greedy", mended=False, seconds=20)
    assert b"Select jobs to execute..." in caught.value.stderr  # it had come so far, and stood still


@pytest.mark.slow
def test_the_command_handles_signals_so_and_is_called_snakemake(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "sitecustomize.py").write_text(AT_SELECTION.format(module="greedy"))
    command = [sys.executable, "-m", "workflow.call_snakemake", "--cores", "1", "--nolock", "--scheduler", "greedy"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, "Will exit after" in done.stderr) == (1, True), done.stderr
    usage = subprocess.run([*command, "--no-such"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert usage.returncode == 2
    assert "snakemake: error: " in usage.stderr

"""Where commands end: one line, an exit status that says so, nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from focal_lib.cli import main
from focal_lib.cli.errors import CheckingCommand, FileCommand, in_a_line

KINDS = [(FileCommand, {}, 1, "Error"), (CheckingCommand, {"word": "Investigate"}, 2, "Investigate")]


def outcome(kind, options, callback):
    command = kind("planted", callback=callback, **options)
    return CliRunner().invoke(command, [], catch_exceptions=False)


def failing(error):
    def callback():
        raise error

    return callback


@pytest.mark.parametrize(("kind", "options", "status", "word"), KINDS)
@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\nand two"), "one and two"),
        (MemoryError(), "MemoryError"),
        (RecursionError("too deep"), "too deep"),
        (OSError(28, "No space left on device", "p.npy"), "[Errno 28] No space left on device: 'p.npy'"),
        (ValueError("\x1b[31mred \udcff"), "?[31mred ?"),
    ],
)
def test_an_error_is_a_line(kind, options, status, word, error, line):
    found = outcome(kind, options, failing(error))
    assert (found.exit_code, found.stderr, found.stdout) == (status, f"{word}: {line}\n", "")


def test_a_fault_is_no_verdict_and_no_secret():
    found = outcome(CheckingCommand, {"word": "Investigate"}, failing(KeyError("weights")))
    assert found.exit_code == 2
    assert found.stderr == "Investigate: KeyError in callback: 'weights'. This is a fault of focal_lib.\n"
    with pytest.raises(KeyError):
        outcome(FileCommand, {}, failing(KeyError("weights")))


def test_an_interrupted_check_is_no_verdict():
    found = outcome(CheckingCommand, {"word": "Investigate"}, failing(KeyboardInterrupt()))
    assert (found.exit_code, found.stderr) == (2, "Investigate: interrupted.\n")


@pytest.mark.parametrize(("kind", "options", "status", "word"), KINDS)
def test_what_click_says_stays(kind, options, status, word):
    assert outcome(kind, options, lambda: click.get_current_context().exit(7)).exit_code == 7
    assert outcome(kind, options, failing(click.UsageError("no such"))).exit_code == 2
    assert outcome(kind, options, lambda: click.echo("done")).output == "done\n"


def test_warnings_are_lines():
    found = outcome(FileCommand, {}, lambda: warnings.warn("not\nconverged", UserWarning, stacklevel=1))
    assert (found.exit_code, found.stderr) == (0, "Warning: not converged\n")


def test_lines_have_an_end():
    assert len(in_a_line("9" * 100_000)) < 700


COMMAND = """
import signal, sys, time
from pathlib import Path
import click
from focal_lib.atomic_write import write_whole
from focal_lib.cli.errors import FileCommand

def slowly(part):
    part.write_text("half")
    print("half", flush=True)
    time.sleep(60)

def many():
    for _ in range(100_000):
        click.echo("a line")

def into(name):
    Path(name).write_text("content")
    print("printed")

calls = {"slowly": lambda: write_whole(Path("a.txt"), slowly), "many": many, "into": lambda: into("b.txt")}
FileCommand("planted", callback=calls[sys.argv[1]])([])
"""


def start(folder, name, **options):
    command = [sys.executable, "-c", COMMAND, name]
    if os.name == "posix":  # under nohup SIGHUP is ignored, by what is started there, too
        options["preexec_fn"] = lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=os.environ, **options)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_nothing_half_written(tmp_path, ending):
    process = start(tmp_path, "slowly", stdout=subprocess.PIPE)
    assert process.stdout.readline() == "half\n"
    process.send_signal(ending)
    assert process.wait(30) == 128 + ending
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_a_reader_that_has_gone(tmp_path):
    process = start(tmp_path, "many", stdout=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) == 1
    assert process.stderr.read() == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux")
def test_output_that_has_no_room(tmp_path):
    with open("/dev/full", "w") as full:
        process = start(tmp_path, "into", stdout=full)
        assert process.wait(30) == 1
    assert process.stderr.read() == "Error: [Errno 28] No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="descriptors")
def test_closed_output_goes_into_no_file(tmp_path):
    process = start(tmp_path, "into", preexec_fn=lambda: os.close(1))
    assert process.wait(30) == 0, process.stderr.read()
    assert (tmp_path / "b.txt").read_text() == "content"


# --- every command --------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk")
@pytest.mark.parametrize("arguments", [["--version"], ["claims", "--help"]])
def test_a_full_disk_is_a_line(arguments):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "focal_lib.cli", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "Error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize(
    ("command", "flag"),
    [
        *(("calibrate", flag) for flag in ("--out", "--json", "--model-card")),
        *((name, "--out") for name in ("check", "apply", "export", "notebook")),
        ("watch", "--state"),
        ("run", "--page"),
        ("claims", "--boxes"),
    ],
)
def test_no_name_is_no_place(command, flag, tmp_path, monkeypatch):
    """The value of a variable that is not set."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").touch()
    own = {"calibrate": ["x.csv", "--out", "r"], "check": ["x.csv", "--max-ece", "0.1"], "apply": ["x.csv", "x.csv"]}
    given = own.get(command, ["x.csv"] if command in ("watch", "export") else [])
    found = CliRunner().invoke(main, [command, *given, flag, ""])
    assert found.exit_code == 2, found.output
    assert "must have a name. Got ''; the current folder is '.'." in " ".join(found.output.split())
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--json", "no/such/x.json"], "must go into a folder that exists. There is no no/such"),
        (["--model-card", "x" * 250], "the result must have a shorter name. Got 250 letters"),
    ],
)
def test_where_results_go_is_looked_at_before_the_work(flags, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("is,not,read")
    found = CliRunner().invoke(main, ["calibrate", "x.csv", "--out", "r", *flags])
    assert (found.exit_code, message in found.output) == (1, True), found.output
    assert not (tmp_path / "r").exists()

"""Files are whole or not there, and what killed processes leave is removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from focal_lib.atomic_write import check_target, part_of, remove_leftovers, write_whole


def fail(part):
    part.write_text("half")
    raise RuntimeError


def test_an_error_leaves_what_was_there(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("before")
    with pytest.raises(RuntimeError):
        write_whole(file, fail)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_mode_and_link_stay(tmp_path):
    file, link = tmp_path / "a.txt", tmp_path / "link"
    file.write_text("before")
    file.chmod(0o600)
    link.symlink_to(file)
    write_whole(link, lambda part: part.write_text("after"))
    assert link.is_symlink()
    assert file.read_text() == "after"
    assert file.stat().st_mode & 0o777 == 0o600


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^a\.txt must go into a folder that exists\. There is no "):
        write_whole(tmp_path / "none" / "a.txt", fail)


@pytest.mark.parametrize(
    ("make", "kind"),
    [(os.mkfifo, "a pipe"), (os.mkdir, "a folder"), (lambda path: path.symlink_to("/dev/null"), "a device")],
)
def test_only_files_are_replaced(tmp_path, make, kind):
    there = tmp_path / "there"
    make(there)
    with pytest.raises(FileExistsError, match=rf"there must be a file, or nothing yet\. Got {kind}\."):
        write_whole(there, lambda part: part.write_text("lost"))
    assert list(tmp_path.iterdir()) == [there]


WRITER = """
import sys, time
from pathlib import Path
from focal_lib.atomic_write import write_whole

def slowly(part):
    part.write_text("half")
    print("half", flush=True)
    time.sleep(60)

write_whole(Path(sys.argv[1]), slowly)
"""


def writer(file: Path) -> subprocess.Popen[str]:
    """A process that has written half of the file."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "half\n"
    return process


def test_parts_of_killed_processes_are_removed_and_no_others(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    killed, alive = writer(folder / "killed.npz"), writer(folder / "alive.npz")
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        [part] = folder.glob(".*killed.npz")
        (folder / ".hidden").touch()
        elsewhere = folder / f".{killed.pid}@another-machine@c.npz"
        elsewhere.touch()
        assert remove_leftovers(tmp_path) == [part]
        assert len(list(folder.glob(".*"))) == 3
        [living] = folder.glob(".*alive.npz")
        assert set(remove_leftovers(tmp_path, of_all=True)) == {elsewhere, living}
        assert [path.name for path in folder.iterdir()] == [".hidden"]
    finally:
        alive.kill()
        alive.wait()


def test_a_part_keeps_the_ending():
    assert part_of(Path("a/b.ipynb")).suffix == ".ipynb"
    assert part_of(Path("a/b.ipynb")).parent == Path("a")


def test_the_ending_of_a_name_is_that_of_what_is_written(tmp_path):
    for name in ("c.onnx", "c.ONNX"):
        check_target(tmp_path / name, ending=".onnx")
    for name in ("c.json", "c", "c.onnx.gz", ".onnx"):
        with pytest.raises(ValueError, match=rf"written as \.onnx: its name must end so. Got {name}"):
            check_target(tmp_path / name, ending=".onnx")

"""Files are whole or not there, and what killed processes leave is removed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from focal_lib.atomic_write import check_folder, check_target, part_of, remove_leftovers, write_together, write_whole


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


def test_links_to_nothing_and_to_themselves(tmp_path):
    (tmp_path / "dangling").symlink_to(tmp_path / "new.txt")
    write_whole(tmp_path / "dangling", lambda part: part.write_text("new"))
    assert (tmp_path / "new.txt").read_text() == "new"
    (tmp_path / "lost").symlink_to(tmp_path / "none" / "new.txt")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, message in (("lost", "is a link into a folder that must exist"), ("loop", "Got a link to itself|loop")):
        with pytest.raises(OSError, match=message):
            write_whole(tmp_path / name, fail)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "loop", "lost", "new.txt"]


def test_a_full_disk_is_said_of_the_file(tmp_path):
    def no_room(part):
        part.write_text("half")
        raise OSError(errno.ENOSPC, "no room", str(part))

    with pytest.raises(OSError, match=r"No space left on device: '.*/a\.txt'$") as caught:
        write_whole(tmp_path / "a.txt", no_room)
    assert caught.value.errno == errno.ENOSPC
    assert not list(tmp_path.iterdir())


def test_folders_to_write_into(tmp_path):
    check_folder(tmp_path / "new" / "deep", made=True)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "none")
    for name, kind in (("file", "a file"), ("fifo", "a pipe"), ("link", "a link to nothing"), ("file/deep", "a file")):
        with pytest.raises(NotADirectoryError, match=rf"must be a folder\. Got {kind}\."):
            check_folder(tmp_path / name, made=True)
    with pytest.raises(FileNotFoundError, match=r"must go into a folder that exists\. There is no .*new\."):
        check_folder(tmp_path / "new")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_is_for_reading_only(tmp_path):
    (tmp_path / "a.txt").touch(0o400)
    with pytest.raises(PermissionError, match="must be writable"):
        check_target(tmp_path / "a.txt")
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="can be written to"):
        check_folder(tmp_path / "new", made=True)
    tmp_path.chmod(0o700)


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def text(words):
    return lambda part: part.write_text(words)


def test_a_set_of_files_appears_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "deep" / "out"
    with pytest.raises(RuntimeError):
        write_together(folder, {"a": text("1"), "b": fail})
    assert not list((tmp_path / "deep").iterdir())
    write_together(folder, {"a": text("1"), "b": text("1")})
    (folder / "own").write_text("kept")
    with pytest.raises(RuntimeError):
        write_together(folder, {"a": text("2"), "b": fail})
    assert contents(folder) == {"a": "1", "b": "1", "own": "kept"}
    write_together(folder, {"a": text("3"), "b": text("3")})
    assert contents(folder) == {"a": "3", "b": "3", "own": "kept"}


def test_a_set_with_files_elsewhere(tmp_path):
    folder, other = tmp_path / "out", tmp_path / "other"
    with pytest.raises(RuntimeError):
        write_together(folder, {"a": text("1")}, {other: fail})
    assert not list(tmp_path.iterdir())
    write_together(folder, {"a": text("1")}, {other: text("1"), folder / "b": text("1")})
    assert contents(folder) | {"other": other.read_text()} == dict.fromkeys(["a", "b", "other"], "1")
    with pytest.raises(RuntimeError):
        write_together(folder, {"a": text("2")}, {other: text("2"), folder / "b": fail})
    assert contents(folder) | {"other": other.read_text()} == dict.fromkeys(["a", "b", "other"], "1")
    assert len(list(tmp_path.iterdir())) == 2


def test_a_new_folder_is_taken_back_with_what_fails(tmp_path, monkeypatch):
    replace = Path.replace

    def planted(self, target):
        if Path(target).name == "other":
            raise OSError(errno.EIO, "planted", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", planted)
    with pytest.raises(OSError, match="planted"):
        write_together(tmp_path / "out", {"a": text("1")}, {tmp_path / "other": text("1")})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("there", [("a", "b", "c"), ("b",), ()])
@pytest.mark.parametrize("fails", ["a", "b", "c"])
def test_a_set_whose_renames_fail_half_way_is_put_back(tmp_path, monkeypatch, there, fails):
    for name in there:
        (tmp_path / name).write_text("before")
    replace = Path.replace

    def planted(self, target):
        if Path(target).name == fails and not self.name.endswith(".old"):
            raise OSError(errno.EIO, "planted", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", planted)
    with pytest.raises(OSError, match="planted"):
        write_together(tmp_path, dict.fromkeys("abc", text("after")))
    assert contents(tmp_path) == dict.fromkeys(there, "before")


def test_signals_wait_until_a_set_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "replace", lambda self, target: (signal.raise_signal(signal.SIGINT), self.rename(target)))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            write_together(tmp_path, {"a": text("1"), "b": text("1")})
    finally:
        signal.signal(signal.SIGINT, before)
    assert contents(tmp_path) == {"a": "1", "b": "1"}


def test_the_next_run_removes_what_a_killed_one_left(tmp_path):
    file = tmp_path / "a.txt"
    killed, alive = writer(file), writer(file)
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        (tmp_path / ".99999999999999999999@here@a.txt").touch()  # no process has such a number
        write_whole(file, text("new"))
        assert file.read_text() == "new"
        assert len(list(tmp_path.glob(".*a.txt"))) == 2
    finally:
        alive.kill()
        alive.wait()


def test_a_set_goes_into_the_folder_one_is_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in (Path("."), Path("")):
        write_together(folder, {"a.txt": lambda part: part.write_text("a")})
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_what_has_its_name_is_on_the_disk(tmp_path, disk_events):
    """After a power cut there is the file of before or the new one, not an empty one."""
    write_whole(tmp_path / "a.txt", lambda part: part.write_text("a"))
    assert disk_events == ["file", "name a.txt", "folder"]
    disk_events.clear()
    writers = {name: lambda part: part.write_text("x") for name in ("b.txt", "c.txt")}
    write_together(tmp_path, writers)
    assert disk_events == ["file", "file", "name b.txt", "name c.txt", "folder"]
    disk_events.clear()
    write_together(tmp_path / "new", writers)
    assert disk_events == ["file", "file", "folder", "name new", "folder"]


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: write_whole(folder / "a.txt", lambda part: part.write_text("after")),
        lambda folder: write_together(folder, {"a.txt": lambda part: part.write_text("after")}),
    ],
    ids=["file", "set"],
)
def test_a_disk_that_is_found_full_when_it_is_written_to_keeps_what_was_there(tmp_path, monkeypatch, write):
    """As file systems do that reserve no room before."""
    (tmp_path / "a.txt").write_text("before")

    def full(handle):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        write(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "before"}


def test_a_file_system_that_cannot_sync_is_written_to(tmp_path, monkeypatch):
    def without(handle):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", without)
    write_whole(tmp_path / "a.txt", lambda part: part.write_text("after"))
    assert (tmp_path / "a.txt").read_text() == "after"

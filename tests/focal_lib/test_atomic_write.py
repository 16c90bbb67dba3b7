"""Files are whole or not there, and what killed processes leave is removed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from focal_lib.atomic_write import (
    check_folder,
    check_target,
    finish_set,
    part_of,
    remove_leftovers,
    write_together,
    write_whole,
)


def text(words):
    return lambda part: part.write_text(words)


def fail(part):
    part.write_text("half")
    raise RuntimeError


def no_room(part):
    part.write_text("half")
    raise OSError(errno.ENOSPC, "no room", str(part))


def raising(number):
    def function(*arguments):
        raise OSError(number, "planted", str(arguments[-1]))

    return function


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "write",
    [
        lambda file, writer: write_whole(file, writer),
        lambda file, writer: write_together(file.parent, {"a.txt": writer}),
    ],
    ids=["file", "set"],
)
@pytest.mark.parametrize("writer", [fail, no_room, text("not synced")])
def test_an_error_leaves_what_was_there(tmp_path, monkeypatch, write, writer):
    """Also where a disk is found full only when it is synced, as by file systems that reserve no room before."""
    (tmp_path / "a.txt").write_text("before")
    monkeypatch.setattr(os, "fsync", raising(errno.ENOSPC))
    error, message = (RuntimeError, None) if writer is fail else (OSError, r"No space left on device: '.*/a\.txt'$")
    with pytest.raises(error, match=message):
        write(tmp_path / "a.txt", writer)
    assert contents(tmp_path) == {"a.txt": "before"}


def test_mode_and_link_stay(tmp_path):
    file, link = tmp_path / "a.txt", tmp_path / "link"
    file.write_text("before")
    file.chmod(0o600)
    link.symlink_to(file)
    write_whole(link, text("after"))
    assert link.is_symlink()
    assert file.read_text() == "after"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("make", "kind"),
    [(os.mkfifo, "a pipe"), (os.mkdir, "a folder"), (lambda path: path.symlink_to("/dev/null"), "a device")],
)
def test_only_files_are_replaced(tmp_path, make, kind):
    there = tmp_path / "there"
    make(there)
    with pytest.raises(FileExistsError, match=rf"there must be a file, or nothing yet\. Got {kind}\."):
        write_whole(there, text("lost"))
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


@pytest.fixture
def writers():
    """Starts processes that have written half of a file; the first is killed when the second is there."""
    processes = []

    def start(killed, alive):
        for file in (killed, alive):
            process = subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True)
            processes.append(process)
            assert process.stdout.readline() == "half\n"
        processes[0].send_signal(signal.SIGKILL)
        processes[0].wait()
        return processes[0].pid

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_parts_of_killed_processes_are_removed_and_no_others(tmp_path, writers):
    folder = tmp_path / "runs"
    folder.mkdir()
    pid = writers(folder / "killed.npz", folder / "alive.npz")
    [part], [living] = folder.glob(".*killed.npz"), folder.glob(".*alive.npz")
    (folder / ".hidden").touch()
    elsewhere = folder / f".{pid}@another-machine@c.npz"
    elsewhere.touch()
    assert remove_leftovers(tmp_path) == [part]
    assert len(list(folder.glob(".*"))) == 3
    assert set(remove_leftovers(tmp_path, of_all=True)) == {elsewhere, living}
    assert [path.name for path in folder.iterdir()] == [".hidden"]


def test_the_next_run_removes_what_a_killed_one_left(tmp_path, writers):
    file = tmp_path / "a.txt"
    writers(file, file)
    (tmp_path / ".99999999999999999999@here@a.txt").touch()  # no process has such a number
    write_whole(file, text("new"))
    assert file.read_text() == "new"
    assert len(list(tmp_path.glob(".*a.txt"))) == 2


def test_a_part_keeps_the_ending():
    assert part_of(Path("a/b.ipynb")).suffix == ".ipynb"
    assert part_of(Path("a/b.ipynb")).parent == Path("a")


def test_the_ending_of_a_name_is_that_of_what_is_written(tmp_path):
    for name in ("c.onnx", "c.ONNX"):
        check_target(tmp_path / name, ending=".onnx")
    for name in ("c.json", "c", "c.onnx.gz", ".onnx"):
        with pytest.raises(ValueError, match=rf"written as \.onnx: its name must end so. Got {name}"):
            check_target(tmp_path / name, ending=".onnx")


def test_links_to_nothing_and_to_themselves_and_no_folder(tmp_path):
    (tmp_path / "dangling").symlink_to(tmp_path / "new.txt")
    write_whole(tmp_path / "dangling", text("new"))
    assert (tmp_path / "new.txt").read_text() == "new"
    (tmp_path / "lost").symlink_to(tmp_path / "none" / "new.txt")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, message in (
        ("lost", "is a link into a folder that must exist"),
        ("loop", "Got a link to itself|loop"),
        ("none/a.txt", r"^a\.txt must go into a folder that exists\. There is no "),
    ):
        with pytest.raises(OSError, match=message):
            write_whole(tmp_path / name, fail)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "loop", "lost", "new.txt"]


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


# --- sets of files ------------------------------------------------------------------------


def test_a_set_of_files_appears_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "deep" / "out"
    with pytest.raises(RuntimeError):
        write_together(folder, {"a": text("1"), "b": fail})
    assert not list((tmp_path / "deep").iterdir())
    for words in "13":
        write_together(folder, {"a": text(words), "b": text(words)})
        (folder / "own").write_text("kept")
        with pytest.raises(RuntimeError):
            write_together(folder, {"a": text("2"), "b": fail})
        assert contents(folder) == {"a": words, "b": words, "own": "kept"}


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


@pytest.fixture
def plant(monkeypatch):
    """Lets renames to files of this name fail."""

    def fails_at(name):
        replace, planted = Path.replace, raising(errno.EIO)

        def some(self, target):
            fails = Path(target).name == name and not self.name.endswith(".old")
            return planted(target) if fails else replace(self, target)

        monkeypatch.setattr(Path, "replace", some)

    return fails_at


def test_a_new_folder_is_taken_back_with_what_fails(tmp_path, plant):
    plant("other")
    with pytest.raises(OSError, match="planted"):
        write_together(tmp_path / "out", {"a": text("1")}, {tmp_path / "other": text("1")})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("there", [("a", "b", "c"), ("b",), ()])
@pytest.mark.parametrize("fails", ["a", "b", "c"])
def test_a_set_whose_renames_fail_half_way_is_put_back(tmp_path, plant, there, fails):
    for name in there:
        (tmp_path / name).write_text("before")
    plant(fails)
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


def test_a_set_goes_into_the_folder_one_is_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in (Path("."), Path("")):
        write_together(folder, {"a.txt": text("a")})
    assert contents(tmp_path) == {"a.txt": "a"}


KILLED = """
import os, signal, sys
from pathlib import Path
from focal_lib.atomic_write import write_together

folder, at = Path(sys.argv[1]), int(sys.argv[2])
calls = [0]
for owner, name in ((os, "link"), (Path, "replace"), (Path, "unlink"), (Path, "write_text")):
    def counting(*arguments, own=getattr(owner, name), **options):
        calls[0] += 1
        if calls[0] == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return own(*arguments, **options)
    setattr(owner, name, counting)
write = lambda part: part.write_text("new")
write_together(folder, {"a": write, "b": write, "new": write}, {folder.parent / "elsewhere": write})
print("done")
"""


@pytest.mark.parametrize("is_new", [False, True])
def test_a_set_is_old_or_new_wherever_it_is_killed(tmp_path, is_new):
    """At every link, rename and removal in turn."""
    seen = set()
    for at in range(1, 100):
        folder = tmp_path / str(at) / "out"
        (folder.parent if is_new else folder).mkdir(parents=True)
        for file in () if is_new else (folder / "a", folder / "b", folder / "users", folder.parent / "elsewhere"):
            file.write_text("old")
        command = [sys.executable, "-c", KILLED, str(folder), str(at)]
        done = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if folder.exists():
            finish_set(folder)
        there = {path.name: path.read_text() for path in folder.glob("[!.]*")}
        elsewhere = folder.parent / "elsewhere"
        there |= {"elsewhere": elsewhere.read_text()} if elsewhere.exists() else {}
        users = {} if is_new else {"users": "old"}
        old = {} if is_new else dict.fromkeys(("a", "b", "elsewhere"), "old") | users
        new = dict.fromkeys(("a", "b", "new", "elsewhere"), "new") | users
        assert there in (old, new), at
        seen.add("old" if there == old else "new")
        write_together(folder, {"a": text("3")})
        assert (folder / "a").read_text() == "3"
        assert not [path for path in folder.rglob(".*") if "names of a set" in path.name or path.name.endswith(".old")]
        if done:
            break
    assert seen == {"old", "new"}


def test_half_of_the_names_of_a_set_is_none(tmp_path, writers):
    (tmp_path / "folder").mkdir()
    pid = writers(tmp_path / "x", tmp_path / "y")
    names = part_of(tmp_path / "folder" / "names of a set")
    names = names.with_name(names.name.replace(str(os.getpid()), str(pid)))
    names.write_text('["')
    finish_set(tmp_path / "folder")
    assert not names.exists()


def test_threads_write_one_file_whole(tmp_path):
    """Each has a part of its own."""

    def write(words):
        for _ in range(20):
            write_whole(tmp_path / "a.txt", text(words * 1000))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, "abcdefgh"))
    assert len(set((tmp_path / "a.txt").read_text())) == 1
    assert contents(tmp_path).keys() == {"a.txt"}


# --- the disk -----------------------------------------------------------------------------


def test_what_has_its_name_is_on_the_disk(tmp_path, disk_events):
    """After a power cut there is the file of before or the new one, not an empty one."""
    gone = f"gone {part_of(tmp_path / 'names of a set').name}"  # only when all have their names
    set_of_two = dict.fromkeys(("b.txt", "c.txt"), text("x"))
    for write, events in (
        (lambda: write_whole(tmp_path / "a.txt", text("a")), ["file", "name a.txt", "folder"]),
        (
            lambda: write_together(tmp_path, set_of_two),
            ["file", "file", "file", "name b.txt", "name c.txt", "folder", gone],
        ),
        (lambda: write_together(tmp_path / "new", set_of_two), ["file", "file", "folder", "name new", "folder"]),
    ):
        disk_events.clear()
        write()
        assert disk_events == events


def test_a_file_system_that_cannot_sync_is_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", raising(errno.EINVAL))
    write_whole(tmp_path / "a.txt", text("after"))
    assert contents(tmp_path) == {"a.txt": "after"}

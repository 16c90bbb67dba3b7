"""Files, and sets of files, that are whole or not there."""

from __future__ import annotations

import errno
import glob
import json
import os
import platform
import re
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Writer = Callable[[Path], Any]
_PART = re.compile(r"\.(\d+)(?:-\d+)?@(.*?)@")  # process, thread and machine: folders may be shared by many
_SET = "names of a set"  # of the files whose parts are all there and are being renamed
KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def part_of(path: Path) -> Path:
    """Where this thread writes before it renames: beside `path`, hidden, with the same ending."""
    main = threading.current_thread() is threading.main_thread()
    own = f"{os.getpid()}" if main else f"{os.getpid()}-{threading.get_native_id()}"
    return path.with_name(f".{own}@{platform.node()}@{path.name}")


def check_target(path: Path, *inputs: Path, ending: str = "") -> None:
    """Whether a file can be written there, asked before any work.

    Args:
        inputs: what is read: a result must not replace it.
        ending: of the name, as readers go by it: '.onnx'.

    Raises:
        FileExistsError: there is something else than a file, such as a device; or a link to itself.
        PermissionError: a file that may not be written to.
        ValueError: the file is one of the inputs, or its name has another ending, or is too long.
    """
    try:
        os.lstat(part_of(path).with_name(f"{part_of(path).name}.old"))  # the longest name that is needed
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ValueError(f"the result must have a shorter name. Got {len(path.name):,} letters.") from None
    if path.exists():
        if not path.is_file():
            raise FileExistsError(f"{path} must be a file, or nothing yet. Got {_kind(path)}.")
        if not os.access(path, os.W_OK):
            raise PermissionError(f"{path} must be writable. It is for reading only.")
        if any(given.exists() and path.samefile(given) for given in inputs):
            raise ValueError(f"the result must go into another file than the input. Got {path} for both.")
    if ending and path.suffix.lower() != ending:
        raise ValueError(f"the result is written as {ending}: its name must end so. Got {path.name}.")


def check_folder(folder: Path, *, made: bool = False) -> None:
    """Whether files can be written into the folder, asked before any work.

    Args:
        made: it will be, where there is none.

    Raises:
        NotADirectoryError: there is something else, such as a file, or a link to nothing.
        FileNotFoundError: there is none, or no place to make it in.
        PermissionError: nothing may be written there.
    """
    if folder.is_dir():
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{folder} must be a folder that can be written to. It cannot.")
    elif folder.exists() or folder.is_symlink():
        raise NotADirectoryError(f"{folder} must be a folder. Got {_kind(folder)}.")
    elif not made or folder.parent == folder:
        raise FileNotFoundError(f"the result must go into a folder that exists. There is no {folder}.")
    else:
        check_folder(folder.parent, made=True)


def _kind(path: Path) -> str:
    if not path.exists():
        return "a link to nothing"
    mode = path.stat().st_mode
    return "a file" if stat.S_ISREG(mode) else next((name for is_one, name in KINDS if is_one(mode)), "a device")


def write_whole(path: Path, write: Writer) -> None:
    """Write to a part beside the file, sync it and rename it; mode and owner of a file that is replaced stay.

    It takes about 10 ms a file, so that whoever writes files by the thousand does without this.

    Raises:
        FileNotFoundError: there is no such folder.
        FileExistsError: there is something else than a file, such as a device.
        OSError: no room, or another reason; what was there is as it was.
    """
    place = _place(path)
    part = part_of(place)
    try:
        _write_part(place, part, write)
        part.replace(place)
        sync_folder(place.parent)
    finally:
        part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """The names in it onto the disk, where the system can."""
    with suppress(OSError):  # Windows opens no folder, and some file systems sync none
        _sync(folder, os.O_RDONLY)


def _sync(path: Path, mode: int = os.O_RDWR) -> None:  # Windows syncs what can be written to
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):  # file systems without
            raise
    finally:
        os.close(handle)


def write_together(folder: Path, writers: Mapping[str, Writer], also: Mapping[Path, Writer] | None = None) -> None:
    """Write all of the files into the folder, which is made where there is none, or change nothing.

    All are written before the first takes its place, a new folder with all of its files; what fails then is undone, and
    signals wait so long. After a kill among the renames `finish_set`, or the next call, does the others.

    Args:
        also: files elsewhere, which belong to them.

    Raises:
        OSError: they cannot be written; what was there is as it was.
    """
    check_folder(folder, made=True)
    folder = folder.resolve()  # '.' has no name
    finish_set(folder)
    own, is_new = part_of(folder), not folder.exists()
    parts: dict[Path, Path] = {}  # place -> part
    try:
        if is_new:
            folder.parent.mkdir(parents=True, exist_ok=True)
            _remove_parts_of(folder)
            parts[folder] = own
            own.mkdir()
        for path, write in ({folder / name: write for name, write in writers.items()} | dict(also or {})).items():
            if is_new and path.parent.resolve() == folder:
                _write_part(path, own / path.name, write)
            else:
                place = _place(path)
                parts[place] = part_of(place)
                _write_part(place, parts[place], write)
        if is_new:
            sync_folder(own)
        with _signals_wait(), _held(folder.parent if is_new else folder):
            if len(parts) > 1:
                names = part_of((own if is_new else folder) / _SET)
                names.write_text(json.dumps([str(place) for place in parts if place != folder]), encoding="utf-8")
                _sync(names)
            _rename_all(parts)
    finally:
        part_of(folder / _SET).unlink(missing_ok=True)
        if is_new:
            shutil.rmtree(own, ignore_errors=True)
        _remove(part for part in parts.values() if part != own)


def finish_set(folder: Path) -> None:
    """Give the files of a set that a killed process left half renamed their names: it is then whole, and the new one.

    Raises:
        OSError: they cannot be renamed.
    """
    for names in folder.glob(f".*@{_SET}"):
        if not (match := _left_behind(names.name)):
            continue
        with _held(folder), suppress(FileNotFoundError, ValueError):  # done by another meanwhile; not all there yet
            for place in map(Path, json.loads(names.read_text(encoding="utf-8"))):
                part = place.with_name(match[0] + place.name)
                with suppress(FileNotFoundError):
                    part.replace(place)
                part.with_name(f"{part.name}.old").unlink(missing_ok=True)
        names.unlink(missing_ok=True)


def _rename_all(parts: Mapping[Path, Path]) -> None:
    """Each part to its place, or none: what was there has a second name until all are done, and is put back."""
    olds = {place: part.with_name(f"{part.name}.old") for place, part in parts.items()}
    done: list[Path] = []
    try:
        for place, old in olds.items():
            if place.exists():
                _second_name(place, old)
        for place, part in parts.items():
            part.replace(place)
            done.append(place)
    except BaseException:
        for place in done:
            if olds[place].exists():
                olds[place].replace(place)
            else:
                place.replace(parts[place])
        _remove(olds.values())  # only where all are back
        raise
    for folder in {place.parent for place in parts}:
        sync_folder(folder)
    _remove(olds.values())


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _second_name(place: Path, second: Path) -> None:
    try:
        os.link(place, second)
    except OSError:  # file systems without
        shutil.copy2(place, second)


def _place(path: Path) -> Path:
    """Where the file itself is: a link stays one."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.name} must go into a folder that exists. There is no {path.parent}.")
    check_target(path)
    try:
        place = path.resolve()
    except RuntimeError:  # before Python 3.13
        raise FileExistsError(f"{path} must be a file, or nothing yet. Got a link to itself.") from None
    if not place.parent.is_dir():
        raise FileNotFoundError(f"{path} is a link into a folder that must exist. There is no {place.parent}.")
    _remove_parts_of(place)
    return place


def _write_part(place: Path, part: Path, write: Writer) -> None:
    try:
        write(part)
        _sync(part)
        if place.exists():
            before = place.stat()
            part.chmod(stat.S_IMODE(before.st_mode))
            if (before.st_uid, before.st_gid) != (part.stat().st_uid, part.stat().st_gid):
                with suppress(OSError):  # only root may give away
                    os.chown(part, before.st_uid, before.st_gid)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(place)) from error


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Those that end a process are answered afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    ends = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {own: signal.signal(own, lambda number, _: came.append(number)) for own in ends}
    try:
        yield
    finally:
        for own, handler in before.items():
            signal.signal(own, signal.SIG_DFL if handler is None else handler)
        for number in came:
            signal.raise_signal(number)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """One process at a time: of two sets the last is there, not half of each."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # file systems without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _left_behind(name: str, of_all: bool = False) -> re.Match[str] | None:
    """Match of the name of a part, if its process is of this machine and no longer runs, or with `of_all` always."""
    match = _PART.match(name)
    return match if match and (of_all or (match[2] == platform.node() and not _runs(int(match[1])))) else None


def _remove_parts_of(path: Path) -> None:
    """What killed processes of this machine left of this file or folder."""
    for left in path.parent.glob(f".*@{glob.escape(path.name)}*"):
        rest = left.name
        while match := _left_behind(rest):  # of a part, too, where what writes it has parts of its own
            rest = rest[match.end() :]
        if rest != left.name and rest in (path.name, f"{path.name}.old"):
            shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)


def remove_leftovers(folder: Path, *, of_all: bool = False) -> list[Path]:
    """Remove what killed processes of this machine left half written, in the folder and those in it.

    Args:
        of_all: of every process and machine, for who holds a lock on the folder.

    Returns:
        What was removed.
    """
    removed = [Path(place, name) for place, _, names in os.walk(folder) for name in names if _left_behind(name, of_all)]
    _remove(removed)
    return removed


def _runs(pid: int) -> bool:
    if os.name != "posix":  # there signal 0 is no question
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is someone else's, or no process'
        return True
    return True

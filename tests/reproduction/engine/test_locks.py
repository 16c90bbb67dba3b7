"""A lock for each run: one process has it, and it goes with the process."""

import contextlib
import errno
import fcntl
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import torch

from reproduction.engine import locks
from reproduction.engine.locks import TimeUp, held, is_locked, place_on_a_gpu

HOLDER = """
import sys, time
from pathlib import Path
from reproduction.engine.locks import held
with held(Path(sys.argv[1]), "run x"):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of a run."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "x")], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()


def test_one_process_has_it(tmp_path, holder):
    assert is_locked(tmp_path / "x")
    assert not is_locked(tmp_path / "y")


def test_a_killed_process_blocks_nobody(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert not is_locked(tmp_path / "x")
    with held(tmp_path / "x", "run x", until=0):
        pass


def test_who_waits_says_so_and_gets_it(tmp_path, holder, caplog):
    threading.Timer(0.5, holder.kill).start()
    with caplog.at_level(logging.WARNING), held(tmp_path / "x", "run x"):
        assert caplog.messages == ["run x: another process is doing it, waiting"]


def test_who_waits_does_so_until_the_time_is_up(tmp_path, holder):
    started = time.time()
    told = "time is up, and another process is still doing run x"
    with pytest.raises(TimeUp, match=told), held(tmp_path / "x", "run x", until=started + 0.2):
        pass
    assert 0.2 <= time.time() - started < 5
    with pytest.raises(TimeUp), held(tmp_path / "x", "run x", until=started):
        pass


def test_the_lock_outlives_the_folder(tmp_path, holder):
    (tmp_path / "x").mkdir()
    (tmp_path / "x").rename(tmp_path / "x.1")
    assert is_locked(tmp_path / "x")


def test_who_looks_does_not_look_like_who_holds(tmp_path):
    """Two grids that end together each ask whether the other is at a run that failed."""
    with held(tmp_path / "x", "run x"):
        pass
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: is_locked(tmp_path / "x"), range(500)))
    assert not any(found)


def test_who_looks_does_not_wait(tmp_path):
    """The status of a grid with many runs at work was a quarter of a second each."""
    folders = [tmp_path / str(number) for number in range(12)]
    with contextlib.ExitStack() as stack:
        for folder in folders:
            stack.enter_context(held(folder, "run x"))
        started = time.monotonic()
        assert all(is_locked(folder) for folder in folders)
        assert time.monotonic() - started < 1.5
    assert not any(is_locked(folder) for folder in folders)


def test_who_acquires_is_not_refused_because_of_a_look(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_GLANCE", 10)  # this look takes longer than others
    with held(tmp_path / "x", "run x"):
        pass
    look = (tmp_path / ".locks" / "x").open("rb")
    fcntl.flock(look, fcntl.LOCK_SH)
    threading.Timer(0.05, look.close).start()
    with held(tmp_path / "x", "run x", until=0):
        assert is_locked(tmp_path / "x")


# --- places on GPUs ---------------------------------------------------------------------


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(locks.tempfile, "gettempdir", lambda: str(tmp_path))


@pytest.mark.usefixtures("own_folder")
def test_each_gpu_gets_a_job_before_one_gets_two():
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(place_on_a_gpu(2, ["a", "b", "c"])) for _ in range(6)]
    assert taken == ["cuda:0", "cuda:1", "cuda:2"] * 2


@pytest.mark.usefixtures("own_folder")
def test_jobs_that_choose_at_once_share_out_all_places():
    together = threading.Barrier(6)

    def choose(_):
        together.wait()
        with place_on_a_gpu(3, ["a", "b"], poll=0.01, until=time.time() + 60) as device:
            together.wait()  # nobody leaves before all have chosen
            return device

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(choose, range(6))) == ["cuda:0"] * 3 + ["cuda:1"] * 3


@pytest.mark.usefixtures("own_folder")
def test_a_full_machine_is_waited_for():
    holding, done = threading.Event(), threading.Event()

    def hold():
        with place_on_a_gpu(1, ["a"]):
            holding.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait()
    threading.Timer(0.3, done.set).start()
    started = time.monotonic()
    with place_on_a_gpu(1, ["a"], poll=0.05) as device:
        assert device == "cuda:0"
    assert time.monotonic() - started > 0.2
    thread.join()


@pytest.mark.usefixtures("own_folder")
def test_a_full_machine_is_waited_for_until_the_time_is_up():
    with place_on_a_gpu(1, ["a"]):
        started = time.time()
        told = "time is up, and every GPU is still taken"
        with pytest.raises(TimeUp, match=told), place_on_a_gpu(1, ["a"], until=started + 0.1):
            pass
        assert 0.1 <= time.time() - started < 0.9  # not the second between two looks


def test_no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(ValueError, match=r"this machine has 0 GPUs. Got 'cuda'"), place_on_a_gpu(1):
        pass


def lacks_locks(*_):
    raise OSError(errno.ENOTSUP, "no locks that can be shared")


@pytest.mark.parametrize(
    "fcntl", [None, SimpleNamespace(flock=lacks_locks, LOCK_SH=1, LOCK_NB=4)], ids=["Windows", "a file system without"]
)
def test_where_locks_cannot_be_shared_a_look_tells_the_same(tmp_path, monkeypatch, fcntl):
    monkeypatch.setattr(locks, "fcntl", fcntl)
    with held(tmp_path / "x", "run x"):
        assert is_locked(tmp_path / "x")
    assert not is_locked(tmp_path / "x")

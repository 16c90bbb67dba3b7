"""Small work on one thread, whose caller has its own again afterwards."""

import threading

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from focal_lib.threads import SMALL, _controller, few_threads, one_thread
from reproduction.ledger import find


def threads():
    """Those of torch, which are this thread's, and the most that a library of linear algebra may take."""
    of_blas = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    return torch.get_num_threads(), max(of_blas)


@pytest.fixture
def two():
    """A process that may use two threads, on any machine, whose libraries are looked for again."""
    _controller.cache_clear()
    before = torch.get_num_threads()
    with threadpool_limits(2):
        torch.set_num_threads(2)
        yield threads()
        torch.set_num_threads(before)


def test_inside_is_one_thread_and_afterwards_what_was(two):
    with one_thread():
        assert threads() == (1, 1)
    assert threads() == two == (2, 2)
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads() == two


def test_two_threads_at_once_leave_what_was(two):
    """In, in, out, out: the second must not give back the one thread that it found."""
    inside, may_leave = threading.Barrier(2), threading.Event()
    seen = []

    def other():
        torch.set_num_threads(2)
        with one_thread():
            inside.wait(60)
            may_leave.wait(60)
            seen.append(threads())

    second = threading.Thread(target=other)
    with one_thread():
        second.start()
        inside.wait(60)
    may_leave.set()
    second.join(60)
    assert seen[0][0] == 1
    assert threads() == two


def test_small_is_by_the_numbers_there_are(two):
    for numbers, expected in ((SMALL, (1, 1)), (SMALL + 1, two)):
        with few_threads(numbers):
            assert threads() == expected


def test_a_claim_is_checked_on_one_thread(two, monkeypatch):
    seen = []
    claim = find("kk24.prop1")
    check = claim.check
    monkeypatch.setitem(claim.__dict__, "check", lambda: seen.append(threads()) or check())
    claim.__dict__.pop("_checked", None)
    assert claim.evidence
    assert (seen, threads()) == ([(1, 1)], two)

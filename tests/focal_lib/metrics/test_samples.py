"""Samples in chunks: arrays, memory maps and Dask arrays give the same metrics."""

import threading
import weakref

import numpy as np
import pytest
import torch
from scipy.special import softmax

from focal_lib.metrics import samples
from focal_lib.metrics.bins import ece
from focal_lib.metrics.samples import Samples


def test_metrics_do_not_depend_on_the_chunk(synthetic_logits, measure, monkeypatch):
    z, y = synthetic_logits(1000, 5)
    p = softmax(z / 2, -1)
    whole = measure(p, y)
    monkeypatch.setattr(samples, "CHUNK_SIZE", 5 * 37)
    assert measure(p, y) == pytest.approx(whole, rel=1e-12)
    assert measure(torch.from_numpy(p), torch.from_numpy(y)) == pytest.approx(whole, rel=1e-12)


def test_samples_are_read_in_order():
    z, y = np.arange(3000.0).reshape(-1, 3), np.arange(1000) % 3
    assert Samples(z, y).total(lambda v, _: v.sum(0)).tolist() == z.sum(0).tolist()
    first, labels = Samples(z, y).gather(lambda v, t: (v[:, 0], t))
    np.testing.assert_array_equal(first, z[:, 0])
    np.testing.assert_array_equal(labels, y)
    (first,), (sums, count) = Samples(z, y).collect(lambda v, t: ((v[:, 0],), (v.sum(0), t.sum())))
    np.testing.assert_array_equal(first, z[:, 0])
    assert (sums.tolist(), count) == (z.sum(0).tolist(), y.sum())


@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_chunk_gives_is_dropped(threads, monkeypatch):
    """Thousands of small arrays that are kept until the end hold far more memory than they have."""
    given, most = [], 0

    def chunk(v, _):
        nonlocal most
        most = max(most, sum(ref() is not None for ref in given))
        found = v[:, 0].copy()
        given.append(weakref.ref(found))
        return (found,), (v.sum(0),)

    monkeypatch.setattr(samples, "CHUNK_SIZE", 24)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    z = np.arange(3000.0).reshape(-1, 3)
    (first,), (total,) = Samples(z, np.zeros(1000, int)).collect(chunk)
    np.testing.assert_array_equal(first, z[:, 0])
    np.testing.assert_array_equal(total, z.sum(0))
    assert len(given) == 125
    assert most <= 2 + samples._AHEAD * threads


@pytest.mark.parametrize("dask", [False, True])
def test_whole_numbers_and_truth_values_are_counted(dask, monkeypatch):
    monkeypatch.setattr(samples, "CHUNK_SIZE", 30)
    z, y = np.arange(3000.0).reshape(-1, 3), np.arange(1000) % 3
    if dask:
        z = pytest.importorskip("dask.array").from_array(z, chunks=(300, 3))
    _, (yes, short, wide) = Samples(z, y).collect(lambda v, _: ((), (v.sum() > 0, np.uint8(200), np.int32(2**30))))
    assert (yes, short, wide) == (100, 20_000, 100 * 2**30)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (lambda v: v[::2, 0], r"float64 of shape \(10,\). Got float64 of shape \(5,\)"),
        (lambda v: v[:, 0].astype(int) if v[0, 0] == 0 else v[:, 0], "int64 of shape .* Got float64"),
    ],
)
def test_each_sample_has_an_entry_of_one_type(entries, message, monkeypatch):
    monkeypatch.setattr(samples, "CHUNK_SIZE", 30)
    z = np.arange(3000.0).reshape(-1, 3)
    with pytest.raises(ValueError, match=message):
        Samples(z, np.zeros(1000, int)).gather(lambda v, _: (entries(v),))


def test_a_wrong_sample_far_inside_is_found(monkeypatch):
    p = np.full((1000, 2), 0.5)
    p[900] = 0.4
    monkeypatch.setattr(samples, "CHUNK_SIZE", 64)
    with pytest.raises(ValueError, match="must sum to 1"):
        ece(p, np.zeros(1000, int))
    p[900] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        ece(p, np.zeros(1000, int))


@pytest.mark.parametrize(
    ("values", "labels", "message"),
    [
        (np.zeros(3), np.zeros(3, int), r"logits must have shape \(n, K\). Got \(3,\)"),
        (np.zeros((3, 1)), np.zeros(3, int), r"K >= 2. Got \(3, 1\)"),
        (np.zeros((0, 2)), np.zeros(0, int), r"logits must not be empty. Got shape \(0, 2\)"),
        (np.zeros((3, 2)), np.zeros(2, int), r"labels must have shape \(n,\) = \(3,\). Got \(2,\)"),
        (np.zeros((3, 2)), np.array([0, 1, 2]), "labels must lie in 0 ... 1. Got values from 0 to 2"),
    ],
)
def test_bad_input(values, labels, message):
    with pytest.raises(ValueError, match=message):
        Samples(values, labels)


# --- Dask ---------------------------------------------------------------------------------


def test_metrics_of_a_dask_array(synthetic_logits, measure):
    dask_array = pytest.importorskip("dask.array")
    z, y = synthetic_logits(900, 4)
    p = softmax(z / 2, -1)
    lazy = dask_array.from_array(p, chunks=(250, 3))  # samples cut across, and columns too
    assert measure(lazy, y) == pytest.approx(measure(p, y), rel=1e-12)
    assert measure(lazy, dask_array.from_array(y, chunks=400)) == pytest.approx(measure(p, y), rel=1e-12)


def test_blocks_of_unknown_size():
    dask_array = pytest.importorskip("dask.array")
    lazy = dask_array.from_array(np.zeros((10, 3)), chunks=(5, 3))
    with pytest.raises(ValueError, match="logits must have blocks of known size"):
        Samples(lazy[lazy[:, 0] > 0], np.zeros(10, int))


def threads_of_chunks(count, monkeypatch):
    """How many threads torch had in each chunk, and which thread it was, with `count` threads outside."""
    monkeypatch.setattr(samples, "CHUNK_SIZE", 30)
    outside = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        seen = Samples(np.zeros((1000, 3)), np.zeros(1000, int)).map(
            lambda *_: (torch.get_num_threads(), threading.get_ident())
        )
        assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(outside)
    return [set(values) for values in zip(*seen, strict=True)]


def test_a_chunk_is_worked_on_by_one_thread(monkeypatch):
    inside, workers = threads_of_chunks(2, monkeypatch)
    assert inside == {1}
    assert threading.get_ident() not in workers
    assert threads_of_chunks(1, monkeypatch) == [{1}, {threading.get_ident()}]


def test_sums_do_not_depend_on_the_number_of_threads(synthetic_logits, monkeypatch):
    z, y = synthetic_logits(1000, 5)
    monkeypatch.setattr(samples, "CHUNK_SIZE", 5 * 37)
    outside, found = torch.get_num_threads(), []
    for count in (1, 3):
        torch.set_num_threads(count)
        found.append(Samples(z, y).total(lambda v, _: np.exp(v).sum(0)).tolist())
    torch.set_num_threads(outside)
    assert found[0] == found[1]

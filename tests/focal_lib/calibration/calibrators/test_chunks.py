"""Fits in chunks: arrays, memory maps and Dask arrays give the same, and memory stays small."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from focal_lib.calibration.calibrators.fit_samples import FitSamples
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.metrics import samples
from focal_lib.metrics.bins import ece
from tests.focal_lib.calibration.calibrators.conftest import METHODS
from tests.measures import MEASURES

IN_CHUNKS = (
    *("temperature", "temperature, adaptive ece", "focal, newton", "focal, nll on the grid", "focal, adaptive ece"),
    *("vector", "matrix"),
)


def fitted_numbers(fit):
    return np.concatenate([np.ravel(v) for k, v in sorted(vars(fit).items()) if k.endswith("_")]).astype(float)


@pytest.mark.parametrize("method", [METHODS[name] for name in IN_CHUNKS], ids=IN_CHUNKS)
def test_fits_do_not_depend_on_the_chunk(synthetic_logits, method, tmp_path, monkeypatch):
    z, y = synthetic_logits(1000, 5)
    z = z.astype(np.float16)
    whole = fitted_numbers(method.fit(z.astype(np.float64), y))
    np.save(tmp_path / "z.npy", z)
    monkeypatch.setattr(samples, "CHUNK_SIZE", 5 * 37)  # 28 chunks, the last one short
    mapped = np.load(tmp_path / "z.npy", mmap_mode="r")
    np.testing.assert_allclose(fitted_numbers(method.fit(mapped, y)), whole, rtol=1e-6, atol=1e-7)


def test_lazy_probabilities_are_the_probabilities(synthetic_logits, tmp_path, monkeypatch):
    z, y = synthetic_logits(1000, 5)
    np.save(tmp_path / "z.npy", z)
    fit = FocalTemperatureScaling("nll", "newton").fit(z, y)
    lazy, probs = fit.lazy_proba(np.load(tmp_path / "z.npy", mmap_mode="r")), fit.predict_proba(z)
    assert (lazy.shape, lazy.dtype) == (probs.shape, probs.dtype)
    monkeypatch.setattr(samples, "CHUNK_SIZE", 5 * 37)
    for measure in MEASURES:
        assert measure(lazy, y) == pytest.approx(measure(probs, y), rel=1e-12)


def test_a_large_fit_starts_from_a_subset(synthetic_logits, monkeypatch):
    z, y = synthetic_logits(5000, 5, gamma=1.0)
    z, y = z[np.argsort(y)], np.sort(y)  # samples in the order of their class
    whole = FocalTemperatureScaling("nll", "newton").fit(z, y)
    monkeypatch.setattr("focal_lib.calibration.calibrators.newton._SAMPLE", 300)
    sampled = FocalTemperatureScaling("nll", "newton").fit(z, y)
    np.testing.assert_allclose(fitted_numbers(sampled), fitted_numbers(whole), rtol=1e-4)
    assert sampled.objective_ == pytest.approx(whole.objective_, abs=1e-12)


@pytest.mark.slow
def test_with_many_classes_the_subset_has_fewer_samples(synthetic_logits, monkeypatch):
    """What a pass over it costs are its logits: the samples of 20 classes would be as many with 2,000."""
    z, y = synthetic_logits(1500, 300, gamma=1.0)
    whole = FocalTemperatureScaling("nll", "newton").fit(z, y)
    drawn, draw = [], FitSamples.subsample
    monkeypatch.setattr(FitSamples, "subsample", lambda self, n: (drawn.append(n), draw(self, n))[1])
    monkeypatch.setattr("focal_lib.calibration.calibrators.newton._NUMBERS", 150_000)
    sampled = FocalTemperatureScaling("nll", "newton").fit(z, y)
    assert max(drawn) == 500
    assert sampled.objective_ == pytest.approx(whole.objective_, abs=1e-12)


# --- Dask ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [METHODS[name] for name in IN_CHUNKS], ids=IN_CHUNKS)
def test_a_dask_array_gives_the_same_fit(synthetic_logits, method):
    dask_array, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    z, y = synthetic_logits(300, 4)
    whole = fitted_numbers(method.fit(z, y))
    lazy = dask_array.from_array(z, chunks=(110, 3))  # samples cut across, and columns too
    labels = dask_array.from_array(y, chunks=130)
    with dask.config.set(scheduler="synchronous"):  # without the waiting of its threads
        np.testing.assert_allclose(fitted_numbers(method.fit(lazy, y)), whole, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(fitted_numbers(method.fit(lazy, labels)), whole, rtol=1e-6, atol=1e-7)
    probs = method.predict_proba(lazy)
    assert hasattr(probs, "dask")
    np.testing.assert_allclose(probs.compute(), method.predict_proba(z), atol=1e-12)
    for measure in MEASURES:
        assert measure(probs, labels) == pytest.approx(measure(method.predict_proba(z), y), rel=1e-9)


def test_dask_blocks_without_samples(synthetic_logits):
    dask_array = pytest.importorskip("dask.array")
    z, y = synthetic_logits(300, 3)
    lazy, labels = dask_array.from_array(z, chunks=(100, 3)), dask_array.from_array(y, chunks=100)
    wanted = dask_array.from_array((np.arange(300) < 100) | (np.arange(300) >= 200), chunks=100)
    some, truth = (array[wanted].compute_chunk_sizes() for array in (lazy, labels))
    assert 0 in some.chunks[0]
    kept = np.r_[0:100, 200:300]
    fit, same = TemperatureScaling().fit(some, truth), TemperatureScaling().fit(z[kept], y[kept])
    assert fit.temperature_ == pytest.approx(same.temperature_, rel=1e-9)
    assert ece(fit.predict_proba(some), truth) == pytest.approx(ece(same.predict_proba(z[kept]), y[kept]))
    narrow = fit.predict_proba(some.astype(np.float32))
    assert narrow.dtype == narrow.compute().dtype == np.float32


def test_bad_dask_arrays(synthetic_logits):
    dask_array = pytest.importorskip("dask.array")
    z, y = synthetic_logits(100, 3)
    lazy = dask_array.from_array(z, chunks=(50, 3))
    with pytest.raises(ValueError, match=r"labels must have shape \(n,\) = \(100,\). Got \(99,\)"):
        TemperatureScaling().fit(lazy, y[1:])
    with pytest.raises(ValueError, match="labels must lie in 0"):
        TemperatureScaling().fit(lazy, np.r_[y[:-1], 9])


@pytest.mark.slow
def test_a_fit_outlives_a_killed_worker(synthetic_logits, tmp_path):
    distributed = pytest.importorskip("distributed")
    import dask.array

    z, y = synthetic_logits(20_000, 5)
    whole = TemperatureScaling().fit(z, y)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        lazy = dask.array.from_array(z, chunks=(2000, 5)).map_blocks(_kill_once, tmp_path / "killed", meta=z[:0])
        fit = TemperatureScaling().fit(lazy, y)
        assert (tmp_path / "killed").exists()  # it did happen
    assert fit.temperature_ == pytest.approx(whole.temperature_, rel=1e-9)


def _kill_once(block, mark):
    """The first worker that comes here ends at once, as if its machine failed."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return block
    return os.kill(os.getpid(), signal.SIGKILL)


# --- memory ----------------------------------------------------------------------------


MEMORY = """
import sys, threading, time
import numpy as np
from focal_lib.calibration import TemperatureScaling

def allocated():  # MB; the pages of the file itself are not counted, the system may drop them
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) // 1024

def watch():
    while not done:
        seen.append(allocated())
        time.sleep(0.005)

z, y = np.load(sys.argv[1] + "/z.npy", mmap_mode="r"), np.load(sys.argv[1] + "/y.npy")
TemperatureScaling().fit(z[:20_000], y[:20_000])
seen, done = [allocated()], []
thread = threading.Thread(target=watch)
thread.start()
TemperatureScaling().fit(z, y)
done.append(True)
thread.join()
print(max(seen) - seen[0])
"""


@pytest.mark.slow
def test_memory_is_bounded_by_the_chunk(tmp_path):
    """A fit of float16 logits that would take 160 MB as float64."""
    n, classes = 200_000, 100
    rng = np.random.default_rng(0)
    block = rng.normal(size=(n // 10, classes)).astype(np.float16)
    z = np.lib.format.open_memmap(tmp_path / "z.npy", "w+", np.float16, (n, classes))
    for start in range(0, n, len(block)):
        z[start : start + len(block)] = block
    np.save(tmp_path / "y.npy", np.where(rng.random(n) < 0.5, z.argmax(1), rng.integers(0, classes, n)))
    found = subprocess.run([sys.executable, "-c", MEMORY, str(tmp_path)], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 60  # MB

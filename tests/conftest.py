"""What tests of several packages use: data made up for them, one thread each, and no deadlines."""

import os
import stat

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy and torch: sums of floats depend on the number of threads

import numpy as np
import pytest
from hypothesis import settings

from focal_lib.theory.maps import focal_log_probs

collect_ignore = ["browser"]  # make browser runs these, in an environment with playwright

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")


def pytest_collection_modifyitems(items):
    """Files with slow tests first: one of them begun last would leave the other cores idle. The slowest plan builds."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow, item.path.parent.name != "workflow"))


@pytest.fixture(scope="session")
def synthetic_logits():
    """Makes logits (n, K) and labels (n,) that are calibrated after temperature scaling and the map of gamma."""

    def make(n=2000, classes=5, seed=0, temperature=2.0, gamma=0.0):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(n, classes)) * 1.5
        z[np.arange(n), rng.integers(0, classes, n)] += rng.normal(4, 2, n)
        p = np.exp(focal_log_probs(z / temperature, gamma))
        return z, (p.cumsum(1) > rng.random((n, 1))).argmax(1)

    return make


@pytest.fixture
def photographs(monkeypatch):
    """Five that are made up, of 34 x 40 pixels or more, in place of those that frost lays over images."""
    rng = np.random.default_rng(5)
    found = tuple(rng.integers(0, 256, (34 + k, 40 - k, 3), dtype=np.uint8) for k in range(5))
    monkeypatch.setattr("reproduction.engine.data.corruption_kinds.frost_photographs", lambda: found)
    return found


@pytest.fixture(scope="session")
def write_npz():
    """Writes train.npz and test.npz of random images with ten classes, or with one label, into a folder."""

    def write(folder, n_train=20, n_test=10, shape=(28, 28), labels=None):
        folder.mkdir(parents=True)
        rng = np.random.default_rng(0)
        for side, n in (("train", n_train), ("test", n_test)):
            y = rng.integers(0, 10, n) if labels is None else np.full(n, labels)
            np.savez(folder / f"{side}.npz", images=rng.integers(0, 256, (n, *shape), dtype=np.uint8), labels=y)

    return write


@pytest.fixture
def disk_events(monkeypatch):
    """What comes onto the disk, gets its name and goes, in this order: 'file', 'folder', 'name a.txt', 'gone a.txt'."""
    seen = []
    fsync, replace, unlink = os.fsync, os.replace, os.unlink

    def syncing(handle):
        seen.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def replacing(part, place, **options):
        seen.append(f"name {os.path.basename(place)}")
        replace(part, place, **options)

    def unlinking(path, **options):
        unlink(path, **options)  # of what is not there nothing is seen
        seen.append(f"gone {os.path.basename(path)}")

    for name, new in (("fsync", syncing), ("replace", replacing), ("unlink", unlinking)):
        monkeypatch.setattr(os, name, new)
    return seen

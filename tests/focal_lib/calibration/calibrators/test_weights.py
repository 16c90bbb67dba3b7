"""Weights: 2 is the sample twice, 0 is none, for every calibrator and kind of array."""

import numpy as np
import pytest
from sklearn.base import clone

from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.temperature import AsGiven, TemperatureScaling
from focal_lib.metrics.bins import adaptive_ece_of, ece_of
from tests.focal_lib.calibration.calibrators.conftest import METHODS, unfitted


@pytest.fixture(scope="module")
def weighted(synthetic_logits):
    """Logits, labels and whole weights, some 0."""
    z, y = synthetic_logits(400, 3)
    return z, y, np.random.default_rng(0).integers(0, 4, 400)


def test_a_weight_is_a_number_of_repetitions(weighted, method):
    z, y, w = weighted
    found = method.fit(z, y, sample_weight=w).predict_proba(z)
    repeated = clone(method).fit(np.repeat(z, w, axis=0), np.repeat(y, w)).predict_proba(z)
    np.testing.assert_allclose(found, repeated, atol=1e-6)
    unweighted = clone(method).fit(z, y).predict_proba(z)
    assert isinstance(method, AsGiven) or np.abs(found - unweighted).max() > 1e-4


@pytest.mark.parametrize("name", ["temperature", "temperature, ece", "focal, nll on the grid", "histogram"])
def test_only_the_ratio_of_weights_counts(weighted, name):
    """But for what counts samples: a prior, a penalty on a sum, quantiles, bins of equal mass."""
    z, y, w = weighted
    half, whole = (clone(METHODS[name]).fit(z, y, scale * w).predict_proba(z) for scale in (0.5, 1.0))
    np.testing.assert_allclose(half, whole, atol=1e-6)


@pytest.mark.parametrize("name", ["venn-abers", "structured-matrix"])
def test_weights_that_a_library_cannot_count(weighted, name):
    z, y, w = weighted
    with pytest.raises(ValueError, match=r"sample_weight of \w+ must be whole numbers: its library counts samples"):
        unfitted(name).fit(z, y, w / 2)


@pytest.mark.parametrize("name", ["temperature", "focal, newton", "focal, adaptive ece", "vector", "isotonic"])
def test_memory_maps_and_dask_arrays(weighted, name, tmp_path):
    z, y, w = weighted
    whole = clone(METHODS[name]).fit(z, y, w).predict_proba(z)
    np.save(tmp_path / "z.npy", z)
    mapped = np.load(tmp_path / "z.npy", mmap_mode="r")
    np.testing.assert_allclose(clone(METHODS[name]).fit(mapped, y, w).predict_proba(z), whole, atol=1e-6)
    array = pytest.importorskip("dask.array")
    lazy = [array.from_array(part, chunks=130) for part in (z, y, w)]
    np.testing.assert_allclose(clone(METHODS[name]).fit(*lazy).predict_proba(z), whole, atol=1e-6)


@pytest.mark.parametrize("method", [TemperatureScaling(), FocalTemperatureScaling("nll", "newton")])
def test_the_subset_that_starts_a_large_fit_keeps_its_weights(weighted, monkeypatch, method):
    z, y, w = weighted
    whole = clone(method).fit(z, y, w)
    monkeypatch.setattr("focal_lib.calibration.calibrators.newton._SAMPLE", 60)
    assert clone(method).fit(z, y, w).objective_ == pytest.approx(whole.objective_, abs=1e-9)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0, 1.0], "Negative values in data passed to `sample_weight`"),
        ([1.0, np.nan, 1.0], "NaN"),
        ([0.0, 0.0, 0.0], "non-zero|must not be empty"),
        ([1.0, 1.0], "sample_weight.shape"),
        ([[1.0], [1.0], [1.0]], "1D array"),
        ([1.0, 0.0, 1.0], "at least two classes. Got only class 0"),
    ],
)
def test_weights_that_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        TemperatureScaling().fit(np.eye(3, 2), np.array([0, 1, 0]), weights)


@pytest.mark.parametrize("of", [ece_of, adaptive_ece_of])
def test_eces_of_repeated_samples(of):
    rng = np.random.default_rng(1)
    for n in (7, 40, 333):
        confidence, correct = rng.random(n), rng.integers(0, 2, n).astype(float)
        confidence[: n // 3] = 0.5  # ties
        w = rng.integers(0, 5, n)
        w[0] = 1
        repeated = of(np.repeat(confidence, w), np.repeat(correct, w))
        assert of(confidence, correct, weights=w.astype(float)) == pytest.approx(repeated, abs=1e-12)
        assert of(confidence, correct, weights=np.ones(n)) == pytest.approx(of(confidence, correct), abs=1e-12)


def test_bins_of_equal_weight_share_a_sample():
    """Two bins of weight 1.75: all of the second sample but .25 is in the first."""
    confidence, correct, w = np.array([0.6, 0.8, 0.9]), np.array([0.0, 1.0, 1.0]), np.array([0.25, 1.75, 1.5])
    first = 0.25 * 0.6 + 1.5 * (0.8 - 1)
    second = 0.25 * (0.8 - 1) + 1.5 * (0.9 - 1)
    expected = (abs(first) + abs(second)) / 3.5
    assert adaptive_ece_of(confidence, correct, 2, w) == pytest.approx(expected, abs=1e-15)


def test_the_surface_takes_weights(weighted):
    z, y, w = weighted
    surface, repeated = EceSurface(z, y, weights=w), EceSurface(np.repeat(z, w, axis=0), np.repeat(y, w))
    assert surface.ece(0.5, 1.3) == pytest.approx(repeated.ece(0.5, 1.3), abs=1e-12)
    assert surface.accuracy == pytest.approx(repeated.accuracy)

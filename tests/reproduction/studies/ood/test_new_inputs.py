"""Finished runs on images of other splits: what they say of their own ones is what they said."""

import numpy as np
import pytest

from reproduction.engine import data
from reproduction.engine.run import run
from reproduction.engine.store import RunMissing
from reproduction.studies.ood.new_inputs import logits_on


def test_own_test_images_get_their_logits_again(small, tmp_path, monkeypatch):
    """Of each seed by its own scale, and the data set is read once."""
    specs = [small(seed=seed) for seed in (0, 1)]
    results = [run(spec, tmp_path) for spec in specs]
    test = data.load("fashion-mnist").test.inputs
    loads, load = [], data.load
    monkeypatch.setattr(data, "load", lambda name: loads.append(name) or load(name))
    found = list(logits_on(specs, {"test": test, "dark": test // 4}, tmp_path))
    assert [spec for spec, _ in found] == specs
    for result, (_, logits) in zip(results, found, strict=True):
        np.testing.assert_allclose(logits["test"], result.test.logits, atol=1e-5)
        assert logits["test"].dtype == np.float32
        assert np.abs(logits["dark"] - logits["test"]).max() > 1e-3
    assert loads == ["fashion-mnist"]


def test_more_images_than_go_through_at_once(finished):
    spec, folder, _ = finished
    many = np.random.default_rng(0).integers(0, 256, (1003, 28, 28, 1), dtype=np.uint8)
    ((_, found),) = logits_on([spec], {"all": many, "last": many[-5:]}, folder.parent)
    assert found["all"].shape == (1003, 10)
    np.testing.assert_allclose(found["all"][-5:], found["last"], atol=1e-5)


def test_what_cannot_be_shown(small, finished, tmp_path):
    spec, folder, _ = finished
    for shape, kind in (((3, 28, 28, 3), np.uint8), ((3, 28, 28, 1), float), ((0, 28, 28, 1), np.uint8)):
        with pytest.raises(ValueError, match=r"images of new must be uint8 of shape \(n, 28, 28, 1\), as"):
            list(logits_on([spec], {"new": np.zeros(shape, kind)}, folder.parent))
    with pytest.raises(RunMissing, match="has no weights here"):
        list(logits_on([small(seed=5)], {}, tmp_path))

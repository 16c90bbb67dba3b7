"""The adapter, by a stand-in of what CalArena calls; its tables, read and compared."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax, softmax

from focal_lib.calibration import TemperatureScaling
from reproduction.engine.store import Logits, Result
from reproduction.studies.calibrators import calarena_record
from reproduction.studies.calibrators.calarena import CUSTOM_CALIBRATORS, logits_of


def _data(classes, n=400):
    """Logits that are twice too large, and labels."""
    rng = np.random.default_rng(classes)
    logits = rng.normal(size=(n, classes))
    return 2 * logits, (logits + rng.gumbel(size=(n, classes))).argmax(1)


def _log_loss(name, p_cal, y_cal, p_test, y_test):
    """As run_benchmark.py: fit, predict, a proper score of probabilities (n, K)."""
    calibrator = CUSTOM_CALIBRATORS[name]()
    calibrator.fit(p_cal, y_cal)
    found = calibrator.predict_proba(p_test)
    assert found.shape == (len(y_test), max(2, p_test.shape[1] if p_test.ndim == 2 else 2))
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-6)
    return -np.log(found[np.arange(len(y_test)), y_test]).mean()


@pytest.mark.parametrize(
    ("name", "classes"), [(name, 2) for name in CUSTOM_CALIBRATORS] + [("focal-lib-TS", 4), ("focal-lib-FTS", 4)]
)
def test_each_helps_an_overconfident_model(name, classes):
    logits, labels = _data(classes)
    p = softmax(logits, axis=1).astype(np.float32)
    p[0, :] = np.eye(classes, dtype=np.float32)[labels[0]]  # float32 has zeros
    if classes == 2:
        p = p[:, 1]  # as its benchmarks of two classes have them
    as_given = -np.mean(log_softmax(logits[200:], 1)[np.arange(200), labels[200:]])
    assert _log_loss(name, p[:200], labels[:200].astype(np.int32), p[200:], labels[200:]) < as_given - 0.02


def test_a_temperature_is_that_of_the_logits():
    logits, labels = _data(3)
    calibrator = CUSTOM_CALIBRATORS["focal-lib-TS"]()
    calibrator.fit(softmax(logits, axis=1), labels)
    assert calibrator.calibrator_.temperature_ == pytest.approx(TemperatureScaling().fit(logits, labels).temperature_)


def test_shapes_of_two_classes():
    for p in (np.array([0.25]), np.array([[0.25]]), np.array([[0.75, 0.25]])):
        np.testing.assert_allclose(np.exp(logits_of(p)), [[0.75, 0.25]])
    assert np.isfinite(logits_of(np.array([0.0, 1.0]))).all()


def test_published_and_own_gains(tmp_path, monkeypatch):
    monkeypatch.setattr(calarena_record, "THEIRS", {"TS": "TemperatureScaling"})
    folder = tmp_path / "results" / "cv-multiclass"
    folder.mkdir(parents=True)
    for name, losses in {"Base-model": (0.4, 9.0), "TS": (0.2, 9.0)}.items():
        rows = {"dataset": ["c10", "birds"], "model": "net", f"{name}_logloss": losses}
        pd.DataFrame(rows | {f"{name}_brier": 0.1, f"{name}_time": 1.0}).to_csv(folder / f"{name}.csv", index=False)
    published = calarena_record.read_published(tmp_path)
    assert published["dataset"].unique().tolist() == ["c10"]
    logits, labels = _data(3)
    parts = [
        Logits(part.astype(np.float32), of) for part, of in ((logits[:200], labels[:200]), (logits[200:], labels[200:]))
    ]
    run = Result(None, pd.DataFrame(), *parts, None)
    here = calarena_record.compare(
        [("c10", "net", run)], {"TS": CUSTOM_CALIBRATORS["focal-lib-TS"], "again": CUSTOM_CALIBRATORS["focal-lib-TS"]}
    )
    found = calarena_record.gains(pd.concat([published, here])).set_index(["source", "calibrator"])["gain"]
    assert found["published", "Base-model"] == pytest.approx(-100)
    assert found["here", "Base-model"] < 0
    assert found["here", "again"] == found["here", "TS"] == 0

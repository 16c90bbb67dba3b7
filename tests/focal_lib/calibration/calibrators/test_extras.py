"""Venn-Abers and structured matrix scaling: what their libraries give, from the arrays that are kept."""

import sys
import warnings

import numpy as np
import pytest
from scipy.special import softmax

from focal_lib.calibration.calibrators.one_vs_rest import VennAbersCalibration
from focal_lib.calibration.calibrators.seen_classes import StructuredMatrixScaling


def test_venn_abers_is_its_authors(overconfident):
    package = pytest.importorskip("venn_abers.venn_abers")
    (z, y), (other, _) = overconfident(), overconfident(seed=1)
    expected, _ = package.predict_proba_prefitted_va(softmax(z, -1), y, softmax(other, -1), va_tpe="one_vs_rest")
    fit = VennAbersCalibration().fit(z, y)
    np.testing.assert_allclose(fit.predict_proba(other), expected, atol=1e-12)
    np.testing.assert_allclose(
        fit.predict_proba(z), package.predict_proba_prefitted_va(softmax(z, -1), y, softmax(z, -1), va_tpe="rest")[0]
    )
    assert len(fit.low_values_) == len(fit.low_thresholds_) + 4 < 1000


def test_structured_matrix_scaling_is_its_authors(overconfident):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package = pytest.importorskip("probmetrics.calibrators")
    (z, y), (other, _) = overconfident(), overconfident(seed=1)
    expected = package.SMSCalibrator().fit(softmax(z, -1), y).predict_proba(softmax(other, -1))
    fit = StructuredMatrixScaling().fit(z, y)
    np.testing.assert_allclose(fit.predict_proba(other), expected, atol=2e-6)  # it predicts in float32
    weak = StructuredMatrixScaling(strength=0.01).fit(z, y)
    assert np.abs(weak.weight_ - np.eye(4)).max() > np.abs(fit.weight_ - np.eye(4)).max()
    with pytest.raises(ValueError, match="strength must be >= 0"):
        StructuredMatrixScaling(-1.0).fit(z, y)


@pytest.mark.parametrize(
    ("method", "module", "package"),
    [
        (VennAbersCalibration(), "venn_abers", "venn-abers"),
        (StructuredMatrixScaling(), "probmetrics.calibrators", "probmetrics"),
    ],
)
def test_what_to_install_is_said(overconfident, monkeypatch, method, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs the package {package}: pip install {package}, or "):
        method.fit(*overconfident(100))

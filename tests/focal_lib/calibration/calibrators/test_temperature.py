"""Temperature scaling: agreement with scikit-learn, and where there is no minimum."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.calibration import _TemperatureScaling
from sklearn.exceptions import ConvergenceWarning

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.metrics.bins import adaptive_ece, ece


def test_temperature_agrees_with_scikit_learn(synthetic_logits):
    z, y = synthetic_logits(3000, 4)
    theirs = _TemperatureScaling().fit(z, y)  # the estimator behind method="temperature"
    ours = TemperatureScaling("nll").fit(z, y)
    assert ours.temperature_ == pytest.approx(1 / theirs.beta_, rel=1e-4)


def test_no_minimum_is_said():
    z = np.where(np.arange(40)[:, None] % 3 == np.arange(3), 5.0, 0.0)
    with pytest.warns(ConvergenceWarning, match="T tends to 0: no label is below another class"):
        TemperatureScaling().fit(z, np.arange(40) % 3)
    with pytest.warns(ConvergenceWarning, match="T tends to infinity: labels are not above chance"):
        TemperatureScaling().fit(z, (np.arange(40) + 1) % 3)


@pytest.mark.parametrize(("objective", "reference"), [("ece", ece), ("adaptive-ece", adaptive_ece)])
def test_an_ece_is_minimised_over_the_grid(synthetic_logits, objective, reference):
    z, y = synthetic_logits(400, 4)
    temperatures = np.arange(0.3, 4, 0.05)
    found = TemperatureScaling(objective, temperatures=temperatures).fit(z, y)
    every = [reference(softmax(z / t, -1), y) for t in temperatures]
    assert found.objective_ == pytest.approx(min(every), abs=1e-12)
    assert found.objective_ == pytest.approx(reference(found.predict_proba(z), y), abs=1e-12)
    assert found.gamma_ == 0
    assert found.optimal_

"""Temperature scaling: agreement with scikit-learn, and where there is no minimum."""

import numpy as np
import pytest
from scipy import optimize, special
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


def test_a_vocabulary():
    """32,000 tokens drawn from the softmax of half the logits, by the Gumbel trick: T is 2."""
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=(300, 32_000)).astype(np.float32)
    fit = TemperatureScaling().fit(z, (z / 2 + rng.gumbel(size=z.shape)).argmax(1))
    assert fit.temperature_ == pytest.approx(2, rel=0.06)


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


# --- with a prior --------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "scale", "sd"), [(5, 1.0, 0.5), (100, 2.0, 0.5), (1000, 0.5, 0.1), (300, 8.0, 2.0)])
def test_with_a_prior_it_is_the_largest_posterior(n, scale, sd):
    """Found by a search of scipy's over the sum of losses and (log T)^2 / (2 sd^2)."""
    rng = np.random.default_rng(n)
    z = 2 * rng.normal(size=(n, 4))
    y = z.argmax(1) if n == 5 else (z + rng.gumbel(size=z.shape)).argmax(1)
    z *= scale

    def posterior(u):
        return -special.log_softmax(np.exp(-u) * z, 1)[np.arange(n), y].sum() + u * u / (2 * sd**2)

    found = optimize.minimize_scalar(posterior, bounds=(-6, 6), method="bounded", options={"xatol": 1e-10})
    fit = TemperatureScaling(prior_sd=sd).fit(z, y)
    assert np.log(fit.temperature_) == pytest.approx(found.x, abs=1e-6)
    assert fit.objective_ * n == pytest.approx(found.fun, rel=1e-9)


def test_a_prior_fades_and_counts_the_weights():
    rng = np.random.default_rng(0)
    z = 3 * rng.normal(size=(2000, 3))
    y = (z / 2 + rng.gumbel(size=z.shape)).argmax(1)
    away = [
        abs(np.log(TemperatureScaling(prior_sd=0.2).fit(z[:n], y[:n]).temperature_ / fit.temperature_))
        for n, fit in ((n, TemperatureScaling().fit(z[:n], y[:n])) for n in (50, 200, 2000))
    ]
    assert away[0] > 1.5 * away[1] > 9 * away[2] > 0
    twice = TemperatureScaling(prior_sd=0.2).fit(np.r_[z, z], np.r_[y, y]).temperature_
    assert TemperatureScaling(prior_sd=0.2).fit(z, y, np.full(2000, 2.0)).temperature_ == pytest.approx(twice, rel=1e-9)


@pytest.mark.parametrize("sd", [0.0, -1.0, np.inf, np.nan])
def test_a_prior_has_a_width(sd):
    with pytest.raises(ValueError, match="prior_sd must be above 0, or None for no prior"):
        TemperatureScaling(prior_sd=sd).fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="prior_sd is for objective 'nll'"):
        TemperatureScaling("ece", prior_sd=0.5).fit(np.eye(3), [0, 1, 2])

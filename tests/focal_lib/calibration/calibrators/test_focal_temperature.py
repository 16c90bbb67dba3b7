"""Focal temperature scaling: ties, shrinkage, what is proved."""

import numpy as np
import pytest

from focal_lib.calibration.calibrators.focal_temperature import WIDE_GAMMAS, FocalTemperatureScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling


def test_ties_go_to_the_simpler_pair():
    z = np.where(np.arange(40)[:, None] % 2 == np.arange(2), 1e7, 0.0)  # confidence 1 at every pair
    y = np.r_[np.arange(36) % 2, [1, 0, 1, 0]]
    found = FocalTemperatureScaling("adaptive-ece", gammas=(-0.5, 1.0, 0.25, 0.0)).fit(z, y)
    assert (found.gamma_, found.temperature_) == (0.0, 1.0)
    without_zero = FocalTemperatureScaling("adaptive-ece", gammas=(-0.5, 1.0, 0.25)).fit(z, y)
    assert (without_zero.gamma_, without_zero.temperature_) == (0.25, 1.0)


def test_a_plateau_of_the_nll_is_plain_temperature_scaling():
    z = np.where(np.arange(40)[:, None] % 2 == np.arange(2), 1e7, 0.0)
    found = FocalTemperatureScaling("nll", "newton").fit(z, np.arange(40) % 2)
    assert found.gamma_ == 0


def test_shrinkage_draws_gamma_to_zero(synthetic_logits):
    z, y = synthetic_logits(4000, 4, gamma=3.0)
    gammas = [
        FocalTemperatureScaling("nll", "newton", shrinkage=s).fit(z, y).gamma_ for s in (0.0, 1.0, 10.0, 100.0, 1e6)
    ]
    assert gammas == sorted(gammas, reverse=True)
    assert gammas[0] > 0.1
    assert abs(gammas[-1]) < 1e-2
    plain = TemperatureScaling().fit(z, y)
    strong = FocalTemperatureScaling("nll", "newton", shrinkage=1e6).fit(z, y)
    assert strong.temperature_ == pytest.approx(plain.temperature_, rel=1e-3)
    by_ece = FocalTemperatureScaling("adaptive-ece", gammas=WIDE_GAMMAS, shrinkage=1e6).fit(z, y)
    assert by_ece.gamma_ == 0


def test_what_is_proved_is_said(synthetic_logits):
    z, y = synthetic_logits(300, 3)
    small = {"gammas": (-0.9, 0.0, 1.0), "temperatures": np.arange(0.5, 3, 0.25)}
    assert FocalTemperatureScaling("adaptive-ece", "grid", **small).fit(z, y).optimal_
    assert not FocalTemperatureScaling("adaptive-ece", "line", **small).fit(z, y).optimal_
    assert not FocalTemperatureScaling("nll", "grid", **small).fit(z, y).optimal_
    assert not FocalTemperatureScaling("nll", "newton").fit(z, y).optimal_
    assert TemperatureScaling().fit(z, y).optimal_


def test_a_grid_that_is_given_is_searched(synthetic_logits):
    z, y = synthetic_logits(300, 4)
    grid = {"gammas": (1.0,), "temperatures": (0.8, 1.0, 1.5)}
    fit, named = (FocalTemperatureScaling("nll", search, **grid).fit(z, y) for search in (None, "grid"))
    assert (fit.gamma_, fit.temperature_) == (1.0, named.temperature_)
    assert fit.gamma_ != FocalTemperatureScaling().fit(z, y).gamma_

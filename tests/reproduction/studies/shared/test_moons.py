"""The density of two moons, against an adaptive integral, samples, and itself on a finer grid."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.datasets import make_moons

from reproduction.studies.shared.known_truth import against_truth
from reproduction.studies.shared.moons import moon_log_densities, moon_truth

GRID = moon_truth()


@pytest.mark.parametrize("point", [(0.0, 1.0), (0.5, 0.25), (1.5, -0.6), (-2.0, -1.0)])
@pytest.mark.parametrize("noise", [0.1, 0.2, 0.5])
def test_against_adaptive_quadrature(point, noise):
    def density(arc):
        def at(t):
            return np.exp(-np.sum((np.array(point) - arc(t)) ** 2) / 2 / noise**2) / (2 * np.pi**2 * noise**2)

        return quad(at, 0, np.pi, epsabs=0, epsrel=1e-12, limit=200)[0]

    arcs = (lambda t: np.array([np.cos(t), np.sin(t)]), lambda t: np.array([1 - np.cos(t), 0.5 - np.sin(t)]))
    found = np.exp(moon_log_densities(np.array([point]), noise)[0])
    np.testing.assert_allclose(found, [density(arc) for arc in arcs], rtol=1e-8)


@pytest.mark.slow
def test_it_is_scikit_learns():
    """Where the posterior says so, as many of its samples are of class 1; the best classifier is as good on them."""
    x, labels = make_moons(100_000, noise=0.2, random_state=0)
    density = moon_log_densities(x, 0.2)
    said = 1 / (1 + np.exp(density[:, 0] - density[:, 1]))
    for low in np.arange(0, 1, 0.2):
        inside = (said >= low) & (said < low + 0.2)
        spread = 0.5 / inside.sum() ** 0.5
        assert labels[inside].mean() == pytest.approx(said[inside].mean(), abs=4 * spread)
    assert ((said > 0.5) == labels).mean() == pytest.approx(GRID.truth.accuracy, abs=2e-3)


def test_the_grid_holds_the_whole_distribution():
    assert GRID.truth.shares.sum() == pytest.approx(1, abs=1e-7)
    assert GRID.truth.shares @ GRID.truth.posterior == pytest.approx(0.5, abs=1e-7)
    assert moon_truth(step=0.025).truth.accuracy == pytest.approx(GRID.truth.accuracy, abs=1e-4)
    finer = moon_truth(step=0.025)
    found = [against_truth(np.where(g.truth.points[:, 0] > 0.5, 2.0, -2.0), g.truth).distance for g in (GRID, finer)]
    assert found[0] == pytest.approx(found[1], abs=0.01)


def test_the_moons_are_each_others_image():
    """Turned about (1/2, 1/4) class 0 is class 1."""
    points = np.random.default_rng(0).normal(size=(20, 2))
    here, there = moon_log_densities(points, 0.3), moon_log_densities(np.array([1.0, 0.5]) - points, 0.3)
    np.testing.assert_allclose(here, there[:, ::-1], rtol=1e-10)


def test_dense_holds_nearly_all_and_no_more():
    inside = GRID.truth.shares[GRID.dense.ravel()]
    assert inside.sum() == pytest.approx(0.99, abs=1e-3)
    assert inside.min() >= GRID.truth.shares[~GRID.dense.ravel()].max()


def test_bad_input():
    with pytest.raises(ValueError, match="noise"):
        moon_truth(noise=0.0)
    with pytest.raises(ValueError, match="step"):
        moon_truth(noise=0.2, step=0.2)
    with pytest.raises(ValueError, match="shape"):
        moon_log_densities(np.zeros(2), 0.2)

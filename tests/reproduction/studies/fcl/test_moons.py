"""Training on the whole distribution, and the lean from its truth."""

import numpy as np
import pytest
import torch
from scipy.special import logit

from reproduction.studies.fcl.moons import lean, train_on_whole_moons
from reproduction.studies.shared.known_truth import KnownTruth
from reproduction.studies.shared.moon_networks import MoonLoss, moon_logits
from reproduction.studies.shared.moons import moon_truth


def test_lean_counts_the_likelier_class():
    truth = KnownTruth(np.zeros((2, 1)), np.array([0.25, 0.75]), np.array([0.9, 0.2]))
    assert lean(logit(truth.posterior), truth) == pytest.approx(0)
    # towards one half by 0.1 at the first point, by 0.05 at the second
    assert lean(logit(np.array([0.8, 0.25])), truth) == pytest.approx(-0.25 * 0.1 - 0.75 * 0.05)
    both = lean(logit(np.array([[0.95, 0.1], [0.8, 0.25]])), truth)
    assert both.shape == (2,)
    assert both[0] > 0 > both[1]


def test_the_expected_loss_is_what_is_trained():
    """One step of Adam from the same start, with the loss written out."""
    grid, loss = moon_truth(step=0.1), MoonLoss(3.0, 0.5)
    networks = train_on_whole_moons(loss, (4,), grid, epochs=1, rate=0.01)
    again = type(networks)((4,))
    optimiser = torch.optim.Adam(again.parameters(), 0.01)
    kept = grid.truth.shares > 1e-8
    x, share, p = (
        torch.from_numpy(part[kept]) for part in (grid.truth.points, grid.truth.shares, grid.truth.posterior)
    )
    q = torch.softmax(again(x[None])[0], -1)
    of_labels = [-((1 - q[:, y]) ** 3) * q[:, y].log() + 0.5 * ((q[:, y] - 1) ** 2 + q[:, 1 - y] ** 2) for y in (0, 1)]
    (share * ((1 - p) * of_labels[0] + p * of_labels[1])).sum().backward()
    optimiser.step()
    for a, b in zip(networks.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(a, b)


def test_it_comes_to_what_the_loss_asks_for():
    grid = moon_truth(step=0.1)
    loss = MoonLoss(3.0, 1.0)
    asked = float(lean(loss.wanted(grid.logits), grid.truth))
    found = lean(moon_logits(train_on_whole_moons(loss, (0,), grid, epochs=250, rate=0.02), grid), grid.truth)
    assert found[0] == pytest.approx(asked, rel=0.3)
    assert asked < 0


@pytest.mark.parametrize(("bad", "said"), [({"seeds": ()}, "seeds"), ({"epochs": 0}, "epochs"), ({"rate": 0}, "rate")])
def test_bad_input(bad, said):
    with pytest.raises(ValueError, match=said):
        train_on_whole_moons(MoonLoss(), bad.pop("seeds", (0,)), moon_truth(step=0.1), **bad)

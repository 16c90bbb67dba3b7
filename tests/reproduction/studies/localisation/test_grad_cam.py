"""Grad-CAM against class activation maps written by hand, and what training with several labels gives."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from reproduction.studies.localisation.grad_cam import grad_cam
from reproduction.studies.localisation.networks import NETWORKS
from reproduction.studies.localisation.plan import (
    ONE,
    SETTINGS,
    SEVERAL,
    Plan,
    losses_compared,
    written_contrasts,
)
from reproduction.studies.localisation.train import Outcome, located_images, train

SMALL = {"n_train": 64, "n_test": 40, "epochs": 1}


@pytest.fixture(scope="module")
def outcome():
    return train(Plan(SEVERAL, **SMALL))


def test_as_a_class_activation_map(outcome):
    """Of mean pooling and a linear layer: max(0, sum of weights times maps) over the number of places, enlarged."""
    image, label = outcome.test.asked()
    found = grad_cam(outcome, image, label, batch=7)
    with torch.no_grad():
        features = outcome.model.features(outcome.inputs[image])  # (m, C, h, w)
        weights = outcome.model.head.weight[label]
        coarse = (weights[:, :, None, None] * features).sum(1, keepdim=True).clamp(min=0) / features[0, 0].numel()
        expected = torch.nn.functional.interpolate(coarse, size=(48, 48), mode="bilinear")[:, 0]
    assert found.shape == (len(image), 48, 48)
    assert found.any()
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-6)
    other = grad_cam(outcome, image, (label + 1) % 10)
    assert not np.allclose(found, other)


def test_a_cell_lies_in_the_middle_of_what_it_sees():
    """Enlarged linearly, cell 5 of 12 is centred on pixel 4 * 5 + 1.5; shift the kernels, and it is not."""
    torch.manual_seed(0)
    model = NETWORKS["small"](1, 48, 10).eval()
    image = torch.rand(1, 1, 48, 48, requires_grad=True)
    (seen,) = torch.autograd.grad(model.features(image)[0, :, 5, 5].sum(), image)
    rows = torch.nonzero(seen[0, 0].abs().sum(1))[:, 0]
    assert (int(rows[0]), int(rows[-1])) == (13, 30)
    assert float(rows.double().mean()) == 4 * 5 + 1.5


def test_losses_of_a_seed_share_images_and_first_weights(outcome):
    other = train(replace(outcome.plan, gamma=3.0))
    assert (other.test.images == outcome.test.images).all()
    assert not np.array_equal(other.logits, outcome.logits)
    start, same = (train(replace(plan, epochs=0)).logits for plan in (outcome.plan, other.plan))
    assert (start == same).all()
    assert (train(outcome.plan).logits == outcome.logits).all()


def test_training_teaches():
    plan = Plan(ONE, n_train=600, n_test=200, epochs=6)
    found = train(plan)
    right = (found.logits.argmax(-1) == found.test.labels.argmax(-1)).mean()
    assert right > 0.25


def test_settings_have_as_many_garments_as_they_say():
    one, several = (located_images(Plan(s, n_train=50, n_test=50))[0].labels.sum(1) for s in (ONE, SEVERAL))
    assert set(one) == {1}
    assert set(several) == {0, 1, 2, 3}


@pytest.mark.slow
def test_chexnets_network_has_heat_maps(outcome):
    torch.manual_seed(0)
    model = NETWORKS["densenet121"](1, 48, 10).eval()
    shown = Outcome(outcome.plan, model, outcome.inputs, outcome.test, outcome.logits)
    with torch.no_grad():
        features = model.features(outcome.inputs[:2]).clone()
    found = grad_cam(shown, np.array([0, 1]), np.array([3, 4]))
    assert features.shape[1] == 1024
    assert found.shape == (2, 48, 48)
    assert found.min() >= 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"setting": "two garments"}, "setting must be one of one garment"),
        ({"network": "large"}, "network must be one of small, densenet121"),
        ({"n_train": 1}, "n_train"),
        ({"epochs": -1}, "epochs"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"gamma": -1.0}, "gamma"),
    ],
)
def test_what_cannot_be_trained_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        Plan(**({"setting": ONE} | changed))


def test_images_and_labels_come_in_pairs(outcome):
    with pytest.raises(ValueError, match=r"must both have shape \(m,\). Got \(2,\) and \(1,\)"):
        grad_cam(outcome, np.array([0, 1]), np.array([0]))


@pytest.mark.parametrize("setting", SETTINGS)
def test_each_table_of_contrasts_has_one_that_is_primary(setting):
    contrasts = written_contrasts(setting)
    tables = {c.table for c in contrasts}
    assert len(tables) == (2 if setting == ONE else 3)
    for table in tables:
        assert [c.primary for c in contrasts if c.table == table].count(True) == 1
    assert len({c.name for c in contrasts}) == len(contrasts)
    assert {loss for c in contrasts for side in (c.ours, c.theirs) for loss in side.losses} == set(losses_compared())


def test_labels_of_plans():
    assert list(losses_compared()) == ["cross-entropy", "focal 3", "fcl 3 0.5"]
    assert Plan(ONE, epochs=0).label == "untrained"

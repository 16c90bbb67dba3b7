"""Heat maps and Grad-CAM against what is known, and the measures of labels."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from focal_lib.theory.proper import focal_calibration_minimiser
from reproduction.studies.localisation.canvases import LocatedImages
from reproduction.studies.localisation.contrasts import (
    evaluate_written,
    gains_by_label,
    of_setting,
)
from reproduction.studies.localisation.measures import (
    auroc_by_label,
    energy_in_box,
    grad_cam,
    measure_labels,
    measure_maps,
    measure_outcomes,
    points_into_box,
    spread,
)
from reproduction.studies.localisation.networks import NETWORKS
from reproduction.studies.localisation.plan import ONE, SETTINGS, SEVERAL, Plan, losses_compared, written_contrasts
from reproduction.studies.localisation.train import Outcome, located_images, train

MAPS = arrays(np.int64, (3, 5, 6), elements=st.integers(0, 9)).map(lambda m: m.astype(float))
BOXES = np.array([[0, 0, 2, 3], [1, 2, 5, 6], [4, 5, 5, 6]])


def test_values_by_hand():
    maps = np.zeros((3, 4, 4))
    maps[0, 1, 1], maps[0, 3, 3] = 3, 1
    maps[1, 0, 0] = maps[1, 3, 3] = 2  # two highest pixels
    boxes = np.array([[1, 1, 2, 2], [0, 0, 1, 1], [0, 0, 4, 4]])
    assert energy_in_box(maps, boxes).tolist() == [0.75, 0.5, 0.0]
    assert points_into_box(maps, boxes).tolist() == [1.0, 0.5, 0.0]
    assert spread(maps)[:2].tolist() == [1 / 16, 1 / 16]
    assert spread(maps, 1.0)[:2].tolist() == [2 / 16, 2 / 16]
    assert np.isnan(spread(maps)[2])


def _slowly(m, box):
    inside = list(itertools.product(range(box[0], box[2]), range(box[1], box[3])))
    everywhere = list(itertools.product(range(m.shape[0]), range(m.shape[1])))
    total = sum(m[at] for at in everywhere)
    if not total:
        return 0.0, 0.0, np.nan
    best = [at for at in everywhere if m[at] == m.max()]
    held, count = 0.0, 0
    for value in sorted((m[at] for at in everywhere), reverse=True):
        if held >= total / 2:
            break
        held, count = held + value, count + 1
    share = sum(at in inside for at in best) / len(best)
    return sum(m[at] for at in inside) / total, share, count / len(everywhere)


@given(maps=MAPS)
def test_as_pixel_by_pixel(maps):
    found = np.stack([energy_in_box(maps, BOXES), points_into_box(maps, BOXES), spread(maps)], -1)
    expected = [_slowly(m, box) for m, box in zip(maps, BOXES, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(maps=MAPS, factor=st.floats(0.01, 100))
def test_a_factor_changes_nothing(maps, factor):
    for metric in (energy_in_box, points_into_box):
        np.testing.assert_allclose(metric(factor * maps, BOXES), metric(maps, BOXES), rtol=1e-12)
    np.testing.assert_allclose(spread(factor * maps), spread(maps))


def test_a_constant_map_has_the_share_of_the_box():
    share = (BOXES[:, 2] - BOXES[:, 0]) * (BOXES[:, 3] - BOXES[:, 1]) / 30
    constant = np.full((3, 5, 6), 0.1)
    np.testing.assert_allclose(energy_in_box(constant, BOXES), share)
    np.testing.assert_allclose(points_into_box(constant, BOXES), share)
    np.testing.assert_allclose(spread(constant), 0.5)


@pytest.mark.parametrize(
    ("maps", "boxes", "message"),
    [
        (np.ones((4, 4)), BOXES[:1], r"of shape \(n, H, W\). Got shape \(4, 4\)"),
        (-np.ones((3, 5, 6)), BOXES, "at least 0"),
        (np.full((3, 5, 6), np.nan), BOXES, "finite"),
        (np.ones((3, 5, 6)), BOXES[:2], r"integers of shape \(3, 4\). Got int64 \(2, 4\)"),
        (np.ones((3, 5, 6)), BOXES.astype(float), "Got float64"),
        (np.ones((3, 5, 6)), np.add(BOXES, [0, 0, 1, 0]), "within 5 x 6"),
        (np.ones((3, 5, 6)), BOXES[:, [2, 1, 0, 3]], "top < bottom"),
    ],
)
def test_what_is_no_map_or_box_is_refused(maps, boxes, message):
    for metric in (energy_in_box, points_into_box):
        with pytest.raises(ValueError, match=message):
            metric(maps, boxes)


def test_a_share_to_hold_is_above_0():
    with pytest.raises(ValueError, match=r"share must be in \(0, 1\]"):
        spread(np.ones((1, 2, 2)), 0)


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
def test_contrasts_are_of_what_is_compared(setting):
    contrasts = written_contrasts(setting)
    assert len({c.table for c in contrasts}) == (2 if setting == ONE else 3)
    assert {loss for c in contrasts for side in (c.ours, c.theirs) for loss in side.losses} == set(losses_compared())


def test_labels_of_plans():
    assert list(losses_compared()) == ["cross-entropy", "focal 3", "fcl 3 0.5"]
    assert Plan(ONE, epochs=0).label == "untrained"


def _test_images(labels):
    n, names = len(labels), tuple("abc"[: labels.shape[1]])
    boxes = np.where(labels[..., None] == 1, np.array([0, 0, 2, 2]), -1)
    return LocatedImages(np.zeros((n, 4, 4, 1), np.uint8), labels, boxes, names)


def _outcome(setting, logits, labels):
    return Outcome(Plan(setting), torch.nn.Identity(), torch.zeros(0), _test_images(labels), np.array(logits, float))


def test_maps_by_hand():
    labels = np.array([[1, 0], [0, 1]])
    maps = np.zeros((2, 4, 4))
    maps[0, 0, 0], maps[0, 3, 3] = 1, 3
    found = measure_maps(maps, _test_images(labels))
    assert found == pytest.approx({"energy": 12.5, "pointing": 0, "spread": 100 / 16, "empty": 50, "box": 25})
    with pytest.raises(ValueError, match="must have a box"):
        measure_maps(maps, _test_images(np.zeros((2, 2), int)))


def test_several_labels_are_so_many_problems_of_two_classes():
    labels = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]])
    logits = [[2.0, -1, -3], [1, 3, -3], [0.5, 0, -3], [3, -2, -3]]
    outcome = _outcome(SEVERAL, logits, labels)
    by_label = auroc_by_label(outcome.logits, outcome.test)
    assert by_label["a"] == pytest.approx(100 * 2 / 3)  # 2, .5, 3 above 1
    assert by_label["b"] == pytest.approx(50)  # 3, -2 above -1, 0
    assert np.isnan(by_label["c"])
    found = measure_labels(outcome)
    assert found["auroc"] == pytest.approx((100 * 2 / 3 + 50) / 2)
    z, y = np.array(logits), labels
    assert found["nll"] == pytest.approx(np.logaddexp(0, np.where(y == 1, -z, z)).mean())
    assert found["error"] == pytest.approx(100 * np.mean((z > 0) != (y == 1)))


def test_one_label_is_a_softmax():
    found = measure_labels(_outcome(ONE, [[2.0, 0, 0], [0, 0, 1.0]], np.array([[1, 0, 0], [0, 1, 0]])))
    expected = -np.mean([2 - np.log(np.exp(2) + 2), -np.log(2 + np.e)])
    assert found["nll"] == pytest.approx(expected)
    assert found["error"] == 50
    assert "auroc" not in found


def test_after_the_map_losses_are_proper():
    """Logits that each loss asks for where the truth is known: the map gives the truth back, label by label."""
    truth = np.array([[0.9, 0.3], [0.2, 0.55], [0.6, 0.01]])
    labels = np.array([[1, 0], [0, 1], [1, 0]])
    for setting, loss, gamma, lam in ((SEVERAL, "focal", 3.0, 0.0), (SEVERAL, "fcl", 3.0, 0.5), (ONE, "fcl", 2.0, 1.0)):
        wide = truth / truth.sum(1, keepdims=True) if setting == ONE else np.stack([1 - truth, truth], -1)
        asked = np.log(focal_calibration_minimiser(wide, gamma, lam))
        logits = asked if setting == ONE else asked[..., 1] - asked[..., 0]
        outcome = replace(_outcome(setting, logits, labels), plan=Plan(setting, loss, gamma, lam))
        p = wide[:, 0] if setting == ONE else np.where(labels == 1, truth, 1 - truth)
        expected = -np.log(np.where(labels.argmax(1) == 0, wide[:, 0], wide[:, 1]) if setting == ONE else p).mean()
        assert measure_labels(outcome, mapped=True)["nll"] == pytest.approx(expected, rel=1e-4)
        assert measure_labels(outcome)["nll"] != pytest.approx(expected, rel=1e-2)


def test_a_row_for_each_metric_of_a_network():
    outcomes = [train(Plan(s, gamma=2.0, n_train=64, n_test=40, epochs=1)) for s in (ONE, SEVERAL)]
    table = measure_outcomes(outcomes)
    assert not table.duplicated(["dataset", "loss", "seed", "method", "metric"]).any()
    assert set(table.loc[table["method"] == "map", "metric"]) == {"error", "nll", "ece", "classwise-ece", "mce"}
    assert set(table["dataset"]) == {ONE, SEVERAL}
    assert sum(table["metric"].str.startswith("auroc ")) == 10
    shares = table["metric"].isin(["energy", "pointing", "spread", "empty", "box"])
    assert table.loc[shares, "value"].between(0, 100).all()


@pytest.fixture
def table():
    """Four seeds of two labels: of the first FCL is higher by 1 to 4, of the second lower by .5 and more."""
    ce, _, fcl = losses_compared()
    rows = []
    for seed in range(4):
        for loss, one, two in ((ce, 80 + seed, 90.0), (fcl, 81 + 2 * seed, 89.5 - 0.01 * seed)):
            rows += [(SEVERAL, loss, seed, "auroc one", one), (SEVERAL, loss, seed, "auroc two", two)]
    return pd.DataFrame(rows, columns=["dataset", "loss", "seed", "metric", "value"])


def test_gains_are_paired(table):
    ce, _, fcl = losses_compared()
    gains = gains_by_label(table, fcl, ce).set_index("label")
    assert gains["difference"].tolist() == pytest.approx([2.5, -0.515])
    assert gains.loc["two", "high"] < 0
    assert (gains["p_adjusted"] <= 1).all()
    assert gains_by_label(table[table["seed"] == 0], fcl, ce)["p_adjusted"].isna().all()
    with pytest.raises(ValueError, match="one setting"):
        gains_by_label(pd.concat([table, table.assign(dataset=ONE)]), fcl, ce)


@pytest.mark.parametrize("setting", [ONE, SEVERAL])
def test_the_record_has_every_contrast(setting):
    own = of_setting(setting)
    assert not own.duplicated(["loss", "seed", "method", "metric"]).any()
    assert own.groupby("seed")["loss"].nunique().eq(4).all()
    assert own["code"].nunique() == 1
    found = evaluate_written(setting)
    assert found["seeds"].eq(own["seed"].nunique()).all()
    assert np.isfinite(found["low"]).all()


def test_settings_that_are_not_recorded_are_refused():
    with pytest.raises(ValueError, match=f"setting must be one of {ONE}, {SEVERAL}. Got 'chest X-rays'"):
        of_setting("chest X-rays")

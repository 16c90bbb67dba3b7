"""What networks with heat maps are measured by, and what is said of it over seeds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from focal_lib.theory.proper import focal_calibration_minimiser
from reproduction.studies.localisation.localisation import (
    auroc_by_label,
    measure_labels,
    measure_maps,
    measure_outcomes,
)
from reproduction.studies.localisation.localisation_record import (
    count_signs,
    evaluate_written,
    gains_by_label,
    of_setting,
    say_contrast,
)
from reproduction.studies.localisation.located import LocatedImages
from reproduction.studies.localisation.plan import ONE, SEVERAL, Plan, losses_compared
from reproduction.studies.localisation.train import Outcome, train


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


def test_contrasts_in_words():
    found = pd.DataFrame(
        {
            "name": ["a", "b", "c"],
            "table": ["heat maps, x"] * 3,
            "claimed": [1, 1, -1],
            "difference": [1.234, -0.5, 0.2],
            "low": [1.0, -0.7, -0.1],
            "high": [1.4, -0.3, 0.5],
            "significant": [True, True, False],
        }
    )
    assert say_contrast(found, "a") == "1.23 points higher (95 % t interval +1.00 to +1.40)"
    assert say_contrast(found, "b", words=("less", "more")) == "0.50 points less (95 % t interval -0.70 to -0.30)"
    assert say_contrast(found, "c").startswith("not told apart (+0.20 points")
    assert count_signs(found, "heat maps") == "1 of 3 are as claimed, 1 the opposite, 1 not told apart"
    assert count_signs(found.assign(claimed=0), "heat maps").startswith("0 of 0")
    with pytest.raises(ValueError, match=r"one contrast 'd'\. Got 0"):
        say_contrast(found, "d")


@pytest.mark.parametrize("setting", [ONE, SEVERAL])
def test_the_record_has_every_contrast(setting):
    own = of_setting(setting)
    assert not own.duplicated(["loss", "seed", "method", "metric"]).any()
    assert own.groupby("seed")["loss"].nunique().eq(4).all()
    assert own["code"].nunique() == 1
    assert not own["commit"].str.endswith("-dirty").any()
    found = evaluate_written(setting)
    assert found["seeds"].eq(own["seed"].nunique()).all()
    assert np.isfinite(found["low"]).all()


def test_settings_that_are_not_recorded_are_refused():
    with pytest.raises(ValueError, match=f"setting must be one of {ONE}, {SEVERAL}. Got 'chest X-rays'"):
        of_setting("chest X-rays")

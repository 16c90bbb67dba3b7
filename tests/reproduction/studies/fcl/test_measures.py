"""What networks trained with FCL come to, on made-up records and on small ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import logit, softmax

from focal_lib.calibration import TemperatureScaling
from focal_lib.calibration.calibrators.temperature import M20_TEMPERATURES
from focal_lib.metrics import ece
from reproduction.studies.fcl.measures import (
    CONVERGING,
    LOW,
    along_lambda,
    count_better,
    count_higher,
    epochs_to,
    lean_over_lambda,
    map_over,
    measure_lean,
    measure_trained,
    normalised_curves,
    read_fcl,
)
from reproduction.studies.fcl.plan import TrainedLoss, losses_recorded, written_contrasts
from reproduction.studies.fcl.train import Images, Trained
from reproduction.studies.shared.moon_networks import MoonLoss
from reproduction.studies.shared.moons import moon_truth
from reproduction.studies.shared.written_contrasts import evaluate_contrasts


@pytest.fixture
def trained():
    """Two networks of three classes that are too sure of themselves."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(2, 2, 300, 3))
    labels = np.array([[[rng.choice(3, p=p) for p in softmax(z, -1)] for z in part] for part in logits])
    logits = (3 * logits).astype(np.float32)
    labels[1, 1] = labels[1, 0]  # the test labels are one
    curves = pd.DataFrame({"seed": [1, 2, 1, 2], "epoch": [0, 0, 1, 1], "loss": [2.0, 2, 1, 1], "error": [60.0] * 4})
    found = Trained(TrainedLoss("fcl", 3.0, 0.5), (1, 2), logits[0], logits[1], curves, np.array([1.0, 2.0]))
    none = torch.zeros(2, 1, 1)
    validation = (none, torch.from_numpy(labels[0]))
    return found, Images((none, none[..., 0]), validation, (none, torch.from_numpy(labels[1, 0])), 3)


def test_rows_are_what_the_metrics_say(trained):
    networks, images = trained
    table = measure_trained(networks, images, "made-up")
    assert not table.duplicated(["seed", "method", "objective", "metric"]).any()
    of = table[table["seed"] == 2].set_index(["metric", "method", "objective"])["value"]
    labels = images.test[1].numpy()
    before = 100 * ece(softmax(networks.test[1].astype(float), -1), labels)
    fit = TemperatureScaling("ece", temperatures=M20_TEMPERATURES)
    fit.fit(networks.validation[1], images.validation[1][1].numpy())
    after = 100 * ece(softmax(networks.test[1].astype(float) / fit.temperature_, -1), labels)
    assert of["ece", "none", ""] == pytest.approx(before)
    assert of["ece", "temperature", "ece"] == pytest.approx(after)
    assert of["ece-change", "none", ""] == pytest.approx(abs(after - before))
    assert of["train-error", "none", ""] == 2.0
    top = softmax(networks.test[1].astype(float), -1).max(-1)
    wrong = networks.test[1].argmax(-1) == labels
    assert of["confidence-gap", "none", ""] == pytest.approx(100 * (top.mean() - wrong.mean()))
    assert table[table["seed"] == 1].set_index(["metric", "method"])["value"]["log-gap", "none"] > 0.01


def test_first_epochs_that_are_good():
    losses, errors = [3.0, 1.5, 1.19, 1.0, 1.4], [80.0, 25, 22.1, 21.9, 20]
    curves = pd.DataFrame({"seed": 4, "epoch": range(5), "loss": losses, "error": errors})
    found = epochs_to(curves.sample(frac=1, random_state=0)).iloc[0]
    assert LOW == 0.1
    assert dict(found) == {"seed": 4, "epochs-to-low": 2, "epochs-to-error": 3}


def test_lean_of_what_is_asked_for():
    grid, loss = moon_truth(step=0.1), MoonLoss(3.0, 0.5)
    table = measure_lean([(loss, "whole", loss.wanted(grid.logits)[None])], grid)
    row = table.iloc[0]
    assert row["lean"] == pytest.approx(row["asked"])
    assert row["mapped_distance"] == pytest.approx(0, abs=1e-9)
    assert row["fcl_gap"] == pytest.approx(0, abs=1e-5)  # it is where this FCL wants it
    assert row["focal_gap"] > 1e-3


def test_the_truth_leans_nowhere():
    grid = moon_truth(step=0.1)
    z = logit(np.clip(grid.truth.posterior, 1e-12, 1 - 1e-12))
    assert measure_lean([(MoonLoss(), "whole", z[None])], grid)["lean"][0] == pytest.approx(0, abs=1e-6)


def made_up():
    rows = [
        {"dataset": "d", "model": "m", "loss": f"{name} {g} {x}", "name": name, "gamma": g, "lam": x, "seed": seed}
        | {"method": "none", "objective": "", "metric": "ece", "value": g + x + seed + 10 * (name == "fcl-l1")}
        for name in ("focal", "fcl", "fcl-l1")
        for g in (0.0, 2.0)
        for x in ((0.0,) if name == "focal" else (0.5, 1.0))
        for seed in (1, 3)
    ]
    return pd.DataFrame(rows)


def test_views_of_a_table():
    values = map_over(made_up(), "ece")
    assert values.loc[0.5, 2.0] == 4.5
    assert values.shape == (3, 2)
    assert count_higher(values) == (2, 2)
    assert count_higher(-values) == (0, 2)
    x, mean, half = along_lambda(made_up(), 2.0, "ece")
    np.testing.assert_array_equal(x, [0, 0.5, 1])
    np.testing.assert_allclose(mean, [4, 4.5, 5])
    np.testing.assert_allclose(half, 12.706, atol=1e-3)  # t of one degree of freedom, standard error 1
    np.testing.assert_allclose(along_lambda(made_up(), 2.0, "ece", absolute=True)[1], [4, 14.5, 15])
    assert count_better(values, [(2.0, 0.5), (7.0, 1.0)]) == (0, 1)
    assert count_better(-values, [(2.0, 0.5), (2.0, 1.0)]) == (2, 2)


def test_normalised_curves_go_from_one_to_zero():
    epochs = pd.DataFrame(
        {"trained": "a", "seed": [1, 1, 1, 2, 2, 2], "epoch": [0, 1, 2] * 2, "loss": [5.0, 1, 3, 2, 0, 1]}
    )
    x, mean, low, high = normalised_curves(epochs, ["a"], 1)["a"]
    np.testing.assert_allclose(x, [0, 1])
    np.testing.assert_allclose([mean, low, high], [[1, 0]] * 3)
    np.testing.assert_allclose(normalised_curves(epochs, ["a"], 2)["a"][1], [1, 0, 0.5])


def test_the_record_is_whole():
    images, moons, epochs = (read_fcl(name) for name in ("images", "moons", "epochs"))
    assert set(images["loss"]) == {loss.label for loss in losses_recorded()}
    assert not images.duplicated(["loss", "seed", "method", "objective", "metric"]).any()
    assert len(images) == images["loss"].nunique() * images["seed"].nunique() * len(
        images.groupby(["method", "objective", "metric"])
    )
    assert set(epochs["trained"]) == set(CONVERGING)
    assert not moons.duplicated(["lam", "absolute", "trained_on", "network"]).any()
    assert len(evaluate_contrasts(images, written_contrasts())) == len(written_contrasts())
    lams, leans = lean_over_lambda(moons, "whole", absolute=True)
    assert leans.shape == (len(lams), moons["network"].nunique())
    assert lams[0] == 0


def test_what_the_record_says_is_asked_for_is_so_today():
    grid, moons = moon_truth(), read_fcl("moons")
    row = moons[(moons["lam"] == 2.0) & moons["absolute"]].iloc[0]
    loss = MoonLoss(float(row["gamma"]), 2.0, absolute=True)
    found = measure_lean([(loss, "whole", loss.wanted(grid.logits)[None])], grid)
    assert found["asked"][0] == pytest.approx(row["asked"], rel=1e-9)

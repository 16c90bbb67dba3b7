"""Which gamma would calibrate a network: the prediction against trainings, and what it must not depend on."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import minimize
from scipy.special import expit

from focal_lib.cli import main
from focal_lib.metrics import ece
from focal_lib.theory import inverse_focal_logit
from focal_lib.tool.focal_training import predict_focal_training


def made_up(n=1500, seed=0, sharp=2.0):
    rng = np.random.default_rng(seed)
    logits = 3 * rng.normal(size=(n, 3))
    return logits, (logits / sharp + rng.gumbel(size=logits.shape)).argmax(1)


def logistic_regression(x, y, gamma):
    """Weights of least mean focal loss of two classes, from 0, with a small ridge: by L-BFGS, gradient by hand."""
    sign = 2 * y - 1

    def risk(w):
        m = sign * (x @ w)
        q, d, log_q = expit(m), expit(-m), -np.logaddexp(0, -m)
        slope = -q * d * (d**gamma / q - gamma * d ** (gamma - 1) * log_q)
        return float(np.mean(-(d**gamma) * log_q)) + 1e-4 * w @ w, x.T @ (sign * slope) / len(y) + 2e-4 * w

    return minimize(risk, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x


@pytest.mark.parametrize("gamma", [1.0, 3.0])
def test_it_predicts_a_logistic_regression_that_is_trained_afterwards(gamma):
    rng = np.random.default_rng(3)
    truth = rng.normal(size=40) / 4
    x, x_new = rng.normal(size=(200, 40)), rng.normal(size=(8000, 40))  # few samples: it is overconfident on others
    y, y_new = ((rng.random(len(each)) < expit(each @ truth)).astype(int) for each in (x, x_new))
    plain, focal = (x_new @ logistic_regression(x, y, g) for g in (0.0, gamma))
    before, after = (100 * ece(np.stack([expit(-z), expit(z)], 1), y_new) for z in (plain, focal))
    found = predict_focal_training((np.stack([0 * plain, plain], 1), y_new), [gamma]).table.set_index("gamma")
    assert after < before - 2
    assert found.loc[gamma, "ece"] < before - 2
    assert found.loc[gamma, "low"] <= after <= found.loc[gamma, "high"]


def test_the_overconfidence_of_one_confidence_is_that_of_the_inverse_map():
    logits = np.array([[0.0, 2.0], [2.0, 0.0]] * 300)
    labels = np.array([1, 0] * 200 + [0, 1] * 100)  # accuracy 2/3
    found = predict_focal_training((logits, labels), [2.0]).table.set_index("gamma")["overconfidence"]
    assert found[0.0] == pytest.approx(100 * (expit(2.0) - 2 / 3))
    assert found[2.0] == pytest.approx(100 * (expit(inverse_focal_logit(2.0 * 3**0.1, 2.0)) - 2 / 3))


def test_an_overconfident_network_is_told_a_larger_gamma_and_a_calibrated_one_none():
    best = [predict_focal_training(made_up(4000, 1, sharp)).best for sharp in (1.0, 1.5, 3.0)]
    assert best[0] == 0
    assert 0 < best[1] < best[2]


def test_neither_order_nor_a_constant_nor_weights_of_one_matter():
    logits, labels = made_up()
    expected = predict_focal_training((logits, labels)).table
    order = np.random.default_rng(0).permutation(len(labels))
    for same in ((logits[order], labels[order]), (logits + 7, labels)):
        np.testing.assert_allclose(predict_focal_training(same).table, expected, atol=1e-8)
    np.testing.assert_allclose(
        predict_focal_training((logits, labels), weights=np.ones(len(labels))).table, expected, atol=1e-8
    )


def test_the_validation_set_of_two_sets_is_used():
    first, second = made_up(), made_up(seed=1)
    both = {"validation": first, "test": second}
    np.testing.assert_allclose(predict_focal_training(both).table, predict_focal_training(first).table)


@pytest.mark.parametrize("gammas", [[], [0.0], [-1.0], [np.nan], [6.0]])
def test_gammas_out_of_range_are_refused(gammas):
    with pytest.raises(ValueError, match="gamma"):
        predict_focal_training(made_up(100), gammas)


def test_the_command_prints_the_table_and_writes_json(tmp_path):
    logits, labels = made_up()
    np.savez(tmp_path / "validation.npz", logits=logits, labels=labels)
    asked = [
        "gamma",
        str(tmp_path / "validation.npz"),
        "--gamma",
        "2",
        "--gamma",
        "1",
        "--out",
        str(tmp_path / "g.json"),
    ]
    found = CliRunner().invoke(main, asked)
    assert found.exit_code == 0, found.output
    assert "Least predicted ECE: gamma" in found.output
    content = json.loads((tmp_path / "g.json").read_text())
    assert [row["gamma"] for row in content["predictions"]] == [0, 1, 2]
    assert content["samples"] == len(labels)


@pytest.mark.parametrize("gamma", ["0", "-1", "6", "many"])
def test_the_command_refuses_a_gamma_out_of_range(tmp_path, gamma):
    np.savez(tmp_path / "v.npz", logits=np.zeros((4, 2)), labels=[0, 1, 0, 1])
    found = CliRunner().invoke(main, ["gamma", str(tmp_path / "v.npz"), "--gamma", gamma])
    assert found.exit_code == 2
    assert "--gamma" in found.output

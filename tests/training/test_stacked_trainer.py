"""Networks trained at once against the same networks trained one after another."""

import numpy as np
import pandas as pd
import pytest

from focal_lib.training.run import run, run_many
from focal_lib.training.spec import Spec
from tests.training.test_data import write_npz

SMALL = {"n_train": 70, "n_validation": 30, "epochs": 4, "batch_size": 20, "evaluate_every": 2}


@pytest.fixture(autouse=True)
def small_data(tmp_path, monkeypatch):
    write_npz(tmp_path / "data" / "fashion-mnist", n_train=120, n_test=30)
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))


@pytest.mark.parametrize(
    "given",
    [
        {"gamma": 2.0},
        {"model": "mlp", "recipe": "kk24-cifar", "learning_rate": 0.01},
        {"loss": "focal-scheduled-532"},
        {"loss": "fcl", "gamma": 1.0, "lam": 0.5},
    ],
    ids=["adam", "crops and momentum", "schedule", "fcl"],
)
def test_at_once_is_one_after_another(tmp_path, given):
    specs = [Spec(seed=seed, **SMALL, **given) for seed in range(3)]
    together = run_many(specs, tmp_path / "many")
    for spec, found in zip(specs, together, strict=True):
        alone = run(spec, tmp_path / "one")
        np.testing.assert_allclose(found.test.logits, alone.test.logits, rtol=2e-3, atol=2e-4)
        np.testing.assert_allclose(found.history["nll"], alone.history["nll"], rtol=2e-3)
        pd.testing.assert_index_equal(found.history.columns, alone.history.columns)
    assert np.abs(together[0].test.logits - together[1].test.logits).max() > 0.01  # seeds of their own


def test_finished_runs_are_not_repeated(tmp_path):
    specs = [Spec(seed=seed, **SMALL) for seed in range(2)]
    first = run(specs[0], tmp_path)
    both = run_many(specs, tmp_path)
    np.testing.assert_array_equal(both[0].test.logits, first.test.logits)
    assert (tmp_path / specs[1].digest / "logits.npz").is_file()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"model": "resnet8"}, "must have no buffers"),
        ({"loss": "mmce", "lam": 1.0}, "must be a mean over rows. Got MMCELoss"),
        ({"loss": "adafocal"}, "must be a mean over rows. Got AdaFocalLoss"),
    ],
)
def test_what_must_go_one_after_another_says_so(tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        run_many([Spec(seed=s, **SMALL, **given) for s in range(2)], tmp_path)


def test_only_seeds_may_differ(tmp_path):
    with pytest.raises(ValueError, match="nothing but their seed"):
        run_many([Spec(**SMALL), Spec(gamma=1.0, **SMALL)], tmp_path)


def test_a_loss_that_explodes_names_its_network(tmp_path):
    with pytest.raises(RuntimeError, match=r"Got others for networks \[0, 1\] of 2"):
        run_many([Spec(seed=s, **SMALL, learning_rate=1e30) for s in range(2)], tmp_path)

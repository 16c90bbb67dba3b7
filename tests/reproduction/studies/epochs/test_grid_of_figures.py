"""The claims on M20's own networks: unchecked without them, checked on runs made up in their place."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from reproduction.engine.grids import read_grid
from reproduction.engine.spec import Spec
from reproduction.engine.store import RunMissing
from reproduction.ledger import Unchecked, Verdict
from reproduction.studies.cifar import claims_focal_training as focal_training
from reproduction.studies.epochs import claims_overfitting as overfitting
from reproduction.studies.epochs import claims_regularisation as regularisation
from reproduction.studies.shared import from_runs

CLAIMS = [
    (overfitting, overfitting.fig1_training_error),
    (focal_training, focal_training.fig3_confidence_kept),
    (regularisation, regularisation.weight_norm_early),
]


def made(error=(0.02, 0.03, 0.0), right=6.0, norms=(1, 1, -1), seeds=3):
    """Runs as the claims have them: errors between the drops, at first and then, and after; logits; what leads."""
    runs = []
    for gamma in (0.0, 1.0, 2.0, 3.0):
        for seed in range(seeds):
            wobble = 1 + 0.001 * seed * (1 + gamma)
            epochs = np.arange(1, 351)
            errors = np.select([epochs <= 150, epochs <= 200, epochs <= 250], [0.1, *error[:2]], error[2]) * wobble
            lead = np.select([epochs < 150, epochs < 250], norms[:2], norms[2]) * gamma * wobble
            row = {"epoch": epochs, "split": "train", "error": errors, "weight_norm": 9 + lead}
            spec = Spec(gamma=gamma, seed=seed, recipe="m20-cifar")
            test = SimpleNamespace(logits=np.outer([right * wobble] * 2, [1.0, 0.0, 0.0]), labels=np.array([0, 1]))
            runs.append(SimpleNamespace(spec=spec, history=pd.DataFrame(row), test=test))
    return tuple(runs)


def verdict(monkeypatch, module, check, **given):
    monkeypatch.setattr(module, "runs_if_trained", lambda grid: made(**given))
    return check().verdict


@pytest.mark.parametrize(
    ("module", "check", "opposite"),
    [
        (*CLAIMS[0], {"error": (0.03, 0.02, 0.0)}),
        (*CLAIMS[0], {"error": (0.02, 0.03, 0.001)}),
        (*CLAIMS[1], {"right": 3.0}),
        (*CLAIMS[2], {"norms": (-1, 1, -1)}),
        (*CLAIMS[2], {"norms": (1, -1, -1)}),
        (*CLAIMS[2], {"norms": (1, 1, 1)}),
    ],
)
def test_a_claim_is_checked_where_its_grid_is_trained(module, check, opposite, monkeypatch):
    assert verdict(monkeypatch, module, check) == Verdict.REPRODUCED
    assert verdict(monkeypatch, module, check, **opposite) == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(("module", "check"), CLAIMS)
def test_of_one_seed_nothing_is_decided_and_the_numbers_are_told(module, check, monkeypatch):
    assert verdict(monkeypatch, module, check, seeds=1) == Verdict.UNDECIDED
    assert "recomputed" in check().describe()
    assert "1 seed" in check().describe()


@pytest.mark.parametrize(("module", "check"), CLAIMS)
def test_without_its_grid_a_claim_is_unchecked_and_names_the_command(module, check, monkeypatch):
    monkeypatch.setattr(module, "runs_if_trained", lambda grid: ())
    found = check()
    assert isinstance(found, Unchecked)
    assert "focal grid workflow/grids/m20-figures.yaml" in found.reason
    assert not found.lacks_runs  # so that it is on record


def test_a_grid_of_which_a_run_is_missing_has_none(tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_RUNS", str(tmp_path))
    assert from_runs.runs_if_trained("m20-figures") == ()


def test_a_grid_is_loaded_by_its_name(monkeypatch):
    monkeypatch.setattr(from_runs, "load_runs", lambda path: [path.name])
    assert from_runs.runs_if_trained("m20-figures") == ("m20-figures.yaml",)

    def missing(path):
        raise RunMissing(path.name)

    monkeypatch.setattr(from_runs, "load_runs", missing)
    assert from_runs.runs_if_trained("m20-figures") == ()


def test_the_grid_has_the_epochs_and_networks_that_the_claims_read():
    specs = read_grid(from_runs.ROOT / "workflow" / "grids" / f"{from_runs.M20_FIGURES}.yaml")
    assert [spec.gamma for spec in specs] == [0.0, *focal_training.GAMMAS]
    assert {(spec.training.drops, spec.training.epochs, spec.evaluate_every) for spec in specs} == {
        ((150, 250), 350, 1)
    }

"""Specifications: one run, one name; what cannot be meant is refused before anything is loaded."""

import shlex

import numpy as np
import pytest

from focal_lib.losses.by_name import build
from focal_lib.parameters import parse_parameters
from focal_lib.training.grids import make_spec
from focal_lib.training.spec import LOSSES, Spec


def test_digest_depends_on_every_field_and_on_nothing_else():
    assert Spec(gamma=3).digest == Spec(gamma=3.0, n_train=2e3, seed=np.int64(0)).digest
    changed = [{"gamma": 1.0}, {"seed": 1}, {"n_train": 1}, {"epochs": 1}, {"model": "x"}, {"loss": "brier"}]
    changed += [{"recipe": "cifar-fast"}, {"loss": "mmce", "lam": 2}, {"loss": "mmce", "lam": 1}]
    assert len({Spec(**c).digest for c in changed} | {Spec().digest}) == len(changed) + 1


def test_digests_of_before_stay():
    """The recorded runs are found by them."""
    assert Spec().digest == "ee856d1ff2c95aaf"
    assert Spec(loss="fcl", gamma=3, lam=0.5, recipe="kk24-cifar", dataset="cifar10").digest == "a7a70a1515b54578"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of cross-entropy, focal"),
        ({"recipe": "slow"}, "recipe must be one of book-fast"),
        ({"dataset": 5}, "dataset must be a name. Got 5"),
        ({"dataset": "../secret"}, r"dataset must be a name of letters, digits, .* Got '../secret'"),
        ({"dataset": ""}, "dataset must be a name of letters"),
        ({"model": None}, "model must be a name. Got None"),
        ({"epochs": -1}, "epochs must be a whole number >= 0"),
        ({"epochs": 2.5}, "epochs must be a whole number >= 0. Got 2.5"),
        ({"n_train": 0}, "n_train must be a whole number >= 1"),
        ({"n_train": 1.5}, "n_train must be a whole number >= 1. Got 1.5"),
        ({"n_train": float("inf")}, "n_train must be a whole number"),
        ({"n_train": "1e3"}, "n_train must be a whole number >= 1. Got '1e3'"),
        ({"seed": -1}, "seed must be a whole number >= 0. Got -1"),
        ({"seed": True}, "seed must be a whole number >= 0. Got True"),
        ({"gamma": True}, "gamma must be a number >= 0. Got True"),
        ({"gamma": [1, 2]}, r"gamma must be a number >= 0. Got \[1, 2\]"),
        ({"gamma": -1}, "gamma must be a number >= 0"),
        ({"gamma": float("nan")}, "gamma must be a number >= 0. Got nan"),
        ({"learning_rate": "fast"}, "learning_rate must be a number >= 0. Got 'fast'"),
        ({"loss": "brier", "gamma": 2}, "brier has no gamma: leave it out"),
        ({"loss": "cross-entropy", "gamma": 2}, "cross-entropy has no gamma: leave it out"),
        ({"lam": 2}, "focal has no lam"),
    ],
)
def test_bad_specification(change, message):
    with pytest.raises(ValueError, match=message):
        Spec(**change)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "fcl", "gamma": 3}, "fcl needs lam: L25 A.10 has gamma 4, lam 1.5"),
        ({"loss": "fcl", "lam": 0.5}, "fcl needs gamma: L25 A.10"),
        ({"loss": "fcl-l1"}, "fcl-l1 needs gamma"),
        ({"loss": "mmce"}, "mmce needs lam: M20 has lam 2"),
        ({"loss": "label-smoothing"}, r"label-smoothing needs lam: M20 has lam 0.05"),
        ({"loss": "hessian-trace"}, "hessian-trace needs lam"),
        ({"loss": "dual-focal"}, "dual-focal needs gamma"),
        ({"loss": "proper-focal"}, "proper-focal needs gamma"),
    ],
)
def test_a_loss_without_its_parameter_is_refused_with_the_papers_value(given, message):
    with pytest.raises(ValueError, match=message):
        Spec(**given)


def test_every_loss_that_needs_a_parameter_says_so_and_zero_may_be_meant():
    for loss, uses in LOSSES.items():
        if uses and loss != "focal":
            with pytest.raises(ValueError, match="needs"):
                Spec(loss=loss)
        assert Spec(loss=loss, gamma=0, lam=0).loss == loss
    assert Spec(loss="focal") == Spec(loss="cross-entropy") == Spec(loss="focal", gamma=0)


@pytest.mark.parametrize("loss", ["focal-scheduled-532", "focal-scheduled-531"])
def test_a_schedule_needs_epochs_to_change_in(loss):
    with pytest.raises(ValueError, match=rf"{loss} changes gamma .*: epochs must be at least 4. Got 3"):
        Spec(loss=loss, epochs=3)
    build(loss, epochs=Spec(loss=loss, epochs=4).training.epochs)
    with pytest.raises(ValueError, match=r"needs at least 4. Got 3"):
        build(loss, epochs=3)


@pytest.mark.parametrize(
    "spec",
    [
        Spec(),
        Spec(gamma=2.5, seed=3),
        Spec(loss="fcl", gamma=3, lam=0.5, dataset="cifar10", recipe="kk24-cifar", learning_rate=1e-3),
        Spec(loss="hessian-trace", lam=0),
        Spec(loss="dual-focal", gamma=0, epochs=7),
    ],
)
def test_the_command_of_a_run_makes_it(spec):
    words = shlex.split(spec.command)
    assert words[:2] == ["focal", "run"]
    assert set(words[2::3]) <= {"-p"}
    assert make_spec(parse_parameters(zip(words[3::3], words[4::3], strict=True))) == spec


def test_recipe_keeps_the_places_of_its_drops():
    assert Spec(recipe="kk24-cifar", epochs=7).training.drops == (3, 5)

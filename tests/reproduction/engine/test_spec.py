"""Specifications: one run, one name; what cannot be meant is refused before anything is loaded."""

import re
import shlex

import numpy as np
import pytest
import torch

from focal_lib.loss_records import LOSS_RECORDS, LossRecord
from focal_lib.losses.by_name import build
from reproduction.checkout import ROOT
from reproduction.engine.grids import make_spec, read_grid
from reproduction.engine.recipes import PRECISIONS, RECIPES
from reproduction.engine.spec import LOSSES, Spec
from reproduction.parameters import parse_parameters


def test_digest_depends_on_every_field_and_on_nothing_else():
    assert Spec(gamma=3).digest == Spec(gamma=3.0, n_train=2e3, seed=np.int64(0)).digest
    changed = [{"gamma": 1.0}, {"seed": 1}, {"n_train": 1}, {"epochs": 1}, {"model": "x"}, {"loss": "brier"}]
    changed += [{"recipe": "cifar-fast"}, {"loss": "mmce", "lam": 2}, {"loss": "mmce", "lam": 1}]
    assert len({Spec(**c).digest for c in changed} | {Spec().digest}) == len(changed) + 1


def test_digests_of_before_stay():
    """The recorded runs are found by them."""
    assert Spec(epochs=100).digest == "1d6d0d6e9bf27da0"
    assert Spec(loss="fcl", gamma=3, lam=0.5, recipe="cifar-fast", dataset="cifar10").digest == "fc0f342cb074ae3a"


@pytest.mark.parametrize("name", ["cifar10-record", "cifar10-hessian"])
def test_grids_of_recorded_runs_give_their_names(name):
    recorded = {path.parent.name for path in (ROOT / "results" / name).glob("*/spec.json")}
    assert {spec.digest for spec in read_grid(f"workflow/grids/{name}.yaml")} == recorded


@pytest.mark.parametrize(
    ("grid", "first"),
    [("fashion-mnist", "1d6d0d6e9bf27da0"), ("l25-text", "e012dad29acc378f"), ("smoke", "d3135986195774df")],
)
def test_grids_of_before_give_the_names_of_before(grid, first):
    assert read_grid(f"workflow/grids/{grid}.yaml")[0].digest == first


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_as_in_the_recipe_anyway_makes_no_second_name(recipe):
    own = RECIPES[recipe]
    plain = Spec(recipe=recipe)
    for name in ("epochs", "batch_size", "learning_rate"):
        same = Spec(recipe=recipe, **{name: getattr(own, name)})
        assert same == plain
        assert same.digest == plain.digest
        assert Spec(recipe=recipe, **{name: 2 * getattr(own, name)}).digest != plain.digest
    if own.precision in PRECISIONS:
        assert Spec(recipe=recipe, precision=own.precision) == plain
    assert len({Spec(recipe=recipe, precision=name).digest for name in PRECISIONS}) == 2
    assert plain.as_dict["training"]["epochs"] == own.epochs


def test_a_negative_nought_is_nought():
    assert Spec(gamma=-0.0, learning_rate=-0.0).digest == Spec(gamma=0.0).digest == Spec(gamma=0).digest


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
        ({"seed": 2**64}, "seed must be at most 18446744073709551615. Got 18446744073709551616"),
        ({"seed": 1e30}, "seed must be at most 18446744073709551615. Got 1000000000000000019884624838656"),
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
        (
            {"loss": "fcl", "dataset": "cifar100", "model": "densenet121", "gamma": 3},
            "fcl needs lam: L25 A.10 has gamma 3, lam 0.5 for densenet121 on cifar100. Got none",
        ),
        ({"loss": "fcl-l1"}, "fcl-l1 needs gamma"),
        ({"loss": "mmce"}, "mmce needs lam: M20 has lam 2"),
        ({"loss": "label-smoothing"}, r"label-smoothing needs lam: L25 has lam 0.05"),
        ({"loss": "hessian-trace"}, "hessian-trace needs lam"),
        ({"loss": "dual-focal"}, "dual-focal needs gamma"),
        ({"loss": "proper-focal"}, "proper-focal needs gamma"),
    ],
)
def test_a_loss_without_its_parameter_is_refused_with_the_papers_value(given, message):
    with pytest.raises(ValueError, match=message):
        Spec(**given)


def test_a_new_loss_without_words_on_the_papers_says_what_it_needs(monkeypatch):
    record = LossRecord("poly-focal", "poly_focal.PolyFocalLoss", "Poly-1 focal", ("gamma", "lam"))
    monkeypatch.setitem(LOSS_RECORDS, "poly-focal", record)
    monkeypatch.setitem(LOSSES, "poly-focal", record.parameters)
    with pytest.raises(ValueError, match=r"^poly-focal needs gamma. Got none.$"):
        Spec(loss="poly-focal")
    with pytest.raises(ValueError, match=r"^poly-focal needs lam. Got none.$"):
        Spec(loss="poly-focal", gamma=2)


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
        Spec(dataset="digits-2.0", learning_rate=2.0),
    ],
)
def test_the_command_of_a_run_makes_it(spec):
    words = shlex.split(spec.command)
    assert words[:2] == ["focal", "run"]
    assert set(words[2::3]) <= {"-p"}
    assert make_spec(parse_parameters(zip(words[3::3], words[4::3], strict=True))) == spec


def test_a_loss_is_not_known_by_its_gamma():
    """FLSD-53, Brier score, MMCE and label smoothing have gamma 0, too; dual focal loss and FCL have one above it."""
    specs = [Spec(loss=name, **dict.fromkeys(uses, 0.5)) for name, uses in LOSSES.items()]
    specs += [Spec(), Spec(loss="cross-entropy"), Spec(loss="dual-focal", gamma=0)]
    assert [spec.label for spec in specs if spec.is_focal] == ["focal 0.5", "cross-entropy", "cross-entropy"]
    assert [spec.label for spec in specs if spec.is_cross_entropy] == ["cross-entropy"] * 2
    assert len([spec for spec in specs if spec.gamma == 0]) > 8


def test_who_chooses_runs_by_gamma_asks_for_the_loss():
    """'gamma == 0' alone takes MMCE for cross-entropy."""
    chosen = re.compile(r"(?:if|and) \w+\.spec\.gamma\b")
    for path in [*(ROOT / "reproduction").rglob("*.py"), *(ROOT / "notebooks").glob("*.py")]:
        for line in filter(chosen.search, path.read_text().splitlines()):
            assert "spec.is_focal" in line, f"{path.name}: {line.strip()}"


def test_the_largest_seed_is_one_that_pytorch_takes():
    largest = Spec(seed=2**64 - 1).seed
    assert torch.Generator().manual_seed(largest).initial_seed() % 2**64 == largest


def test_recipe_keeps_the_places_of_its_drops():
    assert Spec(recipe="kk24-cifar", epochs=7).training.drops == (3, 5)
    assert Spec(recipe="kk24-cifar", epochs=1).training.drops == (1,)  # none before the first step

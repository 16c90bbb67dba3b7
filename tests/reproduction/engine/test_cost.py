"""What runs cost."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from reproduction.engine import checkpoint, fit
from reproduction.engine.cost import Compute, images_to_evaluate, images_to_train, total_compute
from reproduction.engine.recipes import RECIPES
from reproduction.engine.run import run
from reproduction.engine.spec import Spec


def test_images_of_a_run(monkeypatch):
    assert images_to_train(Spec(recipe="m20-cifar", n_train=45_000)) == 350 * 45_000
    assert images_to_train(Spec(n_train=110, epochs=3, batch_size=50)) == 330
    assert images_to_train(Spec(n_train=110, epochs=3, batch_size=50), epochs=2) == 220
    monkeypatch.setitem(RECIPES, "book-fast", replace(RECIPES["book-fast"], last_batch="drop"))
    assert images_to_train(Spec(n_train=110, epochs=3, batch_size=50)) == 300


def test_images_that_are_only_evaluated(monkeypatch):
    """Rows after epochs 5, 10 and 12 of training and test; and all three parts at the end."""
    spec = Spec(n_train=100, n_validation=30, epochs=12)
    assert images_to_evaluate(spec, 1000) == 3 * 1100 + 1130
    assert images_to_evaluate(replace(spec, keep_every=4), 1000) == 3 * 1100 + 1130 + 2 * 1000
    monkeypatch.setitem(RECIPES, "book-fast", replace(RECIPES["book-fast"], keep="best"))
    assert images_to_evaluate(spec, 1000) == 3 * 1100 + 1130 + 12 * 30


def test_compute_of_a_record():
    record = {"images": 900, "seconds": 7200, "device": "x86_64"}
    assert Compute.of_record(record) == Compute(900, 2.0, ("x86_64",))
    assert Compute.of_record(record | {"machines": ["a", "b"]}) == Compute(900, 2.0, ("a", "b"))
    assert Compute.of_record({"device": "x86_64"}) is None  # recorded before there were such fields


def test_compute_of_several_runs():
    used = total_compute([Compute(1, 0.5, ("a",)), Compute(2, 0.25, ("b", "a"))])
    assert used == Compute(3, pytest.approx(0.75), ("a", "b"))


def test_hours_are_of_the_epochs_with_evaluation_and_checkpoints(small, tmp_path, monkeypatch):
    """Not of loading the data before, nor of the final logits after."""
    seconds = [0]

    def takes(module, name, time):
        function = getattr(module, name)

        def timed(*given):
            seconds[0] += time
            return function(*given)

        monkeypatch.setattr(module, name, timed)

    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "time", SimpleNamespace(time=lambda: seconds[0]))
    takes(fit, "prepare", 1000)
    takes(fit, "do_epoch", 10)  # which evaluates
    takes(checkpoint, "write_checkpoint", 1)
    takes(fit, "final_logits", 1000)
    assert run(small(), tmp_path).compute.hours == 4 * (10 + 1) / 3600

"""Text classifiers on texts whose class their words tell, and on the papers' data from a folder."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from reproduction.engine import data
from reproduction.engine.contrasts import Contrast
from reproduction.engine.data import text
from reproduction.engine.fit import prepare
from reproduction.engine.trainer import BestWeights
from reproduction.studies.texts.measures import TEXT_METRICS, measure_texts, name_kept
from reproduction.studies.texts.plan import (
    BEST,
    LAST,
    LOSSES,
    SETTINGS,
    make_specs,
    network_and_recipe,
    written_contrasts,
)
from reproduction.studies.texts.train import IN, train_texts
from tests.reproduction.engine.data.test_snippets import _papers_data

SMALL = {"n_train": 60, "n_validation": 30, "epochs": 4, "batch_size": 10, "model": "gp-cnn"}


def _specs(losses=("cross-entropy",), seed=1, dataset="film-snippets-2", **changes):
    return make_specs(dataset, seed, losses, **SMALL | changes)


def test_it_learns_and_both_weights_are_those_of_their_epochs(rated):
    found = data.load("film-snippets-2")
    (run,) = train_texts(_specs(epochs=6), found, text.load_elsewhere(found))
    accuracies = [epoch.accuracy for epoch in run.epochs]
    best, last = run.weights[BEST], run.weights[LAST]
    assert [epoch.epoch for epoch in run.epochs] == [1, 2, 3, 4, 5, 6]
    assert best.epoch == 1 + int(np.argmax(accuracies))
    assert last.epoch == 6
    for weights in (best, last):
        held = weights.validation
        assert (held.logits.argmax(-1) == held.labels).mean() == accuracies[weights.epoch - 1]
    assert (best.tests[IN].logits.argmax(-1) == best.tests[IN].labels).mean() > 0.8
    assert set(best.tests) == {IN, "product reviews", "tweets", "news"}
    assert set(last.tests) == {IN}


def test_weights_are_those_of_a_run_of_the_grid(rated):
    """`focal run` with this specification ends with the same weights: its recipe keeps the best epoch, too."""
    spec = _specs()[0]
    trainer, parts = prepare(spec, "cpu")
    for _ in range(spec.training.epochs):
        trainer.train_epoch(*parts["train"])
        trainer.validate(*parts["validation"])
    late = trainer.logits(parts["test"][0]).double().numpy()
    trainer.finish()
    kept = trainer.logits(parts["test"][0]).double().numpy()
    (run,) = train_texts([spec], data.load("film-snippets-2"))
    np.testing.assert_allclose(run.weights[LAST].tests[IN].logits, late, atol=1e-6)
    np.testing.assert_allclose(run.weights[BEST].tests[IN].logits, kept, atol=1e-6)


def test_the_earliest_of_equally_good_epochs_is_kept(rated, monkeypatch):
    offer = BestWeights.offer
    monkeypatch.setattr(BestWeights, "offer", lambda self, epoch, _, model: offer(self, epoch, 0.5, model))
    (run,) = train_texts(_specs(), data.load("film-snippets-2"))
    assert run.weights[BEST].epoch == 1


def test_losses_of_a_seed_share_texts_and_first_weights(rated, monkeypatch):
    seen = []
    make = torch.nn.Linear.reset_parameters

    def watching(self):
        make(self)
        seen.append(float(self.weight.detach().sum()))

    monkeypatch.setattr(torch.nn.Linear, "reset_parameters", watching)
    one, two = train_texts(_specs(("cross-entropy", "flsd-53")), data.load("film-snippets-2"))
    np.testing.assert_array_equal(one.weights[BEST].validation.labels, two.weights[BEST].validation.labels)
    assert seen[:2] == seen[2:]
    (other,) = train_texts(_specs(seed=2), data.load("film-snippets-2"))
    assert (one.weights[BEST].validation.labels != other.weights[BEST].validation.labels).any()


@pytest.mark.parametrize("name", ["sst", "ag-news", "20-newsgroups"])
def test_the_papers_data_are_trained_on(tmp_path, name):
    _papers_data(name, tmp_path)
    model = network_and_recipe(name)[0].removesuffix("-glove")
    specs = make_specs(name, 1, ("flsd-53",), n_train=10, n_validation=6, epochs=1, batch_size=5, model=model)
    (run,) = train_texts(specs, text.load_text(name, tmp_path))
    assert np.isfinite(run.weights[BEST].tests[IN].logits).all()
    assert specs[0].recipe == ("m20-sst" if name == "sst" else "m20-newsgroups")


def test_another_data_set_is_refused(rated):
    with pytest.raises(ValueError, match=r"specifications must be of film-snippets-3. Got film-snippets-2"):
        train_texts(_specs(), data.load("film-snippets-3"))
    with pytest.raises(ValueError, match=r"losses must be of cross-entropy, .*Got hinge"):
        make_specs("film-snippets-2", 1, ("hinge",))


def test_labels_are_those_of_runs():
    assert [spec.label for spec in make_specs("film-snippets-2", 1)] == list(LOSSES)


def test_the_table_has_each_weights_source_and_scaling(rated):
    found = data.load("film-snippets-2")
    runs = train_texts(_specs(("cross-entropy", "brier")), found, text.load_elsewhere(found))
    table = measure_texts(runs)
    assert len(table) == 2 * (4 + 1) * 4 * len(TEXT_METRICS)  # losses, sources of best and last, scalings
    first = table[(table["method"] == "none") & (table["metric"] == "error") & (table["source"] == IN)].iloc[0]
    part = runs[0].weights[BEST].tests[IN]
    assert first["value"] == pytest.approx(100 * (part.logits.argmax(-1) != part.labels).mean())
    named = name_kept(table)
    assert set(named["loss"]) == {f"{loss}, {kept}" for loss in ("cross-entropy", "brier") for kept in (BEST, LAST)}
    own = table[(table["loss"] == "brier") & (table["kept"] == BEST) & (table["metric"] == "ece")]
    own = own[(own["method"] == "none") & (own["source"] != IN)]
    mean = named[
        (named["loss"] == f"brier, {BEST}") & (named["metric"] == "ece elsewhere") & (named["method"] == "none")
    ]
    assert mean["value"].item() == pytest.approx(own["value"].mean())


def test_a_network_without_skill_gets_no_warning(rated):
    (run,) = train_texts(_specs(), data.load("film-snippets-2"))
    held = run.weights[BEST].validation
    turned = replace(run.weights[BEST], validation=replace(held, labels=1 - held.logits.argmax(-1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = measure_texts([replace(run, weights={BEST: turned})])
    assert table.loc[table["objective"] == "nll", "temperature"].min() > 100


@pytest.mark.parametrize("setting", list(SETTINGS))
def test_written_contrasts_are_of_losses_that_are_recorded(setting):
    contrasts = written_contrasts(setting)
    recorded = {f"{loss}, {kept}" for loss in SETTINGS[setting].losses for kept in (BEST, LAST)}
    assert all(isinstance(c, Contrast) and {*c.ours.losses, *c.theirs.losses} <= recorded for c in contrasts)
    assert any("elsewhere" in c.name for c in contrasts) == SETTINGS[setting].elsewhere


def test_a_setting_that_was_not_written_down_is_refused():
    with pytest.raises(ValueError, match=r"setting must be one of GP-CNN, two classes"):
        written_contrasts("transformer")

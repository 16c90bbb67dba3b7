"""The record of text classifiers goes on where it stopped."""

import pandas as pd
import pytest

from reproduction.studies.texts import record as texts
from reproduction.studies.texts.plan import FIRST_SEED, SETTINGS


@pytest.fixture
def asked(monkeypatch):
    """The specifications that are trained, each with one number for its table."""
    seen = []

    def trained(specs, dataset, others):
        assert bool(others) == (not dataset.endswith("trees"))
        seen.extend(specs)
        return specs

    def measured(specs):
        return pd.DataFrame([{"dataset": s.dataset, "loss": s.label, "seed": s.seed, "value": 1.0} for s in specs])

    monkeypatch.setattr(texts, "load_text", lambda name: name)
    monkeypatch.setattr(texts, "load_elsewhere", lambda dataset: {"tweets": dataset})
    monkeypatch.setattr(texts, "train_texts", trained)
    monkeypatch.setattr(texts, "measure_texts", measured)
    return seen


def test_each_model_is_trained_once(tmp_path, asked):
    out = tmp_path / "record" / "table.parquet"
    texts.main(5, out, seeds=[2])
    assert asked == list(texts.specs_of(2))
    first = pd.read_parquet(out)
    texts.main(5, out, seeds=[2, 3])
    assert asked == list(texts.specs_of(2)) + list(texts.specs_of(3))
    pd.testing.assert_frame_equal(pd.read_parquet(out).head(len(first)), first)
    texts.main(0, out, seeds=[4])  # no time: what there is stays
    assert len(asked) == len({spec.digest for spec in asked}) == len(pd.read_parquet(out))


def test_seeds_are_those_of_the_settings():
    for setting in SETTINGS.values():
        seeds = [s for s in texts.SEEDS if setting.dataset in {spec.dataset for spec in texts.specs_of(s)}]
        assert seeds == list(range(FIRST_SEED, FIRST_SEED + setting.seeds))
    assert not list(texts.specs_of(max(texts.SEEDS) + 1))

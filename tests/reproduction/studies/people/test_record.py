"""The recorder on a few images, and what is on record."""

import numpy as np
import pandas as pd
import pytest

from reproduction.studies.people import contrasts, record
from reproduction.studies.people.measures import Network
from reproduction.studies.people.plan import CE, RESNET18, UNSEEN, written_contrasts
from reproduction.studies.shared.recorded import read_table
from reproduction.studies.shared.votes import Votes


@pytest.fixture
def few(network, monkeypatch):
    """Networks of a loss and seed each, with logits near each other, in the place of the recorded runs."""
    logits, labels, counts = network
    losses = {CE: 0.0, "focal 1": 1.0, "focal 2": 2.0, "focal 3": 3.0, "flsd-53": None}

    def networks(name):
        for place, (loss, gamma) in enumerate(losses.items()):
            for seed in (0, 1):
                z = logits * (1 + 0.1 * place) + 0.1 * np.random.default_rng(seed).normal(size=logits.shape)
                yield Network(name, "small", loss, gamma, seed, z, labels, (z, labels))

    monkeypatch.setattr(record, "networks", networks)
    return Votes(counts, np.eye(counts.shape[-1])), labels


def test_a_set_of_runs_is_measured_and_its_contrasts_have_errors(few, monkeypatch):
    votes, _ = few
    monkeypatch.setattr(record, "RESAMPLES", 20)
    rows, said, every = record.measure(RESNET18, votes)
    errors = pd.DataFrame(record.errors_of(RESNET18, said, every, votes)).set_index("name")
    assert [c.name for c in written_contrasts(RESNET18)] == list(errors.index[errors["error_images"].notna()])
    assert (errors["error"] > 0).all()
    table = pd.DataFrame(rows)
    assert not table.duplicated(["loss", "seed", "method", "metric"]).any()
    curve = pd.DataFrame(record.trace(every, votes))
    assert curve["temperature"].iloc[curve["kl"].argmin()] > curve["temperature"].iloc[curve["nll"].argmin()]


def test_votes_in_another_order_are_not_recorded(few):
    votes, _ = few
    with pytest.raises(ValueError, match="another order"):
        record.measure(RESNET18, votes.take(np.arange(len(votes))[::-1]))


def test_the_record_has_no_votes_and_every_contrast():
    example = contrasts.read_example()
    assert example["images"].min() >= 10, "a mean over images, not what people said of one"
    errors = contrasts.read_errors()
    for name in UNSEEN:
        own = set(errors.loc[errors["table"] == name, "name"])
        assert {c.name for c in written_contrasts(name)} <= own
    assert set(read_table("people").columns).isdisjoint({"image", "votes", "counts"})

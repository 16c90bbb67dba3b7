"""Curvature of runs: factors whose product it is, what is estimated beside what is exact, and relations over gammas."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from reproduction.studies.landscape import landscape
from reproduction.studies.landscape import record as recorder
from reproduction.studies.landscape.landscape import add_logs, measure_factors, measure_landscape, relation_by_seed
from reproduction.studies.landscape.written_landscape import (
    GAMMAS,
    calibration_contrasts,
    cause_contrasts,
    eigenvalue_contrasts,
)


def rows(metric, values, model="mlp"):
    """A row for each gamma and seed of values (gammas, seeds)."""
    return pd.DataFrame(
        [
            {"model": model, "gamma": gamma, "seed": seed, "metric": metric, "value": value}
            for gamma, by_seed in zip(GAMMAS, values, strict=False)
            for seed, value in enumerate(by_seed)
        ]
    )


@pytest.fixture
def networks(monkeypatch, made_results):
    """A small ReLU network for each run, the same for both gammas of a seed, and images made up."""

    def prepare(result, images, root):
        torch.manual_seed(result.spec.seed)
        model = nn.Sequential(nn.Flatten(), nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 4)).eval()
        given = {split: (torch.randn(images, 1, 2, 2), torch.arange(images) % 4) for split in landscape.SPLITS}
        return model, given

    monkeypatch.setattr(landscape, "_prepare", prepare)
    return made_results


@pytest.mark.parametrize("measure", [measure_factors, measure_landscape])
def test_a_loss_whose_hessian_is_not_measured_is_refused(make_result, measure):
    """FCL's own is not that of focal loss with its gamma."""
    with pytest.raises(ValueError, match=r"runs must be of cross-entropy or of focal loss .* Got fcl 3 0.5, seed 2"):
        measure([make_result("fcl", 2, gamma=3, lam=0.5)])


@pytest.mark.slow
def test_the_factors_multiply_to_the_trace(networks):
    table = measure_landscape(networks[:6], images=12, signs=300)
    wide = table.pivot(index=["loss", "seed"], columns="metric", values="value")
    errors = table.pivot(index=["loss", "seed"], columns="metric", values="error")
    for split in landscape.SPLITS:
        factors = wide[f"loss factor {split}"] * wide[f"spread {split}"] * wide[f"sensitivity {split}"]
        np.testing.assert_allclose(factors, wide[f"exact own {split}"])
        for name in ("own", "ce"):
            apart = (wide[f"trace {name} {split}"] - wide[f"exact {name} {split}"]).abs()
            assert (apart < 4.5 * errors[f"trace {name} {split}"]).all()
    same = wide.xs("cross-entropy")
    np.testing.assert_allclose(same["exact own train"], same["exact ce train"])
    np.testing.assert_allclose(same["top own validation"], same["top ce validation"])
    tops = [name for name in wide if name.startswith("top")]
    assert tops == ["top ce validation", "top own train", "top own validation"]
    assert (wide[tops] > 0).all(axis=None)
    assert not np.allclose(wide.xs("focal 3")["exact own train"], wide.xs("focal 3")["exact ce train"])
    only = measure_factors(networks[:6], images=12)
    again = only.pivot(index=["loss", "seed"], columns="metric", values="value")
    pd.testing.assert_frame_equal(again, wide[again.columns])


def test_what_cannot_be_measured(networks):
    with pytest.raises(ValueError, match="signs must be at least 2"):
        measure_landscape(networks[:1], signs=1)


def test_logarithms_of_what_is_not_above_zero_are_missing():
    table = rows("trace", [[np.e, -1.0]]).assign(error=0.5)
    logs = add_logs(table).query("metric == 'log trace'")
    assert logs["value"].iloc[0] == pytest.approx(1.0)
    assert logs["error"].iloc[0] == pytest.approx(0.5 / np.e)
    assert logs["value"].isna().tolist() == [False, True]


def test_relations_are_rank_correlations_within_a_seed():
    first = rows("top", [[1.0, 4.0], [2.0, 30.0], [30.0, 2.0], [40.0, 1.0]])
    second = rows("ece", [[5.0, 5.0], [6.0, 6.0], [7.0, 7.0], [8.0, 9.0]])
    found = relation_by_seed(pd.concat([first, second]), "top")
    assert found.loc["mlp", 0] == pytest.approx(1.0)
    assert found.loc["mlp", 1] == pytest.approx(-0.8)  # ranks 3 4 2 1 against 1 2 3 4: 1 - 6 * 18 / 60
    with pytest.raises(ValueError, match=r"at least three. Got 2"):
        relation_by_seed(pd.concat([first, second]).query("gamma <= 1"), "top")


def test_contrasts_have_the_signs_that_are_claimed():
    steps = eigenvalue_contrasts()
    assert [(c.ours.losses[0], c.theirs.losses[0]) for c in steps[:3]] == [
        ("focal 7", "cross-entropy"),
        ("focal 1", "cross-entropy"),
        ("focal 2", "focal 1"),
    ]
    assert {c.claimed for c in steps} == {-1}
    assert [c.claimed for c in calibration_contrasts()] == [-1, 1, -1, -1]
    for family in (steps, calibration_contrasts(), cause_contrasts()):
        assert [c.primary for c in family] == [True] + [False] * (len(family) - 1)
        assert len({c.name for c in family}) == len(family)


def test_a_record_goes_on_where_it_stopped(networks, monkeypatch, tmp_path):
    asked = []

    def load(spec, root):
        asked.append(spec.name)
        return next(r for r in networks if (r.spec.gamma, r.spec.seed) == (spec.gamma, spec.seed))

    specs = [result.spec for result in networks[:3]]
    monkeypatch.setattr(recorder, "load", load)
    monkeypatch.setattr(recorder, "read_grid", lambda grid: specs[: 1 + len(asked)])
    out = tmp_path / "table.parquet"
    for _ in range(2):
        recorder.main(out=out, images=5, signs=2)
    table = pd.read_parquet(out)
    assert asked == [specs[0].name, specs[1].name]
    assert table.groupby(recorder.KEY, sort=False).ngroups == 2
    assert set(table["images"]) == {5}

"""Curvature of small networks against exact Hessians, and its record."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from focal_lib.losses import FocalLoss
from reproduction.studies.landscape import measures
from reproduction.studies.landscape import record as recorder
from reproduction.studies.landscape.measures import (
    add_logs,
    gauss_newton_traces,
    logit_grams,
    logit_hessians,
    measure_factors,
    measure_landscape,
    relation_by_seed,
)
from reproduction.studies.landscape.plan import GAMMAS, calibration_contrasts, eigenvalue_contrasts
from tests.focal_lib.losses.test_hessian import full_hessian


def network(activation, inputs=None):
    torch.manual_seed(5)
    model = nn.Sequential(
        *(nn.Conv2d(1, 2, 3, stride=2, bias=False), nn.BatchNorm2d(2), activation, nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(2, 4), activation, nn.Linear(4, 3)),
    ).double()
    model.train()(torch.randn(9, 1, 6, 6, dtype=torch.float64))  # statistics that are not 0 and 1
    return model.eval()


def exact(model, loss, inputs, labels, batch_size=3):
    grams = logit_grams(model, inputs, batch_size)
    return gauss_newton_traces(grams, logit_hessians(loss, model(inputs), labels))


@pytest.fixture
def samples():
    generator = torch.Generator().manual_seed(2)
    return torch.randn(7, 1, 6, 6, generator=generator, dtype=torch.float64), torch.arange(7) % 3


@pytest.mark.parametrize("gamma", [0.0, 1.0, 3.0])
def test_it_is_all_of_the_trace_where_logits_are_linear_in_each_weight(samples, gamma):
    model, loss = network(nn.ReLU()), FocalLoss(gamma)
    trace = full_hessian(model, loss, *samples).trace()
    assert float(exact(model, loss, *samples).mean()) == pytest.approx(float(trace), rel=1e-9)


def test_with_another_activation_something_is_left(samples):
    model, loss = network(nn.Tanh()), FocalLoss(0.0)
    trace = full_hessian(model, loss, *samples).trace()
    assert abs(float(exact(model, loss, *samples).mean() - trace)) > 1e-3 * abs(float(trace))


def test_grams_by_one_backward_pass_for_each_logit(samples):
    model, inputs = network(nn.Tanh()), samples[0]
    grams = logit_grams(model, inputs, 3)
    for found, one in zip(grams, inputs, strict=True):
        rows = []
        for logit in model(one[None])[0]:
            gradient = torch.autograd.grad(logit, list(model.parameters()), retain_graph=True)
            rows.append(torch.cat([g.reshape(-1) for g in gradient]))
        jacobian = torch.stack(rows)
        assert torch.allclose(found, jacobian @ jacobian.T)


def test_hessians_in_the_logits():
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, 0.0]])
    labels = torch.tensor([1, 1])
    p = logits.double().softmax(-1)
    known = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    assert torch.allclose(logit_hessians(FocalLoss(0.0), logits, labels), known)
    focal = logit_hessians(FocalLoss(2.0), logits, labels)
    for row, label, found in zip(logits.double(), labels, focal, strict=True):
        slow = torch.autograd.functional.hessian(lambda z, label=label: FocalLoss(2.0)(z[None], label[None]), row)
        assert torch.allclose(found, slow)
    assert float(torch.linalg.eigvalsh(focal[0])[0]) < 0  # far from its label: not convex in the logits (chapter 11)


def test_other_shapes():
    with pytest.raises(ValueError, match=r"one shape \(n, K, K\). Got \(2, 3, 3\), \(1, 3, 3\)"):
        gauss_newton_traces(torch.zeros(2, 3, 3), torch.zeros(1, 3, 3))


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

    def prepare(result, images, root, device):
        torch.manual_seed(result.spec.seed)
        model = nn.Sequential(nn.Flatten(), nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 4)).eval()
        given = {split: (torch.randn(images, 1, 2, 2), torch.arange(images) % 4) for split in measures.SPLITS}
        return model, given

    monkeypatch.setattr(measures, "_prepare", prepare)
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
    for split in measures.SPLITS:
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
    assert table.groupby(list(recorder.KEY), sort=False).ngroups == 2
    assert set(table["images"]) == {5}
    with pytest.raises(ValueError, match=r"must be those of the rows in table\.parquet, 5 images, 2 signs\. Got 6, 2"):
        recorder.main(out=out, images=6, signs=2)

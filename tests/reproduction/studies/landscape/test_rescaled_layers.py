"""Rescaled layers: one function, another trace, by the parts that the two layers had."""

import pytest
import torch
from torch import nn

from focal_lib.losses import FocalLoss
from reproduction.engine import Spec, run
from reproduction.studies.landscape import measures
from reproduction.studies.landscape.measures import measure_factors
from reproduction.studies.landscape.rescaled_layers import measure_rescaled, rescale_layers
from tests.focal_lib.losses.test_hessian import full_hessian


def network():
    torch.manual_seed(3)
    layers = [nn.Conv2d(1, 3, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(12, 4), nn.ReLU(), nn.Linear(4, 3)]
    return nn.Sequential(*layers).double().eval()


@pytest.mark.parametrize("factor", [0.3, 5.0])
def test_the_function_stays_and_the_trace_changes_by_its_parts(factor):
    model, inputs, labels = network(), torch.randn(6, 1, 6, 6, dtype=torch.float64), torch.arange(6) % 3
    moved = rescale_layers(model, factor)
    torch.testing.assert_close(moved(inputs), model(inputs))
    diagonal = full_hessian(model, FocalLoss(1.0), inputs, labels).diagonal()
    sizes = {name: p.numel() for name, p in model.named_parameters()}
    traces = {name: part.sum() for name, part in zip(sizes, diagonal.split(list(sizes.values())), strict=True)}
    first, second = traces.pop("0.weight") + traces.pop("0.bias"), traces.pop("3.weight")
    expected = first / factor**2 + factor**2 * second + sum(traces.values())
    found = full_hessian(moved, FocalLoss(1.0), inputs, labels).trace()
    assert float(found) == pytest.approx(float(expected), rel=1e-9)


def test_what_has_no_such_layers():
    with pytest.raises(ValueError, match=r"factor must be above 0. Got 0"):
        rescale_layers(network(), 0.0)
    for between in (nn.GELU(), nn.Identity()):
        with pytest.raises(ValueError, match="must have a ReLU between them"):
            rescale_layers(nn.Sequential(nn.Linear(2, 2), between, nn.Linear(2, 2)), 2.0)
    with pytest.raises(ValueError, match="must have a ReLU between them"):
        rescale_layers(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), 2.0)


def test_a_run_is_measured_where_it_is_and_where_it_is_moved(write_npz, monkeypatch, tmp_path):
    write_npz(tmp_path / "fashion-mnist", n_train=60, n_test=30)
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    measures._load.cache_clear()  # of images of that name
    result = run(Spec(model="mlp", n_train=40, n_validation=20, epochs=2), tmp_path / "runs", "cpu")
    given = {"images": 5, "root": tmp_path / "runs"}
    table = measure_rescaled([result], [5.0], **given)
    assert table["factor"].tolist() == [1.0, 5.0]
    assert table["moved"].iloc[0] == 0
    assert 0 < table["moved"].iloc[1] < 1e-5
    assert table["ece"].iloc[1] == pytest.approx(table["ece"].iloc[0], abs=1e-3)
    assert table["trace"].iloc[1] > 1.5 * table["trace"].iloc[0]
    factors = measure_factors([result], **given).set_index("metric")["value"]
    assert factors["exact ce validation"] == pytest.approx(table["trace"].iloc[0], rel=1e-4)
    vit = run(Spec(model="small-vit", n_train=40, n_validation=20, epochs=1), tmp_path / "runs", "cpu")
    with pytest.raises(ValueError, match=r"layers in a row. Got small-vit"):
        measure_rescaled([vit], [2.0], **given)
    for measure in (measure_factors, lambda *a, **k: measure_rescaled(*a, [2.0], **k)):
        for images in (0, 21):
            with pytest.raises(ValueError, match="images must be 1 to 20"):
                measure([result], images=images, root=tmp_path / "runs")
    measures._load.cache_clear()

"""What focal losses can do: each probe says yes to what is right, and finds what is not."""

import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from torch.nn import functional as F

from benchmarks import losses

OURS = [library for library in losses.LIBRARIES if library.package == "focal-lib"]


COMPILED = "torch.compile, one graph"


@pytest.mark.slow  # the first graph takes seconds
@pytest.mark.parametrize("library", OURS, ids=lambda library: library.call)
def test_ours_are_one_graph(library):
    assert losses.FEATURES[COMPILED](library) == "yes"


@pytest.fixture(autouse=True)
def _without_graphs(request, monkeypatch):
    if "slow" not in request.keywords:
        monkeypatch.delitem(losses.FEATURES, COMPILED)


@pytest.mark.parametrize("library", OURS, ids=lambda library: library.call)
def test_ours_can_do_all(library):
    found = {row["feature"]: row["result"] for row in losses.run_cells(library)}
    # log_softmax of PyTorch rounds 1 + exp(-15) to float32; logsigmoid does not
    rounded = {name for name, result in found.items() if result != "yes"}
    assert rounded == ({"right where sure and right (margin 15)"} if library.classes else set())


def test_what_a_plain_loss_lacks_is_found():
    def build(reduction, gamma=2.0, soft=False, **options):
        losses._refuse(**options)

        def loss(logits, labels):
            q = torch.softmax(logits.float(), 1).gather(1, labels[:, None])[:, 0]
            each = -((1 - q) ** gamma) * q.log()
            return each.mean() if reduction == "mean" else each

        return loss

    found = {row["feature"]: row["result"] for row in losses.run_cells(losses.Library("torch", "plain", True, build))}
    assert found["mean of the labels"] == found["(N, K, ...) or (N, ...)"] == "yes"
    assert found["ignore_index"] == found["class weights"] == found["label smoothing"] == found["soft labels"] == "no"
    assert found["learnable gamma"] == "gradient alone"
    assert found["finite slope, gamma 0.5, margin 200"] == "no: nan"
    assert found["right where sure and wrong (margin -200)"].startswith("no")


def test_wrong_values_are_found():
    def build(reduction, **options):
        return lambda logits, labels: F.cross_entropy(logits, labels, reduction=reduction)

    library = losses.Library("torch", "another", True, build)
    assert losses.of_shape(library).startswith("no: ")
    assert losses.weighs_classes(library).startswith("no: ")
    assert losses.has_second_derivatives(library).startswith("no: ")


def test_record_leaves_out_what_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(losses, "LIBRARIES", (OURS[1], losses.Library("not-there", "none", True, losses._ours)))
    monkeypatch.setattr(losses, "FEATURES", {"uint8 labels": losses.takes_uint8})
    out = tmp_path / "features.parquet"
    result = CliRunner().invoke(losses.main, ["--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "not-there is not installed" in result.output
    (row,) = pd.read_parquet(out).to_dict("records")
    assert (row["library"], row["feature"], row["result"]) == ("focal-lib", "uint8 labels", "yes")
    assert row["commit"]

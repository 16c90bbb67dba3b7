"""The benchmark of training: ratios, and a way that fails is told and skipped."""

import json

import pytest
import torch
from click.testing import CliRunner

from benchmarks.training import Rate, _write, main


@pytest.mark.slow
def test_rates_of_a_small_network(tmp_path):
    out = tmp_path / "rates.json"
    flags = ["--model", "mlp", "--images", "128", "--device", "cpu", "--precision", "float32", "--way", "plain"]
    flags += ["--at-once", "2"]
    flags += [] if torch.cuda.is_available() else ["--way", "graph"]
    result = CliRunner().invoke(main, [*flags, "--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    first, *ours = json.loads(out.read_text())
    assert (first["loop"], [rate["loop"] for rate in ours]) == ("torchvision", ["ours"] * 3)
    assert [(rate["deterministic"], rate["at_once"]) for rate in ours] == [(True, 1), (False, 1), (True, 2)]
    assert all(rate["images_per_second"] > 0 and rate["way"] == "plain" for rate in ours)
    if not torch.cuda.is_available():
        assert "ours, float32, graph, failed: " in result.output


def test_rates_of_other_devices_and_networks_stay_in_the_file(tmp_path):
    def rate(device, images_per_second, share=0.5, network="mlp"):
        return Rate(device, network, "ours", "float32", "plain", True, 1, images_per_second, share)

    out = tmp_path / "rates.json"
    for rates in (
        [rate("card", 1.0)],
        [rate("core", 2.0, None)],
        [rate("card", 5.0, network="resnet20")],
        [rate("core", 3.0, None), rate("core", 4.0)],
    ):
        _write(out, rates)
    found = [(row["device"], row["images_per_second"], row["share"]) for row in json.loads(out.read_text())]
    assert found == [("card", 1.0, 0.5), ("card", 5.0, 0.5), ("core", 3.0, None), ("core", 4.0, 0.5)]

"""Reliability diagrams and the landscape."""

import numpy as np

from focal_lib.metrics.bins import reliability_bins
from focal_lib.plots.reliability import landscape, reliability_diagrams


def bins():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 400)
    return reliability_bins(probs, rng.integers(0, 3, 400))


def test_points_are_the_bins():
    found = bins()
    fig = reliability_diagrams({"a": found, "b": found}, bands=True)
    top = fig.axes[0]
    (points,) = [line for line in top.lines if line.get_marker() == "o"]
    assert np.allclose(points.get_xydata(), np.column_stack([found.confidence, found.accuracy]))
    assert [ax.get_title() for ax in fig.axes[:2]] == ["a", "b"]
    written = [text.get_text() for text in fig.axes[2].texts]
    assert written == [f"{count:,}" for count in found.count]


def test_landscape_marks_the_chosen_pairs_and_names_its_metric():
    gammas, temperatures = np.linspace(0, 2, 4), np.linspace(1, 3, 5)
    values = np.add.outer(temperatures, gammas) / 100
    fig = landscape(gammas, temperatures, values, {"best": (0.0, 1.0)}, metric="ECE")
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["best"]
    assert fig.axes[1].get_ylabel() == "ECE (%)"

"""Reliability diagrams and the landscape."""

import numpy as np
import pytest

from focal_lib.metrics.bins import reliability_bins
from focal_lib.metrics.positive import positive_reliability_bins
from focal_lib.plots.reliability import (
    class_reliability_diagrams,
    landscape,
    positive_reliability_diagram,
    reliability_diagrams,
)


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


def rare(n=4000):
    rng = np.random.default_rng(0)
    p = 1 / (1 + np.exp(-(rng.normal(size=n) - 6)))
    return p, (rng.random(n) < p).astype(int)


def points_of(ax):
    return next(line for line in ax.lines if line.get_marker() == "o" and line.get_linestyle() == "-").get_xydata()


@pytest.mark.parametrize("binning", ["mass", "width"])
def test_the_diagram_of_an_event_shows_its_bins_and_counts(binning):
    rng = np.random.default_rng(1)
    p = rng.random(500)
    y = rng.random(500) < p
    fig = positive_reliability_diagram(p, y, 10, binning=binning, event="rain")
    found, (top, below) = positive_reliability_bins(p, y, 10, binning=binning), fig.axes
    assert np.allclose(points_of(top), np.column_stack([found.confidence, found.accuracy]))
    assert (top.get_title(), top.get_ylabel(), below.get_xlabel()) == (
        "rain",
        "observed share",
        "predicted probability",
    )
    assert (top.get_xscale(), below.get_yscale()) == ("linear", "log")
    assert sum(bar.get_height() for bar in below.containers[0]) == 500
    assert sum(bar.get_height() for bar in below.containers[1]) == y.sum()


def test_axes_of_a_rare_event_are_logarithmic_and_show_every_bin():
    p, y = rare()
    fig = positive_reliability_diagram(p, y)
    found, (top, below) = positive_reliability_bins(p, y, binning="mass"), fig.axes
    assert (top.get_xscale(), top.get_yscale()) == ("log", "log")
    points = points_of(top)
    seen = found.accuracy > 0
    assert not seen.all()
    assert np.allclose(points[seen, 1], found.accuracy[seen])
    assert np.allclose(points[~seen, 1], 0.5 / found.count.max())
    for k, (least, most) in enumerate((top.get_xlim(), top.get_ylim())):
        assert least < points[:, k].min() <= points[:, k].max() < most
    assert sum(bar.get_height() for bar in below.containers[0]) == len(p)
    assert "no event, drawn at half of one" in [text.get_text() for text in fig.legends[0].get_texts()]
    nothing = positive_reliability_diagram(np.zeros(5), np.zeros(5, int))  # neither promised nor seen
    assert len(nothing.axes) == 2


def test_each_class_has_a_panel():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.arange(1, 15), 600)
    labels = (probs.cumsum(1) > rng.random((600, 1))).argmax(1)
    few = np.argsort(np.bincount(labels, minlength=14), kind="stable")[:2]
    fig = class_reliability_diagrams(probs, labels)
    assert [ax.get_title() for ax in fig.axes[::2]] == [f"class {k}" for k in range(14) if k not in few]
    fig = class_reliability_diagrams(probs, labels, 5, names=list("abcdefghijklmn"), classes=[13, 4])
    assert [ax.get_title() for ax in fig.axes[::2]] == ["n", "e"]
    found = positive_reliability_bins(probs[:, 13], labels == 13, 5, binning="mass")
    assert np.allclose(points_of(fig.axes[0]), np.column_stack([found.confidence, found.accuracy]))
    with pytest.raises(ValueError, match=r"names must be of the 14 classes. Got 2"):
        class_reliability_diagrams(probs, labels, names=["a", "b"])
    with pytest.raises(ValueError, match=r"classes must be of 0 ... 13, at least one. Got \[14\]"):
        class_reliability_diagrams(probs, labels, classes=[14])


def drawn(fig):
    """Points, band and histograms of each panel."""
    tops, belows = fig.axes[::2], fig.axes[1::2]
    heights = [[patch.get_height() for patch in below.patches] for below in belows]
    return [points_of(top) for top in tops], heights


@pytest.mark.parametrize("draw", [positive_reliability_diagram, class_reliability_diagrams])
def test_weights_count_as_copies_do(draw):
    """Whole weights are repeated samples; 0 is none; their scale does not matter for the points."""
    rng = np.random.default_rng(2)
    p = rng.random(300)
    y, weights = (rng.random(300) < p).astype(int), rng.integers(0, 4, 300)
    probs = np.stack([1 - p, p], 1)
    points, heights = drawn(draw(probs, y, 5, binning="width", weights=weights))
    copies, counted = drawn(draw(np.repeat(probs, weights, 0), np.repeat(y, weights), 5, binning="width"))
    for own, of_copies in zip(points, copies, strict=True):
        np.testing.assert_allclose(own, of_copies, rtol=1e-9)
    scale = np.sum(counted) / np.sum(heights)
    np.testing.assert_allclose(scale * np.concatenate(heights), np.concatenate(counted), rtol=1e-9)
    plain = drawn(draw(probs, y, 5, binning="width"))[0]
    assert any(
        own.shape != other.shape or not np.allclose(own, other) for own, other in zip(points, plain, strict=True)
    )
    with pytest.raises(ValueError, match="weights"):
        draw(probs, y, weights=-weights)

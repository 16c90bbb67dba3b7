"""Pictures of training."""

import numpy as np
import pytest

from focal_lib.metrics.bins import Bins, reliability_bins
from reproduction.pages.plots.epochs import MANY, epoch_panels, histogram_panels, reliability_strip

X = np.arange(3.0)


def bins(seed=0):
    rng = np.random.default_rng(seed)
    return reliability_bins(rng.dirichlet(np.ones(3), 900), rng.integers(0, 3, 900))


def test_panels_have_a_band_and_a_colour_for_each_loss_and_one_legend():
    curves = {"cross-entropy": (X, X, X - 1, X + 1), "focal 1": (X, -X, -X, -X)}
    fig = epoch_panels(
        {"a": curves, "b": curves, "c": {"focal 1": curves["focal 1"]}}, columns=2, marks=[1], zero=["b"]
    )
    first, second, third, empty = fig.axes
    assert [ax.get_title() for ax in (first, second, third)] == ["a", "b", "c"]
    assert len(first.collections) == 2
    assert not empty.axison
    assert [text.get_text() for text in fig.legends[0].get_texts()] == list(curves)
    lines = {line.get_label(): line for line in first.lines}
    assert lines["cross-entropy"].get_color() == "#000000"
    (alone,) = [line for line in third.lines if line.get_label() == "focal 1"]
    assert alone.get_color() == lines["focal 1"].get_color()  # whoever stands beside it
    assert len(second.lines) == len(first.lines) + 1  # the line at 0
    assert [ax.get_xlabel() for ax in (first, second, third)] == ["", "epoch", "epoch"]


def test_histograms_count_every_sample_once():
    values = np.array([0.0, 1e-9, 1e-3, 1.0, 10.0])
    fig = histogram_panels(
        {"epoch 1": {"cross-entropy": values}, "epoch 2": {"cross-entropy": values}}, "norm", lowest=1e-6
    )
    (step,) = fig.axes[0].patches
    shares = step.get_data().values
    assert shares.sum() == pytest.approx(1)
    assert shares[0] == pytest.approx(0.4)  # 0 and 1e-9


def test_histograms_of_nothing_but_zeros():
    histogram_panels({"epoch 1": {"focal 5": np.zeros(4)}}, "norm", lowest=1e-6)


def test_a_strip_has_a_row_a_loss_and_leaves_out_points_of_few_samples():
    few = Bins(np.array([MANY - 1, MANY]), np.array([0.2, 0.8]), np.array([0.1, 0.7]))
    fig = reliability_strip({"a": {"epoch 1": few, "epoch 2": bins()}, "b": {"epoch 1": few, "epoch 2": bins()}})
    assert len(fig.axes) == 4
    assert [ax.get_title() for ax in fig.axes] == ["epoch 1", "epoch 2", "", ""]
    (points,) = [line for line in fig.axes[0].lines if line.get_marker() == "o"]
    assert points.get_xydata().tolist() == [[0.8, 0.7]]
    assert len(fig.axes[0].patches) == 2  # the shares of both

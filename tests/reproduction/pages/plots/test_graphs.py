"""Graphs in rows: everything stands above what it rests on, and only the lines needed are drawn."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reproduction.pages.plots.graphs import layered_figure

PAIRS = [("top", "left"), ("top", "right"), ("left", "base"), ("right", "base"), ("top", "base")]


def _drawn(figure):
    (axes,) = figure.axes
    plt.close(figure)
    return {text.get_text(): text.get_position() for text in axes.texts}, axes.lines


def test_rows_and_lines():
    places, lines = _drawn(layered_figure(PAIRS))
    assert {name: y for name, (_, y) in places.items()} == {"base": 0, "left": 1, "right": 1, "top": 2}
    assert len(lines) == 4  # not from the top to the base


def test_names_of_a_row_stand_apart():
    places, _ = _drawn(layered_figure([(f"upper{i}", f"lower{i}") for i in range(5)]))
    assert len(set(places.values())) == 10


def test_neighbours_come_to_stand_above_each_other():
    """Given in an order in which every line crosses the others."""
    places, lines = _drawn(layered_figure([(f"u{i}", f"l{4 - i}") for i in range(5)]))
    assert all(places[f"u{i}"][0] == places[f"l{4 - i}"][0] for i in range(5))
    assert len(lines) == 5


def test_lines_pass_between_the_boxes():
    """One leads from the top past two rows, whose boxes would be in its way."""
    ways = [("top", "left"), ("left", "low"), ("low", "base"), ("top", "far"), ("up", "left"), ("high", "far")]
    figure = layered_figure([*ways, ("low", "far"), ("high", "left"), ("high", "base2"), ("top", "base2")])
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = {text.get_text(): text.get_bbox_patch().get_window_extent() for text in axes.texts}
    for line in axes.lines:
        points = axes.transData.transform(np.column_stack(line.get_data()))
        at_ends = {name for name, box in boxes.items() for end in points[[0, -1]] if box.contains(*end)}
        on_way = {name for name, box in boxes.items() if any(box.contains(*point) for point in points)}
        assert on_way <= at_ends
    assert len(axes.lines) > len(ways)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("increasing", "increasing"),
        ("kk24_prop1", "kk24_prop1"),
        ("focal_curvature_in_x", "focal_\ncurvature_\nin_x"),
        ("L25_FocalCalibrationLoss", "L25_Focal\nCalibration\nLoss"),
        ("KK24_ManyClasses", "KK24_Many\nClasses"),
        ("temperatures", "temperatures"),
    ],
)
def test_long_names_are_broken_between_words(name, shown):
    places, _ = _drawn(layered_figure([(name, "x")]))
    assert set(places) == {shown, "x"}


def test_a_full_row_makes_the_figure_wider():
    with plt.rc_context({"figure.constrained_layout.use": True}):  # as in the book
        few, many = (layered_figure([("top", f"lemma_of_number_{i}") for i in range(n)]) for n in (3, 20))
    assert few.get_figwidth() == 9 < many.get_figwidth()
    many.draw_without_rendering()
    boxes = [text.get_bbox_patch().get_window_extent() for text in many.axes[0].texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match="without a cycle"):
        layered_figure([("a", "b"), ("b", "a")])
    with pytest.raises(ValueError, match="Got none"):
        layered_figure([])

"""Columns of boxes: everything stands in its column, near what it is joined with, and nothing overlaps."""

import itertools
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.pylabtools import print_figure
from matplotlib.colors import to_hex

from focal_lib.plots.style import WIDTH
from reproduction.pages.plots.graphs import columns_figure

FOUR = ("lemma", "theorem", "claim", "chapter")


def _drawn(columns, pairs, marks=None):
    """The boxes by what is written in them, in pixels, and the figure's lines."""
    figure = columns_figure(columns, pairs, marks or {})
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = {text.get_text(): text.get_bbox_patch() for text in axes.texts if text.get_bbox_patch()}
    return figure, {name: patch.get_window_extent() for name, patch in boxes.items()}, axes.lines


def test_columns_from_left_to_right_and_a_line_for_each_pair():
    columns = {"lemma": ["a", "b"], "theorem": ["c"], "claim": ["d", "e"]}
    _, boxes, lines = _drawn(columns, [("a", "c"), ("b", "c"), ("c", "d"), ("c", "e")])
    assert boxes["a"].x1 < boxes["c"].x0 < boxes["c"].x1 < boxes["d"].x0
    assert len(lines) == 4
    assert (boxes["a"].y0 + boxes["b"].y0) / 2 == pytest.approx(boxes["c"].y0)


def test_neighbours_come_to_stand_beside_each_other():
    """Given in an order in which every line crosses the others."""
    columns = {"lower": [f"l{i}" for i in range(5)], "upper": [f"u{i}" for i in range(5)]}
    _, boxes, _ = _drawn(columns, [(f"l{i}", f"u{4 - i}") for i in range(5)])
    assert all(boxes[f"l{i}"].y0 == pytest.approx(boxes[f"u{4 - i}"].y0) for i in range(5))


def test_nothing_overlaps_however_long_the_names_and_no_line_crosses_a_box():
    columns = {header: [f"{header}_of_number_{i}_with_a_long_name" for i in range(6)] for header in FOUR}
    names = list(columns.values())
    pairs = [(a, b) for left, right in itertools.pairwise(names) for i, a in enumerate(left) for b in right[i : i + 2]]
    figure, boxes, lines = _drawn(columns, pairs, dict.fromkeys(columns["claim"], ("formally proved", "green")))
    texts = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(texts) == 4 * 6 + 4
    assert not any(one.overlaps(other) for one, other in itertools.combinations([*boxes.values(), *texts[:4]], 2))
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes.values())
    for line in lines:
        points = figure.axes[0].transData.transform(np.column_stack(line.get_data()))
        at_ends = {name for name, box in boxes.items() for end in points[[0, -1]] if box.contains(*end)}
        assert {name for name, box in boxes.items() if any(box.contains(*point) for point in points)} == at_ends


def test_a_notebook_leaves_every_box_in_its_place():
    with plt.rc_context({"figure.constrained_layout.use": True}), warnings.catch_warnings(action="error"):  # the book's
        figure = columns_figure({"lemma": ["a"], "theorem": ["b"]}, [("a", "b")], {})
        print_figure(figure)
        print_figure(figure)
    assert tuple(figure.axes[0].get_position().bounds) == (0, 0, 1, 1)


def test_short_names_leave_the_figure_as_wide_as_a_phone_can_show():
    columns = dict(zip(FOUR, (["map_lowers_top"], ["kk24_prop5_refuted"], ["kk24.prop5"], ["Confidence"]), strict=True))
    figure, _, _ = _drawn(columns, [], {"kk24.prop5": ("refuted", "red")})
    assert figure.get_figwidth() == WIDTH


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("increasing", "increasing"),
        ("kk24_prop1", "kk24_prop1"),
        ("focal_curvature_in_x", "focal_\ncurvature_\nin_x"),
        ("l25.focal_overconfident_where", "l25.focal_\noverconfident_\nwhere"),
        ("Focal calibration loss", "Focal\ncalibration\nloss"),
        ("temperatures", "temperatures"),
    ],
)
def test_long_names_are_broken_between_words(name, shown):
    _, boxes, _ = _drawn({"claim": [name]}, [])
    assert set(boxes) == {shown}


def test_a_mark_is_written_below_its_name_on_its_colour():
    figure, boxes, _ = _drawn({"claim": ["one", "other"]}, [], {"one": ("refuted", "#b3003b")})
    assert set(boxes) == {"one\nrefuted", "other"}
    [marked] = [text for text in figure.axes[0].texts if text.get_text() == "one\nrefuted"]
    assert to_hex(marked.get_bbox_patch().get_facecolor()) == "#b3003b"


def test_a_column_may_be_empty():
    _, boxes, lines = _drawn({"lemma": [], "theorem": ["a"], "claim": ["b"]}, [("a", "b")])
    assert set(boxes) == {"a", "b"}
    assert len(lines) == 1

"""Pictures on the triangle."""

import numpy as np

from reproduction.pages.plots.simplex import arrow_fields, isolines, maps_on_triangle, project, simplex_grid

POINTS = simplex_grid(6)


def test_grid_lies_inside_the_simplex():
    assert np.allclose(POINTS.sum(-1), 1)
    assert POINTS.min() > 0
    assert len(POINTS) == 10  # of 6 cells a side


def test_corners_are_a_triangle_of_equal_sides():
    corners = project(np.eye(3))
    assert np.allclose(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=-1), 1)


def test_arrows_lead_from_each_point_to_its_image():
    target = np.roll(POINTS, 1, axis=-1)
    (ax,) = arrow_fields(POINTS, {"roll": target}).axes
    (arrows,) = [c for c in ax.collections if hasattr(c, "U")]
    assert np.allclose(np.column_stack([arrows.U, arrows.V]), project(target) - project(POINTS))


def test_a_panel_each_with_its_title():
    values = {name: POINTS[:, i] for i, name in enumerate("abc")}
    truth = np.array([0.5, 0.3, 0.2])
    fig = isolines(POINTS, values, [10, 50], truth)
    assert [ax.get_title() for ax in fig.axes if ax.get_title()] == ["a", "b", "c"]
    crosses = [line for ax in fig.axes for line in ax.lines if line.get_marker() == "x"]
    assert np.allclose(crosses[0].get_xydata(), project(truth))


def test_shades_share_one_scale():
    fig = maps_on_triangle(POINTS, {"small": POINTS[:, 0] / 10, "large": POINTS[:, 0]}, "difference")
    assert fig.axes[-1].get_ylabel() == "difference"
    small, large = (ax.collections[0].get_clim() for ax in fig.axes[:2])
    assert small == large

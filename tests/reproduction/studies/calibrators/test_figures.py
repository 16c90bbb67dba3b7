"""The picture of the valley."""

import numpy as np

from reproduction.studies.calibrators.figures import LEVELS, valley_figure


def test_curves_points_and_the_pairs_not_told_apart():
    gammas, temperatures = np.linspace(-0.5, 2, 12), np.linspace(0.5, 2, 15)
    nll = 1 + (temperatures[:, None] - 1 - 0.2 * gammas) ** 2
    fig = valley_figure(gammas, temperatures, nll, 100, {"line": 1 + 0.2 * gammas}, {"best": (0.0, 1.0)})
    ax, colours = fig.axes
    (legend,) = fig.legends  # below the axes, not on the contours
    assert [text.get_text() for text in legend.get_texts()] == ["line", "best"]
    assert ax.get_ylim() == (0.5, 2)
    assert list(colours.get_yticks()) == list(LEVELS)
    np.testing.assert_allclose(ax.collections[1].levels, 5.991464547 / 200)  # chi squared, two degrees

"""The landing page's figure shows what its titles say."""

import numpy as np

from reproduction.pages.plots.front import GAMMAS, front_figure


def test_two_classes_rise_and_a_hundred_can_fall():
    two, hundred = front_figure().axes
    changes = [[np.asarray(line.get_ydata()) for line in ax.lines[: len(GAMMAS)]] for ax in (two, hundred)]
    assert all(change.min() > 0 for change in changes[0])
    assert all(change.min() < 0 < change.max() for change in changes[1])

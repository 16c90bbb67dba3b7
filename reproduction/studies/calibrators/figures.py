"""The validation NLL over (calibration gamma, T), with curves over it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from scipy import stats

from focal_lib.plots.style import WIDTH, curve_styles, put_legend_below
from reproduction.pages.tables import in_words

LEVELS = (0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # of NLL, in nats


def valley_figure(
    gammas: np.ndarray,
    temperatures: np.ndarray,
    nll: np.ndarray,
    samples: int,
    curves: Mapping[str, np.ndarray],
    marks: Mapping[str, tuple[float, float]],
) -> Figure:
    """NLL above its least as shades, the pairs that the samples do not tell from the best, curves T(gamma), points.

    The contour holds the pairs whose likelihood ratio to the best of the grid is not significant at 5 %: 2 n
    times the difference of NLL is below the quantile of chi squared with two degrees of freedom.

    Args:
        gammas, temperatures: (g,) and (t,).
        nll: (t, g), mean over samples.
        samples: n, how many.
        curves: T at each gamma, (g,).
        marks: points (gamma, T).
    """
    fig, ax = plt.subplots(figsize=(WIDTH, 4.4))
    above = nll - nll.min()
    norm = BoundaryNorm(LEVELS, 256, extend="max")
    shades = ax.contourf(gammas, temperatures, above, levels=LEVELS, cmap="cividis_r", norm=norm, extend="max")
    told_apart = stats.chi2.ppf(0.95, 2) / 2 / samples
    ax.contour(gammas, temperatures, above, levels=[told_apart], colors="black", linewidths=2)
    styles = curve_styles(curves)
    for name, curve in curves.items():
        casing = [withStroke(linewidth=4.5, foreground="white")]
        ax.plot(gammas, curve, label=name, path_effects=casing, **styles[name])
    for (name, (g, t)), marker in zip(marks.items(), itertools.cycle("osD^vPX*"), strict=False):
        ax.plot(g, t, marker, color="white", markeredgecolor="black", markersize=9, label=name, clip_on=False, zorder=5)
    ax.set(xlabel=r"$\gamma$ of the calibration map", ylabel="temperature $T$")
    ax.set(ylim=(temperatures[0], temperatures[-1]))
    fig.colorbar(shades, ax=ax, label="NLL above its least", ticks=LEVELS)
    put_legend_below(fig, ax, in_words)
    plt.close(fig)
    return fig

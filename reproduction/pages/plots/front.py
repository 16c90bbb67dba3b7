"""The figure of the README and the landing page.

python -m reproduction.pages.plots.front book/_static/front.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from focal_lib.plots.style import curve_styles, use_style
from focal_lib.theory.confidence import confidence_change
from reproduction.pages.explore import tied

GAMMAS = (0.5, 1.0, 3.0)


def front_figure() -> Figure:
    """Change of the top probability by the focal calibration map, for 2 and for 100 classes."""
    use_style()
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    styles = curve_styles(rf"$\gamma = {gamma:g}$" for gamma in GAMMAS)
    titles = ("Two classes: confidence always rises", "A hundred classes: it can fall")
    for ax, classes, title in zip(axes, (2, 100), titles, strict=True):
        top = np.linspace(1 / classes, 1, 402)[1:-1]
        for gamma, (label, style) in zip(GAMMAS, styles.items(), strict=True):
            ax.plot(top, 100 * confidence_change(tied(top, classes), gamma), label=label, **style)
        ax.axhline(0, color="black", linewidth=1)
        ax.set(title=title, xlabel="largest probability $q$, the others equal", xlim=(0, 1))
    axes[0].set_ylabel("change (percentage points)")
    axes[0].legend(loc="upper left")
    return fig


if __name__ == "__main__":
    front_figure().savefig(Path(sys.argv[1]), dpi=120)

"""Heat maps over the images that they are of, with the box of what is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from focal_lib.plots.colours import ACCENTS


def heat_map_table(
    images: np.ndarray,
    boxes: np.ndarray,
    maps: Mapping[str, np.ndarray],
    titles: Sequence[str],
    notes: Mapping[str, Sequence[str]],
) -> Figure:
    """A column an image, the image itself on top and beneath it a row of heat maps for each entry of `maps`.

    A map is scaled to its own highest value, which is the darkest red; the box is a blue line.

    Args:
        images: (n, S, S), bright on black, drawn dark on white.
        boxes: (n, 4), top, left, bottom, right, the last two outside.
        maps: name -> (n, S, S), at least 0.
        titles: over each column.
        notes: name -> a line beneath each of its maps.

    Raises:
        ValueError: not a title, box and map for each image.
    """
    numbers = {len(boxes), len(titles), *map(len, maps.values())}
    if numbers != {len(images)}:
        raise ValueError(f"boxes, titles and maps must be of {len(images)} images. Got {sorted(numbers)}.")
    size = (1.75 * len(images) + 0.4, 1.8 + 1.9 * len(maps))
    fig, axes = plt.subplots(1 + len(maps), len(images), figsize=size, squeeze=False)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
    for column, (image, (top, left, bottom, right)) in enumerate(zip(images, boxes, strict=True)):
        for ax in axes[:, column]:
            ax.imshow(image, cmap="gray_r", vmin=0, vmax=255, interpolation="nearest")
            ax.add_patch(
                Rectangle(
                    (left - 0.5, top - 0.5), right - left, bottom - top, fill=False, color=ACCENTS[0], linewidth=1.6
                )
            )
        axes[0, column].set_title(titles[column], fontsize=10)
    for line, (name, of_images) in zip(axes[1:], maps.items(), strict=True):
        line[0].set_ylabel(name)
        for ax, heat, text in zip(line, of_images, notes[name], strict=True):
            highest = float(heat.max())
            scaled = heat / highest if highest > 0 else heat
            ax.imshow(scaled, cmap="Reds", vmin=0, vmax=1, alpha=0.85 * scaled, interpolation="nearest")
            ax.set_xlabel(text, fontsize=9)
    plt.close(fig)
    return fig

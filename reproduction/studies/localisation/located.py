"""Images with several labels each, and boxes that say where what is labelled lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LocatedImages:
    """Images uint8 (n, S, S, 1), labels int64 (n, L) of 0 and 1, names of the L labels.

    boxes: int64 (n, L, 4), top, left, bottom, right of a label that is 1, the last two outside; -1 where not known.
    """

    images: np.ndarray
    labels: np.ndarray
    boxes: np.ndarray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.images)

    def asked(self) -> tuple[np.ndarray, np.ndarray]:
        """Images and labels, (m,) each, of every box."""
        image, label = np.nonzero(self.boxes[..., 0] >= 0)
        return image, label

"""Random crops and flips of a batch at once."""

from __future__ import annotations

import torch
from torch import Tensor, nn

PADDING = 4


def draw_crops(n: int, generator: torch.Generator) -> Tensor:
    """For each of n images: row and column of the crop, 0 to 2 PADDING, and whether it is flipped: (n, 3)."""
    shifts = torch.randint(2 * PADDING + 1, (n, 2), generator=generator)
    return torch.cat([shifts, torch.randint(2, (n, 1), generator=generator)], -1)


def augmented(images: Tensor, crops: Tensor) -> Tensor:
    """Each image (n, C, H, W) cropped after zero padding, and flipped, as drawn: same shape, on the same device."""
    n, _, height, width = images.shape
    dy, dx, flip = crops[:, :, None].unbind(1)  # (n, 1) each
    x = torch.arange(width, device=images.device)
    rows = dy + torch.arange(height, device=images.device)  # (n, H)
    columns = dx + torch.where(flip == 1, width - 1 - x, x)  # (n, W)
    padded = nn.functional.pad(images, (PADDING,) * 4).permute(0, 2, 3, 1)  # (n, H + 8, W + 8, C)
    which = torch.arange(n, device=images.device)[:, None, None]
    return padded[which, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)  # channels last in memory

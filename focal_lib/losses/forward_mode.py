"""Load PyTorch's forward-mode differentiation without its warning."""

from __future__ import annotations

import functools
import warnings

import torch


@functools.cache
def load_forward_mode() -> None:
    """Compute a first forward derivative, and hide PyTorch's own warning about `torch.jit.script`."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit.script`", FutureWarning)
        torch.func.jvp(torch.sin, (torch.zeros(1),), (torch.zeros(1),))

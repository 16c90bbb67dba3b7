"""PyTorch's forward mode of differentiation, made ready without its warning."""

from __future__ import annotations

import functools
import warnings

import torch


@functools.cache
def load_forward_mode() -> None:
    """Let PyTorch load what it needs for its first forward derivative: it warns of `torch.jit.script`, its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit.script`", FutureWarning)
        torch.func.jvp(torch.sin, (torch.zeros(1),), (torch.zeros(1),))

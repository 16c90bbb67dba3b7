"""Mixed precision: bfloat16 inside a network, its last layer and its logits in float32.

Logits rounded to bfloat16 tie at the top for almost 1 % of samples, which moves an ECE by 0.1 points.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def pick_precision(precision: str, device: torch.device) -> str:
    """'auto' is bf16 on a GPU, float32 on a CPU."""
    return ("bf16" if device.type == "cuda" else "float32") if precision == "auto" else precision


def make_float32_exact() -> None:
    """What a record calls float32 is so on a GPU, too: unasked PyTorch rounds a convolution's inputs to TF32 there."""
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False


def autocast(device: torch.device, precision: str) -> Any:
    """Where a network runs: with bf16 its large products in bfloat16, weights and sums in float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16")


class Float32Linear(nn.Linear):
    """A linear layer that autocast leaves in float32."""

    def forward(self, input: Tensor) -> Tensor:
        with torch.autocast(input.device.type, enabled=False):
            return super().forward(input.float())


def give_float32_head(model: nn.Module) -> None:
    """Make the last linear layer one that stays in float32; weights and their names are the same."""
    path, head = [(name, module) for name, module in model.named_modules() if isinstance(module, nn.Linear)][-1]
    kept = Float32Linear(head.in_features, head.out_features, head.bias is not None, device="meta")
    kept.weight, kept.bias = head.weight, head.bias
    parent, _, name = path.rpartition(".")
    setattr(model.get_submodule(parent), name, kept)

"""Calibrators as torch modules, to append to a network or to export to ONNX.

Only operations that every runtime has (exp, log, softmax), and safe in float32: what saturates is written in the
logarithm of the odds of the top class.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from focal_lib.atomic_write import check_target, write_whole


class FocalTemperatureModule(nn.Module):
    """logits (..., K) -> focal calibration map(softmax(logits / T), gamma), (..., K).

    The map is written out in ONNX's operations; tests/reproduction/theorems/test_one_formula.py ties it to theory.maps.
    """

    temperature: Tensor
    gamma: Tensor

    def __init__(self, temperature: float, gamma: float) -> None:
        super().__init__()
        self.register_buffer("temperature", torch.tensor(temperature, dtype=torch.float64))
        self.register_buffer("gamma", torch.tensor(gamma, dtype=torch.float64))

    def forward(self, logits: Tensor) -> Tensor:
        gamma = self.gamma.to(logits.dtype)
        z = logits / self.temperature.to(logits.dtype)
        best, top = z.max(-1, keepdim=True)
        is_top = torch.arange(z.shape[-1], device=z.device) == top
        z = z - best
        runner_up = z.masked_fill(is_top, -torch.inf).amax(-1, keepdim=True)
        rest = torch.exp((z - runner_up).masked_fill(is_top, -torch.inf)).sum(-1, keepdim=True)
        log_rest = runner_up + torch.log(rest)  # log (1 - q_top) / q_top
        total = 1 + torch.exp(log_rest)
        x = torch.log(total)  # -log q_top
        odds = total - 1  # as rounded in total, so that the quotient is exact without log1p
        b_top = torch.where(odds == 0, 1.0, x / torch.where(odds == 0, 1.0, odds))
        log_w_top = -x - gamma * (log_rest - x) - torch.log(1 + gamma * b_top)
        log_q = (z - x).masked_fill(is_top, math.log(0.5))  # the others', at most 1/2
        q = torch.exp(log_q)
        log_w = log_q - gamma * torch.log(1 - q) - torch.log(1 - gamma * q * log_q / (1 - q))
        return torch.softmax(torch.where(is_top, log_w_top, log_w), -1)


class LinearModule(nn.Module):
    """logits (..., K) -> softmax(W logits + b), (..., K); W is (K, K), or (K,) where it is diagonal."""

    weight: Tensor
    bias: Tensor

    def __init__(self, weight: np.ndarray, bias: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("weight", torch.tensor(weight, dtype=torch.float64))
        self.register_buffer("bias", torch.tensor(bias, dtype=torch.float64))

    def forward(self, logits: Tensor) -> Tensor:
        weight, bias = self.weight.to(logits.dtype), self.bias.to(logits.dtype)
        return torch.softmax(map_logits(logits, weight, bias), -1)


def map_logits(logits: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """W z + b of logits (..., K); W is (K, K), or (K,) where it is diagonal."""
    return (logits * weight if weight.ndim == 1 else logits @ weight.T) + bias


def write_onnx(module: nn.Module, classes: int, path: Path) -> None:
    """Write the module as ONNX: input 'logits' float32 (n, classes), any n; output 'probs'.

    Raises:
        ValueError: another ending than .onnx, by which the exporter would choose another format.
        ModuleNotFoundError: onnx or onnxscript is not installed.
    """
    check_target(path, ending=".onnx")
    for needed in ("onnx", "onnxscript"):
        if find_spec(needed) is None:
            raise ModuleNotFoundError(
                f"to write ONNX needs the package {needed}: pip install 'focal-lib[onnx]'", name=needed
            )
    any_n = {"logits": {0: torch.export.Dim("n")}}
    program = torch.onnx.export(
        module.eval(),
        (torch.zeros(2, classes),),
        dynamo=True,
        dynamic_shapes=any_n,
        input_names=["logits"],
        output_names=["probs"],
        verbose=False,
    )
    if program is None:
        raise RuntimeError("torch's ONNX exporter gave nothing")
    write_whole(path, lambda part: program.save(str(part)))

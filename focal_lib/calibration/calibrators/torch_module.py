"""Calibrators as torch modules, to append to a network or to export to ONNX.

They use only operations that every runtime has (exp, log, softmax) and are safe in float32: terms that saturate are
written in the log-odds of the top class.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from focal_lib.calibration.calibrators.linear import map_logits

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise ImportError("a module needs the package torch: pip install 'focal-lib[torch]'", name=error.name) from None


class FocalTemperatureModule(nn.Module):
    """logits (..., K) -> focal calibration map(softmax(logits / T), gamma), (..., K).

    The map is written out in ONNX's operations; its tests tie it to theory.maps.
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
        z = z - z.amax(-1, keepdim=True)
        tops = z == 0
        alone = tops.to(z.dtype).sum(-1, keepdim=True) == 1
        is_top = tops & alone  # of tied classes none can have q near 1
        runner_up = z.masked_fill(is_top, -torch.inf).amax(-1, keepdim=True)
        rest = torch.exp((z - runner_up).masked_fill(is_top, -torch.inf)).sum(-1, keepdim=True)
        log_rest = runner_up + torch.log(rest)  # log (1 - q_top) / q_top; of tied classes log 1 / q_top
        total = 1 + torch.exp(log_rest)
        x = torch.where(alone, torch.log(total), log_rest)  # -log q_top
        odds = total - 1  # as rounded in total, so that the quotient is exact without log1p
        b_top = torch.where(odds == 0, 1.0, x / torch.where(odds == 0, 1.0, odds))
        log_w_top = -x - gamma * (log_rest - x) - torch.log(1 + gamma * b_top)
        log_q = (z - x).masked_fill(is_top, math.log(0.5))  # the others', at most 1/2
        q = torch.exp(log_q)
        log_w = log_q - gamma * torch.log(1 - q) - torch.log(1 - gamma * q * log_q / (1 - q))
        log_w = torch.where(is_top, log_w_top, log_w)
        most = log_w.masked_fill(~tops, -torch.inf).amax(-1, keepdim=True)
        return torch.softmax(torch.where(log_w > most, most, log_w), -1)


class WeightedFocalModule(FocalTemperatureModule):
    """logits (..., K) -> focal calibration map of softmax(logits), over the class weights (K,), (..., K)."""

    share: Tensor

    def __init__(self, gamma: float, class_weights: np.ndarray) -> None:
        super().__init__(1.0, gamma)
        self.register_buffer("share", torch.tensor(class_weights.min() / class_weights, dtype=torch.float64))

    def forward(self, logits: Tensor) -> Tensor:
        shifted = super().forward(logits) * self.share.to(logits.dtype)
        return shifted / shifted.sum(-1, keepdim=True)


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


class EnsembleTemperatureModule(nn.Module):
    """logits (..., K) -> w_1 softmax(logits / T) + w_2 softmax(logits) + w_3 / K, (..., K)."""

    temperature: Tensor
    weights: Tensor

    def __init__(self, temperature: float, weights: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("temperature", torch.tensor(temperature, dtype=torch.float64))
        self.register_buffer("weights", torch.tensor(weights, dtype=torch.float64))

    def forward(self, logits: Tensor) -> Tensor:
        scaled, plain, uniform = self.weights.to(logits.dtype)
        by_temperature = torch.softmax(logits / self.temperature.to(logits.dtype), -1)
        return scaled * by_temperature + plain * torch.softmax(logits, -1) + uniform / logits.shape[-1]


class FlooredModule(nn.Module):
    """logits (..., K) -> those of probabilities of at least the floor -> the module, (..., K)."""

    def __init__(self, module: nn.Module, floor: float) -> None:
        super().__init__()
        self.module, self.least = module, math.log(floor)

    def forward(self, logits: Tensor) -> Any:
        return self.module(torch.log_softmax(logits, -1).clamp(min=self.least))

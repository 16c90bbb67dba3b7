"""Networks with two hidden layers of ten units on two moons (L25 App. A.11), many seeds trained together."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from scipy.special import logsumexp
from sklearn.datasets import make_moons
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss
from focal_lib.losses.brier import BrierLoss
from focal_lib.losses.focal import FocalCalibrationLoss, FocalLoss
from focal_lib.theory.gain import log_gain_of_logit
from focal_lib.theory.proper import focal_calibration_log_probs
from focal_lib.validation import check_gamma, check_log_probs, check_number
from reproduction.studies.shared.moons import MoonGrid

WIDTHS = (2, 10, 10, 2)  # 'two hidden layers of 10 units'


def absolute_calibration_log_probs(log_probs: Any, gamma: float, lam: float) -> np.ndarray:
    r"""The map after which focal loss plus :math:`\lambda\lVert q - e_y\rVert_1` is proper: log q -> log p.

    That distance is :math:`2(1 - q_y)`, linear in q, so the risk is stationary where
    :math:`p_i(L'(q_i) - 2\lambda)` is the same for every class. With g as in M20 Prop. 1, so that L'(q) = -g(q)/q,

    .. math:: p_i = \frac{v_i}{\sum_j v_j}, \qquad v_j = \frac{q_j}{2\lambda q_j + g(q_j)}.

    For lam = 0 it is the focal calibration map; for gamma = 0 it is not the identity. Nothing cancels.

    Args:
        log_probs: (..., K), q > 0.
        gamma, lam: >= 0.

    Returns:
        (..., K).

    Raises:
        ValueError: gamma or lam negative, or log_probs that are none.
    """
    log_q = np.asarray(log_probs, dtype=np.float64)
    check_log_probs(torch.from_numpy(np.array(log_q)))
    check_gamma(gamma, minimum=0.0)
    check_number(lam, "lam", minimum=0.0)
    with np.errstate(divide="ignore"):  # q = 1, and lam = 0
        log_g = log_gain_of_logit(log_q - np.log(-np.expm1(log_q)), gamma) if gamma else np.zeros_like(log_q)
        log_v = log_q - np.logaddexp(np.log(2 * lam) + log_q, log_g)
    return log_v - logsumexp(log_v, axis=-1, keepdims=True)


class MoonLoss(NamedTuple):
    """Focal loss with gamma plus lam times the squared distance; `brier`: the squared distance alone.

    `absolute`: with the absolute distance in place of the squared one.
    """

    gamma: float = 0.0
    lam: float = 0.0
    brier: bool = False
    absolute: bool = False

    def build(self) -> LogitLoss:
        if self.brier:
            return BrierLoss(reduction="none")
        if self.lam:
            norm: Literal["l1", "l2"] = "l1" if self.absolute else "l2"
            return FocalCalibrationLoss(self.gamma, self.lam, reduction="none", norm=norm)
        return FocalLoss(self.gamma, reduction="none")

    @property
    def label(self) -> str:
        if self.brier:
            return "Brier"
        if not self.gamma and not self.lam:
            return "cross-entropy"
        name = "FCL, absolute," if self.absolute else "FCL"
        return f"{name} {self.gamma:g}, {self.lam:g}" if self.lam else f"focal {self.gamma:g}"

    def mapped(self, logits: np.ndarray) -> np.ndarray:
        """The logits after the map of this loss, under which it is proper; those of a proper loss as they are."""
        if self.brier or not (self.gamma or (self.absolute and self.lam)):
            return logits
        log_probs = np.stack([-np.logaddexp(0, logits), -np.logaddexp(0, -logits)], axis=-1)
        undo = absolute_calibration_log_probs if self.absolute else focal_calibration_log_probs
        after = undo(log_probs, self.gamma, self.lam)
        return after[..., 1] - after[..., 0]

    def wanted(self, logits: np.ndarray) -> np.ndarray:
        """What the loss asks for where the truth has these logits: the inverse of `mapped`, by bisection.

        Logits beyond +-500 are taken as that.
        """
        target = np.clip(logits, -500.0, 500.0)
        # of two classes, only the absolute distance asks for more than the truth: by less than this, see its map
        more = 6 + np.log1p(2 * self.lam + self.gamma) if self.absolute else 0.0
        low, high = np.minimum(target - more, 0), np.maximum(target + more, 0)
        for _ in range(80):
            middle = (low + high) / 2
            below = self.mapped(middle) < target
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2


def moon_samples(samples: int, seed: int, noise: float) -> tuple[Tensor, Tensor]:
    """scikit-learn's two moons: (n, 2) float64, (n,)."""
    x, labels = make_moons(samples, noise=noise, random_state=seed)
    return torch.from_numpy(x), torch.from_numpy(labels)


class StackedNetworks(nn.Module):
    """A network with ReLU for each of the seeds, (s, n, 2) -> (s, n, 2), each with the start that nn.Linear would give.

    PyTorch's default start: weights and biases uniform on +-1/sqrt(inputs). `widths`: of the layers, inputs first.
    """

    def __init__(
        self, seeds: tuple[int, ...], widths: tuple[int, ...] = WIDTHS, dtype: torch.dtype = torch.float64
    ) -> None:
        super().__init__()
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for before, after in pairwise(widths):
            for shape, into in (((before, after), self.weights), ((1, after), self.biases)):
                draws = [2 * torch.rand(shape, generator=g, dtype=dtype) - 1 for g in generators]
                into.append(nn.Parameter(torch.stack(draws) / before**0.5))

    def forward(self, x: Tensor) -> Tensor:
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x if layer == 0 else x.relu(), weight)
        return x


@cache
def train_on_moons(
    loss: MoonLoss,
    seeds: tuple[int, ...],
    *,
    samples: int = 1000,
    epochs: int = 500,
    rate: float = 0.01,
    noise: float = 0.2,
    marks: tuple[int, ...] = (),
) -> dict[int, StackedNetworks]:
    """Networks after the epochs in `marks`, and after the last: Adam on all samples at once.

    A seed draws the data and the start; so the losses of one seed are paired. The losses of the networks are added, and
    Adam works entry by entry: each network is trained as it would be alone.

    Raises:
        ValueError: no seeds, samples below 2, epochs below 1, rate not positive, a mark outside 0 ... epochs.
    """
    check_number(samples, "samples", minimum=2)
    check_number(epochs, "epochs", minimum=1)
    check_number(rate, "rate", above=0.0)
    if not seeds or not all(0 <= mark <= epochs for mark in marks):
        raise ValueError(f"seeds must not be empty, marks lie in 0 ... {epochs}. Got {seeds} and {marks}.")
    drawn = [moon_samples(samples, seed, noise) for seed in seeds]
    x, labels = torch.stack([x for x, _ in drawn]), torch.cat([y for _, y in drawn])
    networks, criterion = StackedNetworks(seeds), loss.build()
    optimiser = torch.optim.Adam(networks.parameters(), rate)
    kept: dict[int, StackedNetworks] = {}
    for epoch in range(epochs + 1):
        if epoch in marks or epoch == epochs:
            kept[epoch] = StackedNetworks(seeds)
            kept[epoch].load_state_dict(networks.state_dict())
        if epoch < epochs:
            optimiser.zero_grad()
            (criterion(networks(x).flatten(0, 1), labels).sum() / samples).backward()
            optimiser.step()
    return kept


def moon_logits(networks: StackedNetworks, grid: MoonGrid) -> np.ndarray:
    """Logits of class 1 on the grid, (s, a * b)."""
    points = torch.from_numpy(grid.truth.points)
    with torch.no_grad():
        out = networks(points.expand(networks.weights[0].shape[0], -1, -1))
    return (out[..., 1] - out[..., 0]).numpy()

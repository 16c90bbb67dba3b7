"""Top eigenvalue and trace of the Hessian of a loss in the weights (KN24 Figs. 2 to 4), and a penalty on the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy

from focal_lib.losses.base import TrainingLoss, as_rows, check_fixed

Loss = Callable[[Tensor, Tensor], Tensor]


class Trace(NamedTuple):
    """An estimate with its standard error."""

    value: float
    error: float


def hutchinson(
    loss: Tensor, parameters: Iterable[Tensor], generator: torch.Generator, samples: int = 1, create_graph: bool = False
) -> Tensor:
    """Unbiased estimates v^T H v of tr H, with random signs v: (samples,) (Hutchinson 1990).

    Args:
        loss: scalar, with its graph.
        generator: on the CPU, so that all devices draw the same signs.
        create_graph: keep the graph, for a penalty on the trace.
    """
    parameters = list(parameters)
    gradient = torch.autograd.grad(loss, parameters, create_graph=True)
    estimates = []
    for _ in range(samples):
        signs = [(torch.randint(2, p.shape, generator=generator) * 2 - 1).to(p) for p in parameters]
        product = torch.autograd.grad(gradient, parameters, signs, retain_graph=True, create_graph=create_graph)
        estimates.append(sum((v * hv).sum() for v, hv in zip(signs, product, strict=True)))
    return torch.stack(estimates)  # type: ignore[arg-type]


def hessian_trace(
    model: nn.Module, loss: Loss, inputs: Tensor, labels: Tensor, samples: int = 30, seed: int = 0
) -> Trace:
    """Trace of the Hessian of loss(model(inputs), labels) in the weights, with its standard error (Hutchinson 1990).

    The estimator is exact for a diagonal Hessian. The model is left in evaluation mode.

    Args:
        loss: a function of the model's outputs and the labels, with a scalar value.
        samples: number of random sign vectors, >= 2 for a standard error.

    Examples:
        >>> model, inputs = nn.Linear(2, 1, bias=False), torch.tensor([[1.0, 0.0], [0.0, 2.0]])  # Hessian diag(1, 4)
        >>> round(hessian_trace(model, nn.functional.mse_loss, inputs, torch.zeros(2, 1)).value, 4)
        5.0
    """
    model.eval()
    generator = torch.Generator().manual_seed(seed)
    values = hutchinson(_value(model, loss, inputs, labels), model.parameters(), generator, samples)
    return Trace(float(values.mean()), float(values.std() / samples**0.5))


def _value(model: nn.Module, loss: Loss, inputs: Tensor, labels: Tensor) -> Tensor:
    with sdpa_kernel(SDPBackend.MATH):  # PyTorch's fused attention has no second derivative
        return loss(model(inputs), labels)


def hessian_top_eigenvalue(
    model: nn.Module,
    loss: Loss,
    inputs: Tensor,
    labels: Tensor,
    batch_size: int = 1000,
    seed: int = 0,
    tolerance: float = 1e-3,
) -> float:
    """Largest eigenvalue of the Hessian of loss(model(inputs), labels) in the weights, by Lanczos iteration.

    The model is left in evaluation mode.

    Args:
        loss: with reduction 'mean'.
        batch_size: samples whose graph is in memory at once. If all samples fit, the graph is built once instead of at
            every step, which halves the time.
        tolerance: relative.

    Raises:
        ValueError: another reduction; no samples.
        ArpackNoConvergence: the tolerance was not reached.

    Examples:
        >>> model, inputs = nn.Linear(2, 1, bias=False), torch.tensor([[1.0, 0.0], [0.0, 2.0]])  # Hessian diag(1, 4)
        >>> round(hessian_top_eigenvalue(model, nn.functional.mse_loss, inputs, torch.zeros(2, 1)), 3)
        4.0
    """
    if (reduction := getattr(loss, "reduction", "mean")) != "mean":
        raise ValueError(f"loss must have reduction 'mean'. Got {reduction!r}.")
    if not len(labels):
        raise ValueError("inputs must hold samples. Got none.")
    batches = list(zip(inputs.split(batch_size), labels.split(batch_size), strict=True))
    with sdpa_kernel(SDPBackend.MATH):
        operator = _hessian(model, loss, batches)
        start = np.random.default_rng(seed).standard_normal(operator.shape[0])  # ARPACK's own start is not seeded
        return float(eigsh(operator, k=1, which="LA", tol=tolerance, v0=start, return_eigenvectors=False)[0])


def _hessian(model: nn.Module, loss: Loss, batches: Sequence[tuple[Tensor, Tensor]]) -> LinearOperator:
    """Products with the Hessian of the mean loss, by backward passes; the graph of a single batch is kept."""
    model.eval()
    parameters = [p for p in model.parameters() if p.requires_grad]
    sizes, samples = [p.numel() for p in parameters], sum(len(labels) for _, labels in batches)

    def gradient(inputs: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        value = _value(model, loss, inputs, labels) * (len(labels) / samples)
        return torch.autograd.grad(value, parameters, create_graph=True, allow_unused=True, materialize_grads=True)

    kept = [gradient(*batches[0])] if len(batches) == 1 else None

    def product(vector: np.ndarray) -> np.ndarray:
        parts = torch.from_numpy(np.ascontiguousarray(vector).reshape(-1)).split(sizes)
        given = [part.reshape(p.shape).to(p) for part, p in zip(parts, parameters, strict=True)]
        total = np.zeros(sum(sizes))
        for slope in kept or (gradient(*batch) for batch in batches):
            curved = [
                (s, v) for s, v in zip(slope, given, strict=True) if s.requires_grad
            ]  # not what is linear or unused
            slopes, vectors = zip(*curved, strict=True) if curved else ((), ())
            found = torch.autograd.grad(
                slopes, parameters, vectors, retain_graph=True, allow_unused=True, materialize_grads=True
            )
            total += torch.cat([f.reshape(-1) for f in found]).double().cpu().numpy()
        return total

    return LinearOperator((sum(sizes), sum(sizes)), matvec=product, dtype=np.float64)


class HessianTraceLoss(TrainingLoss):
    r"""Cross-entropy plus :math:`\lambda|\operatorname{tr}H|`, H its Hessian in the weights.

    It follows KN24 Fig. 4; the text we read lacks its formula. The trace of each batch is estimated with one vector of
    random signs; the absolute value keeps a negative estimate from being rewarded. The penalty needs the weights and is
    only in `objective`; called with logits and labels, the loss is cross-entropy.

    Raises:
        ValueError: lam < 0; as LogitLoss.

    Examples:
        >>> loss, model = HessianTraceLoss(lam=0.1), nn.Linear(1, 2, bias=False)
        >>> _ = nn.init.zeros_(model.weight)  # q = 0.5, and the trace is 0.5
        >>> logits, draws = model(torch.ones(1, 1)), torch.Generator().manual_seed(0)
        >>> round(loss.objective(logits, torch.tensor([0]), model, draws).item(), 4)  # log 2 + 0.1 * (0 or 1)
        0.7931
    """

    one_graph = False

    def __init__(self, lam: float = 1e-3) -> None:
        super().__init__()
        self.lam = check_fixed(lam, "lam")

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(*as_rows(logits, labels)[:2])

    def objective(self, logits: Tensor, labels: Tensor, model: nn.Module, generator: torch.Generator) -> Tensor:
        """The loss with its penalty, a scalar, for the weights of the model, which gave the logits (n, K)."""
        loss: Tensor = self(logits, labels)
        if self.lam == 0:
            return loss
        (trace,) = hutchinson(loss, model.parameters(), generator, create_graph=True)
        return loss + self.lam * trace.abs()

    def diagnostics(self, model: nn.Module, inputs: Tensor, labels: Tensor) -> dict[str, float]:
        """hessian_trace: the trace of cross-entropy's Hessian on the first 2,000 samples."""
        return {"hessian_trace": hessian_trace(model, self, inputs[:2000], labels[:2000]).value}

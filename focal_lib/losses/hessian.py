"""Curvature of a loss in the weights: top eigenvalue and trace of its Hessian (KN24 Figs. 2 to 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from focal_lib.losses.forward_mode import load_forward_mode

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


def hessian(model: nn.Module, loss: Loss, batches: Sequence[tuple[Tensor, Tensor]]) -> Any:
    """Hessian of the mean loss over the batches, as a linear operator (curvlinops)."""
    from curvlinops import HessianLinearOperator  # slow to import

    load_forward_mode()
    model.eval()
    return HessianLinearOperator(model, loss, list(model.parameters()), batches, check_deterministic=False)


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
        ArpackNoConvergence: the tolerance was not reached.

    Examples:
        >>> model, inputs = nn.Linear(2, 1, bias=False), torch.tensor([[1.0, 0.0], [0.0, 2.0]])  # Hessian diag(1, 4)
        >>> round(hessian_top_eigenvalue(model, nn.functional.mse_loss, inputs, torch.zeros(2, 1)), 3)
        4.0
    """
    if len(labels) <= batch_size:
        operator = _one_graph(model, loss, inputs, labels)
    else:
        batches = list(zip(inputs.split(batch_size), labels.split(batch_size), strict=True))
        with sdpa_kernel(SDPBackend.MATH):
            operator = hessian(model, loss, batches).to_scipy(dtype=np.float64)
    start = np.random.default_rng(seed).standard_normal(operator.shape[0])  # ARPACK's own start is not seeded
    with sdpa_kernel(SDPBackend.MATH):
        return float(eigsh(operator, k=1, which="LA", tol=tolerance, v0=start, return_eigenvectors=False)[0])


def _one_graph(model: nn.Module, loss: Loss, inputs: Tensor, labels: Tensor) -> LinearOperator:
    """Products with the Hessian, each by one backward pass through a graph that is kept."""
    model.eval()
    parameters = list(model.parameters())
    gradient = torch.autograd.grad(_value(model, loss, inputs, labels), parameters, create_graph=True)
    sizes, count = [p.numel() for p in parameters], sum(p.numel() for p in parameters)

    def product(vector: np.ndarray) -> np.ndarray:
        parts = torch.from_numpy(np.ascontiguousarray(vector).reshape(-1)).split(sizes)
        given = [part.reshape(p.shape).to(p) for part, p in zip(parts, parameters, strict=True)]
        found = torch.autograd.grad(gradient, parameters, given, retain_graph=True)
        return torch.cat([f.reshape(-1) for f in found]).double().cpu().numpy()

    return LinearOperator((count, count), matvec=product, dtype=np.float64)

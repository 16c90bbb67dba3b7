"""What the array API standard lacks, written once for NumPy arrays, torch tensors and the like; torch is not imported.

All functions work over the last axis and keep it. Where an array's own library has a function of the name, that is
taken: its gradients, and its speed.
"""

from __future__ import annotations

import sys
from typing import Any

import array_api_compat
import numpy as np

_FEW = 24  # classes, up to which NumPy is several times faster across samples than along classes
_AT_ONCE = 2048  # samples that are compared in the cache
Place = tuple[np.ndarray, np.ndarray]  # an entry in each row
SHORT = 64  # classes, up to which NumPy is slow along rows


def is_torch_array(x: Any) -> bool:
    """Whether it is a tensor of torch."""
    torch: Any = sys.modules.get("torch")
    return hasattr(torch, "Tensor") and isinstance(x, torch.Tensor)


def array_namespace(x: Any) -> Any:
    """The functions of the array API standard for this kind of array; torch.compile can follow the choice."""
    if is_torch_array(x):
        import array_api_compat.torch as namespace

        return namespace
    if isinstance(x, np.ndarray | np.generic) and hasattr(np, "astype"):
        return np  # from 2.1 on it has the standard's functions; array_api_compat.numpy takes longer to import than it
    return array_api_compat.array_namespace(x)


def to_numpy(values: Any) -> Any:
    """A tensor as an array on the CPU, bfloat16 as float32; anything else as it is."""
    if not is_torch_array(values):
        return values
    values = values.detach().cpu()
    return (values.float() if values.dtype == sys.modules["torch"].bfloat16 else values).numpy()


def _is_matrix(x: Any) -> bool:
    return not is_torch_array(x) and isinstance(x, np.ndarray) and x.ndim == 2


def label_index(labels: np.ndarray) -> Place:
    """Index that takes the entry of each sample's label from an array (m, K), as (m, 1)."""
    return np.arange(len(labels))[:, None], labels[:, None]


def is_compiling() -> bool:
    """Whether torch.compile or torch.export is following what is computed: numbers cannot be looked at then."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_compiling())


def largest(x: Any) -> Any:
    """The maximum over the last axis, (..., K) -> (..., 1)."""
    if _is_matrix(x) and x.size and not x.flags.f_contiguous:  # in which NumPy is fast
        if x.shape[1] > _FEW:
            return np.take_along_axis(x, x.argmax(-1, keepdims=True), -1)
        blocks = (x[start : start + _AT_ONCE] for start in range(0, len(x), _AT_ONCE))
        return np.concatenate([np.ascontiguousarray(block.T).max(0) for block in blocks])[:, None]
    return array_namespace(x).max(x, axis=-1, keepdims=True)


def total(x: Any) -> Any:
    """The sum over the last axis, (..., K) -> (..., 1)."""
    if _is_matrix(x) and x.shape[1] <= SHORT:
        return x @ np.ones((x.shape[1], 1), x.dtype)
    return array_namespace(x).sum(x, axis=-1, keepdims=True)


def logsumexp(x: Any) -> Any:
    """log of the sum of exp(x) over the last axis, (..., K) -> (..., 1); of -inf alone -inf."""
    if is_torch_array(x):
        return x.logsumexp(-1, keepdim=True)
    xp = array_namespace(x)
    most = largest(x)
    most = xp.where(xp.isfinite(most), most, xp.zeros_like(most))
    if xp.__name__.endswith("numpy"):
        with np.errstate(divide="ignore"):
            return xp.log(total(xp.exp(x - most))) + most
    return xp.log(total(xp.exp(x - most))) + most


def log_softmax(x: Any) -> Any:
    """x - logsumexp(x), (..., K)."""
    if is_torch_array(x):
        return x.log_softmax(-1)
    xp = array_namespace(x)
    away = x - largest(x)
    return away - xp.log(total(xp.exp(away)))


def log_sigmoid(x: Any) -> Any:
    """log(1 / (1 + exp(-x))), elementwise."""
    if is_torch_array(x):
        return sys.modules["torch"].nn.functional.logsigmoid(x)
    xp = array_namespace(x)
    return xp.minimum(x, xp.zeros_like(x)) - xp.log1p(xp.exp(-xp.abs(x)))


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), elementwise."""
    if is_torch_array(x):
        return x.sigmoid()
    xp = array_namespace(x)
    small = xp.exp(-xp.abs(x))
    return xp.where(x < 0, small, xp.ones_like(x)) / (1 + small)

r"""Curvature of the losses of finished runs, on training and on validation images (KN24 Figs. 2 and 3).

Rows are those of `measure`, so that contrasts are evaluated on them: dataset, model, loss, gamma, seed; method and
objective, none; metric, value, and error, the standard error of a value that is estimated. Metrics, of 'own', the loss
trained with, and of 'ce', cross-entropy of the same network, on 'train' and 'validation':

* 'top own validation': the largest eigenvalue of the Hessian in the weights, by Lanczos iteration to 1 %; of 'ce' on
  validation images alone;
* 'trace own validation': its trace, by Hutchinson's estimator;
* 'exact own validation': the trace of its Gauss-Newton part, see `gauss_newton_traces`, without chance;
* 'loss factor', 'spread' and 'sensitivity', whose product that is: the exact trace of the own loss over that of
  cross-entropy; the mean of :math:`1 - \sum_k p_k^2`, the trace of cross-entropy's Hessian in the logits; the trace of
  cross-entropy over that, a mean of the squared slope of the logits in the weights;
* 'loss own train', 'entropy validation'; 'weight norm', of all weights; and of the test set 'ece' and other METRICS.

'log ...' is the natural logarithm of a value above 0.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.special import softmax
from torch import Tensor, nn
from torch.func import functional_call, hessian, jacrev, vmap

from focal_lib.losses.base import LogitLoss
from focal_lib.losses.focal import FocalLoss
from focal_lib.losses.hessian import hessian_top_eigenvalue, hessian_trace
from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.intervals import Interval, correlation_interval
from reproduction.engine.data.dataset import Dataset
from reproduction.engine.fit import Parts, load_parts
from reproduction.engine.precision import make_float32_exact
from reproduction.engine.run import checked_weights, network
from reproduction.engine.spec import Spec
from reproduction.engine.store import Result
from reproduction.engine.trainer import pick_device

_JACOBIANS = 2 << 30  # bytes of Jacobians in memory at once, by default; one sample's at least


@functools.cache
def load_forward_mode() -> None:
    """Compute a first forward derivative, and hide PyTorch's own warning about `torch.jit.script`."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit.script`", FutureWarning)
        torch.func.jvp(torch.sin, (torch.zeros(1),), (torch.zeros(1),))


def logit_grams(model: nn.Module, inputs: Tensor, batch_size: int | None = None) -> Tensor:
    """J J^T of each sample, J the Jacobian of its logits in all weights: (n, K, K) float64.

    Args:
        batch_size: samples whose Jacobians, K times the weights each, are in memory at once; by default at most 25, and
            2 GiB of them, or one.
    """
    if batch_size is None:
        with torch.no_grad():
            each = model(inputs[:1]).numel() * sum(p.numel() * p.element_size() for p in model.parameters())
        batch_size = max(1, min(25, _JACOBIANS // each))
    load_forward_mode()
    model.eval()
    weights = {name: value.detach() for name, value in model.named_parameters()}

    def logits(given: dict[str, Tensor], one: Tensor) -> Tensor:
        found: Tensor = functional_call(model, given, (one[None],))[0]
        return found

    jacobians, found = vmap(jacrev(logits), in_dims=(None, 0)), []
    for part in inputs.split(batch_size):
        blocks = [block.flatten(2) for block in jacobians(weights, part).values()]  # (m, K, weights of one tensor)
        found.append(sum((block @ block.mT).double() for block in blocks))
    return torch.cat(found)


def logit_hessians(loss: LogitLoss, logits: Tensor, labels: Tensor) -> Tensor:
    """Hessian of each sample's loss in its logits, at logits (n, K): (n, K, K) float64."""

    load_forward_mode()

    def value(row: Tensor, label: Tensor) -> Tensor:
        return loss.per_sample(row[None], label[None])[0]

    found: Tensor = vmap(hessian(value))(logits.detach().double(), labels)
    return found


def gauss_newton_traces(grams: Tensor, hessians: Tensor) -> Tensor:
    """Trace of J^T H J of each sample, (n,), from what the two functions above give.

    Raises:
        ValueError: other shapes.
    """
    if grams.shape != hessians.shape or grams.ndim != 3:
        raise ValueError(f"both must have one shape (n, K, K). Got {tuple(grams.shape)}, {tuple(hessians.shape)}.")
    return (grams * hessians).sum((-1, -2))


SPLITS = ("train", "validation")
QUALITY = ("error", "nll", "ece", "adaptive-ece")
TOLERANCE = 1e-2  # relative, of the eigenvalue

Value = tuple[str, float, float]  # metric, value, standard error


def measure_landscape(
    results: Iterable[Result],
    images: int = 300,
    signs: int = 10,
    root: str | Path | None = None,
    device: str = "cpu",
) -> pd.DataFrame:
    """All of the metrics above, of each run with weights.

    Args:
        images: the first of each split that the curvature is measured on.
        signs: vectors of random signs for each trace, at least 2.

    Raises:
        ValueError: images or signs out of range, a run of another loss than cross-entropy and focal loss, a device that
            is not there.
        RunMissing, RunDamaged: weights that are needed.
    """
    if signs < 2:
        raise ValueError(f"signs must be at least 2, for a standard error. Got {signs}.")
    return _measure(results, images, root, SPLITS, signs, device)


def measure_factors(
    results: Iterable[Result],
    images: int = 100,
    root: str | Path | None = None,
    splits: Sequence[str] = ("validation",),
) -> pd.DataFrame:
    """The exact traces with their factors, weight norm and test metrics: what needs no iteration.

    Raises:
        ValueError: images out of range, a run of another loss than cross-entropy and focal loss.
        RunMissing, RunDamaged: weights that are needed.
    """
    return _measure(results, images, root, splits)


def _measure(
    results: Iterable[Result],
    images: int,
    root: str | Path | None,
    splits: Sequence[str],
    signs: int | None = None,
    device: str = "cpu",
) -> pd.DataFrame:
    """What needs no iteration, of these splits, and with signs also what is estimated."""
    tables = []
    for result in results:
        model, parts = _prepare(result, images, root, device)
        found = [("weight norm", _norm(model), 0.0), *_quality(result)]
        for split in splits:
            found += _exact(result.spec, model, *parts[split], split)
            if signs is not None:
                found += _estimated(result.spec, model, *parts[split], split, signs)
        tables.append(_table(result, found))
    return pd.concat(tables, ignore_index=True)


def _prepare(result: Result, images: int, root: str | Path | None, device: str) -> tuple[nn.Module, Parts]:
    spec = result.spec
    if not spec.is_focal:  # 'own' would be focal loss of some gamma that it was not trained with
        raise ValueError(f"runs must be of cross-entropy or of focal loss of one gamma. Got {spec.name}.")
    weights = checked_weights(spec, root)
    dataset, parts = _load(spec.dataset, spec.n_train, spec.n_validation, spec.seed, device)
    most = min(len(parts[split][1]) for split in SPLITS)
    if not 1 <= images <= most:
        raise ValueError(f"images must be 1 to {most}. Got {images}.")
    chosen = {split: (parts[split][0][:images], parts[split][1][:images]) for split in SPLITS}
    return network(spec, dataset, weights, parts["train"][0].device), chosen


@functools.lru_cache(maxsize=4)  # runs come gamma by gamma, and share the splits of a few seeds
def _load(dataset: str, n_train: int, n_validation: int, seed: int, device: str) -> tuple[Dataset, Parts]:
    like = Spec(dataset=dataset, n_train=n_train, n_validation=n_validation, seed=seed)
    where = pick_device(device)
    if where.type == "cuda":
        make_float32_exact()
    return load_parts(like, where)


def _losses(spec: Spec) -> tuple[tuple[str, float], ...]:
    return ("own", spec.gamma), ("ce", 0.0)


def _estimated(spec: Spec, model: nn.Module, inputs: Tensor, labels: Tensor, split: str, signs: int) -> list[Value]:
    found: dict[float, list[tuple[float, float]]] = {}  # of cross-entropy, 'own' and 'ce' are one
    for gamma in dict.fromkeys(gamma for _, gamma in _losses(spec)):
        loss = FocalLoss(gamma)
        trace = hessian_trace(model, loss, inputs, labels, signs)
        found[gamma] = [(trace.value, trace.error)]
        if split == "validation" or gamma == spec.gamma:
            top = hessian_top_eigenvalue(model, loss, inputs, labels, len(labels), tolerance=TOLERANCE)
            found[gamma].append((top, 0.0))
    return [
        (f"{metric} {name} {split}", *value)
        for name, gamma in _losses(spec)
        for metric, value in zip(("trace", "top"), found[gamma], strict=False)
        if (metric, name, split) != ("top", "ce", "train")
    ]


def _exact(spec: Spec, model: nn.Module, inputs: Tensor, labels: Tensor, split: str) -> list[Value]:
    with torch.no_grad():
        logits = model(inputs).double()
    grams, found = logit_grams(model, inputs), []
    for name, gamma in _losses(spec):
        loss = FocalLoss(gamma)
        trace = float(gauss_newton_traces(grams, logit_hessians(loss, logits, labels)).mean())
        found += [(f"exact {name} {split}", trace, 0.0), (f"loss {name} {split}", float(loss(logits, labels)), 0.0)]
    values = {metric: value for metric, value, _ in found}
    own, ce = (values[f"exact {name} {split}"] for name in ("own", "ce"))
    log_probs = logits.log_softmax(-1)
    spread = float(1 - log_probs.exp().square().sum(-1).mean())
    entropy = float(-(log_probs.exp() * log_probs).sum(-1).mean())
    factors = {"loss factor": own / ce, "spread": spread, "sensitivity": ce / spread, "entropy": entropy}
    return found + [(f"{metric} {split}", value, 0.0) for metric, value in factors.items()]


def _norm(model: nn.Module) -> float:
    return sum(float(p.detach().double().square().sum()) for p in model.parameters()) ** 0.5


def _quality(result: Result) -> list[Value]:
    probs = softmax(result.test.logits.astype(np.float64), -1)
    return [(name, METRICS[name].shown(probs, result.test.labels), 0.0) for name in QUALITY]


def _table(result: Result, found: Sequence[Value]) -> pd.DataFrame:
    spec = result.spec
    named: dict[str, Any] = {"dataset": spec.dataset, "model": spec.model, "loss": spec.label, "gamma": spec.gamma}
    named |= {"seed": spec.seed, "method": "none", "objective": ""}
    return pd.DataFrame([named | {"metric": m, "value": v, "error": e} for m, v, e in found])


def add_logs(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a row 'log ...' more for each value; nan where that is not above 0."""
    above = table["value"].where(table["value"] > 0)
    logs = table.assign(metric="log " + table["metric"], value=np.log(above), error=table["error"] / above)
    return pd.concat([table, logs], ignore_index=True)


def relation_by_seed(table: pd.DataFrame, first: str, second: str = "ece") -> pd.Series:
    """Spearman's rank correlation of two metrics over the gammas, a number a model and seed: index (model, seed).

    nan where one of them is the same for every gamma.

    Raises:
        ValueError: fewer than three gammas.
    """
    kept = table[table["metric"].isin((first, second))]
    wide = kept.pivot(index=["model", "seed", "gamma"], columns="metric", values="value")
    groups = wide.groupby(["model", "seed"], sort=False)
    if wide.empty or groups.size().min() < 3:
        raise ValueError(f"gammas must be at least three. Got {0 if wide.empty else groups.size().min()}.")
    ranks = groups.rank()
    return ranks.groupby(["model", "seed"], sort=False).apply(lambda part: part[first].corr(part[second]))


def relation_interval(by_seed: pd.Series, gammas: int, level: float = 0.95) -> Interval:
    """Of what `relation_by_seed` gives of one model, over so many gammas: see `correlation_interval`."""
    return correlation_interval(by_seed.dropna(), 12 / (gammas * (gammas**2 - 1)), level=level)

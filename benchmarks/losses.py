"""What focal losses of other libraries can do beside ours, each cell run: python -m benchmarks.losses [--out FILE]

    pip install kornia monai segmentation-models-pytorch keras torchvision

Each library's focal loss is built from the arguments that its documentation names and called on a small batch; what it
gives is held against the definition in float64, or in 50 digits. Losses of classes take logits (n, K, ...), those of
one logit a label (n, ...) with labels of 0 and 1. A library that is not installed is left out.
"""

from __future__ import annotations

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import mpmath
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import record
from focal_lib.losses import FocalLoss, MultiLabelLoss
from focal_lib.losses.base import Reduction

GAMMA, WEIGHTS, ALPHA, SHARE, IGNORED = 2.0, (1.0, 2.0, 3.0), 0.25, 0.1, 255
N, CLASSES = 8, 3
EXACT, HALF = 1e-5, 1e-3  # relative error that counts as right; of half-precision logits, and of second derivatives
YES, NO = "yes", "no"

Loss = Callable[[Tensor, Tensor], Tensor]


class NoSuchOption(TypeError):
    """The library has no argument for it."""


@dataclass(frozen=True)
class Library:
    """A focal loss of a library.

    Attributes:
        package: as pip names it.
        call: what is called, for the table.
        classes: whether it is of classes, by softmax, and not of one logit a label.
        build: reduction and options (gamma, weight, alpha, ignore_index, label_smoothing, soft) -> a loss.
    """

    package: str
    call: str
    classes: bool
    build: Callable[..., Loss]


def _refuse(**options: Any) -> None:
    if given := [name for name, value in options.items() if value is not None]:
        raise NoSuchOption(f"no argument for {', '.join(given)}")


def _ours(reduction: Reduction, gamma: Any = GAMMA, soft: bool = False, **options: Any) -> Loss:
    return FocalLoss(gamma, reduction, **options)


def _ours_of_one_logit(reduction: Reduction, gamma: Any = GAMMA, soft: bool = False, **options: Any) -> Loss:
    return MultiLabelLoss(FocalLoss(gamma, reduction, **options))


def _torchvision(reduction: str, gamma: Any = GAMMA, soft: bool = False, alpha: Any = -1, **options: Any) -> Loss:
    from torchvision.ops import sigmoid_focal_loss

    _refuse(**options)
    return lambda logits, labels: sigmoid_focal_loss(logits, labels, alpha, gamma, reduction)


def _kornia(reduction: str, gamma: Any = GAMMA, soft: bool = False, alpha: Any = None, **options: Any) -> Loss:
    from kornia.losses import FocalLoss as Kornia

    _refuse(label_smoothing=options.pop("label_smoothing", None))
    if "weight" in options:
        options["weight"] = torch.tensor(options["weight"], dtype=torch.float64)
    return Kornia(alpha, gamma, reduction, **options)


class _WithChannel(nn.Module):
    """MONAI's labels have a dimension of one channel."""

    def __init__(self, loss: nn.Module) -> None:
        super().__init__()
        self.loss = loss

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.loss(logits, labels[:, None])


def _monai(reduction: str, gamma: Any = GAMMA, soft: bool = False, **options: Any) -> Loss:
    from monai.losses import FocalLoss as Monai

    _refuse(label_smoothing=options.pop("label_smoothing", None))
    loss = Monai(use_softmax=True, to_onehot_y=not soft, gamma=gamma, reduction=reduction, **options)
    return loss if soft else _WithChannel(loss)


def _smp(reduction: str, gamma: Any = GAMMA, soft: bool = False, **options: Any) -> Loss:
    from segmentation_models_pytorch.losses import FocalLoss as Smp

    _refuse(**{name: options.pop(name, None) for name in ("label_smoothing", "weight")})
    return Smp("binary", gamma=gamma, reduction=reduction, **options)


def _keras(reduction: str, gamma: Any = GAMMA, soft: bool = False, **options: Any) -> Loss:
    from keras import ops
    from keras.losses import CategoricalFocalCrossentropy

    _refuse(ignore_index=options.pop("ignore_index", None))
    alpha = options.pop("weight", options.pop("alpha", 1.0))
    loss = CategoricalFocalCrossentropy(alpha, gamma, from_logits=True, axis=1, reduction=reduction, **options)

    def of_labels(logits: Tensor, labels: Tensor) -> Tensor:
        return loss(labels if soft else ops.one_hot(labels, logits.shape[1], axis=1), logits)  # its labels are one-hot

    return of_labels


LIBRARIES = (
    Library("focal-lib", "FocalLoss", True, _ours),
    Library("focal-lib", "MultiLabelLoss(FocalLoss)", False, _ours_of_one_logit),
    Library("torchvision", "ops.sigmoid_focal_loss", False, _torchvision),
    Library("kornia", "losses.FocalLoss", True, _kornia),
    Library("monai", "losses.FocalLoss, softmax", True, _monai),
    Library("segmentation-models-pytorch", "losses.FocalLoss, binary", False, _smp),
    Library("keras", "CategoricalFocalCrossentropy, torch", True, _keras),
)


# --- what is right ------------------------------------------------------------------------


def _batch(library: Library, *shape: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Logits and labels of n samples, float labels where there is one logit a label."""
    made = torch.Generator().manual_seed(0)
    if library.classes:
        logits = 2 * torch.randn(N, CLASSES, *shape, generator=made, dtype=torch.float64)
        return logits.to(dtype), torch.randint(CLASSES, (N, *shape), generator=made)
    logits = 2 * torch.randn(N, *shape, generator=made, dtype=torch.float64)
    return logits.to(dtype), torch.randint(2, (N, *shape), generator=made).to(dtype)


def _of_each_class(library: Library, logits: Tensor, gamma: float = GAMMA) -> Tensor:
    """The loss of each sample were its label k, classes last, in float64."""
    logits = logits.double()
    logs = (
        torch.log_softmax(logits, 1).movedim(1, -1)
        if library.classes
        else torch.stack([F.logsigmoid(-logits), F.logsigmoid(logits)], -1)
    )
    return -((-torch.expm1(logs)) ** gamma) * logs


def _right(library: Library, logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample."""
    return _of_each_class(library, logits).gather(-1, labels.long()[..., None])[..., 0]


def _off(found: Tensor, right: Tensor) -> float:
    """Relative error of the sum of losses, which each library reduces in its own way."""
    return float((found.detach().double().sum() - right).abs() / right.abs())


def _said(found: Tensor, right: Tensor, tolerance: float = EXACT) -> str:
    off = _off(found, right)
    return YES if off <= tolerance else f"{NO}: {100 * off:.2g} % off" if off == off else f"{NO}: nan"


# --- features -----------------------------------------------------------------------------


def of_shape(library: Library) -> str:
    logits, labels = _batch(library, 4, 5)
    return _said(library.build("none")(logits, labels), _right(library, logits, labels).sum())


def is_mean_of_labels(library: Library) -> str:
    logits, labels = _batch(library)
    over = float(_right(library, logits, labels).sum() / library.build("mean")(logits, labels))
    return YES if abs(over - N) < 1e-4 else f"{NO}: {N} labels over {over:.3g}"


def ignores(library: Library) -> str:
    logits, labels = _batch(library)
    right = _right(library, logits, labels)[2:].sum()
    labels[:2] = IGNORED
    logits.requires_grad_()
    found = library.build("mean", ignore_index=IGNORED)(logits, labels)
    (slope,) = torch.autograd.grad(found, logits)
    if slope[:2].abs().max() > 0:
        return f"{NO}: gradient"
    over = float(right / found.detach())
    return YES if abs(over - (N - 2)) < 1e-4 else f"{YES}, but {N - 2} labels over {over:.3g}"


def weighs_classes(library: Library) -> str:
    logits, labels = _batch(library)
    weights = WEIGHTS if library.classes else WEIGHTS[:2]
    right = (torch.tensor(weights, dtype=torch.float64)[labels.long()] * _right(library, logits, labels)).sum()
    return _said(library.build("none", weight=list(weights))(logits, labels), right)


def weighs_by_alpha(library: Library) -> str:
    logits, labels = _batch(library)
    if library.classes:
        logits, labels = logits[:, :2], labels.clamp(max=1)
    right = (torch.where(labels.long() == 1, ALPHA, 1 - ALPHA) * _right(library, logits, labels)).sum()
    return _said(library.build("none", alpha=ALPHA)(logits, labels), right)


def takes_soft_labels(library: Library) -> str:
    logits = _batch(library)[0]
    made = torch.Generator().manual_seed(1)
    if library.classes:
        targets = torch.rand(N, CLASSES, generator=made, dtype=torch.float64)
        targets = of_each = targets / targets.sum(1, keepdim=True)
    else:
        targets = torch.rand(N, generator=made, dtype=torch.float64)
        of_each = torch.stack([1 - targets, targets], -1)
    right = (of_each * _of_each_class(library, logits)).sum()
    found = library.build("none", soft=True)(logits, targets)
    return YES if _off(found, right) <= EXACT else f"{NO}: another formula"


def smooths_labels(library: Library) -> str:
    logits, labels = _batch(library)
    each = _of_each_class(library, logits)
    right = (1 - SHARE) * _right(library, logits, labels).sum() + SHARE * each.mean(-1).sum()
    return _said(library.build("none", label_smoothing=SHARE)(logits, labels), right)


def takes_uint8(library: Library) -> str:
    logits, labels = _batch(library)
    return _said(library.build("none")(logits, labels.to(torch.uint8)), _right(library, logits, labels).sum())


def widens_half(library: Library) -> str:
    logits, labels = _batch(library, 4, 5, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        found = library.build("none")(logits, labels)
    return _said(found, _right(library, logits, labels).sum(), HALF)


def learns_gamma(library: Library) -> str:
    logits, labels = _batch(library)
    gamma = nn.Parameter(torch.tensor(GAMMA, dtype=torch.float64))
    loss = library.build("none", gamma=gamma)
    (slope,) = torch.autograd.grad(loss(logits, labels).sum(), gamma)
    if not slope.isfinite():
        return f"{NO}: {slope.item():g}"
    return YES if isinstance(loss, nn.Module) and any(p is gamma for p in loss.parameters()) else "gradient alone"


def compiles(library: Library) -> str:
    logits, labels = _batch(library)
    logits.requires_grad_()
    torch._dynamo.reset()
    found = torch.compile(library.build("none"), fullgraph=True, backend="aot_eager")(logits, labels)
    found.sum().backward()
    return _said(found, _right(library, logits, labels).sum())


def has_second_derivatives(library: Library) -> str:
    logits, labels = _batch(library)
    logits.requires_grad_()
    along = torch.randn(logits.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)

    def second(losses: Tensor) -> Tensor:
        (slope,) = torch.autograd.grad(losses.sum(), logits, create_graph=True)
        (found,) = torch.autograd.grad((slope * along).sum(), logits)
        return found

    right = second(_right(library, logits, labels))
    off = (second(library.build("none")(logits, labels)) - right).norm() / right.norm()
    return YES if off < HALF else f"{NO}: {100 * off:.2g} % off"


def _at_margin(library: Library, margin: float) -> tuple[Tensor, Tensor]:
    """One sample of float32 whose label has a logit above the other's by the margin."""
    if library.classes:
        return torch.tensor([[0.0, margin]]), torch.tensor([1])
    return torch.tensor([margin]), torch.tensor([1.0])


def in_50_digits(margin: float, gamma: float = GAMMA) -> float:
    """The loss of a label whose logit is above the other's by the margin.

    >>> round(in_50_digits(0.0), 6)  # 0.5^2 log 2
    0.173287
    """
    with mpmath.workdps(50):
        q = 1 / (1 + mpmath.exp(-mpmath.mpf(margin)))
        return float(-((1 - q) ** gamma) * mpmath.log(q))


def _exact_at(margin: float) -> Callable[[Library], str]:
    def exact(library: Library) -> str:
        found = library.build("none")(*_at_margin(library, margin))
        return _said(found, torch.tensor(in_50_digits(margin), dtype=torch.float64))

    return exact


def has_finite_slope(library: Library) -> str:
    logits, labels = _at_margin(library, 200.0)
    (slope,) = torch.autograd.grad(library.build("none", gamma=0.5)(logits.requires_grad_(), labels).sum(), logits)
    return YES if slope.isfinite().all() else f"{NO}: nan"


FEATURES: dict[str, Callable[[Library], str]] = {
    "(N, K, ...) or (N, ...)": of_shape,
    "mean of the labels": is_mean_of_labels,
    "ignore_index": ignores,
    "class weights": weighs_classes,
    "alpha, of two classes": weighs_by_alpha,
    "soft labels": takes_soft_labels,
    "label smoothing": smooths_labels,
    "uint8 labels": takes_uint8,
    "bfloat16 under autocast, right to 0.1 %": widens_half,
    "learnable gamma": learns_gamma,
    "torch.compile, one graph": compiles,
    "double backward": has_second_derivatives,
    "right where sure and right (margin 15)": _exact_at(15.0),
    "right where sure and wrong (margin -200)": _exact_at(-200.0),
    "finite slope, gamma 0.5, margin 200": has_finite_slope,
}


def run_cells(library: Library) -> list[dict[str, str]]:
    """A row for each feature: library, version, call, feature, result, and what was raised."""
    rows, version = [], metadata.version(library.package)
    for feature, probe in FEATURES.items():
        result, raised = NO, ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = probe(library)
            except Exception as error:  # what a library raises is its own
                raised = record.in_short(error)[:200]
        rows.append(
            {"library": library.package, "version": version, "call": library.call}
            | {"feature": feature, "result": result, "raised": raised}
        )
    return rows


@click.command(help=(__doc__ or "").splitlines()[0])
@click.option("--out", type=click.Path(path_type=Path), help="where to write the rows: .parquet or .csv")
def main(out: Path | None) -> None:
    torch.set_num_threads(1)
    rows: list[dict[str, str]] = []
    for library in LIBRARIES:
        try:
            metadata.version(library.package)
        except metadata.PackageNotFoundError:
            click.echo(f"{library.package} is not installed: left out", err=True)
            continue
        rows += run_cells(library)
    table = pd.DataFrame(rows)
    click.echo(table.pivot(index="feature", columns="call", values="result").loc[list(FEATURES)].to_string())
    if out:
        made = {name: value for name, value in record.about().items() if name in ("commit", "torch_version")}
        record.write(table.assign(**made), out)


if __name__ == "__main__":
    main()

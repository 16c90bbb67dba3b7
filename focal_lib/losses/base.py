"""Base classes of the training losses: hooks of a training loop, checks of a batch, class weights, reduction.

Every loss takes logits (n, K, ...) and labels (n, ...), classes in dimension 1, as `torch.nn.CrossEntropyLoss` does.
Half precision is computed, and returned, in float32; the gradient comes back in the type of the logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from focal_lib.arrays import is_compiling
from focal_lib.validation import check_number

Reduction = Literal["mean", "sum", "none"]
IGNORED = -100  # the label that F.cross_entropy ignores


class TrainingLoss(nn.Module):
    """A loss of logits (n, K, ...) and labels (n, ...), with the hooks that a training loop calls."""

    learns_from_validation = False  # if False, the loop skips the validation passes
    takes_sum = True  # whether a recipe that sums over a batch sums this loss
    # whether objective can be compiled with a network and its step replayed: first derivatives only, no random draws,
    # no loops; state changes only in start_epoch, or in place in buffers
    one_graph = True

    def start_epoch(self, epoch: int) -> None:
        """Called before each epoch; the first is 0."""

    def objective(self, logits: Tensor, labels: Tensor, model: nn.Module, generator: torch.Generator) -> Tensor:
        """The scalar to minimise over the weights of the model, which gave the logits (n, K)."""
        loss: Tensor = self(logits, labels)
        return loss

    def after_validation(self, confidence: Tensor, correct: Tensor) -> None:
        """Called after each epoch with the confidence (m,) and correctness (m,) of the validation samples."""

    def diagnostics(self, model: nn.Module, inputs: Tensor, labels: Tensor) -> dict[str, float]:
        """Extra columns of the training history for this loss: name -> value."""
        return {}


class Options(TypedDict, total=False):
    """What every `LogitLoss` takes by name."""

    weight: Sequence[float] | Tensor | None
    alpha: float | Sequence[float] | Tensor | None
    ignore_index: int
    label_smoothing: float


class LogitLoss(TrainingLoss):
    r"""A loss :math:`\ell(z, k)` of a row of logits and a class, whose subclasses define `per_sample`.

    With integer labels a batch of n samples has the mean :math:`\sum_i w_{y_i}\ell(z_i, y_i)/\sum_i w_{y_i}`. Float
    labels of the logits' shape are distributions t over the classes (mixup, several annotators), with the mean
    :math:`\sum_i\sum_k t_{ik}w_k\ell(z_i, k)/n`. With gamma = 0 these are the numbers of
    `torch.nn.functional.cross_entropy` with the arguments of the same name.

    Args:
        reduction: 'mean', 'sum' or 'none'; 'none' has the shape of the labels, without the classes.
        weight: K class weights w. The mean is divided by the sum of the weights of the labels, as in
            `torch.nn.CrossEntropyLoss`.
        alpha: class weights whose mean is divided by n, as in Lin et al. (2017): K numbers, or, for two classes, one
            number in (0, 1), the weight of class 1; class 0 has 1 - alpha. Not with `weight`.
        ignore_index: integer labels of this value count neither in the loss nor in n; their gradient is 0. If no other
            label is there, the mean is NaN, as that of PyTorch's cross-entropy, and all gradients are 0.
        label_smoothing: a share s in [0, 1]; labels t become (1 - s) t + s / K.

    Raises:
        ValueError: an unknown reduction, or weights, alpha or label_smoothing out of range; when called, shapes that do
            not fit, K < 2, labels that are neither classes nor distributions. Values of labels are checked on the CPU,
            not on a GPU, which would have to wait, and not while a graph is compiled.

    Examples:
        >>> class Power(LogitLoss):
        ...     def per_sample(self, logits, labels):
        ...         return (1 - log_prob_of_label(torch.softmax(logits, -1), labels)) ** 2
        >>> logits, labels = torch.tensor([[0.8, 0.2], [0.8, 0.2]]).log(), torch.tensor([0, 1])
        >>> round(float(Power()(logits, labels)), 4)  # (0.2^2 + 0.8^2) / 2
        0.34
        >>> round(float(Power(weight=[3.0, 1.0])(logits, labels)), 4)  # (3 * 0.2^2 + 0.8^2) / (3 + 1)
        0.19
    """

    weight: Tensor | None
    alpha: float | Tensor | None

    def __init__(
        self,
        reduction: Reduction = "mean",
        *,
        weight: Sequence[float] | Tensor | None = None,
        alpha: float | Sequence[float] | Tensor | None = None,
        ignore_index: int = IGNORED,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__()
        self.reduction, self.ignore_index = check_reduction(reduction), int(ignore_index)
        self.label_smoothing = check_share(label_smoothing, "label_smoothing")
        if weight is not None and alpha is not None:
            raise ValueError("must have one of weight and alpha. Got both.")
        self.register_buffer("weight", class_weights(weight, "weight"))
        if isinstance(alpha, int | float) or getattr(alpha, "ndim", 1) == 0:
            self.alpha = check_fixed(alpha, "alpha")
            if not 0 < self.alpha < 1:
                raise ValueError(f"alpha must lie in (0, 1), the weight of class 1. Got {self.alpha:g}.")
        else:
            self.register_buffer("alpha", class_weights(alpha, "alpha"))

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of each row, without options: (n, K), int64 (n,) -> (n,)."""
        raise NotImplementedError

    def per_class(self, logits: Tensor) -> Tensor:
        """The loss of each row were its label k, for each k: (n, K) -> (n, K)."""
        n, classes = logits.shape
        labels = torch.arange(classes, device=logits.device).expand(n, classes)
        return torch.stack([self.per_sample(logits, labels[:, k]) for k in range(classes)], -1)

    def per_margin(self, margin: Tensor) -> Tensor:
        """The loss of two classes, elementwise, where the logit of the label is above the other's by the margin."""
        flat = margin.flatten()
        pairs = torch.stack([torch.zeros_like(flat), flat], -1)
        return self.per_sample(pairs, torch.ones_like(flat, dtype=torch.int64)).reshape(margin.shape)

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        rows, targets, counted = as_rows(logits, labels, self.ignore_index)
        factors, mass, soft = self.class_factors(rows), counted, targets.is_floating_point()
        if counted is not None:
            targets = torch.where(counted, targets, 0)
        if soft or self.label_smoothing:
            losses = self._expected(rows, targets if soft else one_hot(targets, rows), factors)
        else:
            losses = self.per_sample(rows, targets)
            losses = losses if factors is None else factors[targets] * losses
        if counted is not None:
            losses = torch.where(counted, losses, 0.0)
        if self.weight is not None and factors is not None and not soft:
            mass = factors[targets] * (1 if counted is None else counted)
        return reduced(losses.reshape(logits.shape[:1] + logits.shape[2:]), self.reduction, mass)

    def _expected(self, logits: Tensor, targets: Tensor, factors: Tensor | None) -> Tensor:
        """The weighted loss that is expected under smoothed distributions over the classes: (n, K), (n, K) -> (n,)."""
        share = self.label_smoothing
        targets = (1 - share) * targets.to(logits) + share / logits.shape[-1]
        return ((targets if factors is None else factors * targets) * self.per_class(logits)).sum(-1)

    def class_factors(self, logits: Tensor) -> Tensor | None:
        """Weight or alpha of each class, (K,), in the type of the logits (n, K), or None if there are none."""
        given = self.alpha if self.weight is None else self.weight
        if given is None:
            return None
        if isinstance(given, Tensor):
            return weights_like(given, logits, "alpha" if self.weight is None else "weight")
        if logits.shape[-1] != 2:
            raise ValueError(
                f"alpha must be {logits.shape[-1]} numbers, one a class. Got one, which is for two classes."
            )
        factors = logits.new_full((2,), 1 - given)  # made on the device: a copy from the host would stall a GPU
        factors[1] = given
        return factors


class LabelProbabilityLoss(LogitLoss):
    """A loss of the label's probability alone, whose subclasses define `of_log_prob`."""

    def of_log_prob(self, log_q: Tensor) -> Tensor:
        """The loss of a label with log-probability log q, elementwise."""
        raise NotImplementedError

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.of_log_prob(log_prob_of_label(torch.log_softmax(logits, -1), labels))

    def per_class(self, logits: Tensor) -> Tensor:
        return self.of_log_prob(torch.log_softmax(logits, -1))

    def per_margin(self, margin: Tensor) -> Tensor:
        return self.of_log_prob(logsigmoid(margin))


def reduced(losses: Tensor, reduction: Reduction, mass: Tensor | None = None) -> Tensor:
    """Mean, sum or none. The mean is divided by the sum of `mass`, a weight or truth value of each loss, default 1."""
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if mass is None:
        return losses.mean()
    return losses.mean() * (mass.numel() / mass.sum().to(losses))  # a factor 1, exactly, if all count: the plain mean


def as_rows(logits: Tensor, labels: Tensor, ignore_index: int = IGNORED) -> tuple[Tensor, Tensor, Tensor | None]:
    """A batch that was checked, as rows: logits (m, K), labels int64 (m,) or float (m, K), and which labels count.

    Half precision becomes float32. None in place of (m,) truth values: all count.

    Raises:
        ValueError: as LogitLoss.
    """
    check_batch(logits, labels)
    logits = widen(logits)
    soft = labels.is_floating_point()
    if not soft:
        labels = labels.long()
    classes = logits.shape[1]
    if logits.ndim > 2:
        logits = logits.movedim(1, -1).reshape(-1, classes)
        labels = labels.movedim(1, -1).reshape(-1, classes) if soft else labels.reshape(-1)
    if soft:
        if can_look_at(labels):
            check_distributions(labels)
        return logits, labels, None
    if can_look_at(labels) and check_classes(labels, classes, ignore_index):
        return logits, labels, None
    return logits, labels, labels != ignore_index


def widen(logits: Tensor) -> Tensor:
    """float16 and bfloat16 as float32."""
    return logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits


def check_batch(logits: Tensor, labels: Tensor) -> None:
    """Raise ValueError unless logits are (n, K, ...), K >= 2, and labels integer (n, ...) or float (n, K, ...)."""
    check_tensors(logits, labels)
    shape, soft = tuple(logits.shape), labels.is_floating_point()
    if len(shape) >= 2 and shape[1] < 2:
        raise ValueError(
            "logits must have K >= 2 classes in shape (n, K, ...). "
            f"Got {shape}. For one logit a sample: MultiLabelLoss(loss), with labels of the same shape."
        )
    if len(shape) >= 2 and tuple(labels.shape) == (shape if soft else shape[:1] + shape[2:]):
        return
    wanted = "(n, K) and (n,)" if len(shape) <= 2 else "(n, K, ...) and (n, ...)"
    cure = _cure(shape, tuple(labels.shape), soft)
    raise ValueError(
        f"logits and labels must have shapes {wanted}. Got {shape} and {tuple(labels.shape)} of {labels.dtype}.{cure}"
    )


def check_tensors(logits: Tensor, labels: Tensor) -> None:
    """Raise ValueError unless both are tensors, of real numbers, the logits of floating-point ones."""
    if not (isinstance(logits, Tensor) and isinstance(labels, Tensor)):
        raise ValueError(f"logits and labels must be tensors. Got {type(logits).__name__} and {type(labels).__name__}.")
    if not logits.is_floating_point() or labels.is_complex():
        raise ValueError(f"logits must be floating-point numbers, labels real. Got {logits.dtype} and {labels.dtype}.")


def _cure(logits: tuple[int, ...], labels: tuple[int, ...], soft: bool) -> str:
    """What to write in place of shapes that do not fit."""
    if len(logits) < 2:
        return " One logit a sample: MultiLabelLoss(loss), with labels of the same shape."
    rest = logits[:1] + logits[2:]
    if soft and labels == rest:
        return " Class numbers must be integers: labels.long(). Float labels are distributions, of the logits' shape."
    if not soft and labels == logits:
        return " One-hot labels: labels.argmax(1), or labels.float(). Several labels a sample: MultiLabelLoss."
    if labels == (logits[0], 1, *logits[2:]):
        return f" Labels without the extra dimension: labels.squeeze(1){'.long()' if soft else ''}."
    if len(logits) > 2 and labels == logits[:-1]:
        return " The classes are dimension 1: logits.movedim(-1, 1)."
    return ""


def can_look_at(labels: Tensor) -> bool:
    """Whether values can be looked at without a GPU's having to wait, or a graph's being cut."""
    return labels.device.type == "cpu" and labels.numel() > 0 and not (is_compiling() or torch.jit.is_tracing())


def check_classes(labels: Tensor, classes: int, ignore_index: int = IGNORED) -> bool:
    """Raise ValueError unless int64 labels lie in 0 ... K - 1, or are ignored; whether it is sure that all count."""
    span = span_of(labels)
    if span is None:
        return False
    if span[0] >= 0 and span[1] < classes:
        return not span[0] <= ignore_index <= span[1]
    span = span_of(labels[labels != ignore_index])
    if span is not None and (span[0] < 0 or span[1] >= classes):
        raise ValueError(
            f"labels must lie in 0 ... {classes - 1}, or be ignored, ignore_index={ignore_index}. "
            f"Got values from {span[0]:g} to {span[1]:g}."
        )
    return False


def check_distributions(targets: Tensor) -> None:
    """Raise ValueError unless float labels (m, K) lie in [0, 1] and sum to 1 over the classes, to their precision."""
    tolerance = {torch.float64: 1e-6, torch.float32: 1e-3}.get(targets.dtype, 2e-2)
    for values, low, high, what in (
        (targets, 0, 1, "lie in [0, 1]"),
        (targets.sum(-1, dtype=torch.float64), 1, 1, "sum to 1 over the classes; of several labels: MultiLabelLoss"),
    ):
        span = span_of(values)
        if span is not None and not (span[0] >= low - tolerance and span[1] <= high + tolerance):
            got = f"values from {span[0]:g} to {span[1]:g}" if low < high else f"sums from {span[0]:g} to {span[1]:g}"
            raise ValueError(f"float labels must {what}. Got {got}.")


def span_of(values: Tensor) -> tuple[float, float] | None:
    """The smallest and the largest value, NaN if one is; None of no values, or of those that vmap does not show."""
    if not values.numel():
        return None
    try:
        low, high = torch.aminmax(values.detach())
        return low.item(), high.item()
    except RuntimeError:  # within vmap, or of a tensor without values
        return None


def check_reduction(reduction: Any) -> Reduction:
    """'mean', 'sum' or 'none', else ValueError."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none'. Got {reduction!r}.")
    return cast(Reduction, reduction)


def check_fixed(value: Any, name: str, *, minimum: float = 0.0) -> float:
    """A finite number >= minimum, else ValueError, also of a parameter, which would get no gradient."""
    if isinstance(value, Tensor) and value.requires_grad:
        raise ValueError(f"{name} must be a number; it gets no gradient here. Got a tensor that requires one.")
    return check_number(value, name, minimum=minimum)


def check_share(value: Any, name: str) -> float:
    """A number in [0, 1], else ValueError."""
    share = check_fixed(value, name)
    if share > 1:
        raise ValueError(f"{name} must be a share, at most 1. Got {share:g}.")
    return share


def class_weights(values: Sequence[float] | Tensor | None, name: str) -> Tensor | None:
    """(K,), finite and >= 0, not all 0, else ValueError. A tensor keeps its type; anything else becomes float64."""
    if values is None:
        return None
    if isinstance(values, Tensor) and values.requires_grad:
        raise ValueError(f"{name} must be numbers; they get no gradient here. Got a tensor that requires one.")
    try:
        weights = values.detach().clone() if isinstance(values, Tensor) else torch.tensor(values, dtype=torch.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, one for each class. Got {values!r}.") from None
    if weights.ndim != 1 or len(weights) < 2:
        raise ValueError(f"{name} must have shape (K,), K >= 2. Got {tuple(weights.shape)}.")
    if not (bool(weights.isfinite().all()) and bool((weights >= 0).all()) and bool((weights > 0).any())):
        raise ValueError(f"{name} must be finite, >= 0 and not all 0. Got {weights.tolist()}.")
    return weights


def weights_like(weights: Tensor, logits: Tensor, name: str) -> Tensor:
    """In the type of the logits (n, K); ValueError unless there are K."""
    if len(weights) != logits.shape[-1]:
        raise ValueError(f"{name} must be {logits.shape[-1]} numbers, one a class. Got {len(weights)}.")
    return weights.to(logits)


def complement(log_q: Tensor) -> Tensor:
    """1 - q from log q without cancellation, kept above 0, where a power below 1 has an infinite slope."""
    return (-torch.expm1(log_q)).clamp(min=torch.finfo(log_q.dtype).tiny)


def one_hot(labels: Tensor, logits: Tensor) -> Tensor:
    """The unit vectors e_y in the type of the logits: int64 (n,), (n, K) -> (n, K). PyTorch's own cannot be vmapped."""
    return torch.zeros_like(logits).scatter(-1, labels[:, None], 1.0)


def log_prob_of_label(log_probs: Tensor, labels: Tensor) -> Tensor:
    """log q_y: (n, K), (n,) -> (n,)."""
    return log_probs.gather(-1, labels[:, None])[:, 0]

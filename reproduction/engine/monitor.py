"""What is measured while training: the rows of the history."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from focal_lib.losses.base import TrainingLoss
from reproduction.engine.trainer import Trainer


def summary(trainer: Trainer, images: Tensor, labels: Tensor) -> dict[str, float]:
    """One row of the history: what M20 Figs. 1, 3 and 4 follow over the epochs.

    nll, error, accuracy, confidence; ece, of equal width as M20 section 2 has it, and adaptive_ece, of equal mass, of
    15 bins each; nll, entropy and true_class, the probability of the true class, of right and of wrong samples, means
    (nan where there is none); weight_norm of the last layer; gradient_q10, _q50, _q90, quantiles over samples of the
    norm of the loss gradient with respect to the last layer; and what the loss itself adds. Histories that were
    recorded before lack ece and true_class.
    """
    from focal_lib.metrics.bins import adaptive_ece, ece
    from focal_lib.metrics.scores import nll

    logits, features = outputs(trainer, images)
    log_probs = logits.double().log_softmax(-1)
    own = -log_probs.gather(-1, labels[:, None])[:, 0]  # NLL of each sample
    entropy = -(log_probs.exp() * log_probs).sum(-1)
    right = log_probs.argmax(-1) == labels
    probs, truth = log_probs.exp().cpu().numpy(), labels.cpu().numpy()
    row = {"nll": nll(probs, truth), "error": float((~right).double().mean()), "accuracy": float(right.double().mean())}
    row |= {"confidence": float(probs.max(-1).mean())}
    row |= {"ece": ece(probs, truth), "adaptive_ece": adaptive_ece(probs, truth)}
    for name, kept in (("right", right), ("wrong", ~right)):
        row |= {f"nll_{name}": float(own[kept].mean()), f"entropy_{name}": float(entropy[kept].mean())}
        row |= {f"true_class_{name}": float((-own[kept]).exp().mean())}
    row["weight_norm"] = float(last_layer(trainer.model).weight.detach().norm())
    quantiles = torch.quantile(gradient_norms(trainer.loss, logits, labels, features), _QUANTILES)
    row |= trainer.loss.diagnostics(trainer.model, images, labels)
    return row | {f"gradient_q{int(100 * q)}": float(v) for q, v in zip(_QUANTILES, quantiles, strict=True)}


_QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def last_layer(model: nn.Module) -> nn.Linear:
    """The linear layer that gives the logits."""
    return [module for module in model.modules() if isinstance(module, nn.Linear)][-1]


def outputs(trainer: Trainer, images: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (n, K) and what goes into the last layer (n, features), in evaluation mode."""
    features: list[Tensor] = []
    hook = last_layer(trainer.model).register_forward_hook(
        lambda module, inputs, output: features.append(inputs[0].detach().float())
    )
    try:
        logits = trainer.logits(images)
    finally:
        hook.remove()
    return logits, torch.cat(features)


def gradient_norms(loss: TrainingLoss, logits: Tensor, labels: Tensor, inputs: Tensor) -> Tensor:
    """Norm of d loss / d (weight, bias) of the last layer for each sample, (n,), times n for a mean loss.

    The gradient is the outer product of d loss / d logits and (features, 1), so its norm is the product of norms.
    """
    logits = logits.detach().requires_grad_()
    (slope,) = torch.autograd.grad(loss(logits, labels) * len(labels), logits)
    return (slope.norm(dim=-1) * (inputs.square().sum(-1) + 1).sqrt()).cpu()

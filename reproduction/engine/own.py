"""Losses and networks of your own as the engine trains them, tried on two samples before any work."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from focal_lib.losses.base import TrainingLoss
from reproduction.engine.plugins import chosen_arguments, describe, load, loss_defaults


class OwnLoss(TrainingLoss):
    """A torch module or function of logits (n, K) and labels (n,) that returns the mean."""

    one_graph = False  # nothing is known of what it does

    def __init__(self, loss: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.loss = loss

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.loss(logits, labels)


def make_loss(name: str, code: str, given: Mapping[str, float]) -> TrainingLoss:
    """Your loss with what it takes of gamma, lam and epochs.

    Raises:
        ValueError: as `plugins.loss_defaults`, or weights of its own, which nothing would train.
    """
    own, chosen = load(name, code), {key: given[key] for key in loss_defaults(name, code)}
    made = own(**chosen) if isinstance(own, type) else partial(own, **chosen)
    loss: TrainingLoss = made if isinstance(made, TrainingLoss) else OwnLoss(made)
    if weights := [key for key, _ in loss.named_parameters()]:
        raise ValueError(f"{name} must have no weights: only the network's are trained. Got {', '.join(weights)}.")
    return loss


def network_arguments(name: str, code: str, offered: tuple[str, ...]) -> tuple[str, ...]:
    """Those offered that your network takes.

    Raises:
        ValueError: nothing that can be called, or one that needs more.
    """
    network = load(name, code)
    if not callable(network) or isinstance(network, nn.Module):
        raise ValueError(f"{name} must be a class or function that makes a network. Got {type(network).__name__}.")
    return tuple(chosen_arguments(name, list(inspect.signature(network).parameters.values()), offered))


def make_network(name: str, code: str, offered: Mapping[str, Any]) -> nn.Module:
    """Your network, given those of the values offered that its signature names.

    Raises:
        ValueError: as `network_arguments`, or what it makes is no torch module.
    """
    network = load(name, code)(**{key: offered[key] for key in network_arguments(name, code, tuple(offered))})
    if not isinstance(network, nn.Module):
        raise ValueError(f"{name} must make a torch module. Got {type(network).__name__}.")
    if not any(weights.requires_grad for weights in network.parameters()):
        raise ValueError(f"{name} must have weights to train. Got none that takes a gradient.")
    return network


def try_out(what: str, model: nn.Module, loss: TrainingLoss, inputs: Tensor, labels: Tensor, classes: int) -> None:
    """Whether a network gives logits of a few samples, and the loss one number; random numbers stay as they were.

    Args:
        what: network, loss and data set in words.
        loss: not the one to be trained with: it may change with a call.

    Raises:
        ValueError: they do not; what was raised, with the line of your module.
    """
    device = inputs.device
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        try:
            logits = model.eval()(inputs)
            shape = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            if shape == (len(inputs), classes):
                loss.start_epoch(0)
                value = loss.objective(logits.float(), labels, model, torch.Generator().manual_seed(0))
                loss(logits.float().detach().requires_grad_(), labels)  # as the history's gradients are taken
        except Exception as error:  # of any code
            reason = describe(error)
            raise ValueError(f"{what} must go together: inputs {tuple(inputs.shape)}. Got {reason}") from error
    if shape != (len(inputs), classes):
        raise ValueError(f"{what}: logits must have shape (n, K) = {(len(inputs), classes)}. Got {shape}.")
    if not isinstance(value, Tensor) or value.shape != () or not value.requires_grad:
        got = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) and value.shape != () else f"{value!r}"
        raise ValueError(f"{what}: the loss must be the mean of a batch, one number with a gradient. Got {got}.")
    if not torch.isfinite(value):
        raise ValueError(f"{what}: the loss must be finite. Got {value.item()} of the network as it begins.")

"""The weights of the epoch that was best on validation samples, kept beside those that train on."""

from __future__ import annotations

from typing import Any

from torch import nn


class BestWeights:
    """Of the epochs offered: the weights with the highest validation accuracy, the earliest of equals (M20 D)."""

    def __init__(self) -> None:
        self.epoch = 0
        self.accuracy = -1.0
        self.weights: dict[str, Any] = {}

    def offer(self, epoch: int, accuracy: float, model: nn.Module) -> None:
        """Copy the weights if they are better than those kept."""
        if accuracy > self.accuracy:
            weights = {name: value.detach().clone() for name, value in model.state_dict().items()}
            self.epoch, self.accuracy, self.weights = epoch, accuracy, weights

    def give_to(self, model: nn.Module) -> None:
        """Put the weights kept into the network, if any were offered."""
        if self.weights:
            model.load_state_dict(self.weights)

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "accuracy": self.accuracy, "weights": self.weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.epoch, self.accuracy = int(state["epoch"]), float(state["accuracy"])
        self.weights = dict(state["weights"])

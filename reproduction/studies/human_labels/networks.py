"""Small networks for sentences, trained on targets that are distributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss
from reproduction.engine.models.text import GlobalPoolingCNN, TreeLSTM
from reproduction.studies.human_labels.targets import expected_loss


class AveragedEmbedding(nn.Module):
    """The mean of the word vectors, trained too, then one hidden layer: tokens (n, L), 0 for padding -> (n, K)."""

    def __init__(self, words: int, classes: int, vectors: np.ndarray, hidden: int = 128) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(torch.from_numpy(vectors).clone(), freeze=False, padding_idx=0)
        self.hidden = nn.Linear(self.embedding.embedding_dim, hidden)
        self.output = nn.Linear(hidden, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        there = (tokens != 0).to(self.embedding.weight.dtype)[..., None]  # (n, L, 1)
        mean = (self.embedding(tokens) * there).sum(1) / there.sum(1).clamp(min=1)
        logits: Tensor = self.output(self.hidden(mean).relu())
        return logits


# name -> network of (number of words, classes, vectors (V, d))
NETWORKS: dict[str, Callable[[int, int, np.ndarray], nn.Module]] = {
    "averaged-embedding": AveragedEmbedding,
    "gp-cnn": GlobalPoolingCNN,
    "tree-lstm": TreeLSTM,
}
ON_TREES = ("tree-lstm",)  # the others read tokens


@dataclass(frozen=True)
class NetworkFit:
    """Logits float64 (n, K) of the validation and the test part after an epoch, and the validation loss there."""

    validation: np.ndarray
    test: np.ndarray
    validation_loss: float
    epoch: int


def train_network(
    model: nn.Module,
    loss: LogitLoss,
    sentences: dict[str, np.ndarray],
    targets: dict[str, np.ndarray],
    *,
    epochs: int,
    seed: int,
    rate: float = 1e-3,
    batch: int = 128,
) -> tuple[NetworkFit, NetworkFit]:
    """Train by Adam: what there is at the epoch of least validation loss, and at the last one.

    The validation loss is the network's own loss on the validation targets.

    Args:
        sentences: 'train', 'validation' and 'test' -> tokens int (n, L), or trees int (n, M, 4), see data.Split.
        targets: 'train' and 'validation' -> (n, K), distributions.
        seed: of the order of the batches.

    Raises:
        ValueError: epochs below 1.
    """
    if epochs < 1:
        raise ValueError(f"epochs must be at least 1. Got {epochs}.")
    inputs = {name: torch.from_numpy(part).long() for name, part in sentences.items()}
    goals = {name: torch.from_numpy(part).float() for name, part in targets.items()}
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    generator = torch.Generator().manual_seed(seed)
    best: NetworkFit | None = None
    for epoch in range(1, epochs + 1):
        model.train()
        for index in torch.randperm(len(goals["train"]), generator=generator).split(batch):
            optimiser.zero_grad()
            expected_loss(loss, model(inputs["train"][index]), goals["train"][index]).backward()
            optimiser.step()
        now = _look(model, loss, inputs, goals["validation"], epoch)
        if best is None or now.validation_loss < best.validation_loss:
            best = now
    assert best is not None
    return best, now


@torch.no_grad()
def _look(model: nn.Module, loss: LogitLoss, inputs: dict[str, Tensor], validation: Tensor, epoch: int) -> NetworkFit:
    model.eval()
    logits = {name: torch.cat([model(part) for part in inputs[name].split(1000)]) for name in ("validation", "test")}
    own = float(expected_loss(loss, logits["validation"].double(), validation.double()))
    return NetworkFit(logits["validation"].double().numpy(), logits["test"].double().numpy(), own, epoch)

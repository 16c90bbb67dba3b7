"""Networks for texts: a convolutional one on tokens, an LSTM on parse trees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn


def _embedding(words: int, width: int, vectors: np.ndarray | None) -> nn.Embedding:
    """Trainable vectors (words, width); starting from the given ones (words, d), their width wins."""
    if vectors is None:
        return nn.Embedding(words, width, padding_idx=0)
    return nn.Embedding.from_pretrained(torch.from_numpy(vectors).clone(), freeze=False, padding_idx=0)


class GlobalPoolingCNN(nn.Module):
    """Three convolutions of width 5 with pooling between them, then the largest activation over the text.

    M20 and L25 (section 5 of each) name a global pooling network and tell none of its sizes; these, 128 filters a
    layer and 128 hidden units, are ours.
    Tokens (n, L), 0 for padding -> logits (n, classes).
    """

    def __init__(self, words: int, classes: int, vectors: np.ndarray | None = None, width: int = 100) -> None:
        super().__init__()
        self.embedding = _embedding(words, width, vectors)
        width = self.embedding.embedding_dim
        self.convolutions = nn.Sequential(
            nn.Conv1d(width, 128, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool1d(5, ceil_mode=True),
            nn.Conv1d(128, 128, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool1d(5, ceil_mode=True),
            nn.Conv1d(128, 128, 5, padding=2),
            nn.ReLU(),
        )
        self.hidden = nn.Linear(128, 128)
        self.output = nn.Linear(128, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        features = self.convolutions(self.embedding(tokens).transpose(1, 2))  # (n, 128, L/25)
        logits: Tensor = self.output(self.hidden(features.amax(-1)).relu())
        return logits


class TreeLSTM(nn.Module):
    """Binary constituency Tree-LSTM (Tai, Socher & Manning 2015, Eqs. (9)-(14) with N = 2).

    A leaf has its word as input and no children; an inner node has two children and no input; the state of the root
    is classified. All nodes of one height are computed at once. Trees (n, M, 4), see data.Split -> logits (n, classes).
    """

    one_graph = False  # its shapes are those of the trees

    def __init__(
        self, words: int, classes: int, vectors: np.ndarray | None = None, width: int = 100, memory: int = 150
    ) -> None:
        super().__init__()
        self.embedding = _embedding(words, width, vectors)
        self.leaf = nn.Linear(self.embedding.embedding_dim, 3 * memory)  # input, output, update
        self.node = nn.Linear(2 * memory, 5 * memory)  # input, forget left, forget right, output, update
        self.output = nn.Linear(memory, classes)

    def forward(self, trees: Tensor) -> Tensor:
        n, m, _ = trees.shape
        left, right, token, height = trees.long().reshape(n * m, 4).T
        first = torch.arange(n, device=trees.device).repeat_interleave(m) * m  # row of the root of each node's tree
        leaves = (token >= 0).nonzero()[:, 0]
        memory = self.output.in_features
        gates = self.leaf(self.embedding(token[leaves]))
        cell = gates.new_zeros(n * m, memory)
        state = gates.new_zeros(n * m, memory)
        i, o, u = gates.chunk(3, -1)
        c = i.sigmoid() * u.tanh()
        cell, state = cell.index_copy(0, leaves, c), state.index_copy(0, leaves, o.sigmoid() * c.tanh())
        for level in range(1, int(height.max()) + 1):
            at = (height == level).nonzero()[:, 0]
            one, two = first[at] + left[at], first[at] + right[at]
            i, f_one, f_two, o, u = self.node(torch.cat([state[one], state[two]], -1)).chunk(5, -1)
            c = i.sigmoid() * u.tanh() + f_one.sigmoid() * cell[one] + f_two.sigmoid() * cell[two]
            cell, state = cell.index_copy(0, at, c), state.index_copy(0, at, o.sigmoid() * c.tanh())
        logits: Tensor = self.output(state.reshape(n, m, -1)[:, 0])
        return logits


# name -> network of (number of words, classes, vectors or None); '-glove' starts from word vectors
Builder = Callable[[int, int, np.ndarray | None], nn.Module]
TOKEN_MODELS: dict[str, Builder] = {"gp-cnn": GlobalPoolingCNN, "gp-cnn-glove": GlobalPoolingCNN}
TREE_MODELS: dict[str, Builder] = {"tree-lstm": TreeLSTM, "tree-lstm-glove": TreeLSTM}

"""What is trained on sentences: targets from several raters' votes, a linear model, small networks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from scipy.optimize import minimize
from sklearn.feature_extraction.text import TfidfVectorizer
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss
from reproduction.engine.models.text import GlobalPoolingCNN, TreeLSTM
from reproduction.studies.shared.votes import Votes

KINDS = ("drawn", "majority", "votes")


def make_targets(votes: Votes, kind: str, seed: int) -> np.ndarray:
    """Targets (n, K), each row a distribution.

    Args:
        kind: 'drawn', a label drawn from the shares of the votes, which is the vote of one rater at random (one between
            two classes by a coin): the labels that the theory speaks of. 'majority', the class with the largest share,
            ties by a coin: another posterior, more certain than the raters are. 'votes', the shares themselves, for
            which the expected loss is the conditional risk that the theory minimises.
        seed: of the draws.

    Raises:
        ValueError: another kind.
    """
    rng = np.random.default_rng([seed, 1])
    shares = votes.shares
    if kind == "votes":
        return shares
    if kind == "drawn":
        labels = (rng.random((len(shares), 1)) > shares.cumsum(-1)[:, :-1]).sum(-1)
    elif kind == "majority":
        labels = (shares + 1e-9 * rng.random(shares.shape)).argmax(-1)
    else:
        raise ValueError(f"kind of labels must be one of {', '.join(KINDS)}. Got {kind!r}.")
    return np.eye(shares.shape[-1])[labels]


def expected_loss(loss: LogitLoss, logits: Tensor, targets: Tensor) -> Tensor:
    """Mean over items of the loss expected under the targets: sum_k t_k L(z, k), (n, K), (n, K) -> ()."""
    n, classes = targets.shape
    if bool(((targets == 0) | (targets == 1)).all()):
        return loss.per_sample(logits, targets.argmax(-1)).mean()
    every = [loss.per_sample(logits, torch.full((n,), k)) for k in range(classes)]
    return (targets * torch.stack(every, -1)).sum(-1).mean()


PENALTIES = (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)  # strongest first
_GRADIENT = 1e-6
_STEPS = 1_000


@dataclass(frozen=True)
class Bags:
    """Features of the parts, sparse (n, d), the last one constant; and those of the training part turned round."""

    train: sparse.csr_matrix
    validation: sparse.csr_matrix
    test: sparse.csr_matrix
    train_transposed: sparse.csr_matrix


def make_bags(train: np.ndarray, validation: np.ndarray, test: np.ndarray) -> Bags:
    """TF-IDF of words and pairs of neighbours that two training sentences have, from tokens int (n, L), 0 for padding.

    Raises:
        ValueError: no word is in two training sentences.
    """
    words = TfidfVectorizer(analyzer=_words_and_pairs, min_df=2, sublinear_tf=True).fit(train)
    one, two, three = (_with_constant(words.transform(part)) for part in (train, validation, test))
    return Bags(one, two, three, one.T.tocsr())


def _words_and_pairs(row: np.ndarray) -> list[str]:
    words = [str(token) for token in row if token]
    return words + [f"{one} {two}" for one, two in itertools.pairwise(words)]


def _with_constant(features: sparse.csr_matrix) -> sparse.csr_matrix:
    return sparse.hstack([features, np.ones((features.shape[0], 1))]).tocsr()


@dataclass(frozen=True)
class LinearFit:
    """Weights (d, K) of one penalty, with the largest entry of the gradient where the optimiser stopped."""

    weights: np.ndarray
    penalty: float
    gradient: float


def fit_linear_path(
    bags: Bags, targets: np.ndarray, loss: LogitLoss, penalties: Sequence[float] = PENALTIES
) -> list[LinearFit]:
    r"""Weights W of least :math:`\text{mean loss}(XW) + \tfrac{a}{2}\lVert W\rVert^2` for each penalty a.

    The constant is not penalised. Each fit starts from the one before, so give the strongest penalty first.

    Args:
        targets: (n, K), distributions.

    Raises:
        ValueError: no penalties, or one that is not above 0.
    """
    if not penalties or min(penalties) <= 0:
        raise ValueError(f"penalties must be above 0, at least one. Got {list(penalties)}.")
    goal, shape = torch.from_numpy(targets), (bags.train.shape[1], targets.shape[1])

    def objective(flat: np.ndarray, penalty: float) -> tuple[float, np.ndarray]:
        weights = flat.reshape(shape)
        held = weights.copy()
        held[-1] = 0  # the constant
        logits = torch.from_numpy(bags.train @ weights).requires_grad_()
        value = expected_loss(loss, logits, goal)
        (slope,) = torch.autograd.grad(value, logits)
        gradient = bags.train_transposed @ slope.numpy() + penalty * held
        return float(value.detach()) + penalty / 2 * float((held**2).sum()), gradient.ravel()

    fits, start = [], np.zeros(shape)
    start[-1] = np.log(
        np.maximum(targets.mean(0), 1 / len(targets))
    )  # the classes' shares: no class begins too far off
    at = start.ravel()
    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "gtol": _GRADIENT, "ftol": 1e-15}
    for penalty in penalties:
        found = minimize(objective, at, args=(penalty,), jac=True, method="L-BFGS-B", options=options)
        at = found.x
        fits.append(LinearFit(at.reshape(shape).copy(), penalty, float(np.abs(found.jac).max())))
    return fits


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

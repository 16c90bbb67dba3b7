"""One model trained on the raters' labels, with what it says of validation and test sentences."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import torch

from focal_lib.losses.base import LogitLoss
from focal_lib.losses.by_name import build
from reproduction.engine.data.tokens import UNKNOWN, balanced_tree, encode_trees
from reproduction.engine.data.vectors import glove
from reproduction.studies.human_labels.models import (
    NETWORKS,
    ON_TREES,
    PENALTIES,
    Bags,
    expected_loss,
    fit_linear_path,
    make_bags,
    make_targets,
    train_network,
)
from reproduction.studies.human_labels.plan import END, VALIDATED, Plan
from reproduction.studies.human_labels.votes import load_reviews_with_votes
from reproduction.studies.shared.votes import Votes


@dataclass(frozen=True)
class Sentences:
    """Tokens int32 (n, L) and votes of 'train', 'validation' and 'test', which is the same for every seed."""

    tokens: dict[str, np.ndarray]
    votes: dict[str, Votes]
    vocabulary: tuple[str, ...]

    @functools.cached_property
    def bags(self) -> Bags:
        """Features of the linear model."""
        return make_bags(*self.tokens.values())

    @functools.cached_property
    def trees(self) -> dict[str, np.ndarray]:
        """The same sentences as binary trees int32 (n, M, 4), see data.Split: their words halved again and again."""
        return {name: self._trees_of(rows) for name, rows in self.tokens.items()}

    def _trees_of(self, rows: np.ndarray) -> np.ndarray:
        words = [[self.vocabulary[token] for token in row[row > 0]] for row in rows]
        return encode_trees([balanced_tree(row or [self.vocabulary[UNKNOWN]]) for row in words], self.vocabulary)


@functools.lru_cache(maxsize=1)
def load_sentences(seed: int, classes: int, n_train: int, n_validation: int) -> Sentences:
    """Training and validation sentences drawn from the published training part, and the test sentences.

    The validation sentences depend on the seed and their number alone. The last call's are kept.

    Raises:
        ValueError: more sentences than there are.
        FileNotFoundError: the data set is nowhere to be had.
    """
    dataset, votes, test_votes = load_reviews_with_votes(classes)
    if n_train + n_validation > len(votes):
        raise ValueError(f"n_train + n_validation must be at most {len(votes)}. Got {n_train} + {n_validation}.")
    order = np.random.default_rng([seed, 0]).permutation(len(votes))
    parts = {"train": order[n_validation : n_validation + n_train], "validation": order[:n_validation]}
    return Sentences(
        {name: dataset.train.inputs[index] for name, index in parts.items()} | {"test": dataset.test.inputs},
        {name: votes.take(index) for name, index in parts.items()} | {"test": test_votes},
        dataset.vocabulary,
    )


@dataclass(frozen=True)
class Outcome:
    """Logits float64 (n, K) of one model for validation and test sentences.

    Attributes:
        targets: of the validation sentences (n, K).
        votes: on the test sentences.
        kept: which weights: VALIDATED, those of least own validation loss, or END.
        stop: the penalty of a linear model, the epoch of a network.
        gradient: largest entry of a linear model's gradient; nan of a network.
    """

    plan: Plan
    kept: str
    validation: np.ndarray
    test: np.ndarray
    targets: np.ndarray
    votes: Votes
    stop: float
    gradient: float = float("nan")


def train(plan: Plan) -> tuple[Outcome, Outcome]:
    """The model with the weights of least own validation loss, and the one trained to the end.

    A seed draws the sentences, the labels, the first weights and the batches, so models of one seed are paired.

    Raises:
        ValueError, FileNotFoundError: as `load_sentences`; a network without word vectors.
    """
    data = load_sentences(plan.seed, plan.classes, plan.n_train, plan.n_validation)
    targets = {name: make_targets(data.votes[name], plan.labels, plan.seed) for name in ("train", "validation")}
    loss = build(plan.loss, plan.gamma, plan.lam)
    assert isinstance(loss, LogitLoss)
    way = _train_linear if plan.model == "linear" else _train_network
    return way(plan, loss, data, targets)


def _train_linear(
    plan: Plan, loss: LogitLoss, data: Sentences, targets: dict[str, np.ndarray]
) -> tuple[Outcome, Outcome]:
    bags, held, said = data.bags, torch.from_numpy(targets["validation"]), data.votes["test"]
    fits = fit_linear_path(bags, targets["train"], loss, PENALTIES)
    logits = [bags.validation @ fit.weights for fit in fits]
    own = [float(expected_loss(loss, torch.from_numpy(values), held)) for values in logits]
    best, last = (
        Outcome(
            plan, kept, logits[i], bags.test @ fits[i].weights, held.numpy(), said, fits[i].penalty, fits[i].gradient
        )
        for kept, i in ((VALIDATED, int(np.argmin(own))), (END, len(fits) - 1))
    )
    return best, last


def _train_network(
    plan: Plan, loss: LogitLoss, data: Sentences, targets: dict[str, np.ndarray]
) -> tuple[Outcome, Outcome]:
    torch.manual_seed(plan.seed)
    model = NETWORKS[plan.model](len(data.vocabulary), plan.classes, glove(data.vocabulary))
    sentences = data.trees if plan.model in ON_TREES else data.tokens
    found = train_network(model, loss, sentences, targets, epochs=plan.epochs, seed=plan.seed)
    best, last = (
        Outcome(plan, kept, fit.validation, fit.test, targets["validation"], data.votes["test"], fit.epoch)
        for kept, fit in zip((VALIDATED, END), found, strict=True)
    )
    return best, last

"""One text classifier trained, with what it says at the epoch that the papers keep and at the last one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax
from torch import Tensor

from reproduction.engine import data
from reproduction.engine.data.dataset import Dataset, Split
from reproduction.engine.fit import fresh_trainer
from reproduction.engine.spec import Spec
from reproduction.engine.store import Logits
from reproduction.engine.trainer import BestWeights, Trainer, pick_device, to_tensors
from reproduction.studies.texts.plan import BEST, LAST

IN = "in distribution"  # the test part of the data set that was trained on


@dataclass(frozen=True)
class Epoch:
    """Validation accuracy and NLL after an epoch, which is 1 or more."""

    epoch: int
    accuracy: float
    nll: float


@dataclass(frozen=True)
class Weights:
    """Logits float64 (n, K) and labels of the validation part and of each set of test texts, IN the first."""

    epoch: int
    validation: Logits
    tests: dict[str, Logits]


@dataclass(frozen=True)
class TextRun:
    """What was trained: its epochs, and what BEST and LAST weights say.

    The best epoch is the earliest of those with the highest validation accuracy, as M20 appendix D and L25 section 5
    keep it.
    """

    spec: Spec
    epochs: tuple[Epoch, ...]
    weights: dict[str, Weights]


def train_texts(specs: Iterable[Spec], dataset: Dataset, elsewhere: Mapping[str, Split] | None = None) -> list[TextRun]:
    """Train each specification on the CPU.

    Args:
        specs: of one data set, each with its own seed.
        dataset: that data set, from whichever folder.
        elsewhere: name -> further texts with the same classes; the best weights are asked about them.

    Raises:
        ValueError: a specification of another data set; a network for other inputs; more texts than there are.
        FileNotFoundError: a network without its word vectors.
        NonFiniteLoss: the loss became NaN or infinite.
    """
    return [_train(spec, dataset, elsewhere or {}) for spec in specs]


def _train(spec: Spec, dataset: Dataset, elsewhere: Mapping[str, Split]) -> TextRun:
    if spec.dataset != dataset.name:
        raise ValueError(f"specifications must be of {dataset.name}. Got {spec.dataset}.")
    where = pick_device("cpu")
    splits = dict(
        zip(("train", "validation", IN), data.split(dataset, spec.n_train, spec.n_validation, spec.seed), strict=True)
    )
    parts = {name: to_tensors(part, where, 0.0, 1.0) for name, part in (splits | dict(elsewhere)).items()}
    trainer = fresh_trainer(spec, dataset, len(parts["train"][1]), where)
    best, epochs = BestWeights(), []
    while trainer.epoch < trainer.recipe.epochs:
        trainer.train_epoch(*parts["train"])
        held = _ask(trainer, *parts["validation"])
        said = log_softmax(held.logits, -1)
        accuracy = float((said.argmax(-1) == held.labels).mean())
        epochs.append(Epoch(trainer.epoch, accuracy, float(-said[np.arange(len(said)), held.labels].mean())))
        best.offer(trainer.epoch, accuracy, trainer.model)
    last = Weights(trainer.epoch, held, {IN: _ask(trainer, *parts[IN])})
    best.give_to(trainer.model)
    tests = {name: _ask(trainer, *parts[name]) for name in (IN, *elsewhere)}
    kept = Weights(best.epoch, _ask(trainer, *parts["validation"]), tests)
    return TextRun(spec, tuple(epochs), {BEST: kept, LAST: last})


def _ask(trainer: Trainer, inputs: Tensor, labels: Tensor) -> Logits:
    return Logits(trainer.logits(inputs).double().numpy(), labels.numpy())

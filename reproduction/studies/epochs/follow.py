"""Short training that is looked at after every epoch, in memory: nothing is kept, so small networks only.

With a batch of all training samples an epoch is one step of gradient descent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from focal_lib.threads import one_thread
from focal_lib.validation import check_number
from reproduction.engine.spec import Spec
from reproduction.engine.store import Logits

if TYPE_CHECKING:
    from reproduction.engine.fit import Parts
    from reproduction.engine.trainer import Trainer


@dataclass(frozen=True)
class Snapshot:
    """A network after so many epochs; 0 is before the first."""

    epoch: int
    train: Logits
    test: Logits
    gradient_norms: np.ndarray  # (n_train,): of the loss of each training sample, in the last layer; see monitor
    weight_norm: float  # of the last layer


@dataclass(frozen=True)
class Followed:
    """What was trained, and the network before the first epoch and after each."""

    spec: Spec
    snapshots: tuple[Snapshot, ...]


@one_thread()
def follow(specs: Iterable[Spec], epochs: int | None = None, test_samples: int = 2000) -> list[Followed]:
    """Train each specification on the CPU and look at the network after every epoch.

    Runs that share a seed share split, weights and order of batches, so that their losses are paired.

    Args:
        epochs: to train; None: those of the specification, whose schedule is kept in either case.
        test_samples: of the first in the test set, that the network is looked at with.

    Raises:
        ValueError: epochs or test_samples below 1, a loss or recipe that learns from validation samples, which are
            not looked at here, or what `fit.fresh_trainer` does not take.
        FileNotFoundError: a data set that is nowhere to be had.
        NonFiniteLoss: the loss became NaN or infinite.
    """
    from reproduction.engine.fit import fresh_trainer, load_parts
    from reproduction.engine.trainer import pick_device

    check_number(test_samples, "test_samples", minimum=1)
    if epochs is not None:
        check_number(epochs, "epochs", minimum=1)
    found = []
    where = pick_device("cpu")
    for _, alike in groupby(specs, lambda s: (s.dataset, s.n_train, s.n_validation, s.seed)):
        group = list(alike)
        dataset, parts = load_parts(group[0], where)
        parts = {"train": parts["train"], "test": (parts["test"][0][:test_samples], parts["test"][1][:test_samples])}
        for spec in group:
            trainer = fresh_trainer(spec, dataset, len(parts["train"][1]), where)
            if trainer.loss.learns_from_validation or trainer.best is not None:
                raise ValueError(f"what is followed must not learn from validation samples. Got {spec.name}.")
            found.append(Followed(spec, _train(trainer, parts, epochs or spec.training.epochs)))
    return found


def _train(trainer: Trainer, parts: Parts, epochs: int) -> tuple[Snapshot, ...]:
    snapshots = [_look(trainer, parts)]
    for _ in range(epochs):
        trainer.train_epoch(*parts["train"])
        snapshots.append(_look(trainer, parts))
    return tuple(snapshots)


def _look(trainer: Trainer, parts: Parts) -> Snapshot:
    from reproduction.engine.monitor import gradient_norms, last_layer, outputs

    images, labels = parts["train"]
    logits, features = outputs(trainer, images)
    norms = gradient_norms(trainer.loss, logits, labels, features).numpy()
    test = Logits(trainer.logits(parts["test"][0]).numpy(), parts["test"][1].numpy())
    weight_norm = float(last_layer(trainer.model).weight.detach().norm())
    return Snapshot(trainer.epoch, Logits(logits.numpy(), labels.numpy()), test, norms, weight_norm)

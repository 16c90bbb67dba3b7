"""What runs cost: training images, which a specification tells, and hours, which the record of a finished run tells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reproduction.engine.spec import Spec


@dataclass(frozen=True)
class Compute:
    """Images (or texts) trained on, each pass counted; hours of the epochs, by the clock; machines.

    Hours are with evaluation and checkpoints, without loading the data before and the final logits and files after.
    """

    images: int
    hours: float
    machines: tuple[str, ...]

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Compute | None:
        """From a run's spec.json; None where it was recorded before this was.

        Hours are those of what the run is made of: epochs that a killed process lost are not among them.
        """
        if "images" not in record or "seconds" not in record:
            return None
        machines = tuple(record.get("machines") or [record["device"]])
        return cls(int(record["images"]), float(record["seconds"]) / 3600, machines)


def total_compute(computes: Iterable[Compute]) -> Compute:
    """The sum, each machine named once."""
    found = list(computes)
    machines = dict.fromkeys(name for one in found for name in one.machines)
    return Compute(sum(one.images for one in found), sum(one.hours for one in found), tuple(machines))


def images_to_train(spec: Spec, epochs: int | None = None) -> int:
    """Epochs times the images of one: all of them, or of whole batches only where the recipe drops the last."""
    recipe, n = spec.training, spec.n_train
    if recipe.last_batch == "drop":
        n = n // recipe.batch_size * recipe.batch_size
    return n * (recipe.epochs if epochs is None else epochs)


def images_to_evaluate(spec: Spec, n_test: int) -> int:
    """Images that a run gives logits of without training on them: for the history, the best weights, and its files."""
    epochs, part = spec.training.epochs, spec.n_train + n_test
    found = math.ceil(epochs / spec.evaluate_every) * part + part + spec.n_validation
    found += epochs * spec.n_validation if spec.training.keep == "best" else 0
    return found + (n_test * ((epochs - 1) // spec.keep_every) if spec.keep_every else 0)

"""Losses by their names in a specification."""

from __future__ import annotations

import importlib

from focal_lib.loss_records import LOSS_RECORDS
from focal_lib.losses.base import TrainingLoss


def build(name: str, gamma: float | None = None, lam: float | None = None, epochs: int | None = None) -> TrainingLoss:
    """Build a loss from its name and parameters.

    Args:
        name: one of `LOSS_RECORDS`.
        gamma, lam: the parameters that its record lists; others are ignored.
        epochs: length of the training, for a scheduled gamma.

    Raises:
        ValueError: an unknown name, a missing parameter, or too few epochs for a schedule.

    Examples:
        >>> build("focal", gamma=2.0).gamma
        2.0
    """
    if name not in LOSS_RECORDS:
        raise ValueError(f"loss must be one of {', '.join(LOSS_RECORDS)}. Got {name!r}.")
    record, given = LOSS_RECORDS[name], {"gamma": gamma, "lam": lam}
    for parameter in record.parameters:
        if given[parameter] is None:
            raise ValueError(record.say_missing(parameter, record.papers))
    module, source = record.source.split(".")
    options = dict(record.options, epochs=epochs) if record.of_epochs else record.options
    make = getattr(importlib.import_module(f"focal_lib.losses.{module}"), source)
    loss: TrainingLoss = make(*(given[parameter] for parameter in record.parameters), **options)
    return loss

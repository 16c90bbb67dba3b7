"""What can be known of runs before the first of a grid is begun: whether each can be prepared at all."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import torch

from focal_lib.losses.by_name import build
from focal_lib.training.data import check_name
from focal_lib.training.data.dataset import Kind
from focal_lib.training.data.images import count_training_images
from focal_lib.training.data.text import TEXT_SETS
from focal_lib.training.fit import check_recipe
from focal_lib.training.models import check_model
from focal_lib.training.spec import Spec
from focal_lib.training.step import pick_way

__all__ = ["check_runs"]


def check_runs(specs: Iterable[Spec]) -> None:
    """Whether every run can be prepared, as far as names, numbers and the data that are here tell.

    Raises:
        ValueError: a run asks for a data set, network or loss that there is not, or that do not go together, or for
            more images than there are; or FOCAL_STEP names no way of a step. The run is named.
        NotADirectoryError: FOCAL_DATA is no folder.
    """
    pick_way(torch.device("cpu"), one_graph=True, captures=True)
    count = functools.cache(_count_images)  # a grid has few data sets
    for spec in specs:
        try:
            _check(spec, count)
        except ValueError as error:
            raise ValueError(f"run {spec.digest} ({spec.name}): {error}") from None


def _check(spec: Spec, count: Callable[[str], int | None]) -> None:
    check_name(spec.dataset)
    kind = _kind_of(spec.dataset)
    check_model(spec.model, spec.dataset, kind)
    check_recipe(spec, kind, spec.n_train)
    build(spec.loss, spec.gamma, spec.lam, spec.training.epochs)
    there = count(spec.dataset) if kind == "images" else None
    if there is not None and spec.n_train + spec.n_validation > there:
        raise ValueError(
            f"n_train + n_validation must be at most {there} of {spec.dataset}. "
            f"Got {spec.n_train} + {spec.n_validation}."
        )


def _kind_of(dataset: str) -> Kind:
    if dataset not in TEXT_SETS:
        return "images"
    return "trees" if TEXT_SETS[dataset].length is None else "tokens"


def _count_images(dataset: str) -> int | None:
    return count_training_images("cifar10" if dataset.startswith("cifar10-c-") else dataset)

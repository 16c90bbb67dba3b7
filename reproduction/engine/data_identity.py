"""Which data a run is made of: other ones may stand under their name later."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.engine import data
from reproduction.engine.data import corruptions, places
from reproduction.engine.data.dataset import Dataset
from reproduction.engine.data.images import IMAGE_SETS
from reproduction.engine.data.text import TEXT_SETS
from reproduction.engine.spec import Spec
from reproduction.engine.store import array_checksum, named, read_record, run_folder


class OtherData(ValueError):
    """A run whose data set's name stands for other data today."""


def data_made_of(dataset: Dataset) -> dict[str, Any]:
    """For a run's record: the SHA-256 of inputs, labels and words, and whether they are the user's own."""
    arrays = {"words": np.array(dataset.vocabulary)} if dataset.vocabulary else {}
    for name, part in (("train", dataset.train), ("validation", dataset.validation), ("test", dataset.test)):
        arrays |= {} if part is None else {f"{name}_inputs": part.inputs, f"{name}_labels": part.labels}
    return {"sha256": array_checksum(arrays), "own": _is_given(dataset.name)}


def refuse_other_data(specs: Iterable[Spec], root: str | Path | None = None) -> None:
    """Whether these finished runs are made of what their data sets are today, where that is to be had.

    What is published is taken for the same without a look. Runs that were recorded without a fingerprint are kept.

    Raises:
        OtherData: one is not, which is named.
    """
    sha256_today = functools.cache(_sha256_today)
    for spec in specs:
        made_of = read_record(spec, run_folder(spec, root)).get("data")
        if made_of and (made_of["own"] or _is_given(spec.dataset)):
            require_same_data(spec, made_of["sha256"], sha256_today(spec.dataset))


def require_same_data(spec: Spec, made_of: str | None, today: str | None) -> None:
    """Whether both are known and differ: OtherData."""
    if made_of and today and made_of != today:
        raise OtherData(
            f"{named(spec)} must have the data it was begun with, {spec.dataset} of SHA-256 {made_of[:16]}. Got "
            f"{today[:16]}: give the new data another name, use another --root, or make the run anew with --again."
        )


def _is_given(name: str) -> bool:
    """Whether it is read from files of the user, and not as it is published."""
    if name.startswith("cifar10-c-"):
        published = corruptions.published_file(name.removeprefix("cifar10-c-").rpartition("-")[0])
        return published is not None or _is_given("cifar10")
    known = name in IMAGE_SETS or name in TEXT_SETS
    return not known or places.own_folder(_home(name)) is not None


def _home(name: str) -> str:
    """The folder of a data set."""
    return TEXT_SETS[name].home or name if name in TEXT_SETS else name


def _sha256_today(name: str) -> str | None:
    """Of the data under that name; None where they cannot be had without fetching them."""
    try:
        home = "cifar10" if name.startswith("cifar10-c-") else _home(name)
        if not _is_given(name) and not places.cache(home).is_dir():
            return None
        return str(data_made_of(data.load(name))["sha256"])
    except (OSError, ValueError):
        return None

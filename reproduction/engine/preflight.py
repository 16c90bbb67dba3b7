"""What can be known of runs before the first of a grid is begun: whether each can be prepared at all.

python -m reproduction.engine.preflight GRID [--no-files] DIGEST ...
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from reproduction.engine.data.dataset import Kind
from reproduction.engine.grids import read_grid
from reproduction.engine.spec import Spec

NO_FILES = "--no-files"


def check_runs_apart(path: Path, specs: Sequence[Spec], *, files: bool = True) -> None:
    """As `check_runs` of these runs of a grid file; where PyTorch is not imported yet, in a process of its own.

    So the process that waits for the runs, for days maybe, holds no PyTorch.

    Raises:
        ValueError: as `check_runs`.
    """
    if "torch" in sys.modules:
        check_runs(specs, files=files)
        return
    options = [] if files else [NO_FILES]
    command = [sys.executable, "-m", "reproduction.engine.preflight", str(path), *options, *(s.digest for s in specs)]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        told = json.loads(done.stdout)
    except ValueError:  # it ended otherwise; what is wrong is for the runs to say
        return
    if told is not None:
        raise ValueError(told)


def check_runs(specs: Iterable[Spec], *, files: bool = True) -> None:
    """Whether every run can be prepared, as far as names, numbers and the data that are here tell.

    Args:
        files: look for the data here; not where the runs are done on other machines.

    Raises:
        ValueError: a run, which is named, asks for a data set, network or loss that there is not, or that do not go
            together, or for more images than there are; FOCAL_STEP names no way of a step.
        NotADirectoryError: FOCAL_DATA is no folder.
    """
    import torch

    from reproduction.engine.step import pick_way

    pick_way(torch.device("cpu"), one_graph=True, captures=True)
    count = functools.cache(_count_images) if files else None  # a grid has few data sets
    for spec in specs:
        try:
            _check(spec, count)
        except ValueError as error:
            raise ValueError(f"run {spec.digest} ({spec.name}): {error}") from None


def _check(spec: Spec, count: Callable[[str], int | None] | None) -> None:
    """Without `count` of images, what files tell is not asked."""
    from focal_lib.losses.by_name import build
    from reproduction.engine.data import check_name
    from reproduction.engine.fit import check_recipe
    from reproduction.engine.models import check_model

    if count is not None:
        check_name(spec.dataset)
    kind = _kind_of(spec.dataset)
    check_model(spec.model, spec.dataset, kind)
    check_recipe(spec, kind, spec.n_train)
    build(spec.loss, spec.gamma, spec.lam, spec.training.epochs)
    there = count(spec.dataset) if count is not None and kind == "images" else None
    if there is not None and spec.n_train + spec.n_validation > there:
        raise ValueError(
            f"n_train + n_validation must be at most {there} of {spec.dataset}. "
            f"Got {spec.n_train} + {spec.n_validation}."
        )


def _kind_of(dataset: str) -> Kind:
    from reproduction.engine.data.text import TEXT_SETS

    return TEXT_SETS[dataset].kind if dataset in TEXT_SETS else "images"


def _count_images(dataset: str) -> int | None:
    from reproduction.engine.data.images import count_training_images

    return count_training_images("cifar10" if dataset.startswith("cifar10-c-") else dataset)


def _main(path: str, *given: str) -> None:
    specs = [spec for spec in read_grid(path) if spec.digest in given]
    try:
        check_runs(specs, files=NO_FILES not in given)
    except (ValueError, OSError) as error:
        print(json.dumps(str(error)))
    else:
        print("null")


if __name__ == "__main__":
    _main(*sys.argv[1:])

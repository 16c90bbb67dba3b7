"""Train, or resume, or just load: one run in its folder."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from focal_lib.atomic_write import write_whole

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from focal_lib.training.data import Dataset
    from focal_lib.training.trainer import Trainer
from focal_lib.checkout import commit
from focal_lib.training.spec import Spec, read_grid
from focal_lib.training.store import (
    Result,
    array_checksum,
    describe,
    forget_older,
    load,
    log_attempt,
    run_folder,
    save_npz,
    status,
)

__all__ = ["main", "run", "run_many", "trained"]


def run(spec: Spec, root: str | Path | None = None, device: str = "auto", progress: bool = False) -> Result:
    """Train, or resume, or just load where it is finished.

    Raises:
        ValueError: the folder holds another specification.
        NonFiniteLoss: the loss became NaN or infinite; the last good checkpoint is kept.
        MemoryError: the device is too small for the batch; the message says which size to try.
    """
    folder = run_folder(spec, root)
    try:
        return load(spec, root)
    except FileNotFoundError:
        pass
    except ValueError as error:
        if "specification" in str(error):
            raise
        (folder / "logits.npz").unlink()  # damaged: repeat the run
    folder.mkdir(parents=True, exist_ok=True)
    failure = folder / "failed.json"
    try:
        _train(spec, folder, device, progress)
    except Exception as error:
        log_attempt(folder, "failed")
        reason = json.dumps({"spec": spec.as_dict, "reason": str(error)}, indent=1)
        write_whole(failure, lambda path: path.write_text(reason))
        raise
    failure.unlink(missing_ok=True)
    log_attempt(folder, "done")
    return load(spec, root)


def _train(spec: Spec, folder: Path, device: str, progress: bool) -> None:
    import torch
    from tqdm.auto import trange

    from focal_lib.training.monitor import summary

    trainer, parts = _prepare(spec, device)
    rows: list[dict[str, Any]] = []
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.is_file():
        rows = _resume(trainer, checkpoint, spec)
    log_attempt(folder, "start", epoch=trainer.epoch)
    for epoch in trange(trainer.epoch + 1, trainer.recipe.epochs + 1, disable=not progress, desc=spec.label):
        with _memory_advice(trainer.recipe.batch_size):
            trainer.train_epoch(*parts["train"])
        trainer.after_epoch(*parts["validation"])
        if _evaluated(spec, epoch):
            rows += [{"epoch": epoch, "split": name, **summary(trainer, *parts[name])} for name in ("train", "test")]
            saved = {"trainer": trainer.state(), "rows": rows, "digest": spec.digest}
            write_whole(checkpoint, lambda path, saved=saved: torch.save(saved, path))  # type: ignore[misc]
    _finish(spec, folder, trainer.model, parts, rows)
    checkpoint.unlink(missing_ok=True)


def _evaluated(spec: Spec, epoch: int) -> bool:
    return epoch % spec.evaluate_every == 0 or epoch == spec.training.epochs


@contextlib.contextmanager
def _memory_advice(batch_size: int) -> Iterator[None]:
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        message = f"a batch of {batch_size} does not fit: try batch_size={batch_size // 2}. {error}"
        raise MemoryError(message) from None


def _prepare(spec: Spec, device: str) -> tuple[Trainer, dict[str, tuple[Tensor, Tensor]]]:
    """A fresh trainer, and the tensors of 'train', 'validation' and 'test'."""
    import torch

    from focal_lib.losses.by_name import build
    from focal_lib.training import models
    from focal_lib.training.trainer import Trainer, pick_device

    where = pick_device(device)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS is not deterministic without
    torch.use_deterministic_algorithms(True, warn_only=where.type == "cuda")  # bitwise on a CPU
    dataset, parts = _inputs(spec, where)
    torch.manual_seed(spec.seed)
    model = models.build_for(spec.model, dataset)
    model = model.to(where, memory_format=torch.channels_last)  # type: ignore[call-overload]
    recipe = spec.training
    if recipe.augment and dataset.kind != "images":
        raise ValueError(f"recipe {spec.recipe} crops and flips images. Got {dataset.name}, {dataset.kind}.")
    loss = build(spec.loss, spec.gamma, spec.lam, recipe.epochs)
    return Trainer(model, loss, recipe, torch.Generator().manual_seed(spec.seed)), parts


def _finish(
    spec: Spec,
    folder: Path,
    model: nn.Module,
    parts: Mapping[str, tuple[Tensor, Tensor]],
    rows: list[dict[str, Any]],
    at_once: int = 1,
) -> None:
    """Write what a run leaves, its logits last: their presence ends the run."""
    import torch

    from focal_lib.training.trainer import logits_of

    where = parts["test"][1].device
    arrays = {}
    for name, (images, labels) in parts.items():
        arrays[f"{name}_logits"] = logits_of(model, images).cpu().numpy()
        arrays[f"{name}_labels"] = labels.cpu().numpy()
    record = {
        "spec": spec.as_dict,
        "recipe": spec.training.source,
        "checksum": array_checksum(arrays),
        "device": torch.cuda.get_device_name() if where.type == "cuda" else platform.machine(),
        "threads": torch.get_num_threads(),
        "commit": commit(),
        "versions": {n: version(n) for n in ("focal-lib", "torch", "numpy")} | {"python": platform.python_version()},
    }
    if at_once > 1:
        record["at_once"] = at_once  # rounds differently from a run by itself
    write_whole(folder / "history.parquet", lambda path: pd.DataFrame(rows).to_parquet(path))
    write_whole(folder / "spec.json", lambda path: path.write_text(json.dumps(record, indent=1)))
    write_whole(folder / "weights.pt", lambda path: torch.save(model.state_dict(), path))
    write_whole(folder / "logits.npz", lambda path: save_npz(path, arrays))


def run_many(specs: Sequence[Spec], root: str | Path | None = None, device: str = "auto") -> list[Result]:
    """Runs that differ in nothing but their seed, trained at once; those that are finished are just loaded.

    For small networks on a GPU. Equal to `run` up to rounding. No checkpoints: killed, it starts again.

    Raises:
        ValueError: runs that differ in more, or cannot be trained at once, see training_many.ManyTrainer.
        NonFiniteLoss: a loss became NaN or infinite.
    """
    if len({replace(spec, seed=0) for spec in specs}) > 1:
        raise ValueError("specs must differ in nothing but their seed. Got others.")
    todo = [entry.spec for entry in status(specs, root) if entry.state != "done"]
    if todo:
        folders = [run_folder(spec, root) for spec in todo]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        _train_many(todo, folders, device)
        for folder in folders:
            log_attempt(folder, "done")
    return [load(spec, root) for spec in specs]


def _train_many(specs: Sequence[Spec], folders: Sequence[Path], device: str) -> None:
    import torch

    from focal_lib.training.monitor import summary
    from focal_lib.training.stacked_trainer import ManyTrainer

    prepared = [_prepare(spec, device) for spec in specs]
    trainers = [trainer for trainer, _ in prepared]
    together = ManyTrainer(trainers)
    images, labels = (torch.stack([parts["train"][side] for _, parts in prepared]) for side in (0, 1))
    rows: list[list[dict[str, Any]]] = [[] for _ in specs]
    for folder in folders:
        log_attempt(folder, "start", epoch=0, at_once=len(specs))
    for epoch in range(1, trainers[0].recipe.epochs + 1):
        with _memory_advice(trainers[0].recipe.batch_size):
            together.train_epoch(images, labels)
        if _evaluated(specs[0], epoch):
            together.hand_back()
            for own, (trainer, parts) in zip(rows, prepared, strict=True):
                own += [{"epoch": epoch, "split": n, **summary(trainer, *parts[n])} for n in ("train", "test")]
    for spec, folder, (trainer, parts), own in zip(specs, folders, prepared, rows, strict=True):
        _finish(spec, folder, trainer.model, parts, own, at_once=len(specs))


def _inputs(spec: Spec, device: torch.device) -> tuple[Dataset, dict[str, tuple[Tensor, Tensor]]]:
    """The data set, and the tensors of 'train', 'validation' and 'test'."""
    from focal_lib.training import data
    from focal_lib.training.trainer import to_tensors

    dataset = data.load(spec.dataset)
    splits = data.split(dataset, spec.n_train, spec.n_validation, spec.seed)
    mean, std = float(splits[0].inputs.mean()) / 255, float(splits[0].inputs.std()) / 255  # of images
    names = ("train", "validation", "test")
    return dataset, {name: to_tensors(part, device, mean, std) for name, part in zip(names, splits, strict=True)}


def trained(
    spec: Spec, root: str | Path | None = None, device: str = "auto"
) -> tuple[nn.Module, dict[str, tuple[Tensor, Tensor]]]:
    """The network of a finished run, in evaluation mode, and the tensors of its 'train', 'validation' and 'test'.

    Raises:
        FileNotFoundError: it has not been run here to the end; recorded runs keep no weights.
    """
    import torch

    from focal_lib.training import models
    from focal_lib.training.trainer import pick_device

    weights = run_folder(spec, root) / "weights.pt"
    if not weights.is_file():
        raise FileNotFoundError(f"run {spec.digest} ({spec.label}, seed {spec.seed}) has no weights.pt.")
    where = pick_device(device)
    dataset, parts = _inputs(spec, where)
    model = models.build_for(spec.model, dataset).to(where)
    model.load_state_dict(torch.load(weights, weights_only=True, map_location=where))
    return model.eval(), parts


def _resume(trainer: Any, checkpoint: Path, spec: Spec) -> list[dict[str, Any]]:
    """Put the trainer where the checkpoint left it; a damaged checkpoint starts from the beginning."""
    import torch

    try:
        saved = torch.load(checkpoint, weights_only=True)
        if saved["digest"] != spec.digest:
            raise KeyError("digest")
        trainer.restore(saved["trainer"])
        return list(saved["rows"])
    except (EOFError, KeyError, OSError, RuntimeError, ValueError, pickle.UnpicklingError):
        checkpoint.unlink()
        return []


@click.command()
@click.option("--grid", "path", required=True, type=click.Path(exists=True))
@click.option("--digest", required=True)
@click.option("--root", type=click.Path())
@click.argument("sources", nargs=-1, type=click.Path(exists=True, path_type=Path))
def main(path: str, digest: str, root: str | None, sources: tuple[Path, ...]) -> None:
    """Do one run of a grid, again if it is older than the SOURCES: for the workflow; `focal run` is for people."""
    found = {spec.digest: spec for spec in read_grid(path)}
    if digest not in found:
        raise click.ClickException(f"digest must be one of the grid's. Got {digest!r}.")
    forget_older(found[digest], max((source.stat().st_mtime for source in sources), default=0.0), root)
    click.echo(describe(run(found[digest], root)))

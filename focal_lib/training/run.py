"""Train, or go on, or just load: one run in its folder."""

from __future__ import annotations

import io
import json
import logging
import math
import platform
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from focal_lib.atomic_write import remove_leftovers
from focal_lib.checkout import commit
from focal_lib.training.cost import images_to_train
from focal_lib.training.files import move_aside, write
from focal_lib.training.locks import RunTaken, held
from focal_lib.training.machine import machine_name
from focal_lib.training.spec import Spec
from focal_lib.training.store import (
    CHECKPOINT,
    FAILURE,
    HISTORY,
    LOGITS,
    SPEC,
    WEIGHTS,
    NewerRun,
    Result,
    RunDamaged,
    RunMissing,
    array_checksum,
    as_npz,
    checksum_of,
    load,
    log_attempt,
    run_folder,
)
from focal_lib.training.version import VERSION

if TYPE_CHECKING:
    from torch import Tensor, nn

    from focal_lib.training.fit import Parts
    from focal_lib.training.trainer import Trainer

__all__ = ["RunTaken", "TimeUp", "run", "run_shared", "trained"]

log = logging.getLogger(__name__)  # warnings reach stderr without any setting


class TimeUp(RuntimeError):
    """The time given is over; the next call goes on from the checkpoint."""


def run(
    spec: Spec,
    root: str | Path | None = None,
    device: str = "auto",
    *,
    again: bool = False,
    until: float = math.inf,
    wait: bool = True,
    progress: bool = False,
) -> Result:
    """Train, or go on from the checkpoint, or just load where it is finished.

    A finished run is current if its specification and the version of the training code are today's. One that is
    not, or is damaged, is moved aside and made anew. While another process does this run, it is waited for.

    Args:
        device: 'auto', 'cpu', 'cuda', 'cuda:1'.
        again: move a finished run aside and make it anew.
        until: seconds since 1970; no epoch is begun that would end later, but for one.
        wait: for another process that is doing this run; otherwise RunTaken.

    Raises:
        ValueError: a data set, network or device that there is not, or that do not go together.
        OtherSpecification: the folder holds another run.
        NewerRun: a newer training code made it.
        NonFiniteLoss: the loss became NaN or infinite; the last good checkpoint is kept.
        MemoryError: the device is too small for the batch; the message says which size to try.
        DiskFull: no room; the last checkpoint is kept.
        TimeUp, RunTaken: see `until` and `wait`.
    """
    if not again and (found := _current(spec, root)) is not None:
        return found
    folder = run_folder(spec, root)
    with held(folder, f"run {spec.digest} ({spec.name})", wait):
        if again or _current(spec, root) is None:
            _do(spec, root, device, until, progress, again)
    return load(spec, root)


def run_shared(specs: Sequence[Spec], root: str | Path | None = None, device: str = "auto", **options: Any) -> Result:
    """Do the first of the runs; while another process is doing it, the others that nobody does. Options as `run`.

    So two grids at once share the work, though both begin with the same run.

    Raises:
        As `run`; what another of the runs raises is left to its own job.
    """
    first, *others = specs
    for other in others:
        with suppress(RunTaken):
            return run(first, root, device, **options, wait=False)
        options["again"] = False  # the other process has just made it
        folder = run_folder(other, root)
        if not (folder / LOGITS).is_file() and not (folder / FAILURE).is_file():
            _help(other, root, device, **options)
    return run(first, root, device, **options)


def _help(spec: Spec, root: str | Path | None, device: str, **options: Any) -> None:
    try:
        run(spec, root, device, **options, wait=False)
    except RunTaken:
        pass
    except TimeUp:
        raise
    except Exception as error:
        log.warning("%s: %s", spec.name, error)


def _current(spec: Spec, root: str | Path | None) -> Result | None:
    """The finished run, if it is whole and of today's version."""
    try:
        found = load(spec, root)
    except (RunMissing, RunDamaged):
        return None
    _refuse_newer(found)
    return found if found.training_version == VERSION else None


def _refuse_newer(found: Result) -> None:
    if found.training_version > VERSION:
        raise NewerRun(
            f"run {found.spec.digest} ({found.spec.name}) must be of training code {VERSION} or older. "
            f"Got {found.training_version}: update this code, or use another --root."
        )


def _set_aside(spec: Spec, root: str | Path | None, again: bool) -> dict[str, str]:
    """Move a finished run aside that is not to stay in its place; why, and where to."""
    try:
        found = load(spec, root)
        _refuse_newer(found)
        version = found.training_version
        outdated = f"version {version} of the training code made it, today's is {VERSION}"
        reason = outdated if version != VERSION else "asked for again"
    except RunMissing:
        return {}
    except RunDamaged as error:
        reason = str(error)
    aside = move_aside(run_folder(spec, root))
    log.warning("%s: %s; kept as %s, and made anew", spec.name, reason, aside.name)
    return {"instead_of": aside.name, "reason": reason}


def _do(spec: Spec, root: str | Path | None, device: str, until: float, progress: bool, again: bool) -> None:
    """Prepare, train, keep; what cannot be prepared leaves no folder, and what is finished in its place."""
    from focal_lib.training.fit import prepare

    if time.time() >= until:
        raise TimeUp("no time was left to begin.")
    trainer, parts = prepare(spec, device)
    folder, replaced = run_folder(spec, root), _set_aside(spec, root, again)
    folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder, of_all=True)
    if replaced:
        log_attempt(folder, "replaces", **replaced)
    kept = _resume(spec, folder, trainer)
    if kept is None:  # a trainer restored by half is none
        trainer, parts = prepare(spec, device)
        kept = {"rows": [], "seconds": 0.0}
    log_attempt(folder, "start", epoch=trainer.epoch)
    try:
        _train(spec, folder, trainer, parts, kept, until, progress)
    except TimeUp:
        log_attempt(folder, "stopped", epoch=trainer.epoch)
        raise
    except Exception as error:
        log_attempt(folder, "failed", epoch=trainer.epoch)
        reason = json.dumps({"spec": spec.as_dict, "reason": str(error)}, indent=1)
        with suppress(OSError):  # a full disk has room for neither
            write(folder / FAILURE, reason.encode())
        raise
    (folder / FAILURE).unlink(missing_ok=True)
    log_attempt(folder, "done")


def _resume(spec: Spec, folder: Path, trainer: Trainer) -> dict[str, Any] | None:
    """Put the trainer where the checkpoint left it; what else that holds. None: it cannot be read."""
    from focal_lib.training.checkpoint import CheckpointDamaged, read_checkpoint

    checkpoint = folder / CHECKPOINT
    if not checkpoint.is_file():
        return {"rows": [], "seconds": 0.0}
    like = {"digest": spec.digest, "version": str(VERSION), "rows": None, "seconds": None, "trainer": trainer.shape()}
    try:
        kept = read_checkpoint(checkpoint, like)
    except CheckpointDamaged as error:
        aside = move_aside(checkpoint)
        log.warning("%s: %s Kept as %s; it begins anew", spec.name, error, aside.name)
        log_attempt(folder, "checkpoint moved aside", kept=aside.name, reason=str(error))
        return None
    trainer.restore(kept["trainer"])
    return kept


def _train(
    spec: Spec,
    folder: Path,
    trainer: Trainer,
    parts: Parts,
    kept: dict[str, Any],
    until: float,
    progress: bool,
) -> None:
    import torch
    from tqdm.auto import trange

    from focal_lib.training.checkpoint import write_checkpoint
    from focal_lib.training.fit import do_epoch, evaluated

    rows, before, longest, begun = list(kept["rows"]), kept["seconds"], 0.0, time.time()
    where = parts["train"][1].device
    here = machine_name(torch.cuda.get_device_name(where) if where.type == "cuda" else "")
    machines = list(dict.fromkeys([*kept.get("machines", []), here]))  # a checkpoint may have been carried
    epochs = trainer.recipe.epochs
    for epoch in trange(trainer.epoch + 1, epochs + 1, disable=not progress, desc=spec.label):
        started = time.time()
        rows += do_epoch(spec, trainer, parts)
        now = time.time()
        longest = max(longest, now - started)
        time_up = epoch < epochs and now + longest > until
        if time_up or evaluated(spec, epoch):
            state = {"rows": rows, "seconds": before + now - begun, "machines": machines, "trainer": trainer.state()}
            write_checkpoint(folder / CHECKPOINT, state | {"digest": spec.digest, "version": str(VERSION)})
        if time_up:
            raise TimeUp(f"time is up after epoch {epoch} of {epochs}; the next call goes on.")
    used = {"machines": machines, "seconds": round(before + time.time() - begun, 1)}
    _keep(spec, folder, trainer, parts, rows, used)
    (folder / CHECKPOINT).unlink(missing_ok=True)


def _keep(
    spec: Spec, folder: Path, trainer: Trainer, parts: Parts, rows: list[dict[str, Any]], used: dict[str, Any]
) -> None:
    """Write what a run leaves, its logits last: their presence ends the run."""
    import torch

    from focal_lib.training.fit import final_logits

    where = parts["test"][1].device
    arrays, history = final_logits(trainer, parts), io.BytesIO()
    pd.DataFrame(rows).to_parquet(history)
    record = {
        "spec": spec.as_dict,
        "training_version": VERSION,
        "recipe": spec.training.source,
        "checksum": array_checksum(arrays),
        "history_checksum": checksum_of(history.getvalue()),
        "device": torch.cuda.get_device_name(where) if where.type == "cuda" else platform.machine(),
        "threads": torch.get_num_threads(),
        "precision": trainer.precision,
        "images": images_to_train(spec, trainer.epoch),
        **used,
        "commit": commit(),
        "versions": {n: version(n) for n in ("focal-lib", "torch", "numpy")} | {"python": platform.python_version()},
    }
    weights = io.BytesIO()
    torch.save(trainer.model.state_dict(), weights)
    write(folder / HISTORY, history.getvalue())
    write(folder / SPEC, json.dumps(record, indent=1).encode())
    write(folder / WEIGHTS, weights.getvalue())
    write(folder / LOGITS, as_npz(arrays))


def trained(
    spec: Spec, root: str | Path | None = None, device: str = "auto"
) -> tuple[nn.Module, dict[str, tuple[Tensor, Tensor]]]:
    """The network of a finished run, in evaluation mode, and the tensors of its 'train', 'validation' and 'test'.

    Raises:
        RunMissing: it has not been run here to the end; recorded runs keep no weights.
    """
    import torch

    from focal_lib.training import models
    from focal_lib.training.fit import load_parts
    from focal_lib.training.trainer import pick_device

    weights = run_folder(spec, root) / WEIGHTS
    if not weights.is_file():
        raise RunMissing(f"run {spec.digest} ({spec.name}) has no weights here. They are made by: {spec.command}")
    where = pick_device(device)
    dataset, parts = load_parts(spec, where)
    model = models.build_for(spec.model, dataset).to(where)
    model.load_state_dict(torch.load(weights, weights_only=True, map_location=where))
    return model.eval(), parts

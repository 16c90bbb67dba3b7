"""Train, or go on, or just load: one run in its folder."""

from __future__ import annotations

import io
import json
import logging
import math
import pickle
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

import focal_lib
from focal_lib.atomic_write import check_folder, remove_leftovers, sync_folder
from reproduction.checkout import commit
from reproduction.engine.cost import images_to_train
from reproduction.engine.files import move_aside, write
from reproduction.engine.kept_epochs import (
    Files,
    check_kept,
    keep_weights,
    kept_epochs,
    logits_by_epoch,
    weights_after,
    weights_as_bytes,
)
from reproduction.engine.locks import RunTaken, TimeUp, held
from reproduction.engine.machine import computes_bf16, machine_of, processor_name
from reproduction.engine.spec import Spec
from reproduction.engine.store import (
    CHECKPOINT,
    FAILURE,
    HISTORY,
    LOG,
    LOGITS,
    SPEC,
    WEIGHTS,
    NewerRun,
    OtherSpecification,
    Result,
    RunDamaged,
    RunMissing,
    array_checksum,
    as_npz,
    checked_bytes,
    describe_files,
    load,
    log_attempt,
    read_record,
    run_folder,
    version_of,
)
from reproduction.engine.version import VERSION

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from reproduction.engine.data.dataset import Dataset
    from reproduction.engine.fit import Parts
    from reproduction.engine.trainer import Trainer


log = logging.getLogger(__name__)  # warnings reach stderr without any setting

# what a checkpoint holds beside the trainer, before the first epoch; nothing changes these lists
_BEGUN: dict[str, Any] = {"rows": [], "seconds": 0.0, "machines": [], "ways": [], "weights": {}}


class OtherPrecision(ValueError):
    """A run that began in another precision than it would go on in here."""


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
    not, or is damaged, is moved aside and made anew; one that lacks its logits alone gets them from its weights. While
    another process does this run, it is waited for.

    Args:
        device: 'auto', 'cpu', 'cuda', 'cuda:1'.
        again: move a finished run aside and make it anew, and whatever else is finished in its folder.
        until: seconds since 1970; no epoch is begun that would end later, but for one, and waiting ends.
        wait: for another process that is doing this run; otherwise RunTaken.

    Raises:
        ValueError: a data set, network or device that there is not, or that do not go together.
        OtherSpecification: the folder holds another run.
        NewerRun: a newer training code made it.
        OtherPrecision: it began on a device where 'auto' is another precision.
        NonFiniteLoss: the loss became NaN or infinite; the last good checkpoint is kept.
        MemoryError: the device is too small for the batch; the message says which size to try.
        DiskFull: no room; the last checkpoint is kept.
        TimeUp, RunTaken: see `until` and `wait`.
    """
    folder = run_folder(spec, root)
    if not again and (found := _current(spec, root)) is not None:
        _remove_stale_checkpoint(spec, folder, root)
        return found
    check_folder(folder, made=True)
    with held(folder, f"run {spec.digest} ({spec.name})", wait, until):
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
        if not (folder / LOGITS).exists() and not (folder / FAILURE).is_file():
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
    _refuse_newer(spec, found.training_version)
    return found if found.training_version == VERSION else None


def _remove_stale_checkpoint(spec: Spec, folder: Path, root: str | Path | None) -> None:
    """A process that was killed just after the logits leaves one in a finished run."""
    if (folder / CHECKPOINT).exists():
        with suppress(RunTaken, OSError), held(folder, spec.name, wait=False):
            if _current(spec, root) is not None:  # not that of a run made anew since
                (folder / CHECKPOINT).unlink(missing_ok=True)


def _refuse_newer(spec: Spec, version: int) -> None:
    if version > VERSION:
        raise NewerRun(
            f"run {spec.digest} ({spec.name}) must be of training code {VERSION} or older. "
            f"Got {version}: update this code, or use another --root."
        )


def _outdated(version: int) -> str:
    return f"version {version} of the training code made it, today's is {VERSION}"


def _set_aside(spec: Spec, root: str | Path | None, again: bool) -> dict[str, str]:
    """Move a finished run aside that is not to stay in its place; why, and where to."""
    try:
        found = load(spec, root)
        version = found.training_version
        _refuse_newer(spec, version)
        reason = _outdated(version) if version != VERSION else "asked for again"
    except RunMissing:
        return {}
    except RunDamaged as error:
        reason = str(error)
    except OtherSpecification as error:
        if not again:
            raise
        reason = str(error)
    return _move_aside(spec, run_folder(spec, root), reason)


def _move_aside(spec: Spec, folder: Path, reason: str) -> dict[str, str]:
    aside = move_aside(folder)
    log.warning("%s: %s; kept as %s, and made anew", spec.name, reason, aside.name)
    return {"instead_of": aside.name, "reason": reason}


def _do(spec: Spec, root: str | Path | None, device: str, until: float, progress: bool, again: bool) -> None:
    """Prepare, train, keep; what cannot be prepared leaves no folder, and what is finished in its place."""
    from reproduction.engine.fit import prepare

    if time.time() >= until:
        raise TimeUp("no time was left to begin.")
    trainer, parts = prepare(spec, device)
    folder, replaced = run_folder(spec, root), _set_aside(spec, root, again)
    _clear(folder, replaced)
    kept = _resume(spec, folder, trainer, again)
    if kept is None:  # a trainer restored by half is none
        trainer, parts = prepare(spec, device)
        kept = _BEGUN
    if trainer.epoch == 0 and any((folder / name).exists() for name in (SPEC, HISTORY, WEIGHTS)):
        if not (reason := _remake_logits(spec, folder, trainer, parts)):
            return
        _clear(folder, _move_aside(spec, folder, reason))
        trainer, parts = prepare(spec, device)
    if trainer.precision == "bf16" and parts["train"][1].device.type == "cpu" and computes_bf16() is False:
        log.warning("%s: bf16 will be slow here: %s has no instructions for it", spec.name, processor_name())
    log_attempt(folder, "start", epoch=trainer.epoch, precision=trainer.precision, step=trainer.way)
    (folder / FAILURE).unlink(missing_ok=True)  # of an earlier try: this one may be stopped, and goes on then
    try:
        _train(spec, folder, trainer, parts, kept, until, progress)
    except TimeUp:
        log_attempt(folder, "stopped", epoch=trainer.epoch)
        raise
    except RunDamaged as error:  # weights that were kept: their checkpoint is not gone on from
        log_attempt(folder, "failed", epoch=trainer.epoch)
        raise RunDamaged(f"{error} The next call begins it anew.") from None
    except Exception as error:
        log_attempt(folder, "failed", epoch=trainer.epoch)
        reason = json.dumps({"spec": spec.as_dict, "reason": str(error)}, indent=1)
        with suppress(OSError):  # a full disk has room for neither
            write(folder / FAILURE, reason.encode())
        raise
    log_attempt(folder, "done")


def _clear(folder: Path, replaced: dict[str, str]) -> None:
    """A folder to work in, without what killed processes left half written; what it replaces stands in its log."""
    folder.mkdir(parents=True, exist_ok=True)
    sync_folder(folder.parent)  # else a power cut could take it with all that is written into it
    remove_leftovers(folder, of_all=True)
    if replaced:
        log_attempt(folder, "replaces", **replaced)


def _remake_logits(spec: Spec, folder: Path, trainer: Trainer, parts: Parts) -> str:
    """Write the logits of a finished run that has lost nothing else, from its weights; '' or why that cannot be."""
    import torch

    from reproduction.engine.fit import final_logits

    gone = f"{LOGITS} is not there"
    try:
        record = read_record(spec, folder)
        _refuse_newer(spec, version_of(record))
        if (made_by := version_of(record)) != VERSION:
            return f"{gone}, and {_outdated(made_by)}"
        checked_bytes(folder, record, HISTORY)
        weights = checked_bytes(folder, record, WEIGHTS)
    except (RunDamaged, OtherSpecification) as error:
        return f"{gone}, nor is the rest whole. {error}"
    try:
        trainer.model.load_state_dict(torch.load(io.BytesIO(weights), weights_only=True, map_location="cpu"))
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError, TypeError) as error:
        return f"{gone}, and {WEIGHTS} cannot be read: {error}"
    try:
        described = record.get("files", {})
        arrays = final_logits(trainer, parts) | logits_by_epoch(spec, folder, trainer, parts, described)
    except RunDamaged as error:
        return f"{gone}, nor is the rest whole. {error}"
    if array_checksum(arrays) != record["checksum"]:  # another machine, or damage that no checksum tells
        return f"{gone}, and those made from {WEIGHTS} here do not match the checksum of what was there"
    content = as_npz(arrays)
    if LOGITS in record.get("files", {}):
        record["files"] |= describe_files({LOGITS: content})
        write(folder / SPEC, json.dumps(record, indent=1).encode())
    write(folder / LOGITS, content)
    log_attempt(folder, "logits made from the weights")
    log.warning("%s: %s; made from %s, as it was", spec.name, gone, WEIGHTS)
    return ""


def _resume(spec: Spec, folder: Path, trainer: Trainer, again: bool) -> dict[str, Any] | None:
    """Put the trainer where the checkpoint left it; what else that holds. None: it begins anew."""
    from reproduction.engine.checkpoint import CheckpointDamaged, read_checkpoint

    checkpoint = folder / CHECKPOINT
    if not checkpoint.exists():
        return _BEGUN
    like = {"digest": spec.digest, "version": str(VERSION), "precision": None, "trainer": trainer.shape()}
    like |= dict.fromkeys(_BEGUN)
    try:
        kept = read_checkpoint(checkpoint, like)
        _restore(spec, folder, trainer, kept)
    except (CheckpointDamaged, RunDamaged, OtherPrecision) as error:
        if isinstance(error, OtherPrecision) and not again:
            raise
        aside = move_aside(checkpoint)
        log.warning("%s: %s Kept as %s; it begins anew", spec.name, error, aside.name)
        log_attempt(folder, "checkpoint moved aside", kept=aside.name, reason=str(error))
        return None
    return kept


def _restore(spec: Spec, folder: Path, trainer: Trainer, kept: dict[str, Any]) -> None:
    """Put the trainer where it was. What the device refuses, a RuntimeError, is no fault of the checkpoint.

    Raises:
        CheckpointDamaged: what is kept is no state of this training, though its checksum is right.
        RunDamaged: weights that were kept on the way are not as they were.
        OtherPrecision: it began in another.
    """
    from reproduction.engine.checkpoint import CheckpointDamaged

    try:
        epoch, rows = kept["trainer"]["epoch"], kept["rows"]
        if type(epoch) is not int or not 0 < epoch <= trainer.recipe.epochs or type(rows) is not list:
            raise ValueError(f"epoch {epoch} of {trainer.recipe.epochs}, rows of {type(rows).__name__}")
        _refuse_other_precision(spec, kept, trainer.precision)
        kept["weights"] = check_kept(spec, folder, epoch, kept["weights"])
        trainer.restore(kept["trainer"])
    except (RunDamaged, OtherPrecision):
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        told = f"{type(error).__name__}: {error}"
        raise CheckpointDamaged(f"{CHECKPOINT} must hold the state of a training. Got {told}.") from None


def _refuse_other_precision(spec: Spec, kept: Mapping[str, Any], here: str) -> None:
    """A run has one name, and its record one precision; 'auto' is bf16 on a GPU."""
    if (began := kept["precision"]) != here:
        raise OtherPrecision(
            f"run {spec.digest} ({spec.name}) must go on in {began}, as it began on {kept['machines'][-1]}. Got {here} "
            f"here: use such a device, begin it anew with --again, or name a precision (precision: {began}), which "
            "makes it a run of its own."
        )


def _train(
    spec: Spec,
    folder: Path,
    trainer: Trainer,
    parts: Parts,
    kept: dict[str, Any],
    until: float,
    progress: bool,
) -> None:
    from tqdm.auto import trange

    from reproduction.engine.checkpoint import write_checkpoint
    from reproduction.engine.fit import do_epoch, evaluated

    rows, before, begun, lasted = list(kept["rows"]), kept["seconds"], time.time(), list[float]()
    machine = machine_of(parts["train"][1].device)
    machines = list(dict.fromkeys([*kept["machines"], machine]))  # a checkpoint may have been carried
    ways = list(dict.fromkeys([*kept["ways"], trainer.way]))  # FOCAL_STEP may have changed
    weights = dict(kept["weights"])  # files of those kept on the way, described
    epochs = trainer.recipe.epochs
    for epoch in trange(trainer.epoch + 1, epochs + 1, disable=not progress, desc=spec.label):
        started = time.time()
        rows += do_epoch(spec, trainer, parts)
        weights |= keep_weights(spec, folder, trainer)
        lasted.append((now := time.time()) - started)
        time_up = epoch < epochs and now + max(lasted[1:] or lasted) > until  # on a GPU the first compiles, too
        if time_up or evaluated(spec, epoch):
            state = {"rows": rows, "seconds": before + now - begun, "trainer": trainer.state()}
            made_by = {"digest": spec.digest, "version": str(VERSION), "precision": trainer.precision}
            so_far = {"machines": machines, "ways": ways, "weights": weights}
            write_checkpoint(folder / CHECKPOINT, state | made_by | so_far)
        if time_up:
            raise TimeUp(f"time is up after epoch {epoch} of {epochs}; the next call goes on.")
    used = {"step": " then ".join(ways), "machines": machines, "seconds": round(before + time.time() - begun, 1)}
    _keep(spec, folder, trainer, parts, rows, used, weights)  # and all of it is on the disk
    (folder / CHECKPOINT).unlink(missing_ok=True)


def _keep(
    spec: Spec,
    folder: Path,
    trainer: Trainer,
    parts: Parts,
    rows: list[dict[str, Any]],
    used: dict[str, Any],
    weights: Files,
) -> None:
    """Write what a run leaves, its logits last: their presence ends the run."""
    import torch

    from reproduction.engine.fit import final_logits

    arrays = final_logits(trainer, parts) | logits_by_epoch(spec, folder, trainer, parts, weights)
    history = io.BytesIO()
    pd.DataFrame(rows).to_parquet(history)
    contents = {HISTORY: history.getvalue(), WEIGHTS: weights_as_bytes(trainer), LOGITS: as_npz(arrays)}
    record = {
        "spec": spec.as_dict,
        "training_version": VERSION,
        "recipe": spec.training.source,
        "checksum": array_checksum(arrays),
        "files": describe_files(contents) | weights,
        "threads": torch.get_num_threads(),
        "precision": trainer.precision,
        "images": images_to_train(spec, trainer.epoch),
        **used,
        "commit": commit(),
        "versions": {
            "focal-lib": focal_lib.__version__,  # of a copy that is not installed the commit tells more
            **{name: version(name) for name in ("torch", "numpy")},
            "python": platform.python_version(),
        },
    }
    write(folder / HISTORY, contents[HISTORY])
    write(folder / SPEC, json.dumps(record, indent=1).encode())
    write(folder / WEIGHTS, contents[WEIGHTS])
    write(folder / LOGITS, contents[LOGITS])


def trained(
    spec: Spec, root: str | Path | None = None, device: str = "auto", *, epoch: int | None = None
) -> tuple[nn.Module, dict[str, tuple[Tensor, Tensor]]]:
    """The network of a finished run, in evaluation mode, and the tensors of its 'train', 'validation' and 'test'.

    Args:
        epoch: after which, of those whose weights are kept; None: of the end.

    Raises:
        ValueError: an epoch whose weights are not kept.
        RunMissing: it has not been run here to the end; recorded runs keep no weights.
        RunDamaged: the weights were changed.
    """
    from reproduction.engine.fit import load_parts
    from reproduction.engine.trainer import pick_device

    weights, where = checked_weights(spec, root, epoch), pick_device(device)
    dataset, parts = load_parts(spec, where)
    return network(spec, dataset, weights, where), parts


def checked_weights(spec: Spec, root: str | Path | None = None, epoch: int | None = None) -> bytes:
    """The file of the weights of a finished run, of its end or after an epoch. Errors as `trained`."""
    folder, kept = run_folder(spec, root), kept_epochs(spec)
    if epoch is not None and epoch not in kept:
        listed = ", ".join(map(str, kept)) or "none: the run has no keep_every"
        raise ValueError(f"epoch must be one whose weights are kept ({listed}). Got {epoch}.")
    if not (folder / WEIGHTS).is_file():
        again = " --again" if (folder / LOGITS).exists() and (folder / LOG).is_file() else ""  # made here
        raise RunMissing(
            f"run {spec.digest} ({spec.name}) has no weights here. They are made by: {spec.command}{again}"
        )
    return checked_bytes(folder, read_record(spec, folder), WEIGHTS if epoch is None else weights_after(epoch))


def network(spec: Spec, dataset: Dataset, weights: bytes, device: torch.device) -> nn.Module:
    """The network of a run with these weights, in evaluation mode."""
    import torch

    from reproduction.engine import models

    model = models.build_for(spec.model, dataset).to(device)
    model.load_state_dict(torch.load(io.BytesIO(weights), weights_only=True, map_location=device))
    return model.eval()

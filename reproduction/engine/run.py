"""Train, or go on, or just load: one run in its folder."""

from __future__ import annotations

import io
import json
import logging
import math
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

import focal_lib
from focal_lib.atomic_write import check_folder, remove_leftovers, sync_folder
from reproduction.checkout import commit
from reproduction.engine.cost import images_to_train
from reproduction.engine.data_identity import OtherData, data_made_of, refuse_other_data, require_same_data
from reproduction.engine.files import move_aside, write
from reproduction.engine.follow import Follower, tell
from reproduction.engine.locks import RunTaken, TimeUp, held
from reproduction.engine.machine import machine_of
from reproduction.engine.spec import Spec
from reproduction.engine.store import (
    CHECKPOINT,
    FAILURE,
    HISTORY,
    LOG,
    LOGITS,
    PROGRESS,
    SPEC,
    VERSION,
    WEIGHTS,
    Result,
    RunDamaged,
    RunMissing,
    array_checksum,
    as_npz,
    checked_bytes,
    describe_files,
    load,
    log_attempt,
    logits_after,
    named,
    read_record,
    run_folder,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from reproduction.engine.data.dataset import Dataset
    from reproduction.engine.fit import Parts
    from reproduction.engine.trainer import Trainer


class OtherPrecision(ValueError):
    """A run that began in another precision than it would go on in here."""


class NewerRun(ValueError):
    """A run of a newer training code than this one, which must not repeat it."""


log = logging.getLogger(__name__)  # warnings reach stderr without any setting

# what a checkpoint holds beside the trainer and whose it is, before the first epoch; nothing changes these
_BEGUN: dict[str, Any] = {"rows": [], "seconds": 0.0, "machines": [], "ways": [], "logits": {}}


def run(
    spec: Spec,
    root: str | Path | None = None,
    device: str = "auto",
    *,
    again: bool = False,
    until: float = math.inf,
    wait: bool = True,
    progress: bool = False,
    followers: Sequence[Follower] = (),
) -> Result:
    """Train, or go on from the checkpoint, or just load where it is finished.

    A finished run is current if its specification and the version of the training code are today's. One that is
    not, or is damaged, is moved aside and made anew, and so is a checkpoint of another version. While another process
    does this run, it is waited for.

    Args:
        device: 'auto', 'cpu', 'cuda', 'cuda:1'.
        again: move a finished run aside and make it anew, and whatever else is finished in its folder.
        until: seconds since 1970; no epoch is begun that would end later, but for one, and waiting ends.
        wait: for another process that is doing this run; otherwise RunTaken.
        followers: are given the rows of the history as they come, see `follow`.

    Raises:
        NewerRun: a newer training code made it.
        OtherData: it was begun with other data than there are under the name today.
        OtherPrecision: it began on a device where 'auto' is another precision.
        ValueError: a data set, network or device that there is not, or that do not go together.
        NonFiniteLoss: the loss became NaN or infinite; the last good checkpoint is kept.
        MemoryError: the device is too small for the batch; the message says which size to try.
        DiskFull: no room; the last checkpoint is kept.
        TimeUp, RunTaken: see `until` and `wait`.
    """
    if not again and (found := _current(spec, root)) is not None:
        return found
    folder = run_folder(spec, root)
    check_folder(folder, made=True)
    with held(folder, named(spec), wait, until):
        if again or _current(spec, root) is None:
            with _threads(spec.threads):
                _do(spec, root, device, until, progress, again, followers)
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


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """PyTorch's, whatever OMP_NUM_THREADS and the machine have: sums of floats depend on them, and so does a run."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _current(spec: Spec, root: str | Path | None) -> Result | None:
    """The finished run, if it is whole and of today's version."""
    try:
        found = load(spec, root)
    except (RunMissing, RunDamaged):
        return None
    _refuse_newer(spec, found)
    if found.training_version != VERSION:
        return None
    refuse_other_data([spec], root)
    return found


def _refuse_newer(spec: Spec, found: Result) -> None:
    if found.training_version > VERSION:
        raise NewerRun(
            f"{named(spec)} must be of training code {VERSION} or older. Got {found.training_version}: update this "
            "code, or use another --root."
        )


def _do(
    spec: Spec,
    root: str | Path | None,
    device: str,
    until: float,
    progress: bool,
    again: bool,
    followers: Sequence[Follower],
) -> None:
    """Prepare, train, keep; what cannot be prepared leaves no folder, and what is finished in its place."""
    from reproduction.engine.data import load as load_data
    from reproduction.engine.fit import prepare

    if time.time() >= until:
        raise TimeUp("no time was left to begin.")
    dataset = load_data(spec.dataset)
    data = data_made_of(dataset)
    trainer, parts = prepare(spec, device, dataset)
    folder = _make_room(spec, root)
    if (made := _resume(spec, folder, trainer, data["sha256"], again)) is None:  # a trainer restored by half is none
        trainer, parts = prepare(spec, device, dataset)
        made = _BEGUN
    del dataset  # the parts are copies
    made = made | {"data": data}
    log_attempt(folder, "start", epoch=trainer.epoch, precision=trainer.precision, step=trainer.way)
    (folder / FAILURE).unlink(missing_ok=True)  # of an earlier try: this one may be stopped, and goes on then
    try:
        _train(spec, folder, trainer, parts, made, until, progress, followers)
    except TimeUp:
        log_attempt(folder, "stopped", epoch=trainer.epoch)
        raise
    except Exception as error:
        log_attempt(folder, "failed", epoch=trainer.epoch)
        reason = json.dumps({"spec": spec.as_dict, "reason": str(error)}, indent=1)
        with suppress(OSError):  # a full disk has room for neither
            write(folder / FAILURE, reason.encode())
        raise
    log_attempt(folder, "done")


def _make_room(spec: Spec, root: str | Path | None) -> Path:
    """A folder to work in, without what killed processes left half written; what is finished there is moved aside."""
    folder = run_folder(spec, root)
    aside, reason = None, _why_anew(spec, root)
    if reason:
        aside = move_aside(folder)
        log.warning("%s: %s; kept as %s, and made anew", spec.name, reason, aside.name)
    folder.mkdir(parents=True, exist_ok=True)
    sync_folder(folder.parent)  # else a power cut could take it with all that is written into it
    remove_leftovers(folder, of_all=True)
    if aside:
        log_attempt(folder, "replaces", instead_of=aside.name, reason=reason)
    return folder


def _why_anew(spec: Spec, root: str | Path | None) -> str:
    """Why what is finished in the folder of a run is not to stay there; '' where nothing is."""
    try:
        found = load(spec, root)
    except RunMissing:
        folder = run_folder(spec, root)
        left = not (folder / CHECKPOINT).exists() and any((folder / name).exists() for name in (SPEC, HISTORY, WEIGHTS))
        return f"{LOGITS} is not there" if left else ""
    except RunDamaged as error:
        return str(error)
    _refuse_newer(spec, found)
    if found.training_version == VERSION:
        return "asked for again"
    return f"version {found.training_version} of the training code made it, today's is {VERSION}"


def _resume(spec: Spec, folder: Path, trainer: Trainer, sha256: str, again: bool) -> dict[str, Any] | None:
    """Put the trainer where the checkpoint left it; what else that holds. None: it begins anew."""
    from reproduction.engine.checkpoint import CheckpointDamaged, read_checkpoint

    checkpoint = folder / CHECKPOINT
    if not checkpoint.exists():
        return _BEGUN
    like = _identity(spec, trainer) | {"precision": None, "trainer": trainer.shape()}
    like |= dict.fromkeys(name for name in _BEGUN if name != "logits" or spec.keep_every)  # older ones have none
    try:
        made = read_checkpoint(checkpoint, like)
        require_same_data(spec, made.get("data", {}).get("sha256"), sha256)  # older ones have none
        _restore(spec, trainer, made)
    except (CheckpointDamaged, OtherPrecision, OtherData) as error:
        if not isinstance(error, CheckpointDamaged) and not again:
            raise
        aside = move_aside(checkpoint)
        log.warning("%s: %s Kept as %s; it begins anew", spec.name, error, aside.name)
        log_attempt(folder, "checkpoint moved aside", kept=aside.name, reason=str(error))
        return None
    return {name: made.get(name, begun) for name, begun in _BEGUN.items()}


def _identity(spec: Spec, trainer: Trainer) -> dict[str, str]:
    """What a checkpoint must agree with to be gone on from. A run has one precision; 'auto' is bf16 on a GPU."""
    return {"digest": spec.digest, "version": str(VERSION), "precision": trainer.precision}


def _restore(spec: Spec, trainer: Trainer, made: dict[str, Any]) -> None:
    """Put the trainer where it was. What the device refuses, a RuntimeError, is no fault of the checkpoint.

    Raises:
        CheckpointDamaged: what is kept is no state of this training, though its checksum is right.
        OtherPrecision: it began in another.
    """
    from reproduction.engine.checkpoint import CheckpointDamaged

    try:
        epoch, rows = made["trainer"]["epoch"], made["rows"]
        if type(epoch) is not int or not 0 < epoch <= trainer.recipe.epochs or type(rows) is not list:
            raise ValueError(f"epoch {epoch} of {trainer.recipe.epochs}, rows of {type(rows).__name__}")
        if (began := made["precision"]) != trainer.precision:
            raise OtherPrecision(
                f"{named(spec)} must go on in {began}, as it began on {made['machines'][-1]}. Got {trainer.precision} "
                f"here: use such a device, begin it anew with --again, or name a precision (precision: {began}), which "
                "makes it a run of its own."
            )
        trainer.restore(made["trainer"])
    except OtherPrecision:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        told = f"{type(error).__name__}: {error}"
        raise CheckpointDamaged(f"{CHECKPOINT} must hold the state of a training. Got {told}.") from None


def _train(
    spec: Spec,
    folder: Path,
    trainer: Trainer,
    parts: Parts,
    made: dict[str, Any],
    until: float,
    progress: bool,
    followers: Sequence[Follower],
) -> None:
    from tqdm.auto import trange

    from reproduction.engine.checkpoint import write_checkpoint
    from reproduction.engine.fit import do_epoch, evaluated

    begun, lasted = time.time() - made["seconds"], list[float]()
    made = made | {
        "machines": list(dict.fromkeys([*made["machines"], machine_of(parts["train"][1].device)])),  # it may be carried
        "ways": list(dict.fromkeys([*made["ways"], trainer.way])),  # FOCAL_STEP may have changed
    }
    epochs = trainer.recipe.epochs
    for epoch in trange(trainer.epoch + 1, epochs + 1, disable=not progress, desc=spec.label):
        started = time.time()
        rows = do_epoch(spec, trainer, parts)
        made["rows"] = made["rows"] + rows
        tell(followers, spec, folder, rows)
        if spec.keep_every and epoch % spec.keep_every == 0 and epoch < epochs:
            made["logits"] = made["logits"] | {epoch: trainer.logits(parts["test"][0]).cpu()}
        lasted.append((now := time.time()) - started)
        made["seconds"] = now - begun
        time_up = epoch < epochs and now + max(lasted[1:] or lasted) > until  # on a GPU the first compiles, too
        if time_up or evaluated(spec, epoch):
            write_checkpoint(folder / CHECKPOINT, made | _identity(spec, trainer) | {"trainer": trainer.state()})
            with suppress(OSError):  # it is for --status alone
                kept = {"epoch": epoch, "epochs": epochs, "seconds": round(made["seconds"], 1)}
                (folder / PROGRESS).write_text(json.dumps(kept))
        if time_up:
            raise TimeUp(f"time is up after epoch {epoch} of {epochs}; the next call goes on.")
    made["seconds"] = time.time() - begun
    _keep(spec, folder, trainer, parts, made)  # and all of it is on the disk
    for name in (PROGRESS, CHECKPOINT):
        (folder / name).unlink(missing_ok=True)


def _keep(spec: Spec, folder: Path, trainer: Trainer, parts: Parts, made: dict[str, Any]) -> None:
    """Write what a run leaves, its logits last: their presence ends the run."""
    import torch

    from reproduction.engine.fit import final_logits

    arrays = final_logits(trainer, parts)
    arrays |= {logits_after(epoch): logits.numpy() for epoch, logits in made["logits"].items()}
    history, weights = io.BytesIO(), io.BytesIO()
    pd.DataFrame(made["rows"]).to_parquet(history)
    torch.save(trainer.model.state_dict(), weights)
    contents = {HISTORY: history.getvalue(), WEIGHTS: weights.getvalue(), LOGITS: as_npz(arrays)}
    record = {
        "spec": spec.as_dict,
        "training_version": VERSION,
        "recipe": spec.training.source,
        "checksum": array_checksum(arrays),
        "files": describe_files(contents),
        "threads": torch.get_num_threads(),
        "data": made["data"],
        "precision": trainer.precision,
        "images": images_to_train(spec, trainer.epoch),
        "step": " then ".join(made["ways"]),
        "machines": made["machines"],
        "seconds": round(made["seconds"], 1),
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
    spec: Spec, root: str | Path | None = None, device: str = "auto"
) -> tuple[nn.Module, dict[str, tuple[Tensor, Tensor]]]:
    """The network of a finished run, in evaluation mode, and the tensors of its 'train', 'validation' and 'test'.

    Raises:
        RunMissing: it has not been run here to the end; recorded runs keep no weights.
        RunDamaged: the weights were changed.
    """
    from reproduction.engine.fit import load_parts
    from reproduction.engine.trainer import pick_device

    weights, where = checked_weights(spec, root), pick_device(device)
    dataset, parts = load_parts(spec, where)
    return network(spec, dataset, weights, where), parts


def checked_weights(spec: Spec, root: str | Path | None = None) -> bytes:
    """The file of the weights of a finished run. Errors as `trained`."""
    folder = run_folder(spec, root)
    if not (folder / WEIGHTS).is_file():
        again = " --again" if (folder / LOGITS).exists() and (folder / LOG).is_file() else ""  # made here
        raise RunMissing(f"{named(spec)} has no weights here. They are made by: {spec.command}{again}")
    return checked_bytes(folder, read_record(spec, folder), WEIGHTS)


def network(spec: Spec, dataset: Dataset, weights: bytes, device: torch.device) -> nn.Module:
    """The network of a run with these weights, in evaluation mode."""
    import torch

    from reproduction.engine import models

    model = models.build_for(spec.model, dataset, spec.model_code).to(device)
    model.load_state_dict(torch.load(io.BytesIO(weights), weights_only=True, map_location=device))
    return model.eval()

"""What a run keeps of epochs on the way: the weights, and in the end their logits of the test split."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.engine.files import write
from reproduction.engine.spec import Spec
from reproduction.engine.store import RunDamaged, checked_bytes, describe_files, logits_after

if TYPE_CHECKING:
    from reproduction.engine.fit import Parts
    from reproduction.engine.trainer import Trainer


Files = dict[str, dict[str, Any]]  # name -> size and checksum


def kept_epochs(spec: Spec) -> range:
    """The epochs, each at least 1, after which weights are kept beside those of the end."""
    return range(spec.keep_every, spec.training.epochs, spec.keep_every) if spec.keep_every else range(0)


def weights_after(epoch: int) -> str:
    """The name of the file."""
    return f"weights-{epoch:04}.pt"


def keep_weights(spec: Spec, folder: Path, trainer: Trainer) -> Files:
    """After an epoch: write the weights, if they are to be kept; the file as a record describes it.

    Raises:
        DiskFull: no room; training goes on from the checkpoint before.
    """
    if trainer.epoch not in kept_epochs(spec):
        return {}
    name, content = weights_after(trainer.epoch), weights_as_bytes(trainer)
    write(folder / name, content)
    return describe_files({name: content})


def check_kept(spec: Spec, folder: Path, epoch: int, described: Files) -> Files:
    """The files of weights kept up to an epoch, as a record describes them, if they are as they were.

    Args:
        described: what a checkpoint says of them.

    Raises:
        RunDamaged: one is missing, or was changed.
        KeyError: one is not described.
    """
    names = [weights_after(kept) for kept in kept_epochs(spec) if kept <= epoch]
    for name in names:
        checked_bytes(folder, {"files": described}, name)
    return {name: described[name] for name in names}


def weights_as_bytes(trainer: Trainer) -> bytes:
    """A file of weights, as `torch.load` reads it."""
    import torch

    content = io.BytesIO()
    torch.save(trainer.model.state_dict(), content)
    return content.getvalue()


def logits_by_epoch(
    spec: Spec, folder: Path, trainer: Trainer, parts: Parts, described: Files
) -> dict[str, np.ndarray]:
    """'test_logits_0010', ... (n, K), float32, of the weights kept. The trainer's own are as before afterwards.

    Args:
        described: the files, as a record describes them.

    Raises:
        RunDamaged: one is missing, or was changed.
    """
    own = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    found = {}
    for epoch in kept_epochs(spec):
        name = weights_after(epoch)
        content = checked_bytes(folder, {"files": described}, name)
        trainer.model.load_state_dict(_read_weights(content, folder / name))
        found[logits_after(epoch)] = trainer.logits(parts["test"][0]).cpu().numpy()
    trainer.model.load_state_dict(own)
    return found


def _read_weights(content: bytes, path: Path) -> dict[str, Any]:
    import torch

    try:
        weights: dict[str, Any] = torch.load(io.BytesIO(content), weights_only=True, map_location="cpu")
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError, TypeError) as error:
        raise RunDamaged(f"{path} must hold weights. Got {type(error).__name__}: {error}.") from None
    return weights

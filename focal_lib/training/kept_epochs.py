"""What a run keeps of epochs on the way: the weights, and in the end their logits of the test split."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from focal_lib.training.files import write
from focal_lib.training.spec import Spec
from focal_lib.training.store import RunDamaged, describe_files, logits_after

if TYPE_CHECKING:
    from typing import Any

    from focal_lib.training.fit import Parts
    from focal_lib.training.trainer import Trainer

__all__ = ["describe_kept", "keep_weights", "kept_epochs", "logits_by_epoch", "weights_after", "weights_as_bytes"]


def kept_epochs(spec: Spec) -> range:
    """The epochs, each at least 1, after which weights are kept beside those of the end."""
    return range(spec.keep_every, spec.training.epochs, spec.keep_every) if spec.keep_every else range(0)


def weights_after(epoch: int) -> str:
    """The name of the file."""
    return f"weights-{epoch:04}.pt"


def keep_weights(spec: Spec, folder: Path, trainer: Trainer) -> None:
    """After an epoch: write the weights, if they are to be kept.

    Raises:
        DiskFull: no room; training goes on from the checkpoint before.
    """
    if trainer.epoch in kept_epochs(spec):
        write(folder / weights_after(trainer.epoch), weights_as_bytes(trainer))


def weights_as_bytes(trainer: Trainer) -> bytes:
    """A file of weights, as `torch.load` reads it."""
    import torch

    content = io.BytesIO()
    torch.save(trainer.model.state_dict(), content)
    return content.getvalue()


def logits_by_epoch(spec: Spec, folder: Path, trainer: Trainer, parts: Parts) -> dict[str, np.ndarray]:
    """'test_logits_0010', ... (n, K), float32, of the weights kept. The trainer's own are as before afterwards.

    Raises:
        RunDamaged: weights are not there, or cannot be read.
    """
    import torch

    own = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    found = {}
    for epoch in kept_epochs(spec):
        path = folder / weights_after(epoch)
        try:
            trainer.model.load_state_dict(torch.load(path, weights_only=True, map_location="cpu"))
        except (OSError, RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError, TypeError) as error:
            raise RunDamaged(
                f"{path} must hold the weights after epoch {epoch}. Got {type(error).__name__}: {error}. "
                f"It is begun anew by: {spec.command} --again"
            ) from None
        found[logits_after(epoch)] = trainer.logits(parts["test"][0]).cpu().numpy()
    trainer.model.load_state_dict(own)
    return found


def describe_kept(spec: Spec, folder: Path) -> dict[str, dict[str, Any]]:
    """Size and checksum of the files of weights, for a run's record."""
    return describe_files({weights_after(e): (folder / weights_after(e)).read_bytes() for e in kept_epochs(spec)})

"""What a run keeps of epochs on the way: the weights, and in the end their logits of the test split."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from focal_lib.training.files import write
from focal_lib.training.spec import Spec
from focal_lib.training.store import RunDamaged, checksum_of, describe_files, logits_after

if TYPE_CHECKING:
    from typing import Any

    from focal_lib.training.fit import Parts
    from focal_lib.training.trainer import Trainer

__all__ = [
    "describe_kept",
    "keep_weights",
    "kept_epochs",
    "logits_by_epoch",
    "read_kept",
    "weights_after",
    "weights_as_bytes",
]


def kept_epochs(spec: Spec) -> range:
    """The epochs, each at least 1, after which weights are kept beside those of the end."""
    return range(spec.keep_every, spec.training.epochs, spec.keep_every) if spec.keep_every else range(0)


def weights_after(epoch: int) -> str:
    """The name of the file."""
    return f"weights-{epoch:04}.pt"


def keep_weights(spec: Spec, folder: Path, trainer: Trainer) -> dict[str, str]:
    """After an epoch: write the weights, if they are to be kept; the name of their file and its checksum.

    Raises:
        DiskFull: no room; training goes on from the checkpoint before.
    """
    if trainer.epoch not in kept_epochs(spec):
        return {}
    name, content = weights_after(trainer.epoch), weights_as_bytes(trainer)
    write(folder / name, content)
    return {name: checksum_of(content)}


def read_kept(folder: Path, epoch: int, checksums: Mapping[str, str]) -> bytes:
    """The file of the weights after an epoch, as it was written.

    Args:
        checksums: name of a file -> its checksum.

    Raises:
        RunDamaged: it is not there, cannot be read, or was changed.
    """
    path = folder / weights_after(epoch)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunDamaged(f"{path} must hold the weights after epoch {epoch}. Got {error}.") from None
    if checksum_of(content) != checksums.get(path.name):
        raise RunDamaged(f"{path} must hold the weights after epoch {epoch}, as they were. It was changed.")
    return content


def weights_as_bytes(trainer: Trainer) -> bytes:
    """A file of weights, as `torch.load` reads it."""
    import torch

    content = io.BytesIO()
    torch.save(trainer.model.state_dict(), content)
    return content.getvalue()


def logits_by_epoch(
    spec: Spec, folder: Path, trainer: Trainer, parts: Parts, checksums: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """'test_logits_0010', ... (n, K), float32, of the weights kept. The trainer's own are as before afterwards.

    Raises:
        RunDamaged: as `read_kept`.
    """
    import torch

    own = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    found = {}
    for epoch in kept_epochs(spec):
        weights = io.BytesIO(read_kept(folder, epoch, checksums))
        trainer.model.load_state_dict(torch.load(weights, weights_only=True, map_location="cpu"))
        found[logits_after(epoch)] = trainer.logits(parts["test"][0]).cpu().numpy()
    trainer.model.load_state_dict(own)
    return found


def describe_kept(spec: Spec, folder: Path) -> dict[str, dict[str, Any]]:
    """Size and checksum of the files of weights, for a run's record."""
    return describe_files({weights_after(e): (folder / weights_after(e)).read_bytes() for e in kept_epochs(spec)})

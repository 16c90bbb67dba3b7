"""Checkpoints: a line that names the format, the SHA-256 of what follows, then a file of torch.save."""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from reproduction.engine.files import write

HEAD = b"focal_lib checkpoint\n"


class CheckpointDamaged(ValueError):
    """A checkpoint that is not as it was written, or not of this run."""


def write_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Write it whole, or leave the one before. Raises DiskFull."""
    body = io.BytesIO()
    torch.save(dict(content), body)
    digest = hashlib.sha256(body.getbuffer()).hexdigest().encode()
    write(path, b"".join((HEAD, digest, b"\n", body.getbuffer())))


def read_checkpoint(path: Path, like: Mapping[str, Any]) -> dict[str, Any]:
    """The content, its tensors on the CPU.

    Args:
        like: what it must agree with: the same keys at every level of this mapping, tensors of the same shapes, and
            equal texts.

    Raises:
        CheckpointDamaged: another checksum, or another structure.
    """
    content = path.read_bytes()
    digest, _, body = content.removeprefix(HEAD).partition(b"\n")
    if not content.startswith(HEAD) or hashlib.sha256(body).hexdigest().encode() != digest:
        raise CheckpointDamaged(f"{path.name} must match its checksum. It does not.")
    try:
        found: dict[str, Any] = torch.load(io.BytesIO(body), weights_only=True, map_location="cpu")
    except pickle.UnpicklingError as error:
        raise CheckpointDamaged(f"{path.name} must be readable by this PyTorch. Got {error}.") from None
    _compare(found, like, path.name)
    return found


def _compare(found: Any, like: Any, where: str) -> None:
    if isinstance(like, Mapping):
        if missing := [str(name) for name in like if not isinstance(found, Mapping) or name not in found]:
            raise CheckpointDamaged(f"{where} must hold {', '.join(map(str, like))}. Got no {', '.join(missing)}.")
        for name, value in like.items():
            _compare(found[name], value, f"{where}: {name}")
    elif isinstance(like, Tensor):
        shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        if shape != tuple(like.shape):
            raise CheckpointDamaged(f"{where} must have shape {tuple(like.shape)}. Got {shape}.")
    elif isinstance(like, str) and found != like:
        raise CheckpointDamaged(f"{where} must be {like}. Got {found}.")

"""Checkpoints are read whole or not at all."""

import io

import numpy as np
import pytest
import torch

from reproduction.engine.checkpoint import HEAD, CheckpointDamaged, read_checkpoint, write_checkpoint

CONTENT = {"digest": "abc", "rows": [{"epoch": 1}], "model": {"w": torch.arange(6.0).reshape(2, 3)}}


@pytest.fixture
def path(tmp_path):
    write_checkpoint(tmp_path / "checkpoint", CONTENT)
    return tmp_path / "checkpoint"


def test_what_is_written_is_read(path):
    found = read_checkpoint(path, CONTENT)
    assert torch.equal(found["model"]["w"], CONTENT["model"]["w"])
    assert found["rows"] == CONTENT["rows"]


def test_what_a_gpu_wrote_is_read_without_one(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:7")
        write_checkpoint(tmp_path / "checkpoint", CONTENT)
    found = read_checkpoint(tmp_path / "checkpoint", CONTENT)
    assert found["model"]["w"].device == torch.device("cpu")
    assert torch.equal(found["model"]["w"], CONTENT["model"]["w"])


def test_every_single_flipped_byte_is_noticed(path):
    whole = path.read_bytes()
    for place in np.random.default_rng(0).choice(len(whole), 200, replace=False):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(CheckpointDamaged, match="must match its checksum"):
            read_checkpoint(path, CONTENT)


def plain():
    """A file of torch without a head."""
    body = io.BytesIO()
    torch.save(CONTENT, body)
    return body.getvalue()


@pytest.mark.parametrize("content", [b"", b"half", HEAD, HEAD + b"0" * 64, plain()], ids=range(5))
def test_what_is_no_checkpoint_is_noticed(path, content):
    path.write_bytes(content)
    with pytest.raises(CheckpointDamaged, match="must match its checksum"):
        read_checkpoint(path, CONTENT)


@pytest.mark.parametrize(
    ("like", "message"),
    [
        (CONTENT | {"trainer": None}, "must hold digest, rows, model, trainer. Got no trainer"),
        (CONTENT | {"digest": "xyz"}, "digest must be xyz. Got abc"),
        (CONTENT | {"model": {"w": torch.zeros(2, 3), "b": torch.zeros(1)}}, "model must hold w, b. Got no b"),
        (CONTENT | {"model": {"w": torch.zeros(3, 3)}}, r"model: w must have shape \(3, 3\). Got \(2, 3\)"),
        (CONTENT | {"rows": torch.zeros(1)}, r"rows must have shape \(1,\). Got list"),
    ],
)
def test_another_structure_is_refused(path, like, message):
    with pytest.raises(CheckpointDamaged, match=message):
        read_checkpoint(path, like)

"""Where runs stand: by the files that are there, without reading the large ones."""

import os
import re
import time

import numpy as np
import pytest

from reproduction.engine.locks import held
from reproduction.engine.run import run
from reproduction.engine.status import CALL_AGAIN, exit_status, status


def state(spec, root):
    (entry,) = status([spec], root)
    return entry[1:]


def test_states(finished, change_record, small, tmp_path):
    spec, folder, _ = finished
    others = {name: small(gamma=gamma) for name, gamma in (("failed", 3), ("stopped", 5), ("waiting", 7))}
    (tmp_path / others["stopped"].digest).mkdir()
    (tmp_path / others["failed"].digest).mkdir()
    (tmp_path / others["failed"].digest / "failed.json").write_text('{"reason": "because"}')

    def states():
        return [entry[1:] for entry in status([spec, *others.values()], tmp_path)]

    rest = [("failed", "because"), ("stopped", "no checkpoint yet"), ("waiting", "")]
    assert states() == [("done", ""), *rest]
    with held(folder, "x"):
        assert states() == [("running", "no checkpoint yet"), *rest]
    change_record(folder, training_version=0)
    assert states() == [("outdated", "training code 0, today's is 1"), *rest]
    for content in ("{", "[]", "{}"):
        for path in (folder / "spec.json", tmp_path / others["failed"].digest / "failed.json"):
            path.write_text(content)
        damaged, failed, *_ = states()
        assert damaged[0] == "damaged"
        assert "must have a readable spec.json" in damaged[1]
        assert failed == ("failed", "for a reason that failed.json does not tell")


def test_epoch_and_time_left_are_those_of_the_checkpoint(small, tmp_path, killed):
    spec = small(epochs=40, evaluate_every=3)
    killed(8, spec, tmp_path)
    folder, told = tmp_path / spec.digest, r"epoch 6 of 40, about \d+ s left, last checkpoint \d+ s ago"
    assert re.fullmatch(told, state(spec, tmp_path)[1])
    (folder / "progress.json").write_text('{"epoch": 10, "epochs": 40, "seconds": 3600}')
    os.utime(folder / "checkpoint", (time.time() - 1800,) * 2)
    assert state(spec, tmp_path) == ("stopped", "epoch 10 of 40, about 3.0 h left, last checkpoint 1800 s ago")
    with held(folder, "x"):
        assert state(spec, tmp_path) == ("running", "epoch 10 of 40, about 2.5 h left, last checkpoint 1800 s ago")
    for content in ("", "[]", "{}", '{"epoch": 0, "epochs": 1, "seconds": 1}'):
        (folder / "progress.json").write_text(content)
        assert state(spec, tmp_path) == ("stopped", "last checkpoint 1800 s ago")
    run(spec, tmp_path)
    assert state(spec, tmp_path) == ("done", "")
    assert not (folder / "progress.json").exists()


def test_another_call_is_asked_for_only_where_it_helps():
    assert exit_status(["done", "done"]) == exit_status([]) == 0
    assert exit_status(["done", "failed"]) == 1
    for state in ("waiting", "stopped", "running", "damaged", "outdated"):
        assert exit_status(["done", "failed", state]) == CALL_AGAIN == 75


@pytest.mark.parametrize("old", [False, True], ids=["with sizes", "before there were sizes"])
@pytest.mark.parametrize(
    ("name", "damage", "expected"),
    [
        ("logits.npz", lambda c: c[:-100], ("damaged", "logits.npz ")),
        ("logits.npz", lambda c: b"", ("damaged", "logits.npz ")),
        ("history.parquet", lambda c: c[:-1], ("damaged", "history.parquet must match its checksum")),
        ("history.parquet", None, ("damaged", "must hold history.parquet. It does not")),
        ("weights.pt", lambda c: c[:-100], ("done", "but weights.pt ")),
        ("weights.pt", None, ("done", "but no weights.pt: --again trains it anew")),
        ("logits.npz", None, ("damaged", "no logits.npz")),
        ("spec.json", None, ("damaged", "must hold spec.json. It does not")),
    ],
)
def test_what_is_cut_or_missing_is_seen(finished, change_record, tmp_path, name, damage, expected, old):
    spec, folder, _ = finished
    if old:
        change_record(folder, files={})
        if "must match its checksum" in expected[1]:
            expected = ("done", "")  # nothing tells of it before it is read
    path = folder / name
    path.write_bytes(damage(path.read_bytes())) if damage else path.unlink()
    found = state(spec, tmp_path)
    assert found[0] == expected[0]
    assert expected[1] in found[1]


def test_what_may_not_be_read_is_not_called_damaged(finished, tmp_path, monkeypatch):
    spec, _, _ = finished

    def refuse(path, *args, **options):
        raise PermissionError("planted")

    for name in ("read_bytes", "open"):
        with monkeypatch.context() as patch:
            patch.setattr(f"pathlib.Path.{name}", refuse)
            with pytest.raises(PermissionError, match="planted"):
                status([spec], tmp_path)


@pytest.mark.parametrize("name", ["logits.npz", "history.parquet", "spec.json"])
def test_what_is_said_to_be_damaged_is_mended_by_the_next_call(finished, tmp_path, name):
    spec, folder, whole = finished
    (folder / name).write_bytes((folder / name).read_bytes()[:-100])
    assert state(spec, tmp_path)[0] == "damaged"
    np.testing.assert_array_equal(run(spec, tmp_path).test.logits, whole.test.logits)
    assert state(spec, tmp_path) == ("done", "")
    assert (tmp_path / f"{spec.digest}.1" / name).exists()


def test_a_flipped_bit_of_the_logits_is_seen_where_all_is_read(finished, tmp_path):
    """Size and end are as they were: a look does not tell, and the next grid does the run again."""
    spec, folder, _ = finished
    assert [one.state for one in status([spec], tmp_path, whole=True)] == ["done"]
    content = bytearray((folder / "logits.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "logits.npz").write_bytes(content)
    (one,) = status([spec], tmp_path, whole=True)
    assert one.state == "damaged"
    assert "must be whole" in one.detail or "must match its checksum" in one.detail

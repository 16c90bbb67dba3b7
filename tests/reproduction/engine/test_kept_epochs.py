"""What a run keeps of epochs on the way."""

import errno
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from reproduction.engine.kept_epochs import kept_epochs
from reproduction.engine.recording import record_runs
from reproduction.engine.run import run, trained
from reproduction.engine.spec import Spec
from reproduction.engine.status import status
from reproduction.engine.store import RunDamaged, RunMissing, load


def test_epochs_before_the_last():
    assert list(kept_epochs(Spec(epochs=30, keep_every=10))) == [10, 20]
    assert list(kept_epochs(Spec(epochs=31, keep_every=10))) == [10, 20, 30]
    assert list(kept_epochs(Spec(epochs=30))) == []


def test_they_are_those_of_a_shorter_run(small, tmp_path):
    whole = run(small(keep_every=1), tmp_path)
    assert list(whole.test_by_epoch) == [1, 2, 3]
    for epoch, kept in whole.test_by_epoch.items():
        shorter = run(small(epochs=epoch), tmp_path)
        np.testing.assert_array_equal(kept.logits, shorter.test.logits)
        np.testing.assert_array_equal(kept.labels, shorter.test.labels)
    np.testing.assert_array_equal(whole.test.logits, run(small(), tmp_path).test.logits)  # and change nothing


def test_a_resumed_run_has_the_same(small, tmp_path, killed):
    spec = small(keep_every=1)
    expected = run(spec, tmp_path / "whole")
    killed(3, spec, tmp_path / "killed")
    found = run(spec, tmp_path / "killed")
    for epoch, kept in expected.test_by_epoch.items():
        np.testing.assert_array_equal(found.test_by_epoch[epoch].logits, kept.logits)


def test_their_networks_can_be_had(small, tmp_path):
    spec = small(keep_every=2)
    whole = run(spec, tmp_path)
    for epoch, kept in ((2, whole.test_by_epoch[2]), (None, whole.test)):
        model, parts = trained(spec, tmp_path, "cpu", epoch=epoch)
        found = model(parts["test"][0]).detach().numpy()
        np.testing.assert_allclose(found, kept.logits, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=r"epoch must be one whose weights are kept \(2\). Got 3"):
        trained(spec, tmp_path, "cpu", epoch=3)
    with pytest.raises(ValueError, match="none: the run has no keep_every"):
        trained(small(), tmp_path, "cpu", epoch=2)


def test_changed_weights_are_noticed(small, tmp_path):
    spec = small(keep_every=2)
    run(spec, tmp_path)
    (tmp_path / spec.digest / "weights-0002.pt").write_bytes(b"other")
    with pytest.raises(RunDamaged, match=r"weights-0002.pt must match its checksum"):
        trained(spec, tmp_path, "cpu", epoch=2)


def test_a_record_has_their_logits_without_the_weights(small, tmp_path):
    spec = small(keep_every=2)
    whole = run(spec, tmp_path)
    record_runs([spec], tmp_path / "kept", tmp_path)
    kept = load(spec, tmp_path / "kept").test_by_epoch[2]
    np.testing.assert_array_equal(kept.logits, whole.test_by_epoch[2].logits)
    with pytest.raises(RunMissing, match="has no weights here"):
        trained(spec, tmp_path / "kept", "cpu", epoch=2)


@pytest.mark.parametrize(
    "damage",
    [
        Path.unlink,
        lambda path: path.write_bytes(b"cut"),
        lambda path: shutil.copy(path.with_name("weights-0001.pt"), path),
    ],
    ids=["gone", "cut", "another's"],
)
def test_a_run_whose_kept_weights_are_not_as_they_were_begins_anew(small, tmp_path, killed, damage):
    """Before it trains on: what is kept is checked at the end, too, and a run that ends with others' would be wrong."""
    spec = small(keep_every=1)
    expected = run(spec, tmp_path / "whole")
    killed(3, spec, tmp_path)
    damage(tmp_path / spec.digest / "weights-0002.pt")
    found = run(spec, tmp_path)
    for epoch, kept in expected.test_by_epoch.items():
        np.testing.assert_array_equal(found.test_by_epoch[epoch].logits, kept.logits)
    assert (tmp_path / spec.digest / "checkpoint.1").is_file()


def test_weights_that_are_lost_while_it_trains_are_told_and_the_next_call_begins_anew(small, tmp_path, monkeypatch):
    spec = small(keep_every=2)
    folder = tmp_path / spec.digest
    with monkeypatch.context() as patch:
        patch.setattr("reproduction.engine.fit.final_logits", lambda *_: (folder / "weights-0002.pt").unlink() or {})
        with pytest.raises(RunDamaged, match=r"must hold weights-0002.pt. It does not. The next call begins it anew"):
            run(spec, tmp_path)
    assert [entry.state for entry in status([spec], tmp_path)] == ["stopped"]
    assert list(run(spec, tmp_path).test_by_epoch) == [2]


def test_what_is_no_damage_of_kept_weights_loses_no_checkpoint(small, tmp_path, killed, monkeypatch, epochs):
    spec = small(keep_every=1)
    killed(3, spec, tmp_path)
    read = Path.read_bytes

    def refuse(path):
        if path.name == "weights-0002.pt":
            raise OSError(errno.ESTALE, "stale")
        return read(path)

    epochs.clear()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        with pytest.raises(OSError, match="stale"):
            run(spec, tmp_path)
    run(spec, tmp_path)
    assert epochs == [3]


def test_lost_logits_are_made_again_with_them(small, tmp_path):
    spec = small(keep_every=2)
    whole = run(spec, tmp_path)
    (tmp_path / spec.digest / "logits.npz").unlink()
    np.testing.assert_array_equal(run(spec, tmp_path).test_by_epoch[2].logits, whole.test_by_epoch[2].logits)
    events = [json.loads(line)["event"] for line in (tmp_path / spec.digest / "log.jsonl").read_text().splitlines()]
    assert events[-1] == "logits made from the weights"

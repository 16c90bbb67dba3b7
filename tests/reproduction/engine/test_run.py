"""Runs: content-addressed, atomic, resumable to the same weights; nothing finished is deleted or repeated unasked."""

import itertools
import json
import logging
import math
import os
import resource
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from reproduction.engine import run as face_run
from reproduction.engine.checkpoint import read_checkpoint, write_checkpoint
from reproduction.engine.cost import Compute
from reproduction.engine.files import DiskFull
from reproduction.engine.locks import RunTaken, TimeUp, held
from reproduction.engine.machine import machine_name
from reproduction.engine.recipes import RECIPES
from reproduction.engine.run import NewerRun, OtherPrecision, run, run_shared
from reproduction.engine.spec import LOSSES
from reproduction.engine.status import CALL_AGAIN, exit_status, status
from reproduction.engine.trainer import NonFiniteLoss, Trainer

FILES = ["history.parquet", "log.jsonl", "logits.npz", "spec.json", "weights.pt"]


def events(folder):
    return [json.loads(line)["event"] for line in (folder / "log.jsonl").read_text().splitlines()]


def assert_same(one, two):
    for name in ("validation", "test", "train"):
        np.testing.assert_array_equal(getattr(one, name).logits, getattr(two, name).logits)
    pd.testing.assert_frame_equal(one.history, two.history)


def folders(root):
    return sorted(p.name for p in root.iterdir() if p.is_dir() and p.name not in (".locks", "data"))


def test_run_leaves_everything_and_is_not_repeated(small, tmp_path, epochs):
    spec = small(gamma=2.0)
    result = run(spec, tmp_path)
    folder = tmp_path / spec.digest
    assert sorted(p.name for p in folder.iterdir()) == FILES
    assert result.validation.logits.shape == (30, 10)
    assert result.validation.logits.dtype == np.float32
    assert set(result.history.columns) >= {"epoch", "split", "nll", "error", "adaptive_ece", "confidence"}
    record = json.loads((folder / "spec.json").read_text())
    assert record["images"] == 4 * 60
    assert record["seconds"] > 0
    assert record["machines"] == [machine_name()]
    assert "device" not in record
    assert result.compute == Compute(4 * 60, record["seconds"] / 3600, (machine_name(),))
    assert_same(run(spec, tmp_path), result)
    assert epochs == [0, 1, 2, 3]
    assert events(folder) == ["start", "done"]


def test_a_run_does_not_go_on_in_another_precision(small, tmp_path, killed, monkeypatch, epochs):
    """As 'auto' would have it, carried from a CPU to a GPU."""
    spec = small()
    whole = run(spec, tmp_path / "whole")
    killed(2, spec, tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / spec.digest).iterdir()}
    epochs.clear()
    with monkeypatch.context() as patch:
        patch.setattr("reproduction.engine.trainer.pick_precision", lambda precision, device: "bf16")
        told = r"must go on in float32, as it began on .*\. Got bf16 here: use such a device, .* --again, or name a"
        with pytest.raises(OtherPrecision, match=told):
            run(spec, tmp_path)
        assert epochs == []
        assert {path.name: path.read_bytes() for path in (tmp_path / spec.digest).iterdir()} == before
        run(spec, tmp_path / "anew")
        killed(2, spec, tmp_path / "kept aside")
    epochs.clear()
    assert_same(run(spec, tmp_path / "kept aside", again=True), whole)
    assert epochs == [0, 1, 2, 3]
    assert (tmp_path / "kept aside" / spec.digest / "checkpoint.1").is_file()
    assert_same(run(spec, tmp_path), whole)
    record = json.loads((tmp_path / "anew" / spec.digest / "spec.json").read_text())
    first = json.loads((tmp_path / "anew" / spec.digest / "log.jsonl").read_text().splitlines()[0])
    assert (record["precision"], first["precision"], first["step"]) == ("bf16", "bf16", "plain")


def test_a_run_names_every_machine_and_every_way_of_a_step_that_it_is_made_with(small, tmp_path, killed, monkeypatch):
    """It may be carried; FOCAL_STEP may be set between two calls on a GPU."""
    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "machine_of", lambda device: "the first")
    killed(2, small(), tmp_path)
    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "machine_of", lambda device: "the second")
    monkeypatch.setattr("reproduction.engine.fit.pick_way", lambda device, one_graph, captures: "compiled")
    monkeypatch.setattr("reproduction.engine.trainer.compiled", lambda objective, backend: objective)
    assert run(small(), tmp_path).compute.machines == ("the first", "the second")
    record = json.loads((tmp_path / small().digest / "spec.json").read_text())
    assert record["step"] == "plain then compiled"


def test_the_checkpoint_goes_when_all_else_is_on_the_disk(small, tmp_path, disk_events):
    """A power cut loses an epoch, no run."""
    run(small(epochs=1), tmp_path)
    written = ["checkpoint", "history.parquet", "spec.json", "weights.pt", "logits.npz"]
    of_files = [event for name in written for event in ("file", f"name {name}", "folder")]
    seen = [event for event in disk_events if "gone" not in event or event == "gone checkpoint"]
    assert seen == ["folder", *of_files, "gone checkpoint"]  # the first of the folder of runs


@pytest.mark.parametrize("dies_at", [1, 3])
def test_resumed_run_is_bitwise_the_uninterrupted_one(small, tmp_path, killed, epochs, dies_at):
    spec = small(gamma=1.0)
    whole = run(spec, tmp_path / "whole")
    killed(dies_at, spec, tmp_path / "killed")
    assert not (tmp_path / "killed" / spec.digest / "logits.npz").exists()
    epochs.clear()
    assert_same(run(spec, tmp_path / "killed"), whole)
    assert epochs == list(range(dies_at, 4))


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_runs_and_resumes_bitwise(small, tmp_path, killed, name):
    values = {"gamma": 2.0, "lam": 0.1}
    spec = small(loss=name, model="mlp", **{key: values[key] for key in LOSSES[name]})
    killed(2, spec, tmp_path / "killed")
    assert_same(run(spec, tmp_path / "killed"), run(spec, tmp_path / "whole"))


def test_papers_recipe_resumes_bitwise_with_crops_drops_and_batch_norm(small, tmp_path, killed):
    spec = small(recipe="kk24-cifar", model="resnet8", epochs=7)
    killed(4, spec, tmp_path / "killed")
    whole = run(spec, tmp_path / "whole")
    assert np.isfinite(whole.test.logits).all()
    assert_same(run(spec, tmp_path / "killed"), whole)
    record = json.loads((tmp_path / "whole" / spec.digest / "spec.json").read_text())
    assert record["recipe"] == RECIPES["kk24-cifar"].source


# --- what is finished stays -----------------------------------------------------------


def test_times_of_files_change_nothing(small, tmp_path, epochs):
    spec = small()
    run(spec, tmp_path)
    for path in (tmp_path / spec.digest).iterdir():
        os.utime(path, (0, 0))
    for path in (tmp_path / "data" / "fashion-mnist").iterdir():
        os.utime(path, (time.time() + 60,) * 2)
    epochs.clear()
    run(spec, tmp_path)
    assert epochs == []


def test_another_version_of_the_training_code_moves_the_run_aside(small, tmp_path, monkeypatch, caplog):
    spec = small()
    whole = run(spec, tmp_path)
    before = (tmp_path / spec.digest / "logits.npz").read_bytes()
    for module in ("run", "store", "status"):
        monkeypatch.setattr(sys.modules[f"reproduction.engine.{module}"], "VERSION", 2)
    assert status([spec], tmp_path)[0].state == "outdated"
    again = run(spec, tmp_path)
    assert again.training_version == 2
    assert_same(again, whole)
    assert folders(tmp_path) == [spec.digest, f"{spec.digest}.1"]
    assert (tmp_path / f"{spec.digest}.1" / "logits.npz").read_bytes() == before
    assert sorted(p.name for p in (tmp_path / f"{spec.digest}.1").iterdir()) == FILES
    assert f"version 1 of the training code made it, today's is 2; kept as {spec.digest}.1" in caplog.text
    assert events(tmp_path / spec.digest) == ["replaces", "start", "done"]
    run(spec, tmp_path)
    assert folders(tmp_path) == [spec.digest, f"{spec.digest}.1"]


def test_again_keeps_every_run_there_was(small, tmp_path):
    spec = small()
    for _ in range(3):
        run(spec, tmp_path, again=True)
    assert folders(tmp_path) == [spec.digest, f"{spec.digest}.1", f"{spec.digest}.2"]
    assert all((tmp_path / name / "logits.npz").is_file() for name in folders(tmp_path))


def test_again_goes_on_with_what_is_not_finished(small, tmp_path, killed, epochs):
    killed(2, small(), tmp_path)
    epochs.clear()
    run(small(), tmp_path, again=True)
    assert epochs == [2, 3]
    assert folders(tmp_path) == [small().digest]


def test_a_damaged_run_is_moved_aside_and_repeated(small, tmp_path, caplog):
    spec = small()
    whole = run(spec, tmp_path)
    path = tmp_path / spec.digest / "logits.npz"
    path.write_bytes(damaged := path.read_bytes()[:-200])
    assert_same(run(spec, tmp_path), whole)
    assert (tmp_path / f"{spec.digest}.1" / "logits.npz").read_bytes() == damaged
    assert f"File is not a zip file.; kept as {spec.digest}.1, and made anew" in caplog.text


def test_what_is_left_of_a_run_without_logits_is_kept(finished, tmp_path, epochs):
    spec, folder, whole = finished
    (folder / "logits.npz").unlink()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    epochs.clear()
    assert_same(run(spec, tmp_path), whole)
    assert epochs == [0, 1, 2, 3]
    assert {path.name: path.read_bytes() for path in (tmp_path / f"{spec.digest}.1").iterdir()} == before
    assert events(folder) == ["replaces", "start", "done"]


# --- checkpoints ----------------------------------------------------------------------


def flip(content):
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 255
    return bytes(damaged)


@pytest.mark.parametrize(
    "damage",
    [flip, lambda c: c[:-1], lambda c: b"half a checkpoint", lambda c: b""],
    ids=["flip", "cut", "text", "empty"],
)
def test_a_damaged_checkpoint_is_kept_aside_and_the_run_begins_anew(small, tmp_path, killed, epochs, caplog, damage):
    spec = small()
    whole = run(spec, tmp_path / "whole")
    killed(2, spec, tmp_path / "killed")
    folder = tmp_path / "killed" / spec.digest
    damaged = damage((folder / "checkpoint").read_bytes())
    (folder / "checkpoint").write_bytes(damaged)
    epochs.clear()
    assert_same(run(spec, tmp_path / "killed"), whole)
    assert epochs == [0, 1, 2, 3]
    assert (folder / "checkpoint.1").read_bytes() == damaged
    assert "must match its checksum. It does not. Kept as checkpoint.1; it begins anew" in caplog.text


@pytest.mark.parametrize(
    ("part", "value"),
    [
        *((part, None) for part in ("generator", "optimiser", "epoch")),
        ("optimiser", {}),
        *(("epoch", epoch) for epoch in ("x", -4, 5)),
        ("rows", 3),
        ("schedule", 7),
    ],
)
def test_a_checkpoint_that_lacks_a_part_or_holds_nonsense_is_not_restored_by_half(small, tmp_path, killed, part, value):
    """Though its checksum is right."""
    spec = small()
    whole = run(spec, tmp_path / "whole")
    killed(2, spec, tmp_path / "killed")
    checkpoint = tmp_path / "killed" / spec.digest / "checkpoint"
    content = read_checkpoint(checkpoint, {})
    if value is None:
        del content["trainer"][part]
    else:
        (content if part == "rows" else content["trainer"])[part] = value
    write_checkpoint(checkpoint, content)
    assert_same(run(spec, tmp_path / "killed"), whole)
    assert checkpoint.with_name("checkpoint.1").is_file()


def test_a_checkpoint_of_another_version_is_not_continued(small, tmp_path, killed, epochs, monkeypatch):
    killed(2, small(), tmp_path)
    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "VERSION", 2)
    epochs.clear()
    run(small(), tmp_path)
    assert epochs == [0, 1, 2, 3]
    assert (tmp_path / small().digest / "checkpoint.1").is_file()


def test_what_the_device_refuses_leaves_the_checkpoint_where_it_is(small, tmp_path, killed, monkeypatch):
    killed(2, small(), tmp_path)

    def refuse(self, state):
        raise RuntimeError("CUDA error: unspecified launch failure")

    monkeypatch.setattr(Trainer, "restore", refuse)
    with pytest.raises(RuntimeError, match="launch failure"):
        run(small(), tmp_path)
    assert sorted(p.name for p in (tmp_path / small().digest).iterdir()) == ["checkpoint", "log.jsonl", "progress.json"]


def test_leftovers_of_killed_processes_are_removed(small, tmp_path):
    folder = tmp_path / small().digest
    folder.mkdir()
    (folder / ".999999@elsewhere@checkpoint").write_bytes(b"half")
    run(small(), tmp_path)
    assert sorted(p.name for p in folder.iterdir()) == FILES


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit on the size of files")
@pytest.mark.parametrize("dies_at", [0, 2])
def test_a_full_disk_says_what_it_needs_and_loses_nothing(small, tmp_path, killed, epochs, dies_at):
    spec = small()
    whole = run(spec, tmp_path / "whole")
    if dies_at:
        killed(dies_at, spec, tmp_path / "full")
    folder = tmp_path / "full" / spec.digest
    before = (folder / "checkpoint").read_bytes() if dies_at else None
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(DiskFull, match=r"checkpoint needs \d\.\d\d MB in .* Got [\d.]+ MB free"):
            run(spec, tmp_path / "full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    names = {p.name for p in folder.iterdir()}
    assert names == {"failed.json", "log.jsonl"} | ({"checkpoint", "progress.json"} if dies_at else set())
    assert before is None or (folder / "checkpoint").read_bytes() == before
    assert status([spec], tmp_path / "full")[0].detail.startswith("checkpoint needs")
    epochs.clear()
    assert_same(run(spec, tmp_path / "full"), whole)
    assert epochs == list(range(dies_at, 4))
    assert sorted(p.name for p in folder.iterdir()) == FILES


# --- what cannot be done --------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"model": "resnet51"}, ValueError, "model must be one of small-cnn"),
        ({"dataset": "mnst"}, ValueError, "dataset must be one of fashion-mnist"),
        ({"n_train": 1000}, ValueError, "n_train . n_validation must be at most 100"),
        ({"model": "gp-cnn"}, ValueError, "model must be one of"),
    ],
)
def test_a_bad_specification_leaves_no_folder(small, tmp_path, change, error, message):
    with pytest.raises(error, match=message):
        run(small(**change), tmp_path)
    assert folders(tmp_path) == []


def test_a_batch_that_would_be_dropped_is_refused(small, tmp_path, monkeypatch):
    monkeypatch.setitem(RECIPES, "book-fast", replace(RECIPES["book-fast"], last_batch="drop"))
    assert len(run(small(), tmp_path).history) == 8
    with pytest.raises(ValueError, match=r"a batch of 61 must be there once, as parts of one are dropped. Got 60"):
        run(small(batch_size=61), tmp_path)


def test_non_finite_loss_stops_with_the_last_good_checkpoint(small, tmp_path):
    spec = small(learning_rate=1e30)
    with pytest.raises(NonFiniteLoss, match="the training loss must stay finite"):
        run(spec, tmp_path)
    assert not (tmp_path / spec.digest / "logits.npz").exists()
    assert events(tmp_path / spec.digest) == ["start", "failed"]
    assert status([spec], tmp_path)[0].state == "failed"


def test_a_disk_too_full_for_the_reason_hides_no_reason(small, tmp_path, monkeypatch):
    real = sys.modules["reproduction.engine.run"].write

    def full(path, content):
        if path.name == "failed.json":
            raise DiskFull("no room")
        real(path, content)

    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "write", full)
    with pytest.raises(NonFiniteLoss):
        run(small(learning_rate=1e30), tmp_path)


def test_too_large_a_batch_says_which_to_try(small, tmp_path, monkeypatch):
    import torch

    def full(self, *data):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Trainer, "train_epoch", full)
    with pytest.raises(MemoryError, match=r"a batch of 20 does not fit: try -p batch_size 10. CUDA out of memory"):
        run(small(), tmp_path)


# --- time and company -----------------------------------------------------------------


def test_time_up_stops_at_a_checkpoint_and_the_next_calls_go_on(small, tmp_path, epochs, monkeypatch):
    spec = small(evaluate_every=3)
    whole = run(spec, tmp_path / "whole")
    epochs.clear()
    with pytest.raises(TimeUp, match="no time was left"):
        run(spec, tmp_path / "short", until=time.time() - 1)
    assert not (tmp_path / "short" / spec.digest).exists()

    def short():
        """A clock that shows a second more at each look: one to begin, one for the loop, two an epoch."""
        clock = itertools.count()
        monkeypatch.setattr(sys.modules["reproduction.engine.run"], "time", SimpleNamespace(time=lambda: next(clock)))
        return run(spec, tmp_path / "short", until=3.5)

    for done in (1, 2, 3):
        with pytest.raises(TimeUp, match=f"time is up after epoch {done} of 4"):
            short()
        assert status([spec], tmp_path / "short")[0].state == "stopped"
    assert_same(short(), whole)
    assert epochs == [0, 1, 2, 3]
    assert events(tmp_path / "short" / spec.digest) == ["start", "stopped"] * 3 + ["start", "done"]


def test_a_run_that_failed_before_and_was_stopped_now_is_stopped(small, tmp_path, monkeypatch):
    spec = small()
    (tmp_path / spec.digest).mkdir()
    (tmp_path / spec.digest / "failed.json").write_text('{"reason": "the disk was full"}')
    clock = itertools.count()
    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "time", SimpleNamespace(time=lambda: next(clock)))
    with pytest.raises(TimeUp, match="time is up after epoch 1 of 4"):
        run(spec, tmp_path, until=3.5)
    (entry,) = status([spec], tmp_path)
    assert entry.state == "stopped"
    assert exit_status([entry.state]) == CALL_AGAIN


def test_a_first_epoch_that_takes_longer_is_not_expected_again(small, tmp_path, monkeypatch):
    """On a GPU it compiles: 100 s, where the others take 1; the whole run would be over at 113."""
    looks = iter([0, 1, 2, *range(102, 120)])  # to begin, for the loop, two an epoch
    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "time", SimpleNamespace(time=lambda: next(looks)))
    run(small(), tmp_path, until=203.5)


def test_another_process_is_waited_for_until_the_time_is_up(small, tmp_path):
    spec = small()
    holding, done = threading.Event(), threading.Event()

    def hold():
        with held(tmp_path / spec.digest, "x"):
            holding.set()
            done.wait(5)

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait()
    try:
        with pytest.raises(TimeUp, match=rf"time is up, and another process is still doing run {spec.digest}"):
            run(spec, tmp_path, until=time.time() + 0.1)
    finally:
        done.set()
        thread.join()
    assert folders(tmp_path) == []


def test_what_another_process_finished_in_the_meantime_is_not_repeated(small, tmp_path, epochs, monkeypatch):
    """It was not there at the first look; there is a second one under the lock."""
    spec, module = small(), sys.modules["reproduction.engine.run"]

    def waited(*given):
        monkeypatch.setattr(module, "held", held)
        run(spec, tmp_path)
        return held(*given)

    monkeypatch.setattr(module, "held", waited)
    assert run(spec, tmp_path).spec == spec
    assert epochs == [0, 1, 2, 3]
    assert folders(tmp_path) == [spec.digest]


def test_import_is_light():
    code = "import sys, reproduction.engine; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert face_run is run


@pytest.mark.parametrize(
    ("options", "error"), [({"device": "foo"}, ValueError), ({"until": 0.0}, TimeUp)], ids=["device", "time"]
)
def test_what_cannot_be_made_anew_leaves_the_finished_run_in_its_place(small, tmp_path, options, error):
    spec = small()
    whole = run(spec, tmp_path)
    with pytest.raises(error):
        run(spec, tmp_path, again=True, **options)
    assert folders(tmp_path) == [spec.digest]
    assert_same(run(spec, tmp_path), whole)


# --- threads ---------------------------------------------------------------------------


@pytest.mark.parametrize("around", [1, 3])
def test_threads_are_those_of_the_run_whatever_is_around_it(small, tmp_path, monkeypatch, around):
    """Of `focal run` and of a job of a grid, which has OMP_NUM_THREADS 1, the numbers are the same."""
    train_epoch, seen, before = Trainer.train_epoch, [], torch.get_num_threads()
    monkeypatch.setattr(Trainer, "train_epoch", lambda *a: seen.append(torch.get_num_threads()) or train_epoch(*a))
    torch.set_num_threads(around)
    try:
        for threads in (1, 2):
            spec = small(epochs=1, threads=threads)
            run(spec, tmp_path)
            assert json.loads((tmp_path / spec.digest / "spec.json").read_text())["threads"] == threads
        assert torch.get_num_threads() == around
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 2]
    assert small(threads=1).digest == small().digest != small(threads=2).digest


# --- epochs on the way -----------------------------------------------------------------


def test_logits_after_epochs_on_the_way_are_those_of_shorter_runs(small, tmp_path, killed):
    spec = small(keep_every=1)
    killed(3, spec, tmp_path)
    whole = run(spec, tmp_path)  # resumed, with those of before
    assert list(whole.test_by_epoch) == [1, 2, 3]
    for epoch, kept in whole.test_by_epoch.items():
        shorter = run(small(epochs=epoch), tmp_path)
        np.testing.assert_array_equal(kept.logits, shorter.test.logits)
        np.testing.assert_array_equal(kept.labels, shorter.test.labels)
    np.testing.assert_array_equal(whole.test.logits, run(small(), tmp_path).test.logits)  # and change nothing
    assert list(run(small(keep_every=2), tmp_path).test_by_epoch) == [2]


@pytest.mark.parametrize("again", [False, True])
def test_a_run_of_newer_code_is_not_repeated(small, tmp_path, again):
    spec = small()
    run(spec, tmp_path)
    record = tmp_path / spec.digest / "spec.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"training_version": 7}))
    with pytest.raises(NewerRun, match=r"must be of training code 1 or older. Got 7: update this code"):
        run(spec, tmp_path, again=again)
    assert folders(tmp_path) == [spec.digest]


def test_shared_runs_do_what_nobody_does(small, tmp_path, monkeypatch):
    """While the first is taken, the others are done; then the first, made by the other process, is loaded."""
    specs = [small(gamma=gamma) for gamma in (0, 1, 2, 3)]
    first, second, failed = specs[0], specs[1], specs[3]
    run(second, tmp_path)
    (tmp_path / failed.digest).mkdir()
    (tmp_path / failed.digest / "failed.json").write_text('{"reason": "because"}')
    taken = {first.digest}
    real, order = held, []

    def shared(folder, name, wait=True, until=math.inf):
        order.append((name.split("(")[1].split(",")[0], wait))
        if folder.name in taken and not wait:
            raise RunTaken(name)
        return real(folder, name, wait, until)

    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "held", shared)
    result = run_shared(specs, tmp_path)
    assert result.spec == first
    assert order == [
        ("cross-entropy", False),  # taken; the second is done already
        ("cross-entropy", False),
        ("focal 2", False),  # done in the meantime
        ("cross-entropy", False),  # still taken; what failed is not tried
        ("cross-entropy", True),
    ]
    assert [entry.state for entry in status(specs, tmp_path)] == ["done", "done", "done", "failed"]


def test_what_another_of_the_shared_runs_raises_is_left_to_its_job(small, tmp_path, monkeypatch, caplog):
    first, bad = small(), small(learning_rate=1e30)
    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "held", _first_taken(first, held))
    with caplog.at_level(logging.WARNING):
        assert run_shared([first, bad], tmp_path).spec == first
    assert "the training loss must stay finite" in caplog.text


def test_what_another_process_has_just_made_is_not_made_again(small, tmp_path, epochs, monkeypatch):
    first, second = small(), small(gamma=1)
    run(first, tmp_path)
    run(second, tmp_path)
    epochs.clear()
    monkeypatch.setattr(sys.modules["reproduction.engine.run"], "held", _first_taken(first, held))
    assert run_shared([first, second], tmp_path, again=True).spec == first
    assert epochs == []
    assert folders(tmp_path) == sorted([first.digest, second.digest])


def _first_taken(spec, real):
    def lock(folder, name, wait=True, until=math.inf):
        if folder.name == spec.digest and not wait:
            raise RunTaken(name)
        return real(folder, name, wait, until)

    return lock

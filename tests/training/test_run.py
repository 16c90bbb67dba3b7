"""Runs: content-addressed, atomic, resumable to the same weights."""

import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
import torch

from focal_lib.checkout import ROOT
from focal_lib.training import models
from focal_lib.training.crops import augmented, draw_crops
from focal_lib.training.monitor import summary
from focal_lib.training.run import main, run
from focal_lib.training.spec import LOSSES, Spec, read_grid
from focal_lib.training.store import load
from focal_lib.training.trainer import NonFiniteLoss, Trainer
from tests.training.test_data import write_npz

SMALL = {"n_train": 60, "n_validation": 30, "epochs": 4, "batch_size": 20, "evaluate_every": 1}


@pytest.fixture(autouse=True)
def small_data(tmp_path, monkeypatch):
    write_npz(tmp_path / "data" / "fashion-mnist", n_train=100, n_test=30)
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))


def test_digest_depends_on_every_field_and_on_nothing_else():
    assert Spec(gamma=3).digest == Spec(gamma=3.0).digest
    changed = [{"gamma": 1.0}, {"seed": 1}, {"n_train": 1}, {"epochs": 1}, {"model": "x"}, {"loss": "brier"}]
    changed += [{"recipe": "cifar-fast"}, {"loss": "mmce", "lam": 2}, {"loss": "mmce", "lam": 1}]
    assert len({Spec(**c).digest for c in changed} | {Spec().digest}) == len(changed) + 1


def test_run_leaves_everything_and_is_not_repeated(tmp_path):
    spec = Spec(gamma=2.0, **SMALL)
    result = run(spec, tmp_path)
    folder = tmp_path / spec.digest
    assert sorted(p.name for p in folder.iterdir()) == [
        "history.parquet",
        "log.jsonl",
        "logits.npz",
        "spec.json",
        "weights.pt",
    ]
    assert result.validation.logits.shape == (30, 10)
    assert result.validation.logits.dtype == np.float32
    assert set(result.history.columns) >= {"epoch", "split", "nll", "error", "adaptive_ece", "confidence"}
    stamp = (folder / "logits.npz").stat().st_mtime_ns
    run(spec, tmp_path)
    assert (folder / "logits.npz").stat().st_mtime_ns == stamp


def test_same_spec_same_numbers(tmp_path):
    spec = Spec(**SMALL)
    first, second = run(spec, tmp_path / "a"), run(spec, tmp_path / "b")
    np.testing.assert_array_equal(first.test.logits, second.test.logits)
    pd.testing.assert_frame_equal(first.history, second.history)


@pytest.mark.parametrize("killed_after", [1, 3])
def test_resumed_run_is_bitwise_the_uninterrupted_one(tmp_path, monkeypatch, killed_after):
    spec = Spec(gamma=1.0, **SMALL)
    whole = run(spec, tmp_path / "whole")
    train_epoch = Trainer.train_epoch

    def dying(self, *data):
        if self.epoch == killed_after:
            raise KeyboardInterrupt
        return train_epoch(self, *data)

    monkeypatch.setattr(Trainer, "train_epoch", dying)
    with pytest.raises(KeyboardInterrupt):
        run(spec, tmp_path / "killed")
    assert not (tmp_path / "killed" / spec.digest / "logits.npz").exists()
    epochs = []

    def counting(self, *data):
        epochs.append(self.epoch)
        return train_epoch(self, *data)

    monkeypatch.setattr(Trainer, "train_epoch", counting)
    resumed = run(spec, tmp_path / "killed")
    assert epochs == list(range(killed_after, 4))
    np.testing.assert_array_equal(resumed.test.logits, whole.test.logits)
    pd.testing.assert_frame_equal(resumed.history, whole.history)


def test_damaged_logits_are_detected_and_the_run_repeated(tmp_path):
    spec = Spec(**SMALL)
    whole = run(spec, tmp_path)
    path = tmp_path / spec.digest / "logits.npz"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match="must be whole"):
        load(spec, tmp_path)
    np.testing.assert_array_equal(run(spec, tmp_path).test.logits, whole.test.logits)
    arrays = dict(np.load(path))
    arrays["test_logits"] = arrays["test_logits"] + 1
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="must match its checksum"):
        load(spec, tmp_path)


def test_damaged_checkpoint_starts_again(tmp_path):
    spec = Spec(**SMALL)
    (tmp_path / spec.digest).mkdir()
    (tmp_path / spec.digest / "checkpoint.pt").write_bytes(b"half a checkpoint")
    assert len(run(spec, tmp_path).history) == 8


def test_another_specification_in_the_folder_is_refused(tmp_path):
    spec = Spec(**SMALL)
    run(spec, tmp_path)
    path = tmp_path / spec.digest / "spec.json"
    record = json.loads(path.read_text())
    record["spec"]["gamma"] = 9.0
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match="must hold the specification"):
        run(spec, tmp_path)


def test_non_finite_loss_stops_with_the_last_good_checkpoint(tmp_path):
    spec = Spec(learning_rate=1e30, **SMALL)
    with pytest.raises(NonFiniteLoss, match="the training loss must stay finite"):
        run(spec, tmp_path)
    assert not (tmp_path / spec.digest / "logits.npz").exists()


def test_missing_run_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"\(focal 2, seed 0\) has no spec.json"):
        load(Spec(gamma=2), tmp_path)


def test_grid(tmp_path):
    path = tmp_path / "grid.yaml"
    path.write_text("gamma: [0, 2]\nseed: [0, 1, 2]\nepochs: 3\n")
    specs = read_grid(path)
    assert [(s.gamma, s.seed) for s in specs] == [(g, s) for g in (0.0, 2.0) for s in (0, 1, 2)]
    path.write_text("seed: [0, 1]\nloss: [{loss: focal, gamma: [0, 2]}, {loss: flsd-53}]\n")
    specs = read_grid(path)
    assert [(s.seed, s.label) for s in specs] == [
        (s, n) for s in (0, 1) for n in ("cross-entropy", "focal 2", "flsd-53")
    ]
    path.write_text("gama: [0, 2]\n")
    with pytest.raises(ValueError, match=r"keys of a grid must be among dataset, model.*Got gama"):
        read_grid(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of cross-entropy, focal"),
        ({"epochs": -1}, "epochs must be >= 0"),
        ({"n_train": 0}, "n_train must be at least 1"),
        ({"recipe": "slow"}, "recipe must be one of book-fast"),
        ({"loss": "brier", "gamma": 2}, "brier has no gamma"),
        ({"lam": 2}, "focal has no lam"),
        ({"gamma": -1}, "gamma must be >= 0"),
    ],
)
def test_bad_specification(change, message):
    with pytest.raises(ValueError, match=message):
        Spec(**change)


def test_unknown_model_lists_the_known():
    with pytest.raises(ValueError, match=r"model must be one of small-cnn, .*Got 'resnet'"):
        models.build("resnet", 1, 28, 10)


@pytest.mark.parametrize(("channels", "size"), [(1, 28), (3, 32), (1, 30)])
def test_model_shapes(channels, size):
    assert models.build("small-cnn", channels, size, 7)(torch.zeros(2, channels, size, size)).shape == (2, 7)


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_runs_and_resumes_bitwise(tmp_path, monkeypatch, name):
    values = {"gamma": 2.0, "lam": 0.1}
    spec = Spec(loss=name, **SMALL, **{key: values[key] for key in LOSSES[name]})
    whole = run(spec, tmp_path / "whole")
    train_epoch = Trainer.train_epoch

    def dying(self, *data):
        if self.epoch == 2:
            raise KeyboardInterrupt
        return train_epoch(self, *data)

    monkeypatch.setattr(Trainer, "train_epoch", dying)
    with pytest.raises(KeyboardInterrupt):
        run(spec, tmp_path / "killed")
    monkeypatch.setattr(Trainer, "train_epoch", train_epoch)
    resumed = run(spec, tmp_path / "killed")
    np.testing.assert_array_equal(resumed.test.logits, whole.test.logits)
    pd.testing.assert_frame_equal(resumed.history, whole.history)


def test_papers_recipe_runs_with_augmentation_and_drops(tmp_path):
    spec = Spec(recipe="kk24-cifar", **SMALL | {"epochs": 7})
    assert spec.training.drops == (3, 5)
    assert spec.training.momentum == 0.9
    result = run(spec, tmp_path)
    assert np.isfinite(result.test.logits).all()
    record = json.loads((tmp_path / spec.digest / "spec.json").read_text())
    assert record["recipe"].startswith("SGD of M20")


def test_learning_rate_drops_where_the_recipe_says():
    recipe = Spec(recipe="kk24-cifar", epochs=7).training
    trainer = Trainer(models.build("mlp", 1, 4, 3), None, recipe, torch.Generator())
    rates = []
    for _ in range(7):
        rates.append(trainer.optimiser.param_groups[0]["lr"])
        trainer.optimiser.step()
        trainer.schedule.step()
    np.testing.assert_allclose(rates, [0.1] * 3 + [0.01] * 2 + [0.001] * 2)


def test_history_against_slow_definitions(tmp_path):
    """Gradient quantiles sample by sample through autograd, norms and entropies from the logits."""
    from focal_lib.losses import FocalLoss

    torch.manual_seed(0)
    model = models.build("mlp", 1, 6, 4)
    trainer = Trainer(model, FocalLoss(2.0), Spec().training, torch.Generator())
    images, labels = torch.randn(25, 1, 6, 6), torch.arange(25) % 4
    row = summary(trainer, images, labels)
    norms = []
    for image, label in zip(images, labels, strict=True):
        model.zero_grad()
        FocalLoss(2.0)(model(image[None]), label[None]).backward()
        norms.append(float(torch.cat([model[-1].weight.grad.flatten(), model[-1].bias.grad]).norm()))
    for q in (10, 50, 90):
        assert row[f"gradient_q{q}"] == pytest.approx(np.quantile(norms, q / 100), rel=1e-4)
    probs = model(images).detach().double().softmax(-1).numpy()
    wrong = probs.argmax(-1) != labels.numpy()
    assert row["entropy_wrong"] == pytest.approx(-(probs * np.log(probs)).sum(-1)[wrong].mean(), rel=1e-6)
    assert row["nll_right"] == pytest.approx(-np.log(probs.max(-1))[~wrong].mean(), rel=1e-6)
    assert row["weight_norm"] == pytest.approx(float(model[-1].weight.detach().norm()), rel=1e-6)


def test_augmentation_is_a_crop_and_a_flip():
    images = torch.arange(2 * 3 * 8 * 8, dtype=torch.float32).reshape(2, 3, 8, 8) + 1
    drawn = draw_crops(2, torch.Generator().manual_seed(3))
    out = augmented(images, drawn)
    assert out.shape == images.shape
    padded = torch.nn.functional.pad(images, (4,) * 4)
    for before, after in zip(padded, out, strict=True):
        crops = [before[:, y : y + 8, x : x + 8] for y in range(9) for x in range(9)]
        assert any(torch.equal(after, c) or torch.equal(after, c.flip(-1)) for c in crops)
    many = draw_crops(4000, torch.Generator().manual_seed(3))
    assert many.min(0).values.tolist() == [0, 0, 0]
    assert many.max(0).values.tolist() == [8, 8, 1]
    still = augmented(images, torch.tensor([[4, 4, 0], [4, 4, 1]]))
    torch.testing.assert_close(still, torch.stack([images[0], images[1].flip(-1)]))


def test_import_is_light():
    code = "import sys, focal_lib.training; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_workflows_command_keeps_a_finished_run_unless_it_is_older_than_the_code(tmp_path):
    from click.testing import CliRunner

    grid = tmp_path / "grid.yaml"
    grid.write_text("\n".join(f"{key}: {value}" for key, value in SMALL.items()))
    (spec,) = read_grid(grid)
    code = tmp_path / "code.py"
    code.write_text("")
    command = ["--grid", str(grid), "--digest", spec.digest, "--root", str(tmp_path / "runs"), str(code)]

    def attempts():
        assert CliRunner().invoke(main, command, catch_exceptions=False).exit_code == 0
        events = [json.loads(line) for line in (tmp_path / "runs" / spec.digest / "log.jsonl").read_text().splitlines()]
        return [e["event"] for e in events]

    assert attempts() == ["start", "done"]
    assert attempts() == ["start", "done"]
    os.utime(code, (time.time() + 60,) * 2)
    assert attempts() == ["start", "done"] * 2


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/grids").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_grid_of_the_project_is_a_grid(path):
    specs = read_grid(path)
    assert len({spec.digest for spec in specs}) == len(specs) > 0
    assert {spec.model for spec in specs} <= set(models.MODELS)
    stated = re.search(r"(\d+) runs", path.read_text())
    assert stated is None or int(stated.group(1)) == len(specs)

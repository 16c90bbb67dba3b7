"""Runs of a second: little data, few epochs."""

import json

import numpy as np
import pytest

from reproduction.engine.data import snippets
from reproduction.engine.recording import copy_runs, not_recorded
from reproduction.engine.run import run
from reproduction.engine.spec import Spec
from reproduction.engine.store import load
from reproduction.engine.trainer import Trainer

SMALL = {"n_train": 60, "n_validation": 30, "epochs": 4, "batch_size": 20, "evaluate_every": 1}


@pytest.fixture
def small_data(tmp_path, monkeypatch, write_npz):
    """A data set of a hundred images where Fashion-MNIST is looked for."""
    write_npz(tmp_path / "data" / "fashion-mnist", n_train=100, n_test=30)
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))


@pytest.fixture
def small(small_data):
    """Makes a specification of four short epochs on it."""
    return lambda **changes: Spec(**SMALL | changes)


@pytest.fixture(scope="session")
def write_reviews():
    """Writes the two files of movie reviews with n texts; `shift` moves the numbers of the second away."""

    def write(folder, n=20, shift=0):
        folder.mkdir(parents=True, exist_ok=True)
        votes = [[3, 0, -1, 2], [-2, -2, 0, 1]] * (n // 2)
        lines = [f"{i + 1}\t{np.mean(v)}\tA film number {i}" for i, v in enumerate(votes)]
        (folder / snippets.REVIEWS[0]).write_text("\n".join(lines) + "\n")
        lines = [f"{i + 1 + shift}\t{np.mean(v)}\t{np.std(v)}\t{v}" for i, v in enumerate(votes)]
        (folder / snippets.REVIEWS[1]).write_text("\n".join(lines) + "\n")

    return write


@pytest.fixture
def finished(small, tmp_path):
    """A finished run, its folder, and what it was."""
    spec = small(gamma=2.0)
    result = run(spec, tmp_path)
    return spec, tmp_path / spec.digest, result


@pytest.fixture(scope="session")
def change_record():
    """Changes entries of the record of a run in its folder."""

    def change(folder, **changes):
        record = json.loads((folder / "spec.json").read_text())
        (folder / "spec.json").write_text(json.dumps(record | changes))

    return change


@pytest.fixture(scope="session")
def record_runs():
    """Copies finished runs to keep."""

    def record(specs, destination, root=None):
        results = [load(spec, root) for spec in specs]
        copy_runs(not_recorded(results, destination), destination, root)

    return record


@pytest.fixture
def killed(monkeypatch):
    """Does a run that dies at the beginning of that epoch."""
    train_epoch = Trainer.train_epoch

    def until(epoch, *args, **options):
        def dying(self, *data):
            if self.epoch == epoch:
                raise KeyboardInterrupt
            return train_epoch(self, *data)

        with monkeypatch.context() as patch:
            patch.setattr(Trainer, "train_epoch", dying)
            with pytest.raises(KeyboardInterrupt):
                run(*args, **options)

    return until


@pytest.fixture
def grid(tmp_path):
    """Writes the text of a grid to a file."""

    def write(text):
        (tmp_path / "grid.yaml").write_text(text)
        return tmp_path / "grid.yaml"

    return write


@pytest.fixture
def epochs(monkeypatch):
    """The epochs that are trained from now on."""
    train_epoch, seen = Trainer.train_epoch, []

    def counting(self, *data):
        seen.append(self.epoch)
        return train_epoch(self, *data)

    monkeypatch.setattr(Trainer, "train_epoch", counting)
    return seen


@pytest.fixture
def rated(tmp_path, monkeypatch):
    """200 texts of each source: 'good' raises the rating, 'bad' lowers it. Returns the folder."""
    folder = tmp_path / "data" / snippets.HOME
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for source, name in snippets.SOURCES.items():
        lines = []
        for i in range(200):
            words = list(rng.choice(("good", "bad", "fine", "dull", "long"), 5))
            rating = np.clip(words.count("good") - words.count("bad"), -4, 4) + 0.1
            lines.append(
                f"{i}_1\t{rating}\t{' '.join(words)}" + (" &amp; elsewhere" if source != snippets.FILMS else "")
            )
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))
    return folder

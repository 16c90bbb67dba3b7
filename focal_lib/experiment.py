"""One run: a frozen specification in, logits and history out, in a folder named by its hash.

    python -m focal_lib.experiment list --grid workflow/grids/fashion-mnist.yaml
    python -m focal_lib.experiment run --grid ... --digest DIGEST --root _build/runs

A folder holds spec.json (the specification, versions, device), history.parquet (metrics by
epoch) and logits.npz, each written under another name and renamed. Killed at any point, a run
goes on from its last checkpoint and ends with the weights of an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import pickle
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd
import yaml

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Logits", "Result", "Spec", "default_grid", "default_runs", "grid", "load", "load_grid", "run"]

ROOT = Path(__file__).resolve().parents[1]
FILES = ("spec.json", "history.parquet", "logits.npz")
LOSSES = ("focal", "proper-focal", "brier")


@dataclass(frozen=True)
class Spec:
    """All that decides the numbers of a run."""

    dataset: str = "fashion-mnist"
    model: str = "small-cnn"
    loss: str = "focal"  # gamma = 0 is cross-entropy
    gamma: float = 0.0
    seed: int = 0  # of the split, the weights and the order of the batches
    n_train: int = 2000
    n_validation: int = 5000
    epochs: int = 100
    batch_size: int = 100
    learning_rate: float = 1e-3  # Adam
    evaluate_every: int = 5  # epochs

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}. Got {self.loss!r}.")
        for name in ("n_train", "n_validation", "epochs", "batch_size", "evaluate_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1. Got {getattr(self, name)}.")
        if not self.gamma >= 0:
            raise ValueError(f"gamma must be >= 0. Got {self.gamma}.")
        object.__setattr__(self, "gamma", float(self.gamma))  # 3 and 3.0 are one run

    @property
    def digest(self) -> str:
        """Hash of the specification: the name of its folder."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """For tables and legends: 'cross-entropy', 'focal 3'."""
        if self.loss == "focal":
            return "cross-entropy" if self.gamma == 0 else f"focal {self.gamma:g}"
        return f"{self.loss} {self.gamma:g}"


@dataclass(frozen=True)
class Logits:
    """Logits float32 (n, K) and labels int64 (n,) of one split."""

    logits: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Result:
    """A finished run."""

    spec: Spec
    history: pd.DataFrame  # epoch, split, nll, error, ece, confidence, accuracy
    train: Logits
    validation: Logits
    test: Logits


# --- grids -----------------------------------------------------------------------------


def default_runs() -> Path:
    """Where runs are kept: FOCAL_RUNS, else _build/runs of the project."""
    return Path(os.environ.get("FOCAL_RUNS") or ROOT / "_build" / "runs")


def default_grid() -> Path:
    """The grid that the book reports."""
    return ROOT / "workflow" / "grids" / "fashion-mnist.yaml"


def grid(path: str | Path) -> list[Spec]:
    """The specifications of a YAML grid: every combination of the values listed.

    Raises:
        ValueError: a key that is no field of Spec; the message lists the fields.
    """
    content = yaml.safe_load((ROOT / path).read_text())
    known = [f.name for f in fields(Spec)]
    if unknown := sorted(set(content) - set(known)):
        raise ValueError(f"keys of a grid must be among {', '.join(known)}. Got {', '.join(unknown)}.")
    lists = [value if isinstance(value, list) else [value] for value in content.values()]
    return [Spec(**dict(zip(content, values, strict=True))) for values in itertools.product(*lists)]


def load_grid(path: str | Path | None = None, root: str | Path | None = None) -> list[Result]:
    """Every run of a grid, in the grid's order.

    Raises:
        FileNotFoundError: a run that is not there yet.
    """
    return [load(spec, root) for spec in grid(path or default_grid())]


# --- files -----------------------------------------------------------------------------


def _write(path: Path, write: Callable[[Path], Any]) -> None:
    """Write beside and rename, so that a file of that name is always whole."""
    part = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + str(arrays[name].dtype).encode() + str(arrays[name].shape).encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _folder(spec: Spec, root: str | Path | None) -> Path:
    return (ROOT / root if root else default_runs()) / spec.digest


def load(spec: Spec, root: str | Path | None = None) -> Result:
    """A finished run.

    Raises:
        FileNotFoundError: it has not been run, or not to the end.
        ValueError: the folder holds another specification, or its logits do not match their checksum.
    """
    folder = _folder(spec, root)
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise FileNotFoundError(f"run {spec.digest} ({spec.label}, seed {spec.seed}) has no {missing[0]}.")
    record = json.loads((folder / "spec.json").read_text())
    if record["spec"] != asdict(spec):
        raise ValueError(f"{folder.name} must hold the specification it is named by. Got {record['spec']}.")
    try:
        with np.load(folder / "logits.npz", allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:
        raise ValueError(f"{folder.name}/logits.npz must be whole. Got {error}.") from None
    if _checksum(arrays) != record["checksum"]:
        raise ValueError(f"{folder.name}/logits.npz must match its checksum. It does not.")
    parts = {n: Logits(arrays[f"{n}_logits"], arrays[f"{n}_labels"]) for n in ("train", "validation", "test")}
    return Result(spec, pd.read_parquet(folder / "history.parquet"), **parts)


# --- running ---------------------------------------------------------------------------


def run(spec: Spec, root: str | Path | None = None, device: str = "auto", progress: bool = False) -> Result:
    """Train, or resume, or just load where it is finished.

    Raises:
        ValueError: the folder holds another specification.
        NonFiniteLoss: the loss became NaN or infinite; the last good checkpoint is kept.
    """
    folder = _folder(spec, root)
    try:
        return load(spec, root)
    except FileNotFoundError:
        pass
    except ValueError as error:
        if "specification" in str(error):
            raise
        (folder / "logits.npz").unlink()  # damaged: repeat the run
    folder.mkdir(parents=True, exist_ok=True)
    _train(spec, folder, device, progress)
    return load(spec, root)


def _train(spec: Spec, folder: Path, device: str, progress: bool) -> None:
    import torch
    from tqdm.auto import trange

    from focal_lib import data, models
    from focal_lib.training import Trainer, logits_of, pick_device, to_tensors

    where = pick_device(device)
    torch.use_deterministic_algorithms(True)
    dataset = data.load(spec.dataset)
    splits = data.split(dataset, spec.n_train, spec.n_validation, spec.seed)
    mean, std = float(splits[0].images.mean()) / 255, float(splits[0].images.std()) / 255
    parts = {
        name: to_tensors(part, where, mean, std)
        for name, part in zip(("train", "validation", "test"), splits, strict=True)
    }
    _, side, _, channels = dataset.train.images.shape
    torch.manual_seed(spec.seed)
    model = models.build(spec.model, channels, side, dataset.classes)
    model = model.to(where, memory_format=torch.channels_last)  # type: ignore[call-overload]
    trainer = Trainer(
        model,
        _loss(spec),
        torch.optim.Adam(model.parameters(), lr=spec.learning_rate),
        torch.Generator().manual_seed(spec.seed),
        spec.batch_size,
    )
    rows: list[dict[str, Any]] = []
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.is_file():
        rows = _resume(trainer, checkpoint, spec)

    for epoch in trange(trainer.epoch + 1, spec.epochs + 1, disable=not progress, desc=spec.label):
        trainer.train_epoch(*parts["train"])
        if epoch % spec.evaluate_every == 0 or epoch == spec.epochs:
            for name in ("train", "test"):
                images, labels = parts[name]
                rows.append({"epoch": epoch, "split": name, **_summary(logits_of(model, images), labels)})
            saved = {"trainer": trainer.state(), "rows": rows, "digest": spec.digest}
            _write(checkpoint, lambda path, saved=saved: torch.save(saved, path))  # type: ignore[misc]

    arrays = {}
    for name, (images, labels) in parts.items():
        arrays[f"{name}_logits"] = logits_of(model, images).cpu().numpy()
        arrays[f"{name}_labels"] = labels.cpu().numpy()
    record = {
        "spec": asdict(spec),
        "checksum": _checksum(arrays),
        "device": torch.cuda.get_device_name() if where.type == "cuda" else platform.machine(),
        "versions": {n: version(n) for n in ("focal-lib", "torch", "numpy")} | {"python": platform.python_version()},
    }
    _write(folder / "history.parquet", lambda path: pd.DataFrame(rows).to_parquet(path))
    _write(folder / "spec.json", lambda path: path.write_text(json.dumps(record, indent=1)))
    _write(folder / "logits.npz", lambda path: _save_npz(path, arrays))  # last: its presence ends the run
    checkpoint.unlink(missing_ok=True)


def _save_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    with path.open("wb") as file:  # savez would add a suffix to the name
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _loss(spec: Spec) -> Callable[[Tensor, Tensor], Tensor]:
    from focal_lib import losses

    if spec.loss == "brier":
        return losses.BrierLoss()
    return (losses.FocalLoss if spec.loss == "focal" else losses.ProperFocalLoss)(spec.gamma)


def _resume(trainer: Any, checkpoint: Path, spec: Spec) -> list[dict[str, Any]]:
    """Put the trainer where the checkpoint left it; a damaged checkpoint starts from the beginning."""
    import torch

    try:
        saved = torch.load(checkpoint, weights_only=True)
        if saved["digest"] != spec.digest:
            raise KeyError("digest")
        trainer.restore(saved["trainer"])
        return list(saved["rows"])
    except (EOFError, KeyError, OSError, RuntimeError, ValueError, pickle.UnpicklingError):
        checkpoint.unlink()
        return []


def _summary(logits: Tensor, labels: Tensor) -> dict[str, float]:
    from focal_lib.metrics import ece, nll

    probs, truth = logits.double().softmax(-1).cpu().numpy(), labels.cpu().numpy()
    accuracy = float((probs.argmax(-1) == truth).mean())
    return {
        "nll": nll(probs, truth),
        "error": 1 - accuracy,
        "accuracy": accuracy,
        "confidence": float(probs.max(-1).mean()),
        "ece": ece(probs, truth, binning="mass"),
    }


@click.group()
def main() -> None:
    """Training runs of a grid."""


@main.command("list")
@click.option("--grid", "path", required=True, type=click.Path(exists=True))
def list_runs(path: str) -> None:
    """Digest, loss and seed of every run of a grid."""
    for spec in grid(path):
        click.echo(f"{spec.digest}  {spec.label:16} seed {spec.seed}")


@main.command("run")
@click.option("--grid", "path", required=True, type=click.Path(exists=True))
@click.option("--digest", required=True)
@click.option("--root", type=click.Path())
def run_one(path: str, digest: str, root: str | None) -> None:
    """Do one run of a grid."""
    found = {spec.digest: spec for spec in grid(path)}
    if digest not in found:
        raise click.ClickException(f"digest must be one of the grid's. Got {digest!r}.")
    result = run(found[digest], root)
    last = result.history[result.history["split"] == "test"].iloc[-1]
    click.echo(
        f"{found[digest].label}, seed {found[digest].seed}: test accuracy {last.accuracy:.3f}, ECE {last.ece:.3f}"
    )


if __name__ == "__main__":
    main()

"""One run: a frozen specification in, logits and history out, in a folder named by its hash.

    focal run -p loss=focal -p gamma=3 -p seed=0
    focal grid workflow/grids/fashion-mnist.yaml --cores 2

A folder holds spec.json (the specification, versions, device), history.parquet (metrics by
epoch), weights.pt and logits.npz, each written under another name and renamed, and log.jsonl, a
line an attempt. Killed at any point, a run goes on from its last checkpoint and ends with the
weights of an uninterrupted one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import platform
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np
import pandas as pd
import yaml

from focal_lib.atomic import write_whole
from focal_lib.names import LOSSES
from focal_lib.recipes import RECIPES, Recipe

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from focal_lib.data import Dataset
    from focal_lib.training import Trainer

__all__ = [
    "Logits",
    "Result",
    "Spec",
    "Status",
    "default_grid",
    "default_runs",
    "describe",
    "forget_older",
    "grid",
    "load",
    "load_grid",
    "record",
    "run",
    "run_many",
    "status",
    "trained",
]

ROOT = Path(__file__).resolve().parents[1]
FILES = ("spec.json", "history.parquet", "logits.npz")


@dataclass(frozen=True)
class Spec:
    """All that decides the numbers of a run. A field of the recipe can be overridden; 0 leaves it as it is."""

    dataset: str = "fashion-mnist"
    model: str = "small-cnn"
    loss: str = "focal"  # gamma = 0 is cross-entropy
    gamma: float = 0.0
    lam: float = 0.0  # weight of the added term: FCL, MMCE; the smoothing of label smoothing
    seed: int = 0  # of the split, the weights and the order of the batches
    recipe: str = "book-fast"
    n_train: int = 2000
    n_validation: int = 5000
    epochs: int = 0
    batch_size: int = 0
    learning_rate: float = 0.0
    evaluate_every: int = 5  # epochs

    def __post_init__(self) -> None:
        if self.loss == "cross-entropy":  # one run, one name
            object.__setattr__(self, "loss", "focal")
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of cross-entropy, {', '.join(LOSSES)}. Got {self.loss!r}.")
        if self.recipe not in RECIPES:
            raise ValueError(f"recipe must be one of {', '.join(RECIPES)}. Got {self.recipe!r}.")
        for name in ("n_train", "n_validation", "evaluate_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1. Got {getattr(self, name)}.")
        for name in ("gamma", "lam", "epochs", "batch_size", "learning_rate"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be >= 0. Got {getattr(self, name)}.")
        for name in ("gamma", "lam"):
            if getattr(self, name) and name not in LOSSES[self.loss]:
                raise ValueError(f"{self.loss} has no {name}: leave it out. Got {getattr(self, name)}.")
        for name in ("gamma", "lam", "learning_rate"):  # 3 and 3.0 are one run
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def training(self) -> Recipe:
        """The recipe with this run's own epochs, batch size and learning rate."""
        recipe = RECIPES[self.recipe]
        own = {n: getattr(self, n) for n in ("epochs", "batch_size", "learning_rate") if getattr(self, n)}
        if "epochs" in own:  # the drops keep their place in the run
            own["drops"] = tuple(round(drop * self.epochs / recipe.epochs) for drop in recipe.drops)
        return replace(recipe, **own)

    @property
    def record(self) -> dict[str, Any]:
        """The specification with its recipe spelled out, as JSON holds it. The recipe's source decides no number."""
        recipe = {name: value for name, value in asdict(self.training).items() if name != "source"}
        recipe["drops"] = list(recipe["drops"])
        return asdict(self) | {"training": recipe}

    @property
    def digest(self) -> str:
        """Hash of the record: the name of its folder."""
        return hashlib.sha256(json.dumps(self.record, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """For tables and legends: 'cross-entropy', 'focal 3', 'fcl 2 0.5'."""
        if self.loss == "focal":
            return "cross-entropy" if self.gamma == 0 else f"focal {self.gamma:g}"
        return " ".join([self.loss, *(f"{getattr(self, name):g}" for name in LOSSES[self.loss])])


@dataclass(frozen=True)
class Logits:
    """Logits float32 (n, K) and labels int64 (n,) of one split."""

    logits: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Result:
    """A finished run."""

    spec: Spec
    history: pd.DataFrame  # a row an evaluated epoch and split; see training.summary
    validation: Logits
    test: Logits
    train: Logits | None  # not kept in recorded runs


# --- grids -----------------------------------------------------------------------------


def default_runs() -> Path:
    """Where runs are kept: FOCAL_RUNS, else _build/runs of the project."""
    return Path(os.environ.get("FOCAL_RUNS") or ROOT / "_build" / "runs")


def default_grid() -> Path:
    """The grid that the book reports."""
    return ROOT / "workflow" / "grids" / "fashion-mnist.yaml"


def grid(path: str | Path) -> list[Spec]:
    """The specifications of a YAML grid: every combination of the values listed.

    A mapping in a list sets several fields at once, itself a grid:
    `loss: [{loss: focal, gamma: [1, 2]}, {loss: flsd-53}]`.

    Raises:
        ValueError: a key that is no field of Spec; the message lists the fields.
    """
    return [Spec(**row) for row in _combinations(yaml.safe_load((ROOT / path).read_text()))]


def _combinations(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    known = [f.name for f in fields(Spec)]
    if unknown := sorted(set(content) - set(known)):
        raise ValueError(f"keys of a grid must be among {', '.join(known)}. Got {', '.join(unknown)}.")
    rows: list[dict[str, Any]] = [{}]
    for name, value in content.items():
        options: list[dict[str, Any]] = []
        for item in value if isinstance(value, list) else [value]:
            options += _combinations(item) if isinstance(item, dict) else [{name: item}]
        rows = [row | option for row in rows for option in options]
    return rows


def load_grid(path: str | Path | None = None, root: str | Path | None = None) -> list[Result]:
    """Every run of a grid, in the grid's order.

    Raises:
        FileNotFoundError: a run that is not there yet.
    """
    return [load(spec, root) for spec in grid(path or default_grid())]


# --- files -----------------------------------------------------------------------------


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
    if record["spec"] != spec.record:
        raise ValueError(f"{folder.name} must hold the specification it is named by. Got {record['spec']}.")
    try:
        with np.load(folder / "logits.npz", allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:
        raise ValueError(f"{folder.name}/logits.npz must be whole. Got {error}.") from None
    if _checksum(arrays) != record["checksum"]:
        raise ValueError(f"{folder.name}/logits.npz must match its checksum. It does not.")
    parts = [
        Logits(arrays[f"{n}_logits"], arrays[f"{n}_labels"]) if f"{n}_logits" in arrays else None
        for n in ("validation", "test", "train")
    ]
    return Result(spec, pd.read_parquet(folder / "history.parquet"), *parts)  # type: ignore[arg-type]


def record(specs: Iterable[Spec], destination: Path, root: str | Path | None = None) -> int:
    """Copy finished runs to keep: history, specification, logits of validation and test. Returns their number.

    What is there already is not written again.

    Raises:
        FileNotFoundError: a run that is not finished.
    """
    count = 0
    for spec in specs:
        result = load(spec, root)
        target = destination / spec.digest
        if not (target / "logits.npz").is_file():
            target.mkdir(parents=True, exist_ok=True)
            arrays: dict[str, np.ndarray] = {}
            for name in ("validation", "test"):
                part = getattr(result, name)
                arrays |= {f"{name}_logits": part.logits, f"{name}_labels": part.labels}
            source = json.loads((_folder(spec, root) / "spec.json").read_text())
            text = json.dumps(source | {"checksum": _checksum(arrays)}, indent=1) + "\n"
            write_whole(target / "history.parquet", result.history.to_parquet)
            write_whole(target / "spec.json", lambda path, text=text: path.write_text(text))  # type: ignore[misc]
            write_whole(target / "logits.npz", lambda path, arrays=arrays: _save_npz(path, arrays))  # type: ignore[misc]
        count += 1
    return count


# --- running ---------------------------------------------------------------------------


def run(spec: Spec, root: str | Path | None = None, device: str = "auto", progress: bool = False) -> Result:
    """Train, or resume, or just load where it is finished.

    Raises:
        ValueError: the folder holds another specification.
        NonFiniteLoss: the loss became NaN or infinite; the last good checkpoint is kept.
        MemoryError: the device is too small for the batch; the message says which size to try.
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
    failure = folder / "failed.json"
    try:
        _train(spec, folder, device, progress)
    except Exception as error:
        _log(folder, "failed")
        reason = json.dumps({"spec": spec.record, "reason": str(error)}, indent=1)
        write_whole(failure, lambda path: path.write_text(reason))
        raise
    failure.unlink(missing_ok=True)
    _log(folder, "done")
    return load(spec, root)


def forget_older(spec: Spec, than: float, root: str | Path | None = None) -> None:
    """Remove what a run left before that time (seconds since 1970), finished or not: other code made it."""
    folder = _folder(spec, root)
    for name in ("logits.npz", "checkpoint.pt"):  # logits first: without them a run is not finished
        file = folder / name
        if file.is_file() and file.stat().st_mtime < than:
            file.unlink()


def _log(folder: Path, event: str, **details: Any) -> None:
    """A line in the run's log.jsonl: who did what when. Lines are appended, so that no attempt is forgotten."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "event": event, "host": platform.node(), "pid": os.getpid()}
    with (folder / "log.jsonl").open("a") as file:
        file.write(json.dumps(line | details) + "\n")


class Status(NamedTuple):
    """Where a run stands: 'done', 'failed', 'started' or 'waiting', and a word on it."""

    spec: Spec
    state: str
    detail: str


def status(specs: Iterable[Spec], root: str | Path | None = None) -> list[Status]:
    """Where each run stands, from the files in its folder. 'started' is running, or was interrupted."""
    found = []
    for spec in specs:
        folder = _folder(spec, root)
        checkpoint = folder / "checkpoint.pt"
        if (folder / "logits.npz").is_file():
            found.append(Status(spec, "done", ""))
        elif (folder / "failed.json").is_file():
            found.append(Status(spec, "failed", json.loads((folder / "failed.json").read_text())["reason"]))
        elif folder.is_dir():
            age = time.time() - checkpoint.stat().st_mtime if checkpoint.is_file() else None
            detail = "no checkpoint yet" if age is None else f"last checkpoint {age:.0f} s ago"
            found.append(Status(spec, "started", detail))
        else:
            found.append(Status(spec, "waiting", ""))
    return found


def _train(spec: Spec, folder: Path, device: str, progress: bool) -> None:
    import torch
    from tqdm.auto import trange

    from focal_lib.training import summary

    trainer, parts = _prepare(spec, device)
    rows: list[dict[str, Any]] = []
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.is_file():
        rows = _resume(trainer, checkpoint, spec)
    _log(folder, "start", epoch=trainer.epoch)
    for epoch in trange(trainer.epoch + 1, trainer.recipe.epochs + 1, disable=not progress, desc=spec.label):
        with _memory_advice(trainer.recipe.batch_size):
            trainer.train_epoch(*parts["train"])
        trainer.after_epoch(*parts["validation"])
        if _evaluated(spec, epoch):
            rows += [{"epoch": epoch, "split": name, **summary(trainer, *parts[name])} for name in ("train", "test")]
            saved = {"trainer": trainer.state(), "rows": rows, "digest": spec.digest}
            write_whole(checkpoint, lambda path, saved=saved: torch.save(saved, path))  # type: ignore[misc]
    _finish(spec, folder, trainer.model, parts, rows)
    checkpoint.unlink(missing_ok=True)


def _evaluated(spec: Spec, epoch: int) -> bool:
    return epoch % spec.evaluate_every == 0 or epoch == spec.training.epochs


@contextlib.contextmanager
def _memory_advice(batch_size: int) -> Iterator[None]:
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        message = f"a batch of {batch_size} does not fit: try batch_size={batch_size // 2}. {error}"
        raise MemoryError(message) from None


def _prepare(spec: Spec, device: str) -> tuple[Trainer, dict[str, tuple[Tensor, Tensor]]]:
    """A fresh trainer, and the tensors of 'train', 'validation' and 'test'."""
    import torch

    from focal_lib import models
    from focal_lib.losses.by_name import build
    from focal_lib.training import Trainer, pick_device

    where = pick_device(device)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS is not deterministic without
    torch.use_deterministic_algorithms(True, warn_only=where.type == "cuda")  # bitwise on a CPU
    dataset, parts = _inputs(spec, where)
    torch.manual_seed(spec.seed)
    model = models.build_for(spec.model, dataset)
    model = model.to(where, memory_format=torch.channels_last)  # type: ignore[call-overload]
    recipe = spec.training
    if recipe.augment and dataset.kind != "images":
        raise ValueError(f"recipe {spec.recipe} crops and flips images. Got {dataset.name}, {dataset.kind}.")
    loss = build(spec.loss, spec.gamma, spec.lam, recipe.epochs)
    return Trainer(model, loss, recipe, torch.Generator().manual_seed(spec.seed)), parts


def _finish(
    spec: Spec,
    folder: Path,
    model: nn.Module,
    parts: Mapping[str, tuple[Tensor, Tensor]],
    rows: list[dict[str, Any]],
    at_once: int = 1,
) -> None:
    """Write what a run leaves, its logits last: their presence ends the run."""
    import torch

    from focal_lib.training import logits_of

    where = parts["test"][1].device
    arrays = {}
    for name, (images, labels) in parts.items():
        arrays[f"{name}_logits"] = logits_of(model, images).cpu().numpy()
        arrays[f"{name}_labels"] = labels.cpu().numpy()
    record = {
        "spec": spec.record,
        "recipe": spec.training.source,
        "checksum": _checksum(arrays),
        "device": torch.cuda.get_device_name() if where.type == "cuda" else platform.machine(),
        "threads": torch.get_num_threads(),
        "commit": _commit(),
        "versions": {n: version(n) for n in ("focal-lib", "torch", "numpy")} | {"python": platform.python_version()},
    }
    if at_once > 1:
        record["at_once"] = at_once  # rounds differently from a run by itself
    write_whole(folder / "history.parquet", lambda path: pd.DataFrame(rows).to_parquet(path))
    write_whole(folder / "spec.json", lambda path: path.write_text(json.dumps(record, indent=1)))
    write_whole(folder / "weights.pt", lambda path: torch.save(model.state_dict(), path))
    write_whole(folder / "logits.npz", lambda path: _save_npz(path, arrays))


def run_many(specs: Sequence[Spec], root: str | Path | None = None, device: str = "auto") -> list[Result]:
    """Runs that differ in nothing but their seed, trained at once; those that are finished are just loaded.

    For small networks on a GPU. Equal to `run` up to rounding. No checkpoints: killed, it starts again.

    Raises:
        ValueError: runs that differ in more, or cannot be trained at once, see training_many.ManyTrainer.
        NonFiniteLoss: a loss became NaN or infinite.
    """
    if len({replace(spec, seed=0) for spec in specs}) > 1:
        raise ValueError("specs must differ in nothing but their seed. Got others.")
    todo = [entry.spec for entry in status(specs, root) if entry.state != "done"]
    if todo:
        folders = [_folder(spec, root) for spec in todo]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        _train_many(todo, folders, device)
        for folder in folders:
            _log(folder, "done")
    return [load(spec, root) for spec in specs]


def _train_many(specs: Sequence[Spec], folders: Sequence[Path], device: str) -> None:
    import torch

    from focal_lib.training import summary
    from focal_lib.training_many import ManyTrainer

    prepared = [_prepare(spec, device) for spec in specs]
    trainers = [trainer for trainer, _ in prepared]
    together = ManyTrainer(trainers)
    images, labels = (torch.stack([parts["train"][side] for _, parts in prepared]) for side in (0, 1))
    rows: list[list[dict[str, Any]]] = [[] for _ in specs]
    for folder in folders:
        _log(folder, "start", epoch=0, at_once=len(specs))
    for epoch in range(1, trainers[0].recipe.epochs + 1):
        with _memory_advice(trainers[0].recipe.batch_size):
            together.train_epoch(images, labels)
        if _evaluated(specs[0], epoch):
            together.hand_back()
            for own, (trainer, parts) in zip(rows, prepared, strict=True):
                own += [{"epoch": epoch, "split": n, **summary(trainer, *parts[n])} for n in ("train", "test")]
    for spec, folder, (trainer, parts), own in zip(specs, folders, prepared, rows, strict=True):
        _finish(spec, folder, trainer.model, parts, own, at_once=len(specs))


def _inputs(spec: Spec, device: torch.device) -> tuple[Dataset, dict[str, tuple[Tensor, Tensor]]]:
    """The data set, and the tensors of 'train', 'validation' and 'test'."""
    from focal_lib import data
    from focal_lib.training import to_tensors

    dataset = data.load(spec.dataset)
    splits = data.split(dataset, spec.n_train, spec.n_validation, spec.seed)
    mean, std = float(splits[0].inputs.mean()) / 255, float(splits[0].inputs.std()) / 255  # of images
    names = ("train", "validation", "test")
    return dataset, {name: to_tensors(part, device, mean, std) for name, part in zip(names, splits, strict=True)}


def trained(
    spec: Spec, root: str | Path | None = None, device: str = "auto"
) -> tuple[nn.Module, dict[str, tuple[Tensor, Tensor]]]:
    """The network of a finished run, in evaluation mode, and the tensors of its 'train', 'validation' and 'test'.

    Raises:
        FileNotFoundError: it has not been run here to the end; recorded runs keep no weights.
    """
    import torch

    from focal_lib import models
    from focal_lib.training import pick_device

    weights = _folder(spec, root) / "weights.pt"
    if not weights.is_file():
        raise FileNotFoundError(f"run {spec.digest} ({spec.label}, seed {spec.seed}) has no weights.pt.")
    where = pick_device(device)
    dataset, parts = _inputs(spec, where)
    model = models.build_for(spec.model, dataset).to(where)
    model.load_state_dict(torch.load(weights, weights_only=True, map_location=where))
    return model.eval(), parts


def _commit() -> str:
    """The commit of a checkout, with '-dirty' where it was changed; '' for an installed package."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _save_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    with path.open("wb") as file:  # savez would add a suffix to the name
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


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


@click.command()
@click.option("--grid", "path", required=True, type=click.Path(exists=True))
@click.option("--digest", required=True)
@click.option("--root", type=click.Path())
@click.argument("sources", nargs=-1, type=click.Path(exists=True, path_type=Path))
def main(path: str, digest: str, root: str | None, sources: tuple[Path, ...]) -> None:
    """Do one run of a grid, again if it is older than the SOURCES: for the workflow; `focal run` is for people."""
    found = {spec.digest: spec for spec in grid(path)}
    if digest not in found:
        raise click.ClickException(f"digest must be one of the grid's. Got {digest!r}.")
    forget_older(found[digest], max((source.stat().st_mtime for source in sources), default=0.0), root)
    click.echo(describe(run(found[digest], root)))


def describe(result: Result) -> str:
    """'focal 2, seed 0: test accuracy 0.830, ECE 0.051'."""
    last = result.history[result.history["split"] == "test"].iloc[-1]
    name = f"{result.spec.label}, seed {result.spec.seed}"
    return f"{name}: test accuracy {last.accuracy:.3f}, ECE {last.ece:.3f}"


if __name__ == "__main__":
    main()

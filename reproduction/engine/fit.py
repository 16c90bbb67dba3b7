"""From a specification to logits: all that decides the numbers of a run. What is kept where is `run`'s."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from focal_lib.losses.base import TrainingLoss
from focal_lib.losses.by_name import build
from reproduction.engine import data, models, own
from reproduction.engine.data.dataset import Dataset, Kind, Split
from reproduction.engine.monitor import summary
from reproduction.engine.precision import make_float32_exact
from reproduction.engine.spec import Spec
from reproduction.engine.step import pick_way
from reproduction.engine.trainer import Trainer, pick_device, to_tensors

Parts = dict[str, tuple[Tensor, Tensor]]  # 'train', 'validation', 'test' -> inputs and labels, on the device


def load_parts(spec: Spec, device: torch.device, dataset: Dataset | None = None) -> tuple[Dataset, Parts]:
    """The data set, loaded unless it is given, and the tensors of its parts."""
    dataset = dataset or data.load(spec.dataset)
    splits = data.split(dataset, spec.n_train, spec.n_validation, spec.seed)
    mean, std = pixel_scale(splits[0])
    names = ("train", "validation", "test")
    return dataset, {name: to_tensors(part, device, mean, std) for name, part in zip(names, splits, strict=True)}


def pixel_scale(train: Split) -> tuple[float, float]:
    """Mean and standard deviation by which a network's images are standardised: of all it was trained on, 0 to 1."""
    return float(train.inputs.mean()) / 255, float(train.inputs.std()) / 255


def prepare(spec: Spec, device: str = "auto", dataset: Dataset | None = None) -> tuple[Trainer, Parts]:
    """A fresh trainer, and the tensors it trains and is judged on; of the data set, where it is loaded already.

    Raises:
        ValueError: a data set, network or device that there is not, or that do not go together.
        FileNotFoundError: a data set that is nowhere to be had.
    """
    where = pick_device(device)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS is not deterministic without
    if where.type == "cuda":
        torch.use_deterministic_algorithms(True, warn_only=True)
    else:  # bitwise; this way does not import the compiler, which takes a second
        torch.set_deterministic_debug_mode("error")
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # all of it is written
    if where.type == "cuda":
        make_float32_exact()
    dataset, parts = load_parts(spec, where, dataset)
    return fresh_trainer(spec, dataset, len(parts["train"][1]), where), parts


def check_recipe(spec: Spec, kind: Kind, samples: int) -> None:
    """Whether the recipe goes with inputs of this kind, and with so many training samples.

    Raises:
        ValueError: it does not.
    """
    recipe = spec.training
    if recipe.augment and kind != "images":
        raise ValueError(f"recipe {spec.recipe} crops and flips images. Got {spec.dataset}, {kind}.")
    if recipe.last_batch == "drop" and samples < recipe.batch_size:
        raise ValueError(
            f"a batch of {recipe.batch_size} must be there once, as parts of one are dropped. Got {spec.n_train}."
        )


def fresh_trainer(spec: Spec, dataset: Dataset, samples: int, where: torch.device) -> Trainer:
    """A trainer before its first step, of a network for this data set and so many training samples.

    Raises:
        ValueError: a network that does not go with the data, or a recipe that goes with neither.
    """
    torch.manual_seed(spec.seed)
    model = models.build_for(spec.model, dataset, spec.model_code)
    model = model.to(where, memory_format=torch.channels_last)  # type: ignore[call-overload]
    check_recipe(spec, dataset.kind, samples)
    recipe = spec.training
    _try_out(spec, model, dataset, where)
    loss = make_loss(spec)
    way = pick_way(where, loss.one_graph and getattr(model, "one_graph", True), recipe.optimiser == "sgd")
    return Trainer(model, loss, recipe, torch.Generator().manual_seed(spec.seed), samples, way)


def make_loss(spec: Spec) -> TrainingLoss:
    """The loss of a run, fresh. Raises ValueError where it cannot be made of what is given."""
    epochs = spec.training.epochs
    if spec.loss_code:
        return own.make_loss(spec.loss, spec.loss_code, {"gamma": spec.gamma, "lam": spec.lam, "epochs": epochs})
    return build(spec.loss, spec.gamma, spec.lam, epochs)


def _try_out(spec: Spec, model: nn.Module, dataset: Dataset, where: torch.device) -> None:
    """What nobody has tried together goes through two samples first: a loss, a network or images of your own."""
    if not (spec.loss_code or spec.model_code or data.is_unpublished(dataset)):
        return
    inputs, labels = to_tensors(dataset.train.take(np.arange(2)), where, 0.5, 0.25)
    what = f"model {spec.model}, loss {spec.label} and data set {dataset.name}"
    own.try_out(what, model, make_loss(spec).to(where), inputs, labels, dataset.classes)


def evaluated(spec: Spec, epoch: int) -> bool:
    """Whether the history has rows of this epoch; 1 is the first."""
    return epoch % spec.evaluate_every == 0 or epoch == spec.training.epochs


def do_epoch(spec: Spec, trainer: Trainer, parts: Parts) -> list[dict[str, Any]]:
    """Train one epoch; the rows of the history that belong to it.

    Raises:
        NonFiniteLoss: the loss became NaN or infinite.
        MemoryError: the device is too small for the batch; the message says which size to try.
    """
    try:
        trainer.train_epoch(*parts["train"])
        trainer.validate(*parts["validation"])
        if not evaluated(spec, trainer.epoch):
            return []
        row = {"epoch": trainer.epoch, **({} if trainer.best is None else {"best_epoch": trainer.best.epoch})}
        return [row | {"split": n, **summary(trainer, *parts[n])} for n in ("train", "test")]
    except torch.OutOfMemoryError as error:
        size = trainer.recipe.batch_size
        raise MemoryError(f"a batch of {size} does not fit: try -p batch_size {size // 2}. {error}") from None


def final_logits(trainer: Trainer, parts: Parts) -> dict[str, np.ndarray]:
    """Logits float32 (n, K) and labels of each part: 'test_logits', 'test_labels', ...; of the weights kept."""
    trainer.finish()
    arrays = {}
    for name, (inputs, labels) in parts.items():
        arrays[f"{name}_logits"] = trainer.logits(inputs).cpu().numpy()
        arrays[f"{name}_labels"] = labels.cpu().numpy()
    return arrays

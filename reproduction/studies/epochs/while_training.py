"""What networks do over the epochs of training: tables of the histories that runs keep, and networks that are followed.

What is followed is looked at after every epoch and held in memory, so small networks only; with a batch of all training
samples an epoch is one step of gradient descent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import log_softmax, softmax

from focal_lib.metrics.bins import DEFAULT_BINS, Bins, reliability_bins
from focal_lib.threads import one_thread
from focal_lib.validation import check_number
from reproduction.engine.spec import Spec
from reproduction.engine.store import Logits, Result
from reproduction.studies.epochs.confident import share_above

if TYPE_CHECKING:
    from reproduction.engine.fit import Parts
    from reproduction.engine.trainer import Trainer

BINS = 25  # M20 Fig. 2
RIGHT_AND_WRONG = {  # titles of columns of histories, as M20 Figs. 1 and 3 have them
    "NLL, right (nats)": "nll_right",
    "NLL, wrong (nats)": "nll_wrong",
    "entropy, wrong (nats)": "entropy_wrong",
    "probability of the true class, right": "true_class_right",
    "probability of the true class, wrong": "true_class_wrong",
    "norm of the last layer": "weight_norm",
}
Band = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # epochs, mean, lowest, highest


def histories(runs: Iterable[Result], split: str = "test") -> pd.DataFrame:
    """The rows that runs keep of one split, in order of epochs, with loss, gamma and seed; see `monitor.summary`."""
    frames = []
    for run in runs:
        kept = run.history[run.history["split"] == split].sort_values("epoch")
        frames.append(kept.assign(loss=run.spec.label, gamma=run.spec.gamma, seed=run.spec.seed))
    return pd.concat(frames, ignore_index=True)


def ece_of_histories(frame: pd.DataFrame) -> tuple[str, str]:
    """The bins and the column of the ECE in rows of histories: ('equal width', 'ece'), which M20 plots.

    ('equal mass', 'adaptive_ece') where a row lacks that: histories that were recorded before it was.
    """
    whole = "ece" in frame and bool(frame["ece"].notna().all())
    return ("equal width", "ece") if whole else ("equal mass", "adaptive_ece")


def final_gaps(results: Iterable[Result], split: str) -> pd.DataFrame:
    """One row a run: accuracy and confidence on a split at the last epoch of its history, and their gap, fractions.

    For training images of recorded runs, whose logits are not kept.
    """
    frame = histories(results, split)
    last = frame[frame["epoch"] == frame.groupby(["loss", "seed"])["epoch"].transform("max")]
    columns = ["loss", "gamma", "seed", "accuracy", "confidence"]
    return last[columns].assign(gap=last["confidence"] - last["accuracy"]).reset_index(drop=True)


@dataclass(frozen=True)
class Snapshot:
    """A network after so many epochs; 0 is before the first."""

    epoch: int
    train: Logits
    test: Logits
    gradient_norms: np.ndarray  # (n_train,): of the loss of each training sample, in the last layer; see monitor
    weight_norm: float  # of the last layer


@dataclass(frozen=True)
class Followed:
    """What was trained, and the network before the first epoch and after each."""

    spec: Spec
    snapshots: tuple[Snapshot, ...]


@one_thread()
def follow(specs: Iterable[Spec], epochs: int | None = None, test_samples: int = 2000) -> list[Followed]:
    """Train each specification on the CPU and look at the network after every epoch.

    Runs that share a seed share split, weights and order of batches, so that their losses are paired.

    Args:
        epochs: to train; None: those of the specification, whose schedule is kept in either case.
        test_samples: of the first in the test set, that the network is looked at with.

    Raises:
        ValueError: epochs or test_samples below 1, a loss or recipe that learns from validation samples, which are
            not looked at here, or what `fit.fresh_trainer` does not take.
        FileNotFoundError: a data set that is nowhere to be had.
        NonFiniteLoss: the loss became NaN or infinite.
    """
    from reproduction.engine.fit import fresh_trainer, load_parts
    from reproduction.engine.trainer import pick_device

    check_number(test_samples, "test_samples", minimum=1)
    if epochs is not None:
        check_number(epochs, "epochs", minimum=1)
    found = []
    where = pick_device("cpu")
    for _, alike in groupby(specs, lambda s: (s.dataset, s.n_train, s.n_validation, s.seed)):
        group = list(alike)
        dataset, parts = load_parts(group[0], where)
        parts = {"train": parts["train"], "test": (parts["test"][0][:test_samples], parts["test"][1][:test_samples])}
        for spec in group:
            trainer = fresh_trainer(spec, dataset, len(parts["train"][1]), where)
            if trainer.loss.learns_from_validation or trainer.best is not None:
                raise ValueError(f"what is followed must not learn from validation samples. Got {spec.name}.")
            found.append(Followed(spec, _train(trainer, parts, epochs or spec.training.epochs)))
    return found


def _train(trainer: Trainer, parts: Parts, epochs: int) -> tuple[Snapshot, ...]:
    snapshots = [_look(trainer, parts)]
    for _ in range(epochs):
        trainer.train_epoch(*parts["train"])
        snapshots.append(_look(trainer, parts))
    return tuple(snapshots)


def _look(trainer: Trainer, parts: Parts) -> Snapshot:
    from reproduction.engine.monitor import gradient_norms, last_layer, outputs

    images, labels = parts["train"]
    logits, features = outputs(trainer, images)
    norms = gradient_norms(trainer.loss, logits, labels, features).numpy()
    test = Logits(trainer.logits(parts["test"][0]).numpy(), parts["test"][1].numpy())
    weight_norm = float(last_layer(trainer.model).weight.detach().norm())
    return Snapshot(trainer.epoch, Logits(logits.numpy(), labels.numpy()), test, norms, weight_norm)


def describe_followed(followed: Iterable[Followed]) -> pd.DataFrame:
    """A row a network and epoch: loss, gamma, seed, epoch, and what `_describe` says of the snapshot."""
    return pd.DataFrame(
        [
            {"loss": f.spec.label, "gamma": f.spec.gamma, "seed": f.spec.seed, "epoch": snap.epoch} | _describe(snap)
            for f in followed
            for snap in f.snapshots
        ]
    )


def _describe(snap: Snapshot) -> dict[str, float]:
    """Of the training samples: error, mean probability of the true class, median gradient norm, norm of the logits.

    The logits' norm is a mean over samples, of logits less their mean over the classes, which the softmax ignores. Of
    the test samples: error; true_class_right and true_class_wrong, the mean probability of the true class where the
    network is right and where it is not, nan where there is no such sample; above_99 and right_above_99, see
    `confident.share_above`.
    """
    logits, labels = snap.train.logits.astype(np.float64), snap.train.labels
    true_class, of_test = _true_class(snap.train), _true_class(snap.test)
    hit = snap.test.logits.argmax(-1) == snap.test.labels
    share, right = share_above(snap.test)
    return {
        "test_error": float((~hit).mean()),
        "true_class_right": float(of_test[hit].mean()) if hit.any() else np.nan,
        "true_class_wrong": float(of_test[~hit].mean()) if not hit.all() else np.nan,
        "train_error": float((logits.argmax(-1) != labels).mean()),
        "true_class": float(true_class.mean()),
        "gradient_norm": float(np.median(snap.gradient_norms)),
        "weight_norm": snap.weight_norm,
        "logit_norm": float(np.linalg.norm(logits - logits.mean(-1, keepdims=True), axis=-1).mean()),
        "above_99": share,
        "right_above_99": right,
    }


def _true_class(part: Logits) -> np.ndarray:
    """The probability of each sample's true class, (n,)."""
    return np.exp(log_softmax(part.logits.astype(np.float64), -1)[np.arange(len(part.labels)), part.labels])


def over_seeds_by_epoch(frame: pd.DataFrame, columns: Sequence[str]) -> dict[str, dict[str, Band]]:
    """column -> loss -> (epochs, mean, lowest, highest over seeds), each (m,); nan where no seed has a value.

    Losses are in the order of their gamma.
    """
    found: dict[str, dict[str, Band]] = {}
    for column in columns:
        groups = frame.groupby(["gamma", "loss", "epoch"])[column].agg(["mean", "min", "max"]).reset_index("epoch")
        found[column] = {}
        for (_, loss), part in groups.groupby(level=["gamma", "loss"]):  # in the order of gamma
            epochs, mean, low, high = part.to_numpy().T
            found[column][str(loss)] = (epochs, mean, low, high)
    return found


def minus_cross_entropy(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The rows of focal losses of one gamma, with columns less those of cross-entropy of the same seed and epoch."""
    base = frame[frame["loss"] == "cross-entropy"].set_index(["seed", "epoch"])[list(columns)]
    focal = frame[frame["loss"].str.startswith("focal ")].set_index(["seed", "epoch"]).copy()
    focal[list(columns)] -= base.loc[focal.index].to_numpy()
    return focal.reset_index()


def lowest_epoch(frame: pd.DataFrame, column: str, seed: int) -> int:
    """The epoch at which a column is lowest on average over the other seeds; over all where there is one.

    The seed itself has no part in the choice, so that what it does afterwards is not chosen by chance.
    """
    others = frame[frame["seed"] != seed]
    others = frame if others.empty else others
    means = others.groupby("epoch")[column].mean()
    return int(means.index.to_numpy()[means.to_numpy().argmin()])


def lower_from(frame: pd.DataFrame, column: str, loss: str, than: str) -> int | None:
    """The epoch from which on a column's mean over seeds is lower with a loss than with another, to the last epoch.

    None where it is not lower at the last one.

    Raises:
        ValueError: the losses are not of the same epochs.
    """
    ours, theirs = (frame[frame["loss"] == name].groupby("epoch")[column].mean() for name in (loss, than))
    if not len(ours) or not ours.index.equals(theirs.index):
        raise ValueError(f"frame must have the same epochs of {loss} and {than}. Got {len(ours)} and {len(theirs)}.")
    others = ours.index[~(ours < theirs)]
    later = ours.index if others.empty else ours.index[ours.index > others.max()]
    return int(later[0]) if len(later) else None


def reliability_of_kept(runs: Iterable[Result], loss: str, n_bins: int = DEFAULT_BINS) -> dict[int, Bins]:
    """Epoch -> bins of equal width on test data after each epoch whose logits a loss's runs keep, and at the end.

    The samples of all seeds together.

    Raises:
        ValueError: no run of the loss.
    """
    ours = [run for run in runs if run.spec.label == loss]
    if not ours:
        raise ValueError(f"runs must hold one of {loss}. Got none.")
    kept = [{**run.test_by_epoch, run.spec.training.epochs: run.test} for run in ours]
    found = {}
    for epoch in sorted(set.intersection(*map(set, kept))):
        found[epoch] = _pooled_bins([by_epoch[epoch] for by_epoch in kept], n_bins)
    return found


def pair_by_epoch(runs: Iterable[Result], loss: str) -> dict[str, Any]:
    """What the figure 'epochs' shows of cross-entropy and a loss: bins where logits are kept, gaps in points, drops."""
    pair = [run for run in runs if run.spec.label in ("cross-entropy", loss)]
    plain, other = (reliability_of_kept(pair, name) for name in ("cross-entropy", loss))
    course = histories(pair)
    gaps = (100 * (course["confidence"] - course["accuracy"])).groupby([course["loss"], course["epoch"]]).mean()
    lines = tuple(list(gaps[name].items()) for name in ("cross-entropy", loss))
    moments = {epoch: (plain[epoch], other[epoch]) for epoch in plain}
    return {"moments": moments, "gaps": lines, "drops": pair[0].spec.training.drops}


def _pooled_bins(parts: Sequence[Logits], n_bins: int = BINS) -> Bins:
    """Bins of the samples of several networks together."""
    logits = np.concatenate([part.logits for part in parts]).astype(np.float64)
    labels = np.concatenate([part.labels for part in parts])
    return reliability_bins(softmax(logits, -1), labels, n_bins)


def reliability_by_epoch(
    followed: Iterable[Followed], loss: str, epochs: Iterable[int], split: str = "test"
) -> dict[str, Bins]:
    """'epoch 3' -> bins of equal width of a loss's networks after so many epochs, the samples of all seeds together."""
    runs = [f for f in followed if f.spec.label == loss]
    return {f"epoch {e}": _pooled_bins([getattr(f.snapshots[e], split) for f in runs]) for e in epochs}


def gradient_norms_at(followed: Iterable[Followed], epoch: int) -> dict[str, np.ndarray]:
    """loss -> the gradient norms of all training samples after so many epochs, of all seeds together."""
    found: dict[str, list[np.ndarray]] = {}
    for f in followed:
        found.setdefault(f.spec.label, []).append(f.snapshots[epoch].gradient_norms)
    return {loss: np.concatenate(norms) for loss, norms in found.items()}

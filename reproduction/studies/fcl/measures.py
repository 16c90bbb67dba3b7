"""What networks trained with FCL come to: the rows of the record, maps over gamma and lambda, curves."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, log_softmax

from focal_lib.calibration.methods import build
from focal_lib.metrics.by_name import METRICS, all_metrics
from focal_lib.metrics.scores import top_label
from reproduction.checkout import ROOT
from reproduction.studies.fcl.post_processing import BinaryPredictor, post_processing_gap
from reproduction.studies.fcl.train import Images, Trained, lean
from reproduction.studies.shared.known_truth import against_truth
from reproduction.studies.shared.moon_networks import MoonLoss
from reproduction.studies.shared.moons import MoonGrid
from reproduction.studies.shared.over_seeds import GRIDS, means_and_halves

RECORD = "fcl-networks"  # results/fcl-networks/{images,epochs,moons}.parquet
MODEL = "pooled-mlp"
SCALINGS = (("none", ""), ("temperature", "nll"), ("temperature", "ece"))
GAP_OF = (3.0, 0.5)  # gamma and lambda of the losses whose gaps are compared
CONVERGING = ("cross-entropy", "focal 3", "dual-focal 2", "fcl 3 0.5")  # of L25 Fig. 3, lambda of A.10
LOW = 0.1  # of the way from the least loss up to the first
NEAR = 2.0  # points above the least error


def measure_trained(trained: Trained, images: Images, dataset: str) -> pd.DataFrame:
    """A row each seed, scaling and metric, on the test images, in the form of `over_seeds.measure`, with lam.

    Scalings are fitted on the validation images; T by ECE as L25, over M20's grid. Metrics of METRICS, as tables show
    them, and of the network as trained: train-error (%), confidence-gap (points); ece-change, adaptive-ece-change,
    classwise-ece-change and smooth-ece-change, by how many points the temperature by ECE moves them; log-gap, focal-gap
    and fcl-gap, the post-processing gaps of its confidence by the log-loss, by focal loss and by FCL with GAP_OF,
    fitted on validation images; epochs-to-low and epochs-to-error of `epochs_to`.
    """
    rows: list[dict[str, Any]] = []
    loss, labels = trained.loss, images.test[1].numpy()
    named = {"dataset": dataset, "model": MODEL, "loss": loss.label, "name": loss.name}
    speed = epochs_to(trained.curves).set_index("seed")
    for place, seed in enumerate(trained.seeds):
        of_validation = images.validation[1][place].numpy()
        validation, test = (part[place].astype(np.float64) for part in (trained.validation, trained.test))
        run = named | {"gamma": loss.gamma, "lam": loss.lam, "seed": seed}
        found = {}
        for method, objective in SCALINGS:
            temperature = 1.0
            if method != "none":
                scaling = build(method, objective, **GRIDS.get((method, objective), {}))
                temperature = float(scaling.fit(validation, of_validation).temperature_)
            values = all_metrics(np.exp(log_softmax(test / temperature, -1)), labels)
            found[objective] = {name: metric.unit * values[name] for name, metric in METRICS.items()}
            chosen = run | {"method": method, "objective": objective, "temperature": temperature}
            rows += [chosen | {"metric": name, "value": value} for name, value in found[objective].items()]
        more = {"train-error": float(trained.train_error[place])} | dict(speed.loc[seed])
        more |= {
            f"{name}-change": abs(found["ece"][name] - found[""][name]) for name in METRICS if "ece" in name.split("-")
        }
        more |= _of_confidence((validation, of_validation), (test, labels))
        as_trained = run | {"method": "none", "objective": "", "temperature": 1.0}
        rows += [as_trained | {"metric": name, "value": float(value)} for name, value in more.items()]
    return pd.DataFrame(rows)


def _of_confidence(*parts: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """Confidence minus accuracy on the second part; post-processing gaps there, fitted on the first."""
    fitted, judged = (
        BinaryPredictor.of_labels(*top_label(np.exp(log_softmax(logits, -1)), labels)) for logits, labels in parts
    )
    gaps = {"log-gap": (0.0, 0.0), "focal-gap": (GAP_OF[0], 0.0), "fcl-gap": GAP_OF}
    found = {name: post_processing_gap(fitted, *loss, judged) for name, loss in gaps.items()}
    return found | {"confidence-gap": 100 * float((judged.predicted - judged.share) @ judged.weight)}


def epochs_to(curves: pd.DataFrame) -> pd.DataFrame:
    """A row a seed: the first epoch at which a network is as good as it will nearly be, on the watched test images.

    epochs-to-low: its own loss, less its least of all epochs, is at most LOW of what it was before the first. The loss
    is normalised by its own range, so that losses of other scales can be compared. epochs-to-error: the error is at
    most NEAR points above its least.

    Args:
        curves: `Trained.curves`.
    """
    rows = []
    for seed, run in curves.sort_values("epoch").groupby("seed"):
        loss, error, epoch = (run[name].to_numpy() for name in ("loss", "error", "epoch"))
        low = loss - loss.min() <= LOW * (loss[0] - loss.min())
        near = error <= error.min() + NEAR
        rows.append((seed, epoch[low.argmax()], epoch[near.argmax()]))
    return pd.DataFrame(rows, columns=["seed", "epochs-to-low", "epochs-to-error"])


def measure_lean(found: Iterable[tuple[MoonLoss, str, np.ndarray]], grid: MoonGrid) -> pd.DataFrame:
    """A row each loss, way of training and network: how far it leans from the truth, in points, and what is asked for.

    Columns: gamma, lam, absolute, trained_on, network; lean, asked (the lean of what the loss asks for); distance and
    mapped_distance, root mean square, as it is and after the map of its loss; focal_gap and fcl_gap, of the network as
    a predictor the post-processing gaps by focal loss and by FCL, both with GAP_OF, on the whole distribution.

    Args:
        found: losses, on what they were trained, logits (s, m) on the grid.
    """
    tables = []
    truth = grid.truth
    for loss, trained_on, logits in found:
        raw, mapped = against_truth(logits, truth), against_truth(loss.mapped(logits), truth)
        columns = {"gamma": loss.gamma, "lam": loss.lam, "absolute": loss.absolute, "trained_on": trained_on}
        columns |= {"network": np.arange(len(logits)), "lean": 100 * lean(logits, truth)}
        columns |= {"asked": 100 * float(lean(loss.wanted(grid.logits), truth))}
        columns |= {"distance": raw.distance, "mapped_distance": mapped.distance}
        predictors = [BinaryPredictor(expit(one), truth.posterior, truth.shares) for one in logits]
        for name, of in (("focal_gap", (GAP_OF[0], 0.0)), ("fcl_gap", GAP_OF)):
            columns[name] = [post_processing_gap(predictor, *of) for predictor in predictors]
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


@functools.cache
def read_fcl(table: str) -> pd.DataFrame:
    """A table of the record: 'images' of `measure_trained`, 'epochs' of `Trained.curves`, 'moons' of `measure_lean`."""
    return pd.read_parquet(ROOT / "results" / RECORD / f"{table}.parquet")


Band = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # epochs, mean, lowest, highest
Curve = tuple[np.ndarray, np.ndarray, np.ndarray]  # x, mean, half of the 95 % t interval


def map_over(table: pd.DataFrame, metric: str, method: str = "none", objective: str = "") -> pd.DataFrame:
    """Means over seeds of FCL with the squared distance: a row each lambda, a column each gamma."""
    rows = table[table["name"].isin(("focal", "fcl")) & (table["metric"] == metric)]
    rows = rows[(rows["method"] == method) & (rows["objective"] == objective)]
    return rows.pivot_table(index="lam", columns="gamma", values="value")


def along_lambda(
    table: pd.DataFrame, gamma: float, metric: str, method: str = "none", objective: str = "", *, absolute: bool = False
) -> Curve:
    """A metric over lambda, of one gamma; lambda = 0 is focal loss with either distance.

    Raises:
        ValueError: fewer than two seeds.
    """
    rows = table[(table["metric"] == metric) & (table["method"] == method) & (table["objective"] == objective)]
    rows = rows[(rows["gamma"] == gamma) & rows["name"].isin(("focal", "fcl-l1" if absolute else "fcl"))]
    wide = rows.pivot(index="seed", columns="lam", values="value")
    return wide.columns.to_numpy(dtype=float), *means_and_halves(wide)


def lean_over_lambda(
    table: pd.DataFrame, trained_on: str, *, absolute: bool = False, column: str = "lean"
) -> tuple[np.ndarray, np.ndarray]:
    """Lambda (m,), and how far each network leans (m, s); lambda = 0 is focal loss with either distance.

    Args:
        table: of `measure_lean`.
        column: of it.
    """
    rows = table[(table["trained_on"] == trained_on) & ((table["absolute"] == absolute) | (table["lam"] == 0))]
    wide = rows.pivot(index="lam", columns="network", values=column)
    return wide.index.to_numpy(dtype=float), wide.to_numpy()


def count_higher(values: pd.DataFrame) -> tuple[int, int]:
    """Of neighbours along lambda in a map, columns with gamma above 0: how many rise, and how many there are."""
    steps = np.diff(values.loc[:, values.columns.to_numpy(dtype=float) > 0].to_numpy(), axis=0)
    return int((steps > 0).sum()), int(steps.size)


def normalised_curves(epochs: pd.DataFrame, losses: Sequence[str], last: int, column: str = "loss") -> dict[str, Band]:
    """The own test loss up to an epoch, less its least of all and over its range: mean, lowest, highest over seeds.

    Args:
        epochs: of the record, with the columns trained, seed, epoch, loss, error.
        column: of it; an error is normalised in the same way.
    """
    found: dict[str, Band] = {}
    for label in losses:
        wide = epochs[epochs["trained"] == label].pivot(index="epoch", columns="seed", values=column).sort_index()
        least = wide.min()
        shares = ((wide - least) / (wide.iloc[0] - least)).loc[:last]
        each = shares.to_numpy()
        found[label] = shares.index.to_numpy(), each.mean(axis=1), each.min(axis=1), each.max(axis=1)
    return found


def count_better(values: pd.DataFrame, chosen: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Of the chosen pairs in a map of errors, how many are below lambda = 0 of their gamma; and how many there are."""
    inside = [(g, strength) for g, strength in chosen if g in values.columns and strength in values.index]
    better = sum(bool(values[g][strength] < values[g][0.0]) for g, strength in inside)
    return int(better), len(inside)

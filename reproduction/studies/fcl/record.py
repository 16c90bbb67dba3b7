"""Networks with the focal calibration loss, recorded: results/fcl-networks/.

    nice python -m reproduction.studies.fcl.record --minutes 15      # of processor time; goes on where it stopped

images.parquet has a row for each network on pooled Fashion-MNIST images, scaling and metric, epochs.parquet the test
loss after every epoch of some of them, moons.parquet what networks on two moons lean by. `notebooks/fcl_networks.py`
and claims read what this leaves. Seed 0 was the trial.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import functools
import time
from pathlib import Path

import pandas as pd

from reproduction.checkout import ROOT
from reproduction.studies.fcl.measures import CONVERGING, RECORD, measure_lean, measure_trained
from reproduction.studies.fcl.plan import EPOCHS, MOON_SAMPLES, N_TRAIN, N_VALIDATION, TrainedLoss, losses_recorded
from reproduction.studies.fcl.train import Trained, load_pooled, train_on_images, train_on_whole_moons
from reproduction.studies.shared.going_on import go_on
from reproduction.studies.shared.moon_networks import MoonLoss, moon_logits, train_on_moons
from reproduction.studies.shared.moons import moon_truth

OUT = ROOT / "results" / RECORD
SEEDS = tuple(range(1, 6))
MOON_SEEDS = tuple(range(1, 11))
DATASET = "fashion-mnist"
GAMMA = 3.0  # on two moons
LAMBDAS = (0.0, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


def moon_losses() -> list[MoonLoss]:
    """Focal loss, and with each lambda the squared and the absolute distance."""
    return [
        MoonLoss(GAMMA, lam, absolute=absolute) for absolute in (False, True) for lam in LAMBDAS if lam or not absolute
    ]


def record_images(minutes: float, out: Path, seeds: tuple[int, ...] = SEEDS, epochs: int = EPOCHS) -> None:
    """Each loss that is not there yet, all seeds together: the curves of some, and what all come to."""
    end = time.process_time() + 60 * minutes
    images = load_pooled(DATASET, seeds, N_TRAIN, N_VALIDATION)

    @functools.cache  # trained for the curves, and measured
    def trained(loss: TrainedLoss) -> Trained:
        return train_on_images(loss, images, seeds, epochs)

    def curves(loss: TrainedLoss) -> pd.DataFrame:
        return trained(loss).curves

    def measure(loss: TrainedLoss) -> pd.DataFrame:
        return measure_trained(trained(loss), images, DATASET)

    losses = losses_recorded()
    todo = [((loss.label,), functools.partial(curves, loss)) for loss in losses if loss.label in CONVERGING]
    go_on(out / "epochs.parquet", __file__, ("trained",), todo, minutes)
    todo = [((loss.label,), functools.partial(measure, loss)) for loss in losses]
    go_on(out / "images.parquet", __file__, ("loss",), todo, (end - time.process_time()) / 60)


def record_moons(minutes: float, out: Path, seeds: tuple[int, ...] = MOON_SEEDS, epochs: int = 500) -> None:
    """Each loss that is not there yet, on the whole distribution and on samples."""
    coarse, fine = moon_truth(step=0.1), moon_truth()

    def measure(loss: MoonLoss) -> pd.DataFrame:
        whole = train_on_whole_moons(loss, seeds, coarse, epochs=epochs, rate=0.02)
        some = train_on_moons(loss, seeds, samples=MOON_SAMPLES, epochs=epochs)[epochs]
        return measure_lean(
            [(loss, "whole", moon_logits(whole, fine)), (loss, "samples", moon_logits(some, fine))], fine
        )

    todo = (((loss.lam, loss.absolute), functools.partial(measure, loss)) for loss in moon_losses())
    go_on(out / "moons.parquet", __file__, ("lam", "absolute"), todo, minutes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=15, help="of processor time")
    parser.add_argument("--only", choices=("moons", "images"), help="default: both")
    given = parser.parse_args()
    until = time.process_time() + 60 * given.minutes
    if given.only != "images":
        record_moons(given.minutes, OUT)
    if given.only != "moons":
        record_images((until - time.process_time()) / 60, OUT)

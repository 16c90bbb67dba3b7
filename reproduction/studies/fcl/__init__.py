"""Networks with the focal calibration loss (L25 section 5.5): a map over gamma and lambda, and known truths."""

from reproduction.studies.fcl.images import HIDDEN, load_pooled, train_on_images
from reproduction.studies.fcl.moons import lean, train_on_whole_moons
from reproduction.studies.fcl.plan import (
    EPOCHS,
    MAP_GAMMAS,
    MAP_LAMBDAS,
    MOON_SAMPLES,
    N_TRAIN,
    N_VALIDATION,
    TrainedLoss,
    chosen_by_l25,
    fcl,
    written_contrasts,
)

__all__ = [
    "EPOCHS",
    "HIDDEN",
    "MAP_GAMMAS",
    "MAP_LAMBDAS",
    "MOON_SAMPLES",
    "N_TRAIN",
    "N_VALIDATION",
    "TrainedLoss",
    "chosen_by_l25",
    "fcl",
    "lean",
    "load_pooled",
    "train_on_images",
    "train_on_whole_moons",
    "written_contrasts",
]

"""Models of a few weights on made-up data, whose true probabilities are known (M20 App. G, L25 App. A.11)."""

from reproduction.studies.shared.known_truth import KnownTruth, Standing, against_truth
from reproduction.studies.shared.moon_networks import MoonLoss, moon_logits, train_on_moons
from reproduction.studies.shared.moons import MoonGrid, moon_truth
from reproduction.studies.simple_models.boundary import boundary, steepness, turning
from reproduction.studies.simple_models.clusters import cluster_truth, mistakes_above
from reproduction.studies.simple_models.descent import gradient_descent, gradient_flow
from reproduction.studies.simple_models.linear_fits import (
    fit_truth,
    linear_fits,
    norm_ratios,
    separable_growth,
)
from reproduction.studies.simple_models.seeds import by_loss, written_contrasts

__all__ = [
    "KnownTruth",
    "MoonGrid",
    "MoonLoss",
    "Standing",
    "against_truth",
    "boundary",
    "by_loss",
    "cluster_truth",
    "fit_truth",
    "gradient_descent",
    "gradient_flow",
    "linear_fits",
    "mistakes_above",
    "moon_logits",
    "moon_truth",
    "norm_ratios",
    "separable_growth",
    "steepness",
    "train_on_moons",
    "turning",
    "written_contrasts",
]

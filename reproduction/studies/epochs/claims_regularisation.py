"""M20 section 4, 'Implicit Regularisation', Figs. 3 (h), 4 (b) to (d): weights and gradients, and the first steps."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import t_interval
from focal_lib.theory.gain import confidence_threshold
from reproduction.engine.spec import Spec
from reproduction.engine.store import Result
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.pages.tables import in_words
from reproduction.studies.epochs.while_training import describe_followed, follow, histories
from reproduction.studies.shared.from_runs import (
    BOOK_RUNS,
    LONG,
    LONG_SIZE,
    M20_FIGURES,
    SIZE,
    long_results,
    paired,
    results,
    say_sign,
    signed_by_seed,
    with_gamma,
    with_remark,
)
from reproduction.studies.shared.recorded import BOOK, load_recorded, read_planned
from reproduction.studies.shared.regimes import like_m20_or_l25, trained_as

CHAPTER = "miscalibration"
LARGER = "cifar10-resnet18"  # trained by M20's steps, not as long
GAMMAS = (1.0, 2.0, 3.0)  # M20's
SEEDS, SAMPLES, STEPS, RATE = 4, 500, 40, 0.01  # of the small networks whose first steps are followed
HERE = (
    rf"Fashion-MNIST, {SAMPLES} training images, an MLP of two layers, {STEPS} steps of gradient descent on all of them "
    rf"at once, with momentum and a learning rate of {RATE:g}, {SEEDS} seeds"
)
AT = r"at the last step before the mean probability of the true class with cross-entropy passes $p_0$, $g(p_0, \gamma) = 1$"
ON = "(Fashion-MNIST, small CNN, focal $\\gamma = 3$)"
ON_LONG = "(CIFAR-10, AirBench CNN)"
NORM = r"norm of the last layer, focal $\gamma = 3$ minus cross-entropy"
add_reading = Rows(CHAPTER, "our reading")
add_long = Rows(CHAPTER, "our reading", needs=f"results/{LONG}", regime=functools.partial(like_m20_or_l25, "M20", LONG))
add_ours = Rows(CHAPTER, "ours", needs=BOOK_RUNS)


def followed(gamma: float, column: str, epoch: int, name: str = BOOK) -> np.ndarray:
    """A column of the training history at the first (0) or last (-1) evaluated epoch, one number a seed."""
    runs = with_gamma(load_recorded(name), gamma)
    return np.array([float(histories([run], "train")[column].iloc[epoch]) for run in runs])


def _elsewhere(name: str, epoch: int) -> str:
    """The norms' difference, cross-entropy minus gamma = 3, in runs that sum losses and clip gradients, as M20's do."""
    behind = -norms_ahead(load_recorded(name))
    found = t_interval(behind.iloc[:, epoch])
    where = f"{in_words(read_planned(name)[0].model)} on CIFAR-10, losses summed and gradients clipped as M20's"
    return f"In {where}, epoch {behind.columns[epoch]}: {found.estimate:+.2f} [{found.low:.2f}, {found.high:.2f}]"


@add_long(
    "m20.weight_norm_late",
    "At the end cross-entropy has the larger last-layer weights",
    "M20 section 4, Fig. 3 (h)",
    rf"At the end of training the last layer of the cross-entropy network has the larger weights. (Here: than that of "
    rf"$\gamma = 3$; {LONG_SIZE}.)",
)
def weight_norm_late() -> Evidence:
    """Paired over seeds."""
    last = -norms_ahead(long_results()).iloc[:, -1].to_numpy()
    quantity = f"norm of the last layer, cross-entropy minus focal, last epoch {ON_LONG}"
    return with_remark(signed_by_seed(quantity, "positive", last, 1), _elsewhere(LARGER, -1))


@add_long(
    "m20.weight_norm_early",
    "Focal loss begins with larger weights, then the order reverses",
    "M20 section 4, Fig. 3 (h)",
    "'The weight norms of the models trained with focal loss are initially higher than that for the model "
    "trained using cross-entropy'; 'a complete reversal in the ordering of the weight norms occurs between epochs 150 "
    "and 250'. (Taken as: the norm of the last layer, $\\gamma = 3$ minus cross-entropy, is positive at the first "
    f"evaluated epoch and the last before the first drop, negative at the first after the second; {LONG_SIZE}.)",
)
def weight_norm_early() -> Evidence:
    """Paired over seeds, at three epochs."""
    runs = long_results()
    first, second = runs[0].spec.training.drops
    ahead = norms_ahead(runs)
    at = ahead.columns.astype(int).tolist()
    epochs = (at[0], max(e for e in at if e <= first), min(e for e in at if e > second))
    return All.of(
        *(
            signed_by_seed(f"{NORM}, epoch {epoch} {ON_LONG}", say_sign(sign), ahead[epoch].to_numpy(), sign)
            for epoch, sign in zip(epochs, (1, 1, -1), strict=True)
        )
    )


def norms_ahead(runs: Sequence[Result]) -> pd.DataFrame:
    """Norm of the last layer, gamma = 3 minus cross-entropy: a row a seed, a column an epoch."""
    focal, base = (
        histories(with_gamma(runs, gamma), "train").pivot(index="seed", columns="epoch", values="weight_norm")
        for gamma in (3.0, 0.0)
    )
    return focal - base


@add_ours(
    "m20.weight_norm_fifth",
    "After five epochs cross-entropy has the larger last-layer weights already",
    "M20 section 4, Fig. 3 (h), past the threshold",
    rf"After five epochs, the confidence past $p_0$, the last layer of the cross-entropy network has larger weights than that of $\gamma = 3$ "
    rf"already. (Losses averaged, gradients not clipped: by M20's steps, on CIFAR-10, it has smaller ones; {SIZE}.)",
)
def weight_norm_fifth() -> Evidence:
    """The norm after the first evaluated epoch, cross-entropy minus gamma = 3, paired over seeds."""
    first = int(min(result.history["epoch"].min() for result in results()))
    quantity = f"norm of the last layer, cross-entropy minus focal, epoch {first} {ON}"
    found = paired(quantity, "positive", followed(0.0, "weight_norm", 0), followed(3.0, "weight_norm", 0), 1, "asked")
    confidence = f"mean confidence of the focal networks is {followed(3.0, 'confidence', 0).min():.2f} or more"
    past = f"There the {confidence}, past the threshold {confidence_threshold(3.0):.4f}"
    return replace(found, remark=f"{past}. {_elsewhere(LONG, 0)}")


@add_long(
    "m20.gradient_norms",
    "Gradient norms fall less rapidly with cross-entropy than with focal loss",
    "M20 section 4, Fig. 4 (b) to (d)",
    rf"As training progresses the gradient norms of cross-entropy 'decrease less rapidly than those for focal loss'. "
    rf"(Taken as: the 0.9 quantile over training samples, from the first evaluated epoch to the last, $\gamma = 3$; {LONG_SIZE}.)",
)
def gradient_norms() -> Evidence:
    """Log ratio, last over first evaluated epoch, of the 0.9 quantile over training samples."""
    base, focal = (
        np.log(followed(g, "gradient_q90", -1, LONG) / followed(g, "gradient_q90", 0, LONG)) for g in (0.0, 3.0)
    )
    return paired(f"log of last over first epoch, cross-entropy minus focal {ON_LONG}", "positive", base, focal, 1)


def specifications(seeds: int = SEEDS, samples: int = SAMPLES, rate: float = RATE) -> list[Spec]:
    """Cross-entropy and M20's gammas, seed by seed; an epoch is one step, and none of them sees the rate drop."""
    own = {"model": "mlp", "recipe": "cifar-cpu", "n_train": samples, "n_validation": 1, "epochs": 100_000}
    own |= {"batch_size": samples, "learning_rate": rate}
    return [Spec(gamma=gamma, seed=seed, **own) for seed in range(seeds) for gamma in (0.0, *GAMMAS)]  # type: ignore[arg-type]


@functools.cache
def first_steps(seeds: int, samples: int, steps: int) -> pd.DataFrame:
    """A row a network and step; see `describe_followed`."""
    return describe_followed(follow(specifications(seeds, samples), steps, test_samples=1))


def step_before_threshold(steps: pd.DataFrame, gamma: float, seed: int) -> int:
    """The last step before the mean probability of the true class passes tau(gamma), with cross-entropy.

    Raises:
        ValueError: it never does.
    """
    run = steps[(steps["gamma"] == 0) & (steps["seed"] == seed)].set_index("epoch")["true_class"]
    past = run[run >= confidence_threshold(gamma)]
    if past.empty or past.index[0] == 0:
        raise ValueError(f"the threshold of gamma {gamma:g} must be passed. Got {run.iloc[0]:.3f} to {run.max():.3f}.")
    return int(past.index[0]) - 1


def threshold_steps(steps: pd.DataFrame) -> dict[float, float]:
    """For each gamma whose threshold is passed in every seed: the step that passes it, on average over seeds."""
    found = {}
    for gamma in GAMMAS:
        with contextlib.suppress(ValueError):
            passing = [step_before_threshold(steps, gamma, int(s)) + 1 for s in steps["seed"].unique()]
            found[gamma] = float(np.mean(passing))
    return found


def steps_in_lead(steps: pd.DataFrame, column: str, gamma: float) -> int:
    """For how many steps from the beginning a column is higher than with cross-entropy, on the mean over seeds.

    Counted from the first step at which it is higher to the first after it at which it is not; 0 if it never is.
    """
    wide = steps.pivot_table(index="epoch", columns="gamma", values=column)
    higher = (wide[gamma] > wide[0.0]).to_numpy()
    if not higher.any():
        return 0
    start = int(higher.argmax())
    rest = higher[start:]
    return int(len(rest) if rest.all() else rest.argmin())


def lead(steps: pd.DataFrame, column: str, gamma: float, late: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """A column of the focal networks and of those of cross-entropy, a number a seed: before the threshold, or last."""
    pairs = []
    for seed in sorted(steps["seed"].unique()):
        at = int(steps["epoch"].max()) if late else step_before_threshold(steps, gamma, int(seed))
        there = steps[(steps["epoch"] == at) & (steps["seed"] == seed)].set_index("gamma")[column]
        pairs.append((float(there[gamma]), float(there[0.0])))
    focal, base = np.array(pairs).T
    return focal, base


def _leads(name: str, column: str, sign: int, late: bool = False) -> Iterator[Measurement]:
    when = f"after {STEPS} steps" if late else "before the threshold"
    for gamma in GAMMAS:
        quantity = rf"{name} {when}, $\gamma = {gamma:g}$ minus cross-entropy (Fashion-MNIST, MLP)"
        focal, base = lead(first_steps(SEEDS, SAMPLES, STEPS), column, gamma, late)
        yield paired(quantity, say_sign(sign), focal, base, sign, "claimed")


@add_reading(
    "m20.gains_faster",
    "Below the threshold focal loss gains confidence faster",
    "M20 section 4, 'Implicit Regularisation'",
    rf"'In the initial stages of training, when $p_{{i,y_i}} < p_0$ in general, $g(p_{{i,y_i}}, \gamma) > 1$ and the "
    rf"model gains confidence on its predictions faster than it would for cross-entropy.' (Taken as: a higher mean "
    rf"probability of the true class, {AT}, for each of $\gamma = 1, 2, 3$; {HERE}.)",
)
def gains_faster() -> Evidence:
    """Means over training samples, paired over seeds."""
    return All.of(*_leads("mean probability of the true class", "true_class", 1))


@add_reading(
    "m20.weights_lead_then_trail",
    "Focal loss has larger weights up to the threshold, smaller after",
    "M20 section 4, 'Implicit Regularisation'",
    rf"'As soon as $p_{{i,y_i}}$ crosses the threshold $p_0$', focal loss has 'a regularising effect on the weights. "
    rf"This is why' their norms 'are initially higher than that for the model trained using cross-entropy. However, "
    rf"as training progresses, we find that the ordering of the weight norms reverses.' (Taken as: a higher norm of "
    rf"the last layer {AT}, and a lower one at the end, for each of $\gamma = 1, 2, 3$; {HERE}. How long the lead "
    rf"lasts is not judged.)",
    regime=functools.partial(trained_as, M20_FIGURES, SAMPLES),
)
def weights_lead_then_trail() -> Evidence:
    """Norms of the last layer, paired over seeds."""
    name = "norm of the last layer"
    return All.of(*_leads(name, "weight_norm", 1), *_leads(name, "weight_norm", -1, late=True))

"""M20 section 4, 'Implicit Regularisation': the first steps of training, in a small network of our own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from focal_lib.theory.gain import confidence_threshold
from reproduction.engine.spec import Spec
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.epochs.follow import follow
from reproduction.studies.epochs.while_training import describe_followed
from reproduction.studies.shared.from_runs import paired

CHAPTER = "16_miscalibration"
GAMMAS = (1.0, 2.0, 3.0)  # M20's
SEEDS, SAMPLES, STEPS, RATE = 4, 500, 40, 0.01
HERE = (
    f"Fashion-MNIST, {SAMPLES} training images, an MLP of two layers, {STEPS} steps of gradient descent on all of "
    f"them at once, with momentum, {SEEDS} seeds"
)
AT = r"at the last step before the mean probability of the true class with cross-entropy passes $p_0$, $g(p_0, \gamma) = 1$"
add_reading = Rows(CHAPTER, "our reading", needs="runs")


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
        yield paired(
            quantity,
            "positive" if sign > 0 else "negative",
            *lead(first_steps(SEEDS, SAMPLES, STEPS), column, gamma, late),
            sign,
            "claimed",
        )


@add_reading(
    "m20.gains_faster",
    "M20 section 4, 'Implicit Regularisation'",
    rf"'In the initial stages of training, when $p_{{i,y_i}} < p_0$ in general, $g(p_{{i,y_i}}, \gamma) > 1$ and the "
    rf"model gains confidence on its predictions faster than it would for cross-entropy.' (Taken as: a higher mean "
    rf"probability of the true class, {AT}, for each of $\gamma = 1, 2, 3$; {HERE}.)",
)
def gains_faster() -> Evidence:
    """Means over training samples, paired over seeds."""
    return All(tuple(_leads("mean probability of the true class", "true_class", 1)))


@add_reading(
    "m20.weights_lead_then_trail",
    "M20 section 4, 'Implicit Regularisation'",
    rf"'As soon as $p_{{i,y_i}}$ crosses the threshold $p_0$', focal loss has 'a regularising effect on the weights. "
    rf"This is why' their norms 'are initially higher than that for the model trained using cross-entropy. However, "
    rf"as training progresses, we find that the ordering of the weight norms reverses.' (Taken as: a higher norm of "
    rf"the last layer {AT}, and a lower one at the end, for each of $\gamma = 1, 2, 3$; {HERE}. How long the lead "
    rf"lasts is not judged.)",
)
def weights_lead_then_trail() -> Evidence:
    """Norms of the last layer, paired over seeds."""
    name = "norm of the last layer"
    return All((*_leads(name, "weight_norm", 1), *_leads(name, "weight_norm", -1, late=True)))

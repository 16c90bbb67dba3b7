"""L25 sections 5.1, 5.5 and App. A.15 on small networks: what gamma, lambda and the kind of distance do, as recorded."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import paired_t_interval, t_interval
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows, claim
from reproduction.ledger.measurement import Measurement
from reproduction.studies.fcl.measures import GAP_OF, RECORD, read_fcl
from reproduction.studies.fcl.plan import EPOCHS, MAP_LAMBDAS, N_TRAIN, written_contrasts
from reproduction.studies.shared.from_runs import contrast_by_seed, on_one_test_set, over_seeds, signed_by_seed
from reproduction.studies.shared.regimes import trained_as

CHAPTER = "fcl_networks"
NEEDS = f"results/{RECORD}"
LAMBDA, DISTANCE, OTHERS, GAP, SPEED = dict.fromkeys(c.table for c in written_contrasts())
SIZE = f"{N_TRAIN:,} Fashion-MNIST images of 14 x 14 pixels, one hidden layer, Adam, {EPOCHS} epochs"
HERE = f"(Here: {SIZE}; ECE of equal width.)"
MOONS = r"(Two moons, $\gamma = 3$, networks of two layers of ten units, 500 steps of Adam on the whole distribution.)"
LAMBDAS = ", ".join(f"{lam:g}" for lam in MAP_LAMBDAS)
TABLES, TABLE_8, FIGURES = (partial(trained_as, f"l25-{name}", N_TRAIN) for name in ("tables", "table8", "figures"))
TOLERANCE = 0.2  # of a bias, relative to the theory's


def _written(table: str, *places: int, said: str = "printed") -> Evidence:
    """The contrasts at these places of a family that was written down, each against its sign."""
    family = [contrast for contrast in written_contrasts() if contrast.table == table]
    chosen = [family[place] for place in places]
    images = read_fcl("images")
    parts = [on_one_test_set(contrast_by_seed(str(contrast), images, contrast, said)) for contrast in chosen]
    return parts[0] if len(parts) == 1 else All(tuple(parts))


add_reading = Rows(CHAPTER, "our reading", needs=NEEDS)
add_ours = Rows(CHAPTER, "ours", needs=NEEDS)

# Two steps along lambda, for two gammas, paired over seeds.
add_reading(
    "l25.lambda_best",
    "ECE is lower at lambda 0.5 than at 0 and at 4.5",
    "L25 section 5.5.2, Fig. 6",
    r"'ECE decreases significantly when' $\lambda$ 'is 0.5', 'calibration error increases for higher' values, and one value, lost from the "
    r"text at hand, 'provides the best calibration performance across all ECE metrics before and after temperature scaling'. (The "
    r"symbol is lost throughout, and so is $\gamma$; taken as: for $\gamma$ of 2 and 3 the ECE as trained is lower with $\lambda = \frac12$ than with 0, and "
    rf"higher with $\frac92$ than with $\frac12$; which value is best is not judged. {HERE[1:-1]})",
    lambda: _written(LAMBDA, 0, 1, 2, 3),
    regime=FIGURES,
)

# Two steps along lambda, paired over seeds.
add_reading(
    "l25.lambda_nll",
    "NLL falls up to lambda 0.5, then rises slightly",
    "L25 section 5.5.2, Fig. 6",
    r"'NLL decreases initially as' $\lambda$ 'increases from 0 to 0.5 but shows fluctuations and a slight increase beyond'. (Symbols lost; taken "
    rf"as: of $\gamma = 3$, as trained, lower with $\frac12$ than with 0, and higher with $\frac92$ than with $\frac12$. Here: {SIZE}.)",
    lambda: _written(LAMBDA, 5, 6),
    regime=FIGURES,
)


@claim(
    "l25.lambda_nll_scaled",
    short="Temperature scaling lowers NLL at most lambda",
    source="L25 section 5.5.2, Fig. 6",
    statement=r"'For post-temperature scaling, NLL values are generally lower, indicating improved calibration.' (Taken as: with the "
    rf"temperature that L25 takes, by ECE (equal width) on validation data, $\gamma = 3$ and $\lambda$ of {LAMBDAS}, lower after it than before in most, "
    rf"each by its interval, of 95 % for all together. Here: {SIZE}.)",
    chapter=CHAPTER,
    fidelity="our reading",
    needs=NEEDS,
    regime=FIGURES,
)
def lambda_nll_scaled() -> Evidence:
    """The same networks, before and after; a temperature by NLL lowers the NLL nearly by construction."""
    table = read_fcl("images").query("metric == 'nll'")
    lower = 0
    for lam in MAP_LAMBDAS:
        own = table[table["loss"] == (f"fcl 3 {lam:g}" if lam else "focal 3")]
        before, after = (own[own["objective"] == objective].set_index("seed")["value"] for objective in ("", "ece"))
        lower += paired_t_interval(after.sort_index(), before.sort_index(), level=1 - 0.05 / len(MAP_LAMBDAS)).high < 0
    return Measurement.counted("$\\lambda$ with a lower NLL after a temperature by ECE", lower, len(MAP_LAMBDAS))


# Asked of one pair of values, where the paper names none.
add_ours(
    "l25.lambda_error",
    "A very large lambda reduces accuracy",
    "L25 section 5.5.2, which says that it can be so",
    r"'Overly large values' of $\lambda$ 'can reduce classification accuracy': of $\gamma = 3$ the error is higher with $\lambda = \frac92$ than "
    rf"with $\frac12$. (Here: {SIZE}.)",
    lambda: _written(LAMBDA, 8, said="asked"),
)

# T by ECE on validation images, as L25.
add_ours(
    "l25.lambda_scaled",
    "After scaling, lambda 0.5 has lower ECE than 0",
    "L25 section 5.5.2, Fig. 6, after temperature scaling",
    r"Asked of the book's networks: of $\gamma = 3$ the ECE after a temperature by ECE is lower with $\lambda = \frac12$ than with 0. "
    rf"{HERE}",
    lambda: _written(LAMBDA, 4, said="asked"),
)

# Three pairs, paired over seeds.
add_reading(
    "l25.l2_lower_here",
    "L2 gives FCL a lower ECE than L1 in small networks",
    "L25 App. A.15, Table 8, on small networks",
    r"'L2 consistently achieves lower ECE' than L1 in FCL. (Taken as trained, with the pairs $(\gamma, \lambda)$ of A.10 $(4, \frac32)$, $(2, \frac12)$ and $(3, "
    rf"\frac12)$ for both; L25 does not tell those of L1. {HERE[1:-1]})",
    lambda: _written(DISTANCE, 0, 1, 2),
    regime=TABLE_8,
)

# With A.10's pair for ResNets on CIFAR-10, as written down.
add_reading(
    "l25.fcl_lower_here",
    "FCL is better calibrated than other losses in small networks",
    "L25 section 5.1.1, on small networks",
    r"'FCL consistently achieves lower pre-T calibration error compared to other methods.' (Taken as: with $\gamma = 4$, $\lambda = \frac32$, "
    r"which L25 chose for ResNets on CIFAR-10 and nobody for these networks, a lower ECE than cross-entropy, Brier, FLSD-53 and dual focal loss with $\gamma = 2$, and lower smooth, adaptive and classwise ECE than cross-entropy. "
    rf"{HERE[1:-1]})",
    lambda: _written(OTHERS, *range(7)),
    regime=TABLES,
)

# The one other loss whose error was written down beside FCL's.
add_reading(
    "l25.fcl_error_here",
    "FCL has a lower error than cross-entropy in small networks",
    "L25 section 5.2.1, on small networks",
    r"'FCL consistently achieves the lowest classification error in most cases across all datasets and models'. (Taken as: with $\gamma = 4$, "
    rf"$\lambda = \frac32$, as in l25.fcl_lower_here, a lower test error than cross-entropy. Here: {SIZE}.)",
    lambda: _written(OTHERS, 7),
    regime=TABLES,
)

# Size of the change, in points, paired over seeds.
add_reading(
    "l25.minimal_change_here",
    "Temperature scaling changes FCL less in small networks",
    "L25 section 5.5.3, on small networks",
    r"'The FCL model shows minimal change in calibration error after temperature scaling', where focal loss has 'a substantial post-processing "
    r"gap'. (Taken as: a temperature by ECE changes the ECE by less with FCL than with focal loss: $\gamma = 3$, $\lambda = \frac12$ against $\gamma = 3$, "
    rf"and $\gamma = 4$, $\lambda = \frac32$ against FLSD-53. {HERE[1:-1]})",
    lambda: _written(GAP, 0, 1),
    regime=TABLES,
)

# Fitted on validation images, judged on test images.
add_ours(
    "l25.log_gap_here",
    "Smooth recalibration gains less log-loss for FCL than focal loss",
    "L25 Def. 2.3, section 5.5.3, by the log-loss",
    r"A smooth recalibration of the confidence, 1-Lipschitz in its change and fitted on validation images, takes less off the log-loss of FCL than off that of focal loss: "
    rf"$\gamma = 3$, $\lambda = \frac12$ against $\gamma = 3$, and $\gamma = 4$, $\lambda = \frac32$ against FLSD-53. (Here: {SIZE}.)",
    lambda: _written(GAP, 2, 3, said="asked"),
)

# Epochs, paired over seeds.
add_reading(
    "l25.convergence",
    "FCL reaches a low normalised test loss sooner",
    "L25 section 5.5.1, Fig. 3",
    r"'The FCL shows faster convergence, reaching a low normalized test loss more quickly than the other loss functions.' (Our copy does "
    r"not say by what a test loss is normalised, nor $\lambda$; its network is ResNet-110 on CIFAR-10. Taken as: with $\gamma = 3$, $\lambda = \frac12$ fewer epochs than with cross-entropy, focal "
    r"loss with $\gamma = 3$ and dual focal loss with $\gamma = 2$ until a tenth, our threshold, of the range of the own test loss is left, from its first value to its "
    rf"least. Here: {SIZE}.)",
    lambda: _written(SPEED, 0, 1, 2),
    regime=FIGURES,
)


def _of_moons(column: str, lam: float, absolute: bool = False, trained_on: str = "whole") -> np.ndarray:
    """A column of the record for one loss, a number a network."""
    table = read_fcl("moons")
    rows = table[(table["lam"] == lam) & (table["absolute"] == absolute) & (table["trained_on"] == trained_on)]
    return rows.sort_values("network")[column].to_numpy()


def _signed(*parts: tuple[str, np.ndarray, int]) -> Evidence:
    """Quantities, values a network or seed, signs claimed."""
    words = {1: "positive", -1: "negative"}
    found = [signed_by_seed(name, words[sign], values, sign, "claimed") for name, values, sign in parts]
    return found[0] if len(found) == 1 else All(tuple(found))


# The bias of the minimiser, without a sample that could be overfitted.
add_ours(
    "l25.bias_here",
    "Networks trained with FCL lean from the truth towards one half",
    "L25 section 4.3, taken to networks",
    r"Trained with FCL, $\lambda$ of $\frac12$, 1, 2 and 5, networks lean from the truth towards one half: the mean of the likelier class's "
    rf"probability lies below that of its truth. {MOONS}",
    lambda: _signed(*((f"lean in points, lambda {lam:g}", _of_moons("lean", lam), -1) for lam in (0.5, 1.0, 2.0, 5.0))),
)


@claim(
    "l25.bias_as_asked_here",
    short="With lambda up to 2, networks lean as much as FCL's minimiser does",
    source="L25 Def. 3.1, its minimiser",
    statement=rf"Networks trained with FCL, $\lambda$ of 0, $\frac14$, $\frac12$, 1 and 2, lean from the truth as much as its minimiser does, within {100 * TOLERANCE:g} %. With 5 and 10 some stray, and it is open. {MOONS}",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def bias_as_asked_here() -> Evidence:
    """Ratio of the lean found to that which the loss asks for."""
    parts = []
    for lam in (0.0, 0.25, 0.5, 1.0, 2.0):
        ratio = _of_moons("lean", lam) / _of_moons("asked", lam)
        quantity = f"lean over that of the minimiser, lambda {lam:g}"
        parts.append(
            Measurement.near(quantity, "1", t_interval(ratio), 1.0, TOLERANCE, over_seeds(ratio), said="claimed")
        )
    return All(tuple(parts))


# Root mean square distances, paired.
add_ours(
    "l25.map_here",
    "FCL's map brings its networks nearer to the truth",
    "L25 Def. 3.1, after its map",
    rf"After the map of FCL networks trained with it are nearer to the truth than before: $\lambda$ of $\frac12$, 1 and 2. {MOONS}",
    lambda: _signed(
        *(
            (
                f"distance before the map minus after, lambda {lam:g}",
                _of_moons("distance", lam) - _of_moons("mapped_distance", lam),
                1,
            )
            for lam in (0.5, 1.0, 2.0)
        )
    ),
)

# Both distances, each against its sign.
add_ours(
    "l25.l1_away_here",
    "With absolute distance networks lean away from one half",
    "L25 App. A.15, its absolute distance",
    r"With the absolute distance in place of the squared one, networks lean away from one half, $\lambda$ of 2, 5 and 10, where with the squared "
    rf"distance they lean towards it. {MOONS}",
    lambda: _signed(
        *(
            (f"lean in points, {word}, lambda {lam:g}", _of_moons("lean", lam, word == "absolute"), sign)
            for lam in (2.0, 5.0, 10.0)
            for word, sign in (("absolute", 1), ("squared", -1))
        )
    ),
)

# Exact on the whole distribution, but for the pieces of the recalibration.
add_ours(
    "l25.thm45_here",
    "Focal networks have a larger post-processing gap by FCL",
    "L25 Thm. 4.5, seen in networks",
    rf"Networks trained with focal loss have a larger post-processing gap by FCL, $\gamma = {GAP_OF[0]:g}$, $\lambda = {GAP_OF[1]:g}$, than by focal loss. "
    rf"{MOONS}",
    lambda: _signed(
        (
            "gap by FCL minus gap by focal loss, networks of focal loss",
            _of_moons("fcl_gap", 0.0) - _of_moons("focal_gap", 0.0),
            1,
        )
    ),
)


def _of_images(loss: str) -> pd.DataFrame:
    """Metrics of the networks on images as trained with that loss, a row a seed."""
    table = read_fcl("images").query("objective == ''")
    return table[table["loss"] == loss].pivot(index="seed", columns="metric", values="value")


@claim(
    "l25.thm45_overfitted_here",
    short="Overfitted networks have a smaller post-processing gap by FCL",
    source="L25 Thm. 4.5, seen in networks",
    statement=r"Networks that have overfitted, to a training error below a tenth of the test error, have a smaller post-processing gap by FCL than by "
    rf"focal loss, whether trained with focal loss or with FCL. (Of their confidence, fitted on validation images; $\gamma = {GAP_OF[0]:g}$, "
    rf"$\lambda = {GAP_OF[1]:g}$; seen in the trial first. Here: {SIZE}.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def thm45_overfitted_here() -> Evidence:
    """Two gaps of the same network; and that it has overfitted."""
    parts = []
    for loss in ("focal 3", "fcl 3 0.5"):
        found = _of_images(loss)
        for name, values in (
            ("gap by FCL minus gap by focal loss", found["fcl-gap"] - found["focal-gap"]),
            ("training error minus a tenth of the test error", found["train-error"] - found["error"] / 10),
        ):
            quantity = f"{name}, networks of {loss}"
            parts.append(on_one_test_set(signed_by_seed(quantity, "negative", values.to_numpy(), -1, "claimed")))
    return All(tuple(parts))

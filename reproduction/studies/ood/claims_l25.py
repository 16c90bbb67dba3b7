"""L25 section 5.4: AUROC of telling known inputs from unknown ones, as printed and on the book's networks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd

from reproduction.engine.contrasts import Contrast, Setting
from reproduction.ledger.evidence import All
from reproduction.ledger.ledger import PRINTED, Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.ood.contrasts import energy_minus_probability
from reproduction.studies.ood.plan import AUROC, CIFAR, CIFAR_SHOWN, FRESH_DIGITS, RECORDED_DIGITS, digit_contrasts
from reproduction.studies.printed_tables.from_tables import rows_higher
from reproduction.studies.shared.from_runs import CIFAR_SIZE, SIZE, contrast_by_seed, signed_by_seed
from reproduction.studies.shared.recorded import BOOK, read_unknown
from reproduction.studies.shared.regimes import recorded_as

CHAPTER = "unknown_inputs"
UNKNOWN = "mnist-5k"
RECORDED = "results/unknown-inputs"
STAGES = ("pre", "post")
ALONE = "alone, one set of known and of unknown images"  # what an interval over seeds is over
ON_DIGITS = f"({SIZE}; 5,000 of MNIST's digits as unknown inputs; score: the largest probability, as trained.)"
ON_CIFAR = (
    f"{CIFAR_SIZE}; unknown inputs: the test images of CIFAR-100, and CIFAR-10's own under the strongest Gaussian noise of "
    "CIFAR-10-C; as trained"
)


def digits() -> pd.DataFrame:
    """What the networks of the book's grid said of digits."""
    return read_unknown(BOOK, UNKNOWN)


def fcl_digits() -> pd.DataFrame:
    """What networks trained with FCL and FLSD-53 said of them, beside cross-entropy."""
    return read_unknown("fashion-mnist-unknown", UNKNOWN)


def _contrast(table: pd.DataFrame, contrast: Contrast, said: str) -> Measurement:
    """A loss minus cross-entropy over seeds, in points of AUROC."""
    return _alone(contrast_by_seed(f"{contrast}, in points", table, contrast, said))


def _and_by_energy(table: pd.DataFrame, contrast: Contrast, said: str) -> Measurement:
    by_energy = contrast_by_seed("", table, replace(contrast, metric=AUROC.format("energy")))
    return replace(_contrast(table, contrast, said), remark=f"By energy {by_energy.number()}")


def _alone(found: Measurement) -> Measurement:
    """All seeds are asked about the same images: other images are not in the interval."""
    return replace(found, over=f"{found.over} {ALONE}")


add_reading = Rows(CHAPTER, "our reading", needs=RECORDED)
add_ours = Rows(CHAPTER, "ours", needs=RECORDED)
add_printed = Rows(CHAPTER, "ours", needs=PRINTED)

# Counted in the printed table.
add_printed(
    "l25.auroc_above_cross_entropy",
    "As printed, FCL detects unknown inputs better than cross-entropy",
    "L25 section 5.4, row by row",
    r"In the table of section 5.4 FCL has a higher AUROC than cross-entropy ('Weight Decay') in 8 of 8 rows, FLSD-53 in 7 of 8, before "
    r"and after temperature scaling.",
    lambda: All(
        tuple(
            rows_higher("L25", "AUROC table", stage, loss, "cross-entropy", count)
            for loss, count in (("fcl", 8), ("flsd-53", 7))
            for stage in STAGES
        )
    ),
)

# The first two contrasts that were written down for these runs.
add_reading(
    "l25.fcl_other_shifts",
    "FCL detects MNIST digits better than cross-entropy",
    "L25 section 5.4",
    r"'FCL enhances the model's ability to distinguish between in-distribution and out-of-distribution samples', and it is suggested that it "
    r"generalises 'well across different types of OoD shifts'. (Taken as: a higher AUROC than cross-entropy on one more shift, with each of the "
    rf"paper's two pairs of $\gamma$ and $\lambda$ for CIFAR-10. The paper does not say by which score. {ON_DIGITS[1:-1]})",
    lambda: All(tuple(_and_by_energy(fcl_digits(), contrast, "claimed") for contrast in RECORDED_DIGITS[:2])),
    regime=partial(recorded_as, "l25-tables", "fashion-mnist-unknown"),
)

# The third contrast that was written down for these runs.
add_ours(
    "l25.flsd53_digits",
    "FLSD-53 detects MNIST digits better than cross-entropy",
    "L25 section 5.4, its column of FLSD-53, asked of the book's networks",
    rf"FLSD-53 has a higher AUROC than cross-entropy. {ON_DIGITS}",
    lambda: _and_by_energy(fcl_digits(), RECORDED_DIGITS[2], "asked"),
)


# Three of the contrasts that were written down before.
add_ours(
    "l25.focal_digits",
    "Gamma 3 detects MNIST digits better than cross-entropy by three scores",
    "L25 section 5.4, asked of focal loss with one gamma",
    rf"Focal loss with $\gamma = 3$ has a higher AUROC than cross-entropy, by the largest probability, by entropy and by energy, as trained. "
    rf"({SIZE}; 5,000 of MNIST's digits as unknown inputs.)",
    lambda: All(
        tuple(
            _contrast(digits(), contrast, "asked")
            for contrast in digit_contrasts()
            if contrast.ours == Setting(("focal 3",)) and contrast.metric.startswith("auroc")
        )
    ),
)


def _of_cifar(*places: int) -> All:
    """Contrasts that were written down, by their place among those of a set of images, on each set."""
    parts = []
    for unknown in CIFAR_SHOWN:
        written = [contrast for contrast in CIFAR if contrast.table.endswith(unknown)]
        table = read_unknown("cifar10-unknown", unknown)
        parts += [
            _alone(contrast_by_seed(f"{written[place]}, in points [{unknown}]", table, written[place], "asked"))
            for place in places
        ]
    return All(tuple(parts))


def _energy(table: pd.DataFrame, where: str = "") -> list[Measurement]:
    """Two scores of the same networks, paired over seeds, a part a loss."""
    return [
        _alone(
            signed_by_seed(
                f"AUROC by energy minus by the largest probability, {loss}, in points{where}",
                "positive",
                values,
                1,
                "asked",
            )
        )
        for loss, values in energy_minus_probability(table).items()
    ]


# On seeds other than those in which it was seen.
add_ours(
    "l25.energy_above_probability",
    "Energy detects MNIST digits better than the largest probability",
    "L25 section 5.4, which does not say by which score",
    rf"By energy the AUROC is higher than by the largest probability, for cross-entropy, $\gamma = 3$ and FCL with $\gamma = 4$, $\lambda = 1.5$. "
    rf"({SIZE}; 5,000 of MNIST's digits as unknown inputs; as trained; four seeds, none of them those in which it was seen; the comparison was not written down before.)",
    lambda: All(tuple(_energy(read_unknown("fashion-mnist-fresh", UNKNOWN)))),
)

# On networks and images other than those in which it was seen.
add_ours(
    "l25.energy_above_probability_cifar",
    "On CIFAR-10 energy detects unknown inputs better than the largest probability",
    "L25 section 5.4, which does not say by which score",
    rf"By energy the AUROC is higher than by the largest probability, for cross-entropy, $\gamma = 3$, FLSD-53 and FCL. ({ON_CIFAR}; not written down "
    r"before.)",
    lambda: All(
        tuple(part for name in CIFAR_SHOWN for part in _energy(read_unknown("cifar10-unknown", name), f" [{name}]"))
    ),
)

# The first two contrasts of each set of images, written down before these networks were trained.
add_reading(
    "l25.fcl_cifar",
    "FCL detects two shifts of CIFAR-10 better than cross-entropy",
    "L25 section 5.4",
    r"'This suggests that the FCL generalize well across different types of OoD shifts.' (Taken as: a higher AUROC than cross-entropy on both of two "
    r"shifts, with each of the paper's two pairs of $\gamma$ and $\lambda$ for CIFAR-10. The paper does not say by which score; here it is the largest "
    rf"probability. {ON_CIFAR}.)",
    lambda: _of_cifar(0, 1),
    regime=partial(recorded_as, "l25-tables", "cifar10-unknown"),
)

# The third contrast of each set of images, written down before these networks were trained.
add_ours(
    "l25.flsd53_cifar",
    "FLSD-53 detects shifts of CIFAR-10 better than cross-entropy",
    "L25 section 5.4, its column of FLSD-53, asked of the book's networks",
    rf"FLSD-53 has a higher AUROC than cross-entropy by the largest probability. ({ON_CIFAR}.)",
    lambda: _of_cifar(2),
)

# The primary contrast of the fresh seeds.
add_ours(
    "l25.energy_fresh_seeds",
    "By energy gamma 3 detects MNIST digits better than cross-entropy",
    "L25 section 5.4, which does not say by which score",
    rf"By energy focal loss with $\gamma = 3$ has a higher AUROC than cross-entropy. ({SIZE}; 5,000 of MNIST's digits as unknown inputs; "
    r"as trained; four seeds, trained after others had suggested it.)",
    lambda: _contrast(read_unknown("fashion-mnist-fresh", UNKNOWN), FRESH_DIGITS[0], "asked"),
)

"""M20 section 4, Fig. 3 (a) to (g): training with focal loss beside cross-entropy, on recorded runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import softmax

from reproduction.engine.contrasts import Setting
from reproduction.engine.store import Result
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.shared.from_runs import (
    BOOK_RUNS,
    LONG,
    LONG_SIZE,
    SIZE,
    difference,
    long_results,
    on_test_images,
    paired,
    results,
    say_sign,
    signed_by_seed,
    with_gamma,
)
from reproduction.studies.shared.printed_effects import PrintedEffect, mean_difference
from reproduction.studies.shared.recorded import read_planned
from reproduction.studies.shared.regimes import like_m20_or_l25
from reproduction.studies.shared.two_way import BySeed

CHAPTER = "miscalibration"
WHICH_GAMMA = "training"  # the chapter that asks which gamma calibrates best
RECORDED = "cifar10-record"
ON_CIFAR10 = "(Here: AirBench CNN, 45,000 training images of CIFAR-10, 16 epochs.)"
KEPT = 0.95  # the confidence on correctly classified samples that M20 has
_KEPT = f"confidence on correctly classified test samples minus {KEPT:g}"
THREE = rf"$\gamma = 3$, of M20's 1, 2, 3; {LONG_SIZE}"
add_reading = Rows(CHAPTER, "our reading", needs=f"results/{LONG}", regime=partial(like_m20_or_l25, "M20", LONG))
add_ours = Rows(CHAPTER, "ours", needs=BOOK_RUNS)


def of_histories(quantity: Callable[[Result], float], gamma: float) -> BySeed:
    """A number of each long run with that gamma by what was followed of it: of its seeds alone."""
    runs = with_gamma(long_results(), gamma)
    return BySeed(tuple(run.spec.seed for run in runs), np.array([quantity(run) for run in runs]))


def of_test_logits(quantity: Callable[[Result], float], gamma: float) -> BySeed:
    """The same by its test logits: of seeds and test images."""
    return on_test_images(with_gamma(long_results(), gamma), quantity)


def _against_cross_entropy(
    name: str, quantity: Callable[[Result], float], sign: int, of: Callable[..., BySeed] = of_histories
) -> Measurement:
    """Gamma = 3 minus cross-entropy, paired over seeds."""
    what = rf"{name}, $\gamma = 3$ minus cross-entropy (CIFAR-10)"
    return paired(what, say_sign(sign), of(quantity, 3.0), of(quantity, 0.0), sign)


def _of_test(result: Result, column: str) -> pd.Series:
    """By epoch."""
    return result.history[result.history["split"] == "test"].set_index("epoch").sort_index()[column]


def rise_after_drop(result: Result) -> float:
    """Of the NLL of misclassified test samples, from the first epoch after the first drop to the last."""
    values = _of_test(result, "nll_wrong")
    return float(values.iloc[-1] - values[values.index > result.spec.training.drops[0]].iloc[0])


add_reading(
    "m20.fig3_nll_wrong",
    "On misclassified samples NLL rises less with focal loss",
    "M20 section 4, Fig. 3 (c)",
    rf"'In contrast to the network trained using cross-entropy, for which the NLL for misclassified test samples "
    rf"increases significantly after epoch 150, the rise in NLL for the networks trained on focal loss is much less "
    rf"severe.' (Taken as: a smaller rise from the first epoch evaluated after the first drop to the last, as trained, by sign, how much is not "
    rf"judged; {THREE}.)",
    lambda: _against_cross_entropy("rise of the test NLL of misclassified samples", rise_after_drop, -1),
)


add_reading(
    "m20.fig3_entropy_wrong",
    "On misclassified samples entropy is higher with focal loss",
    "M20 section 4, Fig. 3 (d)",
    rf"'The softmax entropy for misclassified test samples is consistently (if marginally) higher for focal loss than "
    rf"for cross-entropy.' (Taken as: higher at every evaluated epoch, as trained, as *consistently* asks, by the least difference of a seed; "
    rf"how much is not judged; {THREE}.)",
    lambda: least_over_epochs(),
)


def least_over_epochs() -> Measurement:
    """The smallest rise of the entropy of misclassified test samples from cross-entropy, a number a seed."""
    base, focal = (
        {run.spec.seed: _of_test(run, "entropy_wrong") for run in with_gamma(long_results(), g)} for g in (0.0, 3.0)
    )
    seeds = tuple(seed for seed in focal if seed in base)
    least = BySeed(seeds, np.array([(focal[seed] - base[seed]).min() for seed in seeds]))
    what = "least difference over epochs of the softmax entropy of misclassified test samples"
    return signed_by_seed(rf"{what}, $\gamma = 3$ minus cross-entropy (CIFAR-10)", say_sign(1), least, 1)


def mean_true_class(result: Result) -> tuple[float, float]:
    """Mean probability of the true class on the test samples that a run classifies correctly, and on the others."""
    probs, labels = softmax(result.test.logits.astype(np.float64), -1), result.test.labels
    right = probs.argmax(-1) == labels
    true = probs[np.arange(len(labels)), labels]
    return float(true[right].mean()), float(true[~right].mean())


def _right(result: Result) -> float:
    return mean_true_class(result)[0]


add_reading(
    "m20.fig3_true_class_wrong",
    "On misclassified samples focal loss gives the true class more",
    "M20 section 4, Fig. 3 (f)",
    rf"'The probabilities predicted for the correct classes for misclassified test samples are slightly higher for "
    rf"focal loss than for cross-entropy.' (Taken as: higher at the end of training, before temperature scaling; "
    rf"how much is 'slightly' is not judged; {THREE}.)",
    lambda: _against_cross_entropy(
        "probability of the true class, misclassified test samples",
        lambda run: mean_true_class(run)[1],
        1,
        of_test_logits,
    ),
)


@add_reading(
    "m20.fig3_true_class_right",
    "On correct samples focal loss gives the true class less",
    "M20 section 4, Fig. 3 (e), (b)",
    rf"'Conversely', 'the probabilities predicted for the correct classes for correctly classified test samples are "
    rf"somewhat lower than for cross-entropy', and their NLL 'also somewhat higher'. (Taken as: at the end of "
    rf"training, before temperature scaling, by sign; {THREE}.)",
)
def fig3_true_class_right() -> Evidence:
    """Means over correctly classified test samples, paired over seeds."""
    name = "probability of the true class, correctly classified test samples"
    probability = _against_cross_entropy(name, _right, -1, of_test_logits)
    nll = _against_cross_entropy(
        "NLL of correctly classified test samples", lambda r: float(_of_test(r, "nll_right").iloc[-1]), 1
    )
    return All.of(probability, nll)


add_reading(
    "m20.fig3_confidence_kept",
    "On correct samples all four networks keep confidence above 0.95",
    "M20 section 4, Fig. 3 (e)",
    "'Nevertheless, for all four models, average confidence on correctly classified samples remains over 0.95 by the "
    "end of training, which is more than enough to make these predictions usable by downstream tasks.' (Taken as: of two of them, "
    rf"cross-entropy and {THREE}. What is usable is not judged.)",
    lambda: All.of(*map(confidence_above, (0.0, 3.0))),
)


def confidence_above(gamma: float) -> Measurement:
    return _above_kept(long_results(), gamma, 1, "CIFAR-10")


def _above_kept(runs: Iterable[Result], gamma: float, sign: int, data: str, said: str = "printed") -> Measurement:
    """The mean minus KEPT, over seeds; there the confidence is the probability of the true class."""
    above = on_test_images(with_gamma(runs, gamma), lambda run: _right(run) - KEPT)
    return signed_by_seed(rf"{_KEPT}, $\gamma = {gamma:g}$ ({data})", say_sign(sign), above, sign, said=said)


@add_ours(
    "m20.fig3_confidence_here",
    "Confidence on correct samples passes 0.95 with small gamma only",
    "M20 section 4, Fig. 3 (e), asked of the book's networks",
    rf"The average confidence on correctly classified test samples is over 0.95 with cross-entropy and $\gamma = 1$, "
    rf"below it with $\gamma = 2, 3$, before temperature scaling; {SIZE}.",
)
def fig3_confidence_here() -> Evidence:
    """Above it twice, below it twice."""
    signs = {0.0: 1, 1.0: 1, 2.0: -1, 3.0: -1}
    return All.of(*(_above_kept(results(), gamma, sign, "Fashion-MNIST", "asked") for gamma, sign in signs.items()))


def _recorded(loss: str, other: str, printed: PrintedEffect) -> Measurement:
    """ECE (equal width) as trained of the recorded CIFAR-10 runs, one loss minus another."""
    return difference(RECORDED, "ece", Setting((loss,)), Setting((other,)), printed)


@add_reading(
    "m20.gamma_order_here",
    "Gamma 3 is better calibrated than 2, and 2 than 1, on CIFAR-10",
    "M20 section 4, on Fig. 4a, on CIFAR-10",
    r"'Of the three models we trained using focal loss, the one with $\gamma = 3$ outperforms (in terms of "
    r"calibration) the one with $\gamma = 2$, which in turn outperforms the model with $\gamma = 1$.' (Taken as: ECE, "
    r"equal width, before temperature scaling.) " + ON_CIFAR10,
    chapter=WHICH_GAMMA,
    needs=f"results/{RECORDED}",
    regime=partial(like_m20_or_l25, "M20", RECORDED),
)
def gamma_order_here() -> Evidence:
    """Two differences over seeds, against those that Table 7 prints."""
    dataset = read_planned(RECORDED)[0].dataset
    pairs = (("focal 3", "focal 2"), ("focal 2", "focal 1"))
    return All.of(*(_recorded(*p, mean_difference("M20", dataset, "ece", "pre", *p, -1)) for p in pairs))


add_reading(
    "m20.gamma_too_high",
    "Gamma 7 is worse calibrated than gamma 3 on CIFAR-10",
    "M20 section 4, on Fig. 4a, on CIFAR-10",
    r"'One might think that, in general, a higher value of gamma would lead to a more calibrated model. However, this "
    r"is not the case.' (Taken as: $\gamma = 7$, from where on the paper says so, has a higher ECE, equal width, than "
    r"$\gamma = 3$, before temperature scaling.) " + ON_CIFAR10,
    lambda: _recorded("focal 7", "focal 3", PrintedEffect(1, None, "positive")),
    chapter=WHICH_GAMMA,
    needs=f"results/{RECORDED}",
    regime=partial(like_m20_or_l25, "M20", RECORDED),
)

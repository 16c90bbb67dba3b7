"""KK24 sections 1, 2, 4 to 6, Table 1, Fig. 8 on Fashion-MNIST: what focal loss does, and focal temperature scaling."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pandas as pd

from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS
from focal_lib.calibration.calibrators.temperature import PAPER_TEMPERATURES
from focal_lib.metrics.bins import adaptive_ece_of
from focal_lib.metrics.intervals import paired_t_interval, t_interval
from focal_lib.metrics.scores import nll, top_label
from focal_lib.theory.closest_temperature import closest_temperature
from reproduction.engine.contrasts import Setting
from reproduction.engine.store import Result
from reproduction.ledger.evidence import All, Evidence, Unchecked
from reproduction.ledger.ledger import PRINTED, Rows, claim
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import kk24_table1
from reproduction.studies.shared.from_runs import (
    BOOK_RUNS,
    COMPENSATION,
    LONG,
    LONG_SIZE,
    SIZE,
    classes,
    comparison,
    difference,
    focal_gammas,
    gaps,
    long_results,
    on_test_images,
    over_seeds,
    paired,
    signed_by_seed,
    temperatures,
    values_by_seed,
    with_gamma,
    with_remark,
)
from reproduction.studies.shared.miscalibration import validation_temperatures
from reproduction.studies.shared.over_seeds import say_over
from reproduction.studies.shared.printed_effects import PrintedEffect
from reproduction.studies.shared.recorded import BOOK, load_recorded
from reproduction.studies.shared.regimes import like_kk24, recorded_as
from reproduction.studies.shared.scalings import FITS, Fit, predict, temperature_by_gamma
from reproduction.studies.shared.two_way import BySeed, mean_of

CHAPTER = "training"
FTS = "focal_temperature_scaling"
ECE = "adaptive-ece"
PLAIN_BY_NLL, FOCAL_BY_NLL, PLAIN, FOCAL, ALONG_LINE = FITS[1:]
LOSSES = ("cross-entropy", *(f"focal {gamma}" for gamma in (1, 2, 3, 5, 7)))  # of the book's grid
SHORT = "cifar10-record"  # networks that have not learnt every sample
LONG_LOSSES = {0.0: "cross-entropy", 3.0: "focal 3"}  # of the long runs
TWO = rf"Here: cross-entropy and $\gamma = 3$, two of KK24's losses; {LONG_SIZE}"
LOWER = PrintedEffect(-1, None, "negative")
TABLE_1 = functools.partial(recorded_as, "kk24-table1", BOOK)
add_quoted = Rows(CHAPTER, "quoted")
add_paraphrased = Rows(CHAPTER, "paraphrased", needs=BOOK_RUNS)
add_reading = Rows(CHAPTER, "our reading", needs=BOOK_RUNS)
add_ours = Rows(CHAPTER, "ours", needs=BOOK_RUNS)
add_fts = Rows(FTS, "our reading", needs=BOOK_RUNS, regime=TABLE_1)
add_long = Rows(FTS, "our reading", needs=f"results/{LONG}", regime=functools.partial(like_kk24, LONG))


def _gap(gamma: float, column: str, split: str) -> np.ndarray:
    return values_by_seed(gaps(), column, gamma=gamma, split=split)


def _temperature(gamma: float) -> np.ndarray:
    return values_by_seed(temperatures(), "temperature", gamma=gamma)


@add_reading(
    "kk24.ce_overconfident",
    "Cross-entropy is calibrated on training data and overconfident on test data",
    "KK24 sections 1 and 4.1",
    f"Cross-entropy is well calibrated on the training data and overconfident on test data. (Taken as: a gap of at "
    f"most 0.01 on training data, our threshold, and confidence above accuracy on test data. Of networks that have "
    f"learnt every training sample: others may be underconfident on them. {SIZE}.)",
    chapter="overconfidence",
)
def ce_overconfident() -> Evidence:
    """Confidence minus accuracy on test above 0; on train within one point."""
    confidence, accuracy = (_of_test(0.0, what) for what in ("confidence", "accuracy"))
    above = paired("confidence - accuracy on test", "> 0", confidence, accuracy, 1)
    runs = with_gamma(load_recorded(SHORT), 0.0)
    last = pd.DataFrame([run.history.query("split == 'train'").sort_values("epoch").iloc[-1] for run in runs])
    gap = (last["confidence"] - last["accuracy"]).mean()
    short = f"On CIFAR-10, with a training error of {last['error'].mean():.2f}, it is {gap:+.3f}"
    return All.of(above, with_remark(_near_zero(0.0, "gap", 0.01), short))


@functools.cache
def _of_test(gamma: float, what: str, scaling: Fit = FITS[0], name: str = BOOK) -> BySeed:
    """Mean confidence, accuracy, adaptive ECE or NLL of the runs of a gamma on test images, after a scaling."""

    def value(run: Result) -> float:
        probs = predict(run, scaling)
        if what == "nll":
            return nll(probs, run.test.labels)
        confidence, correct = top_label(probs, run.test.labels)
        if what == "adaptive_ece":
            return adaptive_ece_of(confidence, correct)
        return float({"confidence": confidence, "accuracy": correct}[what].mean())

    return on_test_images(with_gamma(load_recorded(name), gamma), value)


def _near_zero(gamma: float, column: str, within: float) -> Measurement:
    """A gap on train against 0."""
    gaps_by_seed = _gap(gamma, column, "train")
    gap = t_interval(gaps_by_seed)
    after = "" if column == "gap" else rf" after the map, $\gamma = {gamma:g}$"
    text = f"about 0 (within {within:g})"
    quantity = f"confidence - accuracy on train{after}"
    return Measurement(quantity, text, gap.estimate, 0.0, within, interval=gap, over=over_seeds(gaps_by_seed))


add_quoted(
    "kk24.ce_temperature",
    "Cross-entropy typically needs a temperature of 2 to 2.5",
    "KK24 section 4.1",
    "'A typical level of overconfidence could approximately be quantified with a temperature of 2-2.5', needed 'to "
    "achieve calibration on a validation set'.",
    lambda: Unchecked(
        "typical of the data sets and networks of the work that KK24 cites; no training of that size is on record "
        "here. Temperatures of such networks would come from `focal grid workflow/grids/kk24-table1.yaml` and `focal "
        "grid workflow/grids/kk24-tinyimagenet.yaml`, and whether they are typically 2 to 2.5 is then to be judged by "
        "hand, from `validation_temperatures` of these runs; kk24.ce_temperature_above_one measures the sign, "
        "kk24.ce_temperature_printed counts those that three of the papers print"
    ),
)


@add_reading(
    "kk24.ce_temperature_above_one",
    "Networks trained with cross-entropy need a temperature above one",
    "KK24 section 4.1",
    f"Networks trained with cross-entropy 'are generally overconfident on the validation set'. (Taken as: the "
    f"temperature fitted there by log-loss is above 1. {SIZE}.)",
)
def ce_temperature_above_one() -> Evidence:
    """log T, over seeds."""
    logs = np.log(_temperature(0.0))
    return signed_by_seed(r"$\log T$ of cross-entropy, on validation", "> 0", logs, 1)


# Against cross-entropy, too: where all is learnt by heart, any confidence is below the accuracy.
add_paraphrased(
    "kk24.focal_underconfident",
    "Focal loss makes networks underconfident on their training data",
    "KK24 Abstract, sections 1 and 6",
    f"Focal loss pushes the model to underconfident predictions on the training data. (Taken as: accuracy less "
    f"confidence is above 0, and above that of cross-entropy; 'slightly', section 6, is not judged. {SIZE}.)",
    lambda: All.of(*(part for g in focal_gammas(gaps()) for part in _underconfident(g))),
)


def _underconfident(gamma: float) -> tuple[Measurement, Measurement]:
    accuracy, confidence = (_gap(gamma, column, "train") for column in ("accuracy", "confidence"))
    of_cross_entropy = _gap(0.0, "accuracy", "train") - _gap(0.0, "confidence", "train")
    named = rf"accuracy - confidence on train, $\gamma = {gamma:g}$"
    return (
        paired(named, "> 0", accuracy, confidence, 1),
        paired(f"{named}, minus that of cross-entropy", "> 0", accuracy - confidence, of_cross_entropy, 1),
    )


# The gap on train after the map; before it, it is up to fifteen points. A larger gamma than that of training closes it,
# too, as nothing is left to learn: tests/reproduction/studies/cifar/test_claims_training.py.
add_reading(
    "kk24.proper_part_calibrated",
    "After the map, focal networks are calibrated on training data",
    "KK24 sections 2 and 3.2",
    rf"After the map with the $\gamma$ of training, training predictions are calibrated as those of cross-entropy "
    rf"are. (Taken as: a mean gap of at most half a point, our threshold. Of networks that have learnt every training sample: "
    rf"the map with a larger $\gamma$ passes, too, so that this one is not singled out. {SIZE}.)",
    lambda: All.of(*(_near_zero(g, "mapped_gap", 0.005) for g in focal_gammas(gaps()))),
)


@add_long(
    "kk24.focal_temperature_near_one",
    "The best temperature of focal loss is nearer one than cross-entropy's",
    "KK24 sections 2 and 4.1",
    rf"For focal loss 'the optimal temperature is frequently close to 1', that of cross-entropy 'often reported to be in the range of [1.5, 3]'. "
    rf"(Taken as: that of focal loss, by validation log-loss, is nearer 1; neither how near nor the range is judged: the chapter on training has the "
    rf"temperatures. {TWO}.)",
    chapter=CHAPTER,
)
def focal_temperature_near_one() -> Evidence:
    """abs(log T) of cross-entropy minus that of focal loss, paired by seed."""
    found = _long_temperatures()
    base, focal = (np.abs(np.log(values_by_seed(found, "temperature", gamma=g))) for g in LONG_LOSSES)
    return paired(r"$|\log T|$, cross-entropy minus $\gamma = 3$", "> 0", base, focal, 1)


@add_ours(
    "kk24.generalisation_compensation",
    "Mapped, focal networks need cross-entropy's temperature to a tenth, on Fashion-MNIST",
    "KK24 section 4.1, which assumes a similar compensation for every loss",
    r"The 'generalization compensation' is one temperature factor for every loss: what a focal network says, after the map with its "
    rf"$\gamma$ of training, needs cross-entropy's temperature to within 10 %, our tolerance, each of the five a little less. (Applied "
    rf"after the map, by validation log-loss; {SIZE}.)",
)
def generalisation_compensation() -> Evidence:
    """The temperature after the map over that of cross-entropy, paired by seed."""
    base, ratios = _temperature(0.0), {}
    for g in focal_gammas(temperatures()):
        ratios[rf"$\gamma = {g:g}$"] = values_by_seed(temperatures(), "mapped_temperature", gamma=g) / base
    parts = [
        Measurement.near(
            f"$T/T_{{CE}}$ after the map, {of}", "1", t_interval(ratio), 1.0, COMPENSATION, over_seeds(base), "claimed"
        )
        for of, ratio in ratios.items()
    ]
    largest = signed_by_seed("largest of these ratios, less 1", "< 0", np.max([*ratios.values()], 0) - 1, -1, "claimed")
    return All.of(*parts, with_remark(largest, f"On CIFAR-10, $\\gamma = 3$, 100 epochs: {_ratio_of_longer()}"))


@functools.cache
def _long_temperatures() -> pd.DataFrame:
    return validation_temperatures(load_recorded(LONG))


def _ratio_of_longer() -> str:
    """The ratio of networks on CIFAR-10, trained by M20's schedule."""
    found = _long_temperatures()
    mapped, plain = (
        values_by_seed(found, column, gamma=g) for column, g in (("mapped_temperature", 3.0), ("temperature", 0.0))
    )
    ratio = t_interval(mapped / plain)
    return f"{ratio.estimate:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


@add_ours(
    "kk24.compensation_one_temperature",
    "One temperature can stand for the map in ten classes",
    "KK24 section 4.1, 'the composition of temperature during training and generalization compensation'",
    r"In place of the map one temperature does: that closest to the map, times that of cross-entropy, is the temperature of focal loss to "
    rf"within 10 %. (Closest by the largest difference over the simplex of as many classes as the networks have; the others by validation log-loss. {SIZE}.)",
    instead="the fitted temperature differs",
)
def compensation_one_temperature() -> Evidence:
    """T_focal / T_CE, paired by seed, against the temperature closest to the map of ten classes."""
    base = _temperature(0.0)
    parts = []
    for g in focal_gammas(temperatures()):
        expected = closest_temperature(g, classes()).temperature
        ratio = t_interval(_temperature(g) / base)
        quantity = rf"$T_{{\gamma={g:g}}}/T_{{CE}}$ against the map of {classes()} classes"
        apart, over = COMPENSATION * expected, over_seeds(base)
        parts.append(Measurement.near(quantity, f"{expected:.3f}", ratio, expected, apart, over, said="predicted"))
    return All.of(*parts)


@add_reading(
    "kk24.gamma_trades_accuracy",
    "Higher gamma means better ECE and worse accuracy, on Fashion-MNIST",
    "KK24 section 5.2",
    rf"'Models trained with higher' $\gamma$ 'have generally better ECE but worse accuracy'. (Taken as: the largest $\gamma$ "
    rf"against cross-entropy, the ECE of equal mass, KK24's, after temperature scaling by it, as in Table 1. {SIZE}.)",
    regime=TABLE_1,
)
def gamma_trades_accuracy() -> Evidence:
    """The largest gamma minus cross-entropy, paired by seed."""
    top, base = (LOSSES[-1],), (LOSSES[0],)
    scaled = ("temperature", ECE)
    return All.of(
        difference(BOOK, ECE, Setting(top, *scaled), Setting(base, *scaled), LOWER),
        difference(BOOK, "error", Setting(top), Setting(base), PrintedEffect(1, None, "positive")),
    )


@add_long(
    "kk24.table1_ece",
    "Focal temperature scaling improves the test ECE of every model",
    "KK24 Table 1, section 5.2",
    f"Focal temperature scaling improves the test ECE of every model over temperature scaling, both chosen by ECE. "
    f"(ECE of equal mass, KK24's. {TWO}.)",
)
def table1_ece() -> Evidence:
    """Adaptive ECE after focal minus after plain temperature scaling, paired by seed, for each loss."""
    pairs = zip(LONG_LOSSES.values(), _by_loss("adaptive_ece", FOCAL), _by_loss("adaptive_ece", PLAIN), strict=True)
    return All.of(
        *(
            signed_by_seed(
                f"adaptive ECE (equal mass) after focal minus after temperature scaling, {loss}",
                "< 0",
                ours - theirs,
                -1,
            )
            for loss, ours, theirs in pairs
        )
    )


def _by_loss(what: str, scaling: Fit) -> list[BySeed]:
    """On test images after a scaling, of the long runs."""
    return [_of_test(gamma, what, scaling, LONG) for gamma in LONG_LOSSES]


@add_long(
    "kk24.nll_kept",
    "Focal temperature scaling leaves the log-loss about the same",
    "KK24 section 5.2, section 6, Table 1",
    rf"Focal temperature scaling comes with 'log-loss being approximately the same', 'occasionally marginally losing'. "
    rf"(Taken as: both chosen by log-loss, the test log-loss changes by at most 2 %, our threshold, on average over losses. {TWO}.)",
)
def nll_kept() -> Evidence:
    """Mean relative change of the NLL over the losses of a seed, then over seeds."""
    pairs = zip(_by_loss("nll", FOCAL_BY_NLL), _by_loss("nll", PLAIN_BY_NLL), strict=True)
    relative = mean_of([(ours / theirs).map(lambda ratio: ratio - 1) for ours, theirs in pairs])
    return Measurement.near(
        "relative change of NLL", "approximately 0", relative.interval(), 0.0, 0.02, say_over(relative)
    )


@claim(
    "kk24.temperature_decreases_printed",
    short="In Table 1 the best temperature falls as training gamma grows",
    source="KK24 section 5.2, Table 1",
    statement=r"'The optimal temperature generally decreases with the growth of the focal training parameter "
    r"$\gamma_{tr}$.' (Taken as: of temperature scaling, in most steps from one $\gamma_{tr}$ to the next among the "
    r"rows of Table 1 that are legible, cross-entropy being $\gamma_{tr} = 0$, by log-loss and by ECE, equal mass.)",
    chapter=FTS,
    fidelity="our reading",
    needs=PRINTED,
)
def temperature_decreases_printed() -> Evidence:
    """Steps of the temperatures in brackets, data set by data set."""
    changes = np.concatenate([np.diff(row) for row in _printed_temperatures()])
    fell = int((changes < 0).sum())
    quantity = f"steps with a lower temperature, of {changes.size}"
    return Measurement(quantity, "generally", fell, holds=2 * fell > changes.size, said="claimed")


def _printed_temperatures() -> list[np.ndarray]:
    """For each data set and criterion the temperatures printed, in the order of gamma of training."""
    rows = kk24_table1().query("stage == 'ts'")
    rows = rows.assign(trained=rows["loss"].str.extract(r"^focal (\d+)$")[0].astype(float))
    rows.loc[rows["loss"] == "cross-entropy", "trained"] = 0.0
    kept = rows.dropna(subset="trained").sort_values("trained").groupby("dataset")
    columns = ("nll_temperature", "adaptive_ece_temperature")
    return [own[column].to_numpy() for _, own in kept for column in columns]


@add_fts(
    "kk24.temperature_decreases",
    "The best temperature falls as training gamma grows, on Fashion-MNIST",
    "KK24 section 5.2",
    rf"'The optimal temperature generally decreases with the growth of the focal training parameter $\gamma_{{tr}}$.' (Taken as: the slope of "
    rf"$\log T$ over $\gamma_{{tr}}$, cross-entropy being 0, $T$ chosen by log-loss and by ECE of equal mass, KK24's. {SIZE}.)",
)
def temperature_decreases() -> Evidence:
    """Least squares for each seed, then over seeds."""
    by_ece = comparison(method="temperature", objective=ECE)
    parts = []
    for criterion, found in (("NLL", temperatures()), ("ECE (equal mass)", by_ece)):
        gammas = sorted(found["gamma"].unique())
        logs = np.log(np.array([values_by_seed(found, "temperature", gamma=g) for g in gammas]))  # (gammas, seeds)
        slopes = np.polyfit(gammas, logs, 1)[0]
        quantity = rf"slope of $\log T$ over $\gamma$ of training, $T$ chosen by {criterion}"
        parts.append(signed_by_seed(quantity, "< 0", slopes, -1))
    return All.of(*parts)


def _gain_of_criterion(quantity: str, column: str, chosen: Fit, other: Fit) -> Measurement:
    """Plain temperature scaling chosen by one criterion against the other: relative change of the mean over losses.

    Of a gain the sign counts: one data set's size says nothing of another's.
    """
    ours, theirs = (mean_of(_by_loss(column, scaling)) for scaling in (chosen, other))
    return signed_by_seed(quantity, "< 0", (ours / theirs).map(lambda ratio: ratio - 1), -1)


@add_long(
    "kk24.choose_by_nll",
    "Choosing by validation log-loss gives a small, consistent gain in log-loss",
    "KK24 section 5.2, on the choice of criterion",
    f"Optimizing for log-loss on the validation set for the hyperparameter choice, 'for log-loss, the relative "
    f"improvement is rather minor but consistent'. (Taken as: a gain for each of the losses, as *consistent* asks, plain "
    f"temperature scaling by log-loss against by ECE of equal mass; how much is not judged. {TWO}.)",
)
def choose_by_nll() -> Evidence:
    """Relative change of each loss by itself."""
    pairs = zip(LONG_LOSSES.values(), *(_by_loss("nll", scaling) for scaling in (PLAIN_BY_NLL, PLAIN)), strict=True)
    return All.of(
        *(
            signed_by_seed(f"relative change of NLL on test, {loss}", "< 0", (ours / theirs).map(lambda x: x - 1), -1)
            for loss, ours, theirs in pairs
        )
    )


add_long(
    "kk24.choose_by_ece",
    "Choosing by validation ECE gives a lower test ECE",
    "KK24 section 5.2",
    f"'When evaluating ECE, we could gain an extra 20 % relative improvement in average when optimizing for ECE on "
    f"the validation set for the hyperparameter choice.' (Taken as: a gain over choosing by log-loss, plain "
    f"temperature scaling, mean over the losses; how much is not judged; ECE of equal mass, KK24's. {TWO}.)",
    lambda: _gain_of_criterion(
        "relative change of adaptive ECE (equal mass) on test", "adaptive_ece", PLAIN, PLAIN_BY_NLL
    ),
)


@add_long(
    "kk24.fig8_linear",
    "The best temperature is nearly linear in the calibration gamma",
    "KK24 Fig. 8, section 5.2",
    rf"The optimal temperature over the calibration $\gamma$ 'is close to linear for all trained models'. "
    rf"(Taken as: by ECE of equal mass, $R^2 > 0.95$, our threshold, over $\gamma \le 1$, for the models whose temperature stays within the paper's grid there. {TWO}.)",
)
def fig8_linear() -> Evidence:
    """R^2 of each loss, over seeds; a loss that reaches the end of the grid at some seed is left out, by name."""
    gammas = [g for g in PAPER_GAMMAS if g <= 1]
    found: dict[str, list[np.ndarray]] = {}
    for result in long_results():
        found.setdefault(result.spec.label, []).append(temperature_by_gamma(result, gammas))
    at_end = [name for name, fits in found.items() if np.max(fits) >= PAPER_TEMPERATURES[-1]]
    parts = []
    for name, fits in found.items():
        if name not in at_end:
            z = np.arctanh(
                [abs(np.corrcoef(gammas, t)[0, 1]) for t in fits]
            )  # Fisher's: R^2 has an end at 1, z has none
            quantity = rf"Fisher's $z$ of $R$ less that of $R^2 = 0.95$, {name}"
            least = np.full_like(z, np.arctanh(np.sqrt(0.95)))
            parts.append(Measurement.signed(quantity, "> 0", paired_t_interval(z, least), 1, over_seeds(z)))
    if parts and at_end:
        parts[-1] = replace(parts[-1], remark=f"Left out, at the end of the grid: {', '.join(at_end)}")
    return All.of(*parts)


@add_long(
    "kk24.line_search",
    "A search along that line loses little ECE",
    "KK24 sections 5.2 and 6, left to future work",
    rf"'Instead of fitting hyperparameters over a 2-dimensional values grid, we could iterate' them 'only within the line' "
    rf"'without much performance loss'. (Taken as: a loss of less than 0.1 points of the test ECE, equal mass, on average over losses. {TWO}.)",
)
def line_search() -> Evidence:
    """Test ECE along the line minus that of the whole grid, mean over the losses of a seed, then over seeds."""
    line, grid = (mean_of(_by_loss("adaptive_ece", scaling)) for scaling in (ALONG_LINE, FOCAL))
    quantity = "adaptive ECE (equal mass) lost on test, in points, less the 0.1 allowed"
    return signed_by_seed(quantity, "< 0", (line - grid).map(lambda lost: 100 * lost - 0.1), -1)

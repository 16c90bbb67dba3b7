"""KK24 sections 4.2, 5 and 6, Table 1, Fig. 8: focal temperature scaling, in theory and on Fashion-MNIST by KK24's ECE."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS
from focal_lib.calibration.calibrators.temperature import PAPER_TEMPERATURES
from focal_lib.metrics.intervals import paired_t_interval, t_interval
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows, claim
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import kk24_table1
from reproduction.studies.shared.from_runs import (
    SIZE,
    comparison,
    focal_gammas,
    over_seeds,
    results,
    signed_by_seed,
    temperatures,
    values_by_seed,
)
from reproduction.studies.shared.scalings import temperature_by_gamma

CHAPTER = "09_focal_temperature_scaling"
ECE = "adaptive-ece"
add_reading = Rows(CHAPTER, "our reading", needs="runs")


@add_reading(
    "kk24.table1_ece",
    "KK24 Table 1, section 5.2",
    f"Focal temperature scaling improves the test ECE of every model over temperature scaling, both chosen by ECE. "
    f"(ECE of equal mass, KK24's. {SIZE}.)",
)
def table1_ece() -> Evidence:
    """Adaptive ECE after focal minus after plain temperature scaling, paired by seed, for each loss."""
    parts = []
    for g in (0.0, *focal_gammas(comparison())):
        focal, plain = (
            values_by_seed(comparison(), "adaptive_ece", gamma=g, method=method, objective=ECE, search="grid")
            for method in ("focal-temperature", "temperature")
        )
        gain = paired_t_interval(focal, plain).scaled(100)
        quantity = rf"change of adaptive ECE (equal mass), in points, trained with $\gamma = {g:g}$"
        parts.append(Measurement.signed(quantity, "< 0", gain, -1, over_seeds(plain)))
    return All(tuple(parts))


def _relative_change(column: str, ours: dict[str, str], theirs: dict[str, str]) -> np.ndarray:
    """A column for one scaling over that for another, minus 1: mean over the losses, one number a seed."""
    wide = []
    for which in (ours, theirs):
        kept = comparison()[(comparison()[list(which)] == pd.Series(which)).all(axis="columns")]
        wide.append(kept.pivot(index="seed", columns="loss", values=column))
    return (wide[0] / wide[1] - 1).mean(axis="columns").to_numpy()


@add_reading(
    "kk24.nll_kept",
    "KK24 section 5.2, section 6, Table 1",
    rf"Focal temperature scaling comes with 'log-loss being approximately the same', 'occasionally marginally losing'. "
    rf"(Taken as: both chosen by log-loss, the test log-loss changes by at most 2 %, our threshold, on average. {SIZE}.)",
)
def nll_kept() -> Evidence:
    """Mean relative change of the NLL over the losses of a seed, then over seeds."""
    relative = _relative_change(
        "nll", {"method": "focal-temperature", "objective": "nll"}, {"method": "temperature", "objective": "nll"}
    )
    change, over = t_interval(relative), over_seeds(relative)
    return Measurement.near("relative change of NLL", "approximately 0", change, 0.0, 0.02, over)


@claim(
    "kk24.temperature_decreases_printed",
    source="KK24 section 5.2, Table 1",
    statement=r"'The optimal temperature generally decreases with the growth of the focal training parameter "
    r"$\gamma_{tr}$.' (Taken as: of temperature scaling, in most steps from one $\gamma_{tr}$ to the next among the "
    r"rows of Table 1 that are legible, cross-entropy being $\gamma_{tr} = 0$, by log-loss and by ECE, equal mass.)",
    chapter=CHAPTER,
    fidelity="our reading",
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


@add_reading(
    "kk24.temperature_decreases",
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
    return All(tuple(parts))


@add_reading(
    "kk24.choose_by_nll",
    "KK24 section 5.2, on the choice of criterion",
    f"Optimizing for log-loss on the validation set for the hyperparameter choice, 'for log-loss, the relative "
    f"improvement is rather minor but consistent'. (Taken as: a gain, plain temperature scaling by log-loss against "
    f"by ECE of equal mass. {SIZE}: the size, around 1 %, is that of other data.)",
)
def choose_by_nll() -> Evidence:
    """Relative change of the mean over losses of a seed, plain temperature scaling; then over seeds."""
    relative = _gain_of_criterion("nll", "nll", ECE)
    return _gain("relative change of NLL on test", relative)


def _gain(quantity: str, relative: np.ndarray) -> Measurement:
    """A relative change against the sign of a gain: one data set's size says nothing of another's."""
    return signed_by_seed(quantity, "< 0", relative, -1)


def _gain_of_criterion(column: str, chosen: str, other: str) -> np.ndarray:
    """A column of plain temperature scaling chosen by one criterion over that by the other, minus 1, one number a seed."""
    plain = comparison()[comparison()["method"] == "temperature"]
    by_seed = plain.groupby(["seed", "objective"])[column].mean().unstack()
    return (by_seed[chosen] / by_seed[other] - 1).to_numpy()


@add_reading(
    "kk24.choose_by_ece",
    "KK24 section 5.2",
    f"'When evaluating ECE, we could gain an extra 20 % relative improvement in average when optimizing for ECE on "
    f"the validation set for the hyperparameter choice.' (Taken as: a gain over choosing by log-loss, plain "
    f"temperature scaling, mean over the losses; ECE of equal mass, KK24's. {SIZE}: the size is that of other data.)",
)
def choose_by_ece() -> Evidence:
    """Relative change of the mean over losses of a seed, plain temperature scaling; then over seeds."""
    relative = _gain_of_criterion("adaptive_ece", ECE, "nll")
    return _gain("relative change of adaptive ECE (equal mass) on test", relative)


@add_reading(
    "kk24.fig8_linear",
    "KK24 Fig. 8, section 5.2",
    rf"The optimal temperature over the calibration $\gamma$ 'is close to linear for all trained models'. "
    rf"(Taken as: $R^2 > 0.95$ over $\gamma \le 1$, for the models whose temperature stays within the paper's grid there. {SIZE}.)",
)
def fig8_linear() -> Evidence:
    """R^2 of each loss, over seeds; a loss that reaches the end of the grid at some seed is left out, by name."""
    gammas = [g for g in PAPER_GAMMAS if g <= 1]
    found: dict[str, list[np.ndarray]] = {}
    for result in results():
        found.setdefault(result.spec.label, []).append(temperature_by_gamma(result, gammas))
    at_end = [name for name, fits in found.items() if np.max(fits) >= PAPER_TEMPERATURES[-1]]
    parts = []
    for name, fits in found.items():
        if name not in at_end:
            r2 = np.array([np.corrcoef(gammas, t)[0, 1] ** 2 for t in fits])
            quantity = f"$R^2$ less 0.95, {name}"
            parts.append(Measurement.signed(quantity, "> 0", paired_t_interval(r2, 0 * r2 + 0.95), 1, over_seeds(r2)))
    if parts and at_end:
        parts[-1] = replace(parts[-1], remark=f"Left out, at the end of the grid: {', '.join(at_end)}")
    return All(tuple(parts))


@add_reading(
    "kk24.line_search",
    "KK24 sections 5.2 and 6, left to future work",
    rf"'Instead of fitting hyperparameters over a 2-dimensional values grid, we could iterate' them 'only within the line' "
    rf"'without much performance loss'. (Taken as: a loss of less than 0.1 points of the test ECE, equal mass, on average over losses. {SIZE}.)",
)
def line_search() -> Evidence:
    """Test ECE along the line minus that of the whole grid, mean over the losses of a seed, then over seeds."""
    focal = comparison().query("method == 'focal-temperature' and objective == @ECE")
    by_seed = 100 * focal.pivot_table("adaptive_ece", "seed", "search")  # the mean over losses
    loss = paired_t_interval(by_seed["line"], by_seed["grid"] + 0.1)
    quantity = "adaptive ECE (equal mass) lost on test, in points, less the 0.1 allowed"
    return Measurement.signed(quantity, "< 0", loss, -1, over_seeds(by_seed))

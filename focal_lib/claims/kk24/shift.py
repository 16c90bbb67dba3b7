"""KK24's calibration under shift, which the paper leaves open: scalings fitted on clean images, judged on corrupted."""

from __future__ import annotations

import functools

import pandas as pd

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.from_runs import SIZE, name_metric, results, signed_by_seed
from focal_lib.claims.ledger import claim
from focal_lib.claims.measurement import Measurement
from focal_lib.results.unknown_inputs import mean_over_shifts, measure_shift
from focal_lib.results.written_contrasts import difference_by_seed
from focal_lib.results.written_unknown import SHIFTS, shift_contrasts
from focal_lib.training.contrasts import Contrast, Setting

CHAPTER = "19_unknown_inputs"
LOSSES = ("cross-entropy", "focal 3")
NOT_ASKED = "which KK24 measures in distribution only"
CORRUPTED = f"({SIZE}; 5,000 test images under Gaussian noise, Gaussian blur and reduced contrast, severities 1 to 5, their mean.)"


@functools.cache
def shifted() -> pd.DataFrame:
    """Cross-entropy and gamma 3 of the default grid on corrupted images."""
    return measure_shift([run for run in results() if run.spec.label in LOSSES], SHIFTS)


def _contrast(contrast: Contrast, table: pd.DataFrame, where: str = "") -> Measurement:
    values = difference_by_seed(table, contrast.metric, contrast.ours, contrast.theirs)
    quantity = f"{name_metric(contrast.metric)} of {contrast.ours}, minus {contrast.theirs}{where}"
    claimed = "positive" if contrast.claimed > 0 else "negative"
    return signed_by_seed(quantity, claimed, values, contrast.claimed, said="asked")


def _asked(ours: str, metric: str) -> tuple[Measurement, ...]:
    """The contrasts that were written down, of that scaling and metric."""
    mean = mean_over_shifts(shifted())
    return tuple(_contrast(c, mean) for c in shift_contrasts() if c.ours.method == ours and c.metric == metric)


@claim(
    "kk24.temperature_under_shift",
    source=f"KK24 section 5.2, on temperature scaling, {NOT_ASKED}",
    statement=rf"A temperature fitted on clean images lowers the NLL on corrupted ones, with cross-entropy and with $\gamma = 3$. {CORRUPTED}",
    chapter=CHAPTER,
    fidelity="ours",
    needs="runs",
)
def temperature_under_shift() -> Evidence:
    """Two of the contrasts that were written down before."""
    return All(_asked("temperature", "nll"))


@claim(
    "kk24.temperature_ece_under_shift",
    source=f"KK24 section 5.2, on temperature scaling, {NOT_ASKED}",
    statement=rf"A temperature fitted on clean images lowers adaptive ECE (equal mass) on corrupted ones, with cross-entropy and with $\gamma = 3$. {CORRUPTED}",
    chapter=CHAPTER,
    fidelity="ours",
    needs="runs",
)
def temperature_ece_under_shift() -> Evidence:
    """Two of the contrasts that were written down before."""
    return All(_asked("temperature", "adaptive-ece"))


@claim(
    "kk24.focal_scaling_under_shift",
    source=f"KK24 section 5.2, on focal temperature scaling, {NOT_ASKED}",
    statement=rf"Focal temperature scaling fitted on clean images has a lower NLL on corrupted ones than temperature scaling, with cross-entropy and with "
    rf"$\gamma = 3$. {CORRUPTED}",
    chapter=CHAPTER,
    fidelity="ours",
    needs="runs",
)
def focal_scaling_under_shift() -> Evidence:
    """Two of the contrasts that were written down before, the primary one among them."""
    return All(_asked("focal-temperature", "nll"))


@claim(
    "kk24.temperature_harms_under_contrast",
    source=f"KK24 section 5.2, on temperature scaling, {NOT_ASKED}",
    statement=rf"Where contrast is reduced, a temperature fitted on clean images raises the adaptive ECE (equal mass) of networks trained with $\gamma = 3$. ({SIZE}; "
    r"mean over five severities; seen in these runs first, and not written down before.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs="runs",
)
def temperature_harms_under_contrast() -> Evidence:
    """One corruption alone."""
    reduced = shifted().query("corruption == 'contrast'")
    ours, theirs = Setting(("focal 3",), "temperature", "nll"), Setting(("focal 3",))
    contrast = Contrast("shift", "contrast alone", "adaptive-ece", ours, theirs, 1)
    return _contrast(contrast, mean_over_shifts(reduced), ", contrast reduced")

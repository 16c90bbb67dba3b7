"""KK24's calibration under shift, which the paper leaves open: scalings fitted on clean images, judged on corrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from reproduction.engine.contrasts import Contrast
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.judgement import interval_among
from reproduction.ledger.ledger import Rows, claim
from reproduction.ledger.measurement import Measurement
from reproduction.studies.ood.contrasts import temperature_under
from reproduction.studies.ood.measures import mean_over_shifts
from reproduction.studies.ood.plan import CIFAR_SHIFTS, SHIFTS, corruptions_asked, shift_contrasts
from reproduction.studies.shared.from_runs import CIFAR_SIZE, SIZE, name_metric, on_one_test_set, signed_by_seed
from reproduction.studies.shared.recorded import BOOK, read_shift
from reproduction.studies.shared.written_contrasts import difference_by_seed

CHAPTER = "unknown_inputs"
LOSSES = ("cross-entropy", "focal 3")
NOT_ASKED = "which KK24 measures in distribution only"
CORRUPTED = f"({SIZE}; 5,000 test images under Gaussian noise, Gaussian blur and reduced contrast, severities 1 to 5, their mean.)"
RECORDED = "results/unknown-inputs"
ON_CIFAR = f"({CIFAR_SIZE}; the first 2,000 test images under 14 of the 15 corruptions of CIFAR-10-C made here, severities 1 to 5, their mean.)"


def shifted() -> pd.DataFrame:
    """Cross-entropy and gamma 3 of the book's grid on corrupted images."""
    table = read_shift(BOOK)
    return table[table["loss"].isin(LOSSES)]


def of_cifar() -> pd.DataFrame:
    """What networks on CIFAR-10 said of corrupted images."""
    return read_shift("cifar10-unknown")


def _contrast(contrast: Contrast, table: pd.DataFrame) -> Measurement:
    values = difference_by_seed(table, contrast.metric, contrast.ours, contrast.theirs)
    claimed = "positive" if contrast.claimed > 0 else "negative"
    quantity = f"{name_metric(contrast.metric)} of {contrast.ours}, minus {contrast.theirs}"
    return on_one_test_set(signed_by_seed(quantity, claimed, values, contrast.claimed, said="asked"))


def _asked(
    ours: str, metric: str, table: pd.DataFrame | None = None, written: Sequence[Contrast] = shift_contrasts()
) -> All:
    """The contrasts that were written down, of that scaling and metric; without a table of the book's grid."""
    mean = mean_over_shifts(shifted() if table is None else table)
    return All(tuple(_contrast(c, mean) for c in written if c.ours.method == ours and c.metric == metric))


def _harm_under_contrast(table: pd.DataFrame) -> Measurement:
    """That a temperature raises the adaptive ECE of gamma 3 where contrast is reduced."""
    values = temperature_under(table, "contrast", "focal 3")
    quantity = f"{name_metric('adaptive-ece')} of focal 3 after temperature by nll, minus as trained, contrast reduced"
    return on_one_test_set(signed_by_seed(quantity, "positive", values, 1, said="asked"))


add_ours = Rows(CHAPTER, "ours", needs=RECORDED)

# Two of the contrasts that were written down before.
add_ours(
    "kk24.temperature_under_shift",
    "A temperature fitted on clean images lowers NLL on corrupted Fashion-MNIST",
    f"KK24 section 5.2, on temperature scaling, {NOT_ASKED}",
    rf"A temperature fitted on clean images by log-loss lowers the NLL on corrupted ones, with cross-entropy and with $\gamma = 3$. {CORRUPTED}",
    lambda: _asked("temperature", "nll"),
)

add_ours(
    "kk24.temperature_ece_under_shift",
    "A temperature fitted on clean images lowers ECE on corrupted Fashion-MNIST",
    f"KK24 section 5.2, on temperature scaling, {NOT_ASKED}",
    rf"A temperature fitted on clean images by log-loss lowers adaptive ECE (equal mass) on corrupted ones, with cross-entropy and with $\gamma = 3$. {CORRUPTED}",
    lambda: _asked("temperature", "adaptive-ece"),
)

# Two of the contrasts that were written down before, the primary one among them.
add_ours(
    "kk24.focal_scaling_under_shift",
    "Focal temperature scaling beats a temperature by NLL on corrupted Fashion-MNIST",
    f"KK24 section 5.2, on focal temperature scaling, {NOT_ASKED}",
    rf"Focal temperature scaling fitted on clean images by log-loss has a lower NLL on corrupted ones than temperature scaling, with cross-entropy and with "
    rf"$\gamma = 3$. {CORRUPTED}",
    lambda: _asked("focal-temperature", "nll"),
    instead="with gamma 3 the NLL is higher",
)


@claim(
    "kk24.temperature_harms_under_contrast",
    short="Under reduced contrast a clean temperature raises the ECE of gamma 3",
    source=f"KK24 section 5.2, on temperature scaling, {NOT_ASKED}",
    statement=rf"Where contrast is reduced, a temperature fitted on clean images by log-loss raises the adaptive ECE (equal mass) of networks trained with $\gamma = 3$. ({SIZE}; "
    r"5,000 test images, mean over five severities. Seen in these runs first, and not written down before: judged as one of the six means of three corruptions and two losses, "
    r"by Bonferroni's interval.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=RECORDED,
)
def temperature_harms_under_contrast() -> Evidence:
    """One corruption and loss, corrected for those among which it was seen."""
    found = _harm_under_contrast(shifted())
    assert found.interval is not None
    return replace(found, interval=interval_among(found.interval, len(SHIFTS) * len(LOSSES)))


# What other networks on other images say of what was seen first.
add_ours(
    "kk24.temperature_harms_cifar",
    "Under reduced contrast a clean temperature raises ECE on CIFAR-10, too",
    f"KK24 section 5.2, on temperature scaling, {NOT_ASKED}",
    rf"Where contrast is reduced, a temperature fitted on clean images by log-loss raises the adaptive ECE (equal mass) of networks trained with $\gamma = 3$, on "
    rf"CIFAR-10 too. ({CIFAR_SIZE}; the first 2,000 test images; mean over five severities; asked after it had been seen on Fashion-MNIST, and not written "
    r"down before.)",
    lambda: _harm_under_contrast(of_cifar()),
)

# Two of the contrasts that were written down before these networks were trained.
add_ours(
    "kk24.temperature_under_shift_cifar",
    "A temperature fitted on clean images lowers NLL on corrupted CIFAR-10",
    f"KK24 section 5.2, on temperature scaling, {NOT_ASKED}",
    rf"A temperature fitted on clean images by log-loss lowers the NLL on corrupted ones, with cross-entropy and with $\gamma = 3$. {ON_CIFAR}",
    lambda: _asked("temperature", "nll", corruptions_asked(of_cifar()), CIFAR_SHIFTS),
)

add_ours(
    "kk24.temperature_ece_under_shift_cifar",
    "A temperature fitted on clean images lowers ECE on corrupted CIFAR-10",
    f"KK24 section 5.2, on temperature scaling, {NOT_ASKED}",
    rf"A temperature fitted on clean images by log-loss lowers adaptive ECE (equal mass) on corrupted ones, with cross-entropy and with $\gamma = 3$. {ON_CIFAR}",
    lambda: _asked("temperature", "adaptive-ece", corruptions_asked(of_cifar()), CIFAR_SHIFTS),
)

# Two of the contrasts that were written down before these networks were trained, the primary one among them.
add_ours(
    "kk24.focal_scaling_under_shift_cifar",
    "Focal temperature scaling beats a temperature by NLL on corrupted CIFAR-10",
    f"KK24 section 5.2, on focal temperature scaling, {NOT_ASKED}",
    rf"Focal temperature scaling fitted on clean images by log-loss has a lower NLL on corrupted ones than temperature scaling, with cross-entropy and with "
    rf"$\gamma = 3$. {ON_CIFAR}",
    lambda: _asked("focal-temperature", "nll", corruptions_asked(of_cifar()), CIFAR_SHIFTS),
)

"""What KK24 leaves open: focal temperature scaling on other architectures, and against other calibrators.

Every contrast was written down before its record was made: `architectures`, `calibrators_compared`.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from reproduction.engine.contrasts import Contrast
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.calibrators.architectures import ARCHITECTURE_CONTRASTS, contrasts_by_network
from reproduction.studies.calibrators.calibrators_compared import CALIBRATOR_CONTRASTS, FIRST_CONTRASTS
from reproduction.studies.shared.from_runs import contrast_by_seed, measure_among, name_metric, with_remark
from reproduction.studies.shared.recorded import read_small_comparison, read_table
from reproduction.studies.shared.written_contrasts import evaluate_contrasts

ARCHITECTURES, CALIBRATORS = "fashion-mnist-architectures", "open-questions"
RUNS, DATASET = "cifar10-record", "cifar10"  # the networks that the calibrators are fitted to
NETWORKS = (
    r"a vision transformer, an MLP-Mixer and a ConvNeXt, mean over cross-entropy and focal loss with $\gamma = 3$. "
    r"Fashion-MNIST, 2,000 training images, 100 epochs, small networks"
)
HERE = (
    "both fitted on 5,000 validation images by log-loss, with the default penalties. (AirBench CNN on CIFAR-10, "
    "45,000 images, 16 epochs, mean over KK24's seven losses; {}.)"
)
PENALISED_ANEW = ("vector", "matrix", "dirichlet")  # whose default penalty is another than when they were asked first
LOWER = "Focal temperature scaling has a lower log-loss on test data than"
FAMILY = "corrected by Holm with the ten other secondary contrasts of the family"
TOGETHER = HERE.format(FAMILY)
LARGE = ("focal 5", "focal 7")
OPEN_WITHOUT = r"of the other losses, without $\gamma = 5, 7$, it is open"


def _by_network(metric: str) -> Evidence:
    """The contrast of this metric on each network, against its sign; the remarks have the p values that Holm gives."""
    table = read_table(ARCHITECTURES)
    found = contrasts_by_network(table, ARCHITECTURE_CONTRASTS)
    parts = []
    for contrast in (c for c in ARCHITECTURE_CONTRASTS if c.metric == metric):
        for row in found[found["metric"] == metric].itertuples():
            quantity = f"{_change(contrast)}, {row.model}"
            of_network = table[table["model"] == row.model]
            part = contrast_by_seed(quantity, of_network, contrast, "asked")
            corrected = f"p = {row.p_adjusted:.2g} by Holm over all {len(found)} contrasts of the record"
            parts.append(with_remark(part, corrected))
    return All.of(*parts)


def against(method: str, metric: str = "nll") -> Measurement:
    """The contrast with this method on CIFAR-10, by an interval of the level that Holm's correction leaves it."""
    table = read_table(CALIBRATORS)
    (asked,) = (c for c in CALIBRATOR_CONTRASTS if (c.theirs.method, c.metric) == (method, metric))
    found = measure_among(_change(asked), table[table["dataset"] == DATASET], asked, CALIBRATOR_CONTRASTS, "asked")
    remarks = [_of_small_networks(method, metric)]
    if method == "temperature":
        remarks.append(_of_small_gammas(asked, table))
        remarks.append("What these networks give after either scaling was on record when this was asked of them")
    if method in PENALISED_ANEW:
        remarks.append("That was with an earlier default penalty, as was a first record of these networks")
    return with_remark(found, ". ".join(remarks))


def _of_small_networks(method: str, metric: str) -> str:
    """The same contrast where it was asked first."""
    (first,) = (c for c in FIRST_CONTRASTS if (c.theirs.method, c.metric) == (method, metric))
    row = evaluate_contrasts(read_small_comparison(), [first]).iloc[0]
    interval = f"[{row['low']:+.4f}, {row['high']:+.4f}] (95 % t interval, {row['seeds']} seeds)"
    return f"Asked first of small ResNets on 4,000 images, nine losses: {row['difference']:+.4f} {interval}"


def _of_small_gammas(contrast: Contrast, table: pd.DataFrame) -> str:
    """The same contrast over the losses that are left."""
    losses = tuple(loss for loss in contrast.ours.losses if loss not in LARGE)
    ours, theirs = (replace(setting, losses=losses) for setting in (contrast.ours, contrast.theirs))
    row = evaluate_contrasts(table[table["dataset"] == DATASET], [replace(contrast, ours=ours, theirs=theirs)]).iloc[0]
    return f"Without {' and '.join(LARGE)}: {row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]"


def _change(contrast: Contrast) -> str:
    """'nll after focal-temperature minus that after vector': of contrasts over the same losses."""
    return f"{name_metric(contrast.metric)} after {contrast.ours.method} minus that after {contrast.theirs.method}"


add_ours = Rows("open_questions", "ours", needs=f"results/{CALIBRATORS}")

# Each network by itself, as written down, paired over seeds.
add_ours(
    "kk24.architectures_ece",
    "Focal temperature scaling improves ECE on three other architectures",
    "KK24 section 5.2, on other architectures",
    f"Focal temperature scaling has a lower ECE, equal mass, on test data than temperature scaling, both chosen by it, "
    f"on each of {NETWORKS}. By classwise ECE it is the other way round.",
    lambda: _by_network("adaptive-ece"),
    needs=f"results/{ARCHITECTURES}",
)

# KK24 claims that the log-loss stays about the same; asked is more.
add_ours(
    "kk24.architectures_nll",
    "Focal temperature scaling improves log-loss on three other architectures",
    "KK24 section 5.2, on other architectures",
    f"Focal temperature scaling has a lower log-loss on test data than temperature scaling, both fitted by log-loss, "
    f"on each of {NETWORKS}.",
    lambda: _by_network("nll"),
    needs=f"results/{ARCHITECTURES}",
)
add_ours(
    "kk24.calibrators_temperature",
    "Focal temperature scaling has lower log-loss than temperature scaling",
    "KK24 section 5.2, by the log-loss on CIFAR-10",
    f"{LOWER} temperature scaling, {HERE.format(f'the primary contrast, which stands for itself; {OPEN_WITHOUT}')}",
    lambda: against("temperature"),
)

# The same fits, by the other proper score.
add_ours(
    "kk24.calibrators_temperature_brier",
    "Focal temperature scaling has a lower Brier score than temperature scaling",
    "KK24 section 5.2, by the Brier score on CIFAR-10",
    f"Focal temperature scaling has a lower Brier score on test data than temperature scaling, "
    f"{HERE.format(f'{FAMILY}; {OPEN_WITHOUT}')}",
    lambda: against("temperature", "brier"),
)


def _asked(other: str) -> tuple[str, str]:
    """Source and statement."""
    each = " of each class" if other == "beta calibration" else ""
    return f"KK24 section 5.2, against {other}", f"{LOWER} {other}{each}, {TOGETHER}"


# Two parameters against many: from two a class to a matrix and a number a class.
add_ours(
    "kk24.calibrators_vector",
    "Focal temperature scaling has lower log-loss than vector scaling",
    *_asked("vector scaling"),
    lambda: against("vector"),
)
add_ours(
    "kk24.calibrators_matrix",
    "Focal temperature scaling has lower log-loss than matrix scaling",
    *_asked("matrix scaling"),
    lambda: against("matrix"),
)
add_ours(
    "kk24.calibrators_beta",
    "Focal temperature scaling has lower log-loss than beta calibration",
    *_asked("beta calibration"),
    lambda: against("beta"),
)
add_ours(
    "kk24.calibrators_dirichlet",
    "Focal temperature scaling has lower log-loss than Dirichlet calibration",
    *_asked("Dirichlet calibration"),
    lambda: against("dirichlet"),
)
add_ours(
    "kk24.calibrators_structured",
    "Focal temperature scaling has lower log-loss than structured matrix scaling",
    *_asked("structured matrix scaling"),
    lambda: against("structured-matrix"),
)

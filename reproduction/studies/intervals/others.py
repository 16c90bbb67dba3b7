"""Intervals, tests and gates of other libraries, each as its documentation says; read where a record is made alone.

* torchmetrics: `BootStrapper` around its calibration error of 15 bins, 100 resamples, percentiles.
* uncertainty-calibration: `bootstrap_uncertainty` of `get_ece`, 15 bins of equal width, 100 resamples, basic
  ('reversed percentile'). Its alpha is in per cent.
* relplot: smooth ECE and the width of its 95 % interval, which `prepare_rel_diagram` reports.
* calzone: Spiegelhalter's test, and Hosmer and Lemeshow's in ten groups of equal mass with as many degrees of freedom,
  as the probabilities were not fitted to the samples.
* model-diagnostics: `compute_bias` of all samples, a t test.
* netcal: its ECE of 15 bins, which passes where it is at most the limit, as is often done.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np

from reproduction.studies.intervals.methods import ALPHA, FAIL, FORMULA, OURS, PASS, Method
from reproduction.studies.intervals.models import Model, Sample

BINS, RESAMPLES = 15, 100


def _torchmetrics(sample: Sample, model: Model) -> tuple[float, float]:
    import torch
    from torchmetrics.classification import BinaryCalibrationError, MulticlassCalibrationError
    from torchmetrics.wrappers import BootStrapper

    torch.manual_seed(int(sample.labels.sum()))
    two = model.classes == 2
    own = BinaryCalibrationError(BINS) if two else MulticlassCalibrationError(model.classes, BINS)
    tails = torch.tensor([ALPHA / 2, 1 - ALPHA / 2])
    metric = BootStrapper(own, RESAMPLES, mean=False, std=False, quantile=tails, sampling_strategy="multinomial")
    probs = torch.tensor(sample.probs[:, 1] if two else sample.probs, dtype=torch.float32)
    metric.update(probs, torch.tensor(sample.labels))
    low, high = metric.compute()["quantile"].tolist()
    return low, high


def _uncertainty_calibration(sample: Sample, model: Model) -> tuple[float, float]:
    from calibration import utils

    np.random.seed(0)  # noqa: NPY002  what it draws with
    data = list(zip(*sample.judged(), strict=True))

    def error(pairs: list) -> float:
        p, y = zip(*pairs, strict=True)
        return utils.get_ece(np.array(p), np.array(y), num_bins=BINS)

    low, _, high = utils.bootstrap_uncertainty(data, error, num_samples=RESAMPLES, alpha=100 * ALPHA)
    return float(low), float(high)


def _relplot(sample: Sample, model: Model) -> tuple[float, float]:
    from relplot.diagrams import prepare_rel_diagram

    found = prepare_rel_diagram(*sample.judged(), plot_confidence_band=False)
    return float(found["ce"] - found["ce_ci_width"]), float(found["ce"] + found["ce_ci_width"])


def _columns(p: np.ndarray) -> np.ndarray:
    return np.stack([1 - p, p], 1)


def _spiegelhalter(sample: Sample, model: Model) -> float:
    from calzone.metrics import spiegelhalter_z_test

    p, y = sample.judged()
    return float(spiegelhalter_z_test(y, _columns(p))[1])


def _hosmer_lemeshow(sample: Sample, model: Model) -> float:
    from calzone.metrics import hosmer_lemeshow_test
    from calzone.utils import reliability_diagram

    p, y = sample.judged()
    observed, expected, _, count = reliability_diagram(y, _columns(p), num_bins=10, class_to_plot=1, is_equal_freq=True)
    return float(hosmer_lemeshow_test(observed, expected, count, df=int((np.asarray(count) > 0).sum()))[1])


def _bias(sample: Sample, model: Model) -> float:
    from model_diagnostics.calibration import compute_bias

    p, y = sample.judged()
    return float(compute_bias(y_obs=y, y_pred=p)["p_value"][0])


def _netcal(sample: Sample, model: Model) -> str:
    from netcal.metrics import ECE

    return PASS if ECE(BINS).measure(*sample.judged()) <= model.limit else FAIL


OTHERS = (
    Method("ECE, percentile bootstrap", "interval", "torchmetrics", "ece", _torchmetrics, 4),
    Method("ECE, basic bootstrap", "interval", "uncertainty-calibration", "ece", _uncertainty_calibration, 1),
    Method("smooth ECE, bootstrap", "interval", "relplot", "smooth", _relplot, 1),
    Method("Spiegelhalter", "test", "calzone-tool", "the Brier score that the probabilities expect", _spiegelhalter),
    Method(
        "Hosmer-Lemeshow", "test", "calzone-tool", "in each of 10 groups as many events as expected", _hosmer_lemeshow
    ),
    Method("bias", "test", "model-diagnostics", "in all as many events as expected", _bias),
    Method("ECE at most the limit", "gate", "netcal", "ece", _netcal),
)


def version_of(method: Method) -> str:
    """Of its package; of what is computed here the word for that.

    Raises:
        importlib.metadata.PackageNotFoundError: it is not installed.
    """
    return method.package if method.package in (OURS, FORMULA) else version(method.package)

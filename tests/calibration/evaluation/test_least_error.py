"""Standard errors that allow for rare errors that were not seen, and no more than the samples leave open."""

import numpy as np
import pytest
import torch
from scipy.special import expit

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.evaluation.comparison import _evaluation, differences
from focal_lib.calibration.evaluation.least_error import PATH, least_standard_errors, moments_of_labels
from focal_lib.calibration.inputs.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, TEMPERATURE


def test_moments_are_those_over_all_labels():
    rng = np.random.default_rng(0)
    log_p, log_r = (torch.log_softmax(torch.from_numpy(rng.normal(size=(4, 3))), -1) for _ in range(2))
    p, r, w = log_p.exp().numpy(), log_r.exp().numpy(), np.array([1.0, 2.0, 0.5, 0.5])
    found = moments_of_labels(log_p, log_r, torch.from_numpy(w))
    for row, s in zip(found, PATH, strict=True):
        wanted = np.zeros(3)
        for i in range(4):
            q = r[i] ** (1 - s) * p[i] ** s
            q /= q.sum()
            gain = np.log(p[i]) - np.log(r[i])
            brier = np.array(
                [((p[i] - np.eye(3)[k]) ** 2).sum() - ((r[i] - np.eye(3)[k]) ** 2).sum() for k in range(3)]
            )
            wanted[0] += w[i] * (q @ gain)
            wanted[1:] += [w[i] ** 2 * (q @ (values - q @ values) ** 2) for values in (gain, brier)]
        np.testing.assert_allclose(row, wanted, rtol=1e-12)
    assert (np.diff(found[:, 0]) > 0).all()


def of_equal_samples(r, p, right, n):
    """Least standard errors of n samples of two classes, all with these confidences."""
    log_r, log_p = (torch.log(torch.tensor([[1 - c, c]], dtype=torch.float64)) for c in (r, p))
    gain = right * np.log(p / r) + (n - right) * np.log((1 - p) / (1 - r))
    return least_standard_errors(n * moments_of_labels(log_p, log_r), gain, n)


def spread(share, r, p, n):
    """Standard error of the mean difference in log-loss where so many labels are right."""
    return np.sqrt(share * (1 - share) / n) * abs(np.log(p / r) - np.log((1 - p) / (1 - r)))


def test_where_the_reference_may_be_calibrated_labels_are_its_own():
    assert of_equal_samples(0.98, 0.999, 60, 60)[0] == pytest.approx(spread(0.98, 0.98, 0.999, 60))
    assert of_equal_samples(0.9, 0.7, 180, 200)[0] == pytest.approx(spread(0.9, 0.9, 0.7, 200))


def test_where_it_is_contradicted_by_the_rule_of_three():
    """Of 200 that are right at 0.9: the error that 1.96 standard deviations leave, n e = 1.96^2 (1 - e), is 1.9 %."""
    error = 1.96**2 / (200 + 1.96**2)
    found = of_equal_samples(0.9, 0.9999, 200, 200)[0]
    assert found == pytest.approx(spread(1 - error, 0.9, 0.9999, 200), rel=0.35)  # interpolated
    assert spread(0.9999, 0.9, 0.9999, 200) < 0.5 * found < spread(0.9, 0.9, 0.9999, 200)


def test_an_underconfident_model_as_its_labels_show_it():
    """Right 95 of 100 times at 0.7: the spread that is seen, not twice as much."""
    found = of_equal_samples(0.7, 0.95, 950, 1000)[0]
    assert found < 1.35 * spread(0.95, 0.7, 0.95, 1000)
    assert found >= 0.99 * spread(0.95, 0.7, 0.95, 1000)


def test_a_label_that_the_method_excludes_makes_nothing_sure():
    log_r = torch.log(torch.tensor([[0.2, 0.8]], dtype=torch.float64))
    log_p = torch.tensor([[-np.inf, 0.0]], dtype=torch.float64)
    for one, two, known in ((log_p, log_r, False), (log_p, log_p, True), (log_r, log_p, True)):
        found = least_standard_errors(moments_of_labels(one, two), 0.1, 10)
        assert np.isfinite(found).tolist() == [known, True]


def test_advice_on_a_model_of_focal_loss_sees_the_gain():
    """Underconfident logits, 540 samples: what plain t intervals show, these show, too."""
    rng, wins = np.random.default_rng(0), 0
    for _ in range(20):
        z = np.stack([np.zeros(540), 1.2 * rng.normal(2.5, 1.0, 540)], 1)
        y = (rng.random(540) < expit(2 * z[:, 1])).astype(np.int64)
        sharper = TemperatureScaling().fit(z, y)
        data = LogitSet(z, y)
        found = _evaluation({TEMPERATURE: sharper}, [({TEMPERATURE: sharper}, data)], data)
        row = differences(found).set_index(["reference", "metric"]).loc[(AS_GIVEN.name, "nll")]
        wins += row["high"] < 0
    assert wins >= 18

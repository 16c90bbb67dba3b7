"""A temperature on few of a run's validation samples."""

import pytest

from focal_lib import metrics
from focal_lib.calibration import TemperatureScaling
from reproduction.studies.advice.few_samples import ece_by_samples


def test_with_all_samples_every_draw_is_the_fit_on_all(make_result):
    run = make_result("focal", 0)
    found = ece_by_samples(run, [30, 300], draws=4)
    fit = TemperatureScaling(prior_sd=0.5).fit(run.validation.logits, run.validation.labels)
    whole = 100 * metrics.ece(fit.predict_proba(run.test.logits), run.test.labels)
    assert found.loc[300].tolist() == pytest.approx([whole] * 3)
    assert found.loc[30, "low"] < found.loc[30, "mean"] < found.loc[30, "high"]


def test_more_samples_than_were_kept_are_refused(make_result):
    with pytest.raises(ValueError, match=r"at most 300.* Got 301"):
        ece_by_samples(make_result("focal", 0), [301], draws=1)

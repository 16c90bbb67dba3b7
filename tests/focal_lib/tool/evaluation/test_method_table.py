"""One table of all calibrators, by definition of its columns."""

import numpy as np
import pytest
from scipy.special import softmax

from focal_lib import metrics
from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import METHODS, build, installed
from focal_lib.tool.evaluation.method_table import method_table


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(600, 3)) * 2
    y = (z + np.array([0, 0.5, -0.5]) + rng.gumbel(size=z.shape)).argmax(1)
    return LogitSet(2 * z[:300], y[:300]), LogitSet(2 * z[300:], y[300:])


def test_every_method_has_a_row_and_each_number_its_definition(sets):
    validation, test = sets
    table = method_table(*sets)
    tried = [method for method in installed() if method.name != "platt"]
    assert list(table.index) == ["as given", *(method.label for method in tried)]
    for method in tried:
        p = build(*method).fit(validation.logits, validation.labels).predict_proba(test.logits)
        row = table.loc[method.label]
        assert row["error (%)"] == pytest.approx(100 * (1 - metrics.accuracy(p, test.labels)))
        assert row["nll"] == pytest.approx(metrics.nll(p, test.labels))
        assert row["brier"] == pytest.approx(metrics.brier(p, test.labels))
        assert row["ece (%), equal width"] == pytest.approx(100 * metrics.ece(p, test.labels))
        assert row["classwise-ece (%)"] == pytest.approx(100 * metrics.classwise_ece(p, test.labels))
        assert row["other classes"] == (p.argmax(1) != test.logits.argmax(1)).sum()
        assert row["seconds to fit"] > 0
    given = table.loc["as given"]
    assert given["nll"] == pytest.approx(metrics.nll(softmax(test.logits, -1), test.labels))
    assert given[["seconds to fit", "other classes"]].isna().all()
    assert given["fitted by"] == ""


def test_temperatures_move_no_class_and_a_vector_may(sets):
    table = method_table(sets[0], sets[1], "temperature,focal-temperature,vector")
    assert (table["other classes"].dropna() > 0).tolist() == [False, False, True]


def test_whose_code_fits_a_method_is_told_of_each():
    assert all(kind.fitted_by for kind in METHODS.values())
    needing = {kind.needs.replace("_", "-"): kind.fitted_by for kind in METHODS.values() if kind.needs}
    assert all(package == told for package, told in needing.items())

"""The temperatures of three and more classes: another one is noticed on either side."""

import pytest

from reproduction.ledger.judgement import Verdict
from reproduction.theorems.kk24 import prop3_many_classes
from tests.quick import first_is_quick


@pytest.mark.parametrize("factor", first_is_quick([0.9999, 1.0001, 2.0]))
def test_a_temperature_that_is_off_fails(monkeypatch, factor):
    exact = prop3_many_classes.top_temperature_bounds
    assert prop3_many_classes.many_high_search().verdict == Verdict.NUMERIC
    monkeypatch.setattr(
        prop3_many_classes, "top_temperature_bounds", lambda gamma, n: (exact(gamma, n)[0], factor * exact(gamma, n)[1])
    )
    assert prop3_many_classes.many_high_search().verdict == Verdict.FAILED

"""A published number that is one per cent off fails its step, and with it the claim."""

import pytest

from reproduction.ledger.evidence import Derivation, step
from reproduction.ledger.judgement import Verdict
from reproduction.theorems.kk24 import prop3_sharp, prop5, prop5_each_n
from reproduction.theorems.lemmas import published


def off(function, factor):
    return lambda *args: factor * function(*args)


@pytest.mark.parametrize("factor", [0.99, 1.01, 1 + 1e-9])
@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("confidence_threshold", published.published_threshold_step),
        ("critical_gamma", published.published_critical_gamma_step),
        ("lambert_gamma", published.published_lambert_step),
    ],
)
def test_a_root_that_is_off_fails(monkeypatch, name, made, factor):
    assert made().holds
    monkeypatch.setattr(published, name, off(getattr(published, name), factor))
    assert not made().holds


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_slope_that_is_off_fails(monkeypatch, factor):
    assert published.published_slope_step().holds
    exact = published.beta_at_zero
    monkeypatch.setattr(published, "beta_at_zero", lambda g, log2: g + 1 + factor * (exact(g, log2) - g - 1))
    assert not published.published_slope_step().holds


@pytest.mark.slow
def test_a_turning_point_that_is_off_fails(monkeypatch):
    exact = published.largest_monotone_gamma
    for factor, holds in ((1, True), (0.99, False), (1.01, False)):
        monkeypatch.setattr(published, "largest_monotone_gamma", off(exact, factor))
        assert all(step.holds for step in published.published_turning_steps()) == holds


def test_the_claims_fall_with_them(monkeypatch):
    checks = {
        "confidence_threshold": (prop5.prop5_threshold, prop5.prop5_threshold_sharp),
        "critical_gamma": (prop5_each_n.prop5_n_fails, prop5_each_n.prop5_n_holds),
    }
    for name, claims in checks.items():
        with monkeypatch.context() as patch:
            patch.setattr(published, name, off(getattr(published, name), 1.01))
            assert all(claim().verdict == Verdict.FAILED for claim in claims)


@pytest.mark.slow
def test_no_other_gamma_passes_for_the_turning_one(monkeypatch):
    """Below gamma_c the certificate holds, too: that alone is no 'if and only if'."""
    proved = Derivation((step("", True),))
    monkeypatch.setattr(prop3_sharp, "monotone_certificate", lambda gamma: proved)
    exact = published.largest_monotone_gamma
    for factor, verdict in (
        (1, Verdict.CONDITIONAL),
        (0.5, Verdict.FAILED),
        (0.99, Verdict.FAILED),
        (1.01, Verdict.FAILED),
    ):
        for module in (published, prop3_sharp):
            monkeypatch.setattr(module, "largest_monotone_gamma", off(exact, factor))
        assert prop3_sharp.prop3_sharp().verdict == verdict

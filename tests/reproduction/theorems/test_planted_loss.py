"""Another focal loss in place of focal loss: whatever is proved of it must fall. What else is proved is listed.

A claim that is not listed here, a new one too, must not be proved when `symbols.focal_loss` has another exponent.
"""

import pytest
import sympy as sp

from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import ledger
from reproduction.ledger.verdicts import records
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import regret, turning

ANALYTIC = {Verdict.PROVED, Verdict.CERTIFIED, Verdict.CONDITIONAL, Verdict.REFUTED}
OF_THE_BINARY_MAP = [
    "kk24.prop2_slope",
    "kk24.prop2_negative",
    "kk24.prop2_below",
    "kk24.prop2_ends",
    "kk24.negative_inverse_sigmoid",
    "kk24.negative_confidence_falls",
    "kk24.prop3",
    "kk24.prop3_log",
    "kk24.prop3_simple",
    "kk24.prop3_proof_comparison_reading",
    "kk24.prop3_proof_increasing",
    "kk24.prop3_proof_negative",
    "kk24.prop3_proof_negative_gap",
    "kk24.prop3_example_theory",
    "kk24.many_low",
    "kk24.negative_bounds",
    "kk24.prop3_sharp",
    "kk24.prop3_sharp_above",
    "kk24.prop3_sharpness_zero",
]
LONG = [  # certificates whose failing takes half a minute: once is enough
    "kk24.negative_inverse_sigmoid",
    "kk24.negative_confidence_falls",
    "kk24.negative_bounds",
    "kk24.prop3_sharp",
    "kk24.prop3_sharp_above",
]
OF_G = [
    "m20.k_decreasing",
    "m20.g_slope_decreasing",
    "m20.g_unimodal",
    "m20.threshold",
    "m20.regularises_more",
    "m20.prop2_inequality",
    "m20.prop2_equality",
    "m20.principal_branch",
    "m20.principal_branch_corrected",
    "m20.policy_regularise",
    "m20.policy_accelerate_corrected",
]
IN_NUMBERS = [  # counterexamples by certificates.formulas, which test_one_formula holds against symbols
    "kk24.prop3_proof_gap",
    "kk24.prop3_not_for_three",
    "kk24.fig5_others_fall",
    "kk24.prop5",
    "kk24.prop5_large",
    "kk24.fig2_caption",
    "l25.thm45",
    "l25.a3",
]
WITHOUT_FOCAL_LOSS = [
    "kk24.helps_below_twice",
    "kk24.ece_of_the_truth",
    "kk24.only_temperature",
    "kk24.raises_each_n",
    "kk24.raises_every_n",
    "kk24.prop3_proof_discriminant",
    "kk24.prop5_sublemma",
    "m20.rhs_minimum",
    "m20.app_h_bernoulli",
    "m20.app_h_hoelder",
    "m20.app_h_sign",
    "m20.nll_not_convex",
    "m20.nll_local_optimum",
    "m20.nll_inverse_temperature",
    "kn24.gibbs",
    "kn24.flat_by_scaling",
    "l25.thm41_norms",
    "l25.thm41_norms_reading",
    "l25.a14_square_gap",
    "l25.a4",
    "l25.a7",
    "l25.a8_zero",
]
OTHERS = (*OF_THE_BINARY_MAP, *OF_G, *IN_NUMBERS, *WITHOUT_FOCAL_LOSS)
PROVED = {c.id: c for c in ledger() if c.needs is None and Verdict(records()[c.id].verdict) in ANALYTIC}


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    """Proofs that are kept for the process, neither from before a formula was planted nor for after."""
    kept = (turning.turning_certificate, turning.falling_certificate, regret.regret_steps)
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


def falls(claim):
    """Whether the check reaches another verdict now than on record, or none."""
    try:
        return str(claim.check().verdict) != records()[claim.id].verdict
    except (NotImplementedError, ValueError):  # a proof that sympy cannot follow any more
        return True


def test_what_is_listed_is_proved_once():
    assert sorted(OTHERS) == sorted(set(OTHERS) & set(PROVED))


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted(set(PROVED) - set(OTHERS)))
def test_no_proof_about_focal_loss_survives_another_loss(id, monkeypatch):
    q, gamma = symbols.q, symbols.gamma
    monkeypatch.setattr(symbols, "focal_loss", lambda q=q, gamma=gamma: -((1 - q) ** (3 * gamma)) * sp.log(q))
    assert falls(PROVED[id])


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted(set(PROVED) - set(OTHERS)))
def test_no_proof_about_focal_loss_survives_its_contrary(id, monkeypatch):
    """What is least for the loss is greatest for its negative, though both are stationary there."""
    loss, slope = symbols.focal_loss, symbols.focal_loss_slope
    monkeypatch.setattr(symbols, "focal_loss", lambda *values: -loss(*values))
    monkeypatch.setattr(symbols, "focal_loss_slope", lambda *values: -slope(*values))
    assert falls(PROVED[id])


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted({*OF_THE_BINARY_MAP} - {*LONG}))
def test_no_proof_about_the_binary_map_survives_its_gap_turned(id, monkeypatch):
    """R and -R are odd alike, and each other's mirror image."""
    s, gamma, gap = symbols.s, symbols.gamma, symbols.logit_gap
    monkeypatch.setattr(symbols, "logit_gap", lambda s=s, gamma=gamma: -gap(s, gamma))
    assert falls(PROVED[id])


@pytest.mark.slow
@pytest.mark.parametrize("id", OF_THE_BINARY_MAP)
def test_no_proof_about_the_binary_map_survives_another_map(id, monkeypatch):
    """Its logit doubled, in each of the forms in which it is written."""
    (q, s, gamma), u = (symbols.q, symbols.s, symbols.gamma), symbols.u
    printed, of_logit, gap = symbols.binary_map, symbols.binary_map_of_logit, symbols.logit_gap
    monkeypatch.setattr(symbols, "u", lambda s=s: u(-s))
    monkeypatch.setattr(symbols, "binary_map", lambda q=q, gamma=gamma: 1 / (1 + (1 / printed(q, gamma) - 1) ** 2))
    monkeypatch.setattr(symbols, "binary_map_of_logit", lambda s=s, gamma=gamma: 2 * of_logit(s, gamma))
    monkeypatch.setattr(symbols, "logit_gap", lambda s=s, gamma=gamma: 2 * gap(s, gamma))
    assert falls(PROVED[id])


@pytest.mark.slow
@pytest.mark.parametrize("id", OF_G)
def test_no_proof_about_g_survives_another_factor(id, monkeypatch):
    q, gamma, gain, sign = symbols.q, symbols.gamma, symbols.gain, symbols.gain_sign
    monkeypatch.setattr(symbols, "gain", lambda q=q, gamma=gamma: gain(q, gamma) * (1 + q))
    monkeypatch.setattr(symbols, "gain_sign", lambda q=q, gamma=gamma: sign(q, gamma) + q)
    assert falls(PROVED[id])

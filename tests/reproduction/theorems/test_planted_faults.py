"""A fault in one formula: the claims and the steps that rest on it must fall."""

from itertools import product

import pytest
import sympy as sp

from reproduction.ledger.judgement import HOLDS, Verdict
from reproduction.ledger.ledger import find
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, curvature, fcl, gain, regret, weight
from tests.quick import quick_but_for

ON_THE_SIMPLEX = [
    "kk24.prop5_threshold",
    "kk24.prop5_threshold_sharp",
    "kk24.prop5_near_uniform",
    "kk24.fig5_lowest_falls",
    "kk24.prop5_n_fails",
    "kk24.prop5_n_holds",
    "kk24.prop5_three_classes",
    "kk24.prop4_inflection_corrected",
    "kk24.raises_examples",
]
OF_THE_BINARY_MAP = ["kk24.prop2_slope", "kk24.prop2_proper_part_sides", "kk24.prop3", "kk24.prop3_log"]
OF_THE_SLOPE_OF_THE_LOSS = [
    "kk24.prop2_weight_reading",
    "l25.a6_mapping",
    "l25.a8_when",
    "l25.a8_reading",
    "l25.focal_improper",
    "l25.order_preserving",
]


def negative(value, at):
    return -value


def doubled(value, at):
    return 2 * value


def halved(value, at):
    return value / 2


def one_more(value, at):
    return value + 1


def squared(value, at):
    return value**2


def times_q(value, at):
    return at * value


def times_rest(value, at):
    return (1 - at) * value


def times_exp(value, at):
    return sp.exp(at) * value


def power(value, at):
    return at**7


def parabola(value, at):
    return (1 - at) ** 2


def of_twice_gamma(value, at):
    return value.subs(symbols.gamma, 2 * symbols.gamma)


CLAIMS = [  # formula of `symbols`, its fault, claim
    *product(["weight", "gain", "focal_loss", "focal_loss_slope"], [power], ON_THE_SIMPLEX),
    *product(["binary_map", "binary_map_of_logit"], [of_twice_gamma], OF_THE_BINARY_MAP),
    *product(["focal_loss_slope"], [negative], OF_THE_SLOPE_OF_THE_LOSS),
    *product(["focal_loss", "focal_loss_slope", "binary_map"], [times_q], ["kk24.prop2_sign"]),
    *product(["focal_loss"], [one_more, negative, squared], ["kk24.prop2_sign_reason"]),
    ("focal_loss", parabola, "kk24.prop2_differentiable"),
    *product(["u"], [halved], ["kk24.prop2_negative", "kk24.prop2_below"]),  # 1 + gamma u > 0 at gamma = -1
    *product(
        ["u"],
        [doubled],
        ["kk24.prop3_proof_comparison_reading", "kk24.prop3_proof_increasing", "kk24.prop3_proof_negative_gap"],
    ),
    *product(
        ["gain"], [times_exp], ["kk24.many_low", "kk24.many_high", "kk24.many_high_exact", "kk24.many_high_within"]
    ),
    ("entropy_ratio", doubled, "kk24.prop4_inflection_corrected"),
    ("weight", squared, "kk24.fig4_minimum"),
    ("gain", squared, "kk24.sharper_gamma"),
    *product(["gain"], [times_rest], ["kn24.curvature_logit_high", "kn24.curvature_probability_high"]),
    *product(["gain", "focal_loss", "focal_loss_slope", "entropy_ratio"], [doubled], ["l25.proper_after_map"]),
    ("focal_loss", doubled, "m20.prop1_iff"),
    *product(["focal_loss", "weight"], [squared], ["kk24.regret_sharp"]),
]
SLOW = [case for case in CLAIMS if case[1] is of_twice_gamma and case[2] != OF_THE_BINARY_MAP[0]]
STEPS = [  # formula of `symbols`, its fault, steps of a lemma
    ("focal_loss", times_q, lambda: (gain.positive_step(),)),
    ("focal_loss", times_q, weight.weight_steps),
    ("focal_loss", times_q, lambda: curvature.convexity_proof().steps),
    ("focal_loss_slope", times_q, weight.lagrange_steps),
    ("gain", times_q, gain.threshold_steps),
    ("gain", times_rest, gain.concave_steps),
    ("gain", times_rest, gain.slope_end_steps),
    ("entropy_ratio", doubled, lambda: (gain.positive_step(),)),
    ("logit_gap", doubled, binary_map.gap_slope_steps),
    ("u", one_more, binary_map.slope_of_u_steps),
    ("focal_loss_slope", times_q, regret.curvature_steps),
    ("weight", times_rest, regret.lumps_steps),
    ("logit_gap", doubled, regret.slope_steps),
    ("gain", times_rest, regret.large_rest_steps),
    ("entropy_ratio", doubled, regret.small_rest_steps),
]


def plant(monkeypatch, name, fault):
    true = getattr(symbols, name)
    monkeypatch.setattr(symbols, name, lambda *at, **named: fault(true(*at, **named), at[0] if at else symbols.q))


@pytest.mark.parametrize(
    "case", quick_but_for(SLOW, CLAIMS), ids=lambda case: f"{case[2]} {case[0]} {case[1].__name__}"
)
def test_a_claim_falls_with_its_formula(monkeypatch, case):
    name, fault, id = case
    plant(monkeypatch, name, fault)
    assert find(id).check().verdict == Verdict.FAILED


@pytest.mark.parametrize("id", sorted({id for case, _, id in CLAIMS}))
def test_it_holds_without_a_fault(id):
    assert find(id).check().verdict in {*HOLDS, Verdict.CONDITIONAL}


@pytest.mark.parametrize(("name", "fault", "steps"), STEPS)
def test_steps_fall_with_their_formula(monkeypatch, name, fault, steps):
    assert all(s.holds for s in steps())
    plant(monkeypatch, name, fault)
    assert not all(s.holds for s in steps())


def test_limits_exchanged_do_not_cancel(monkeypatch):
    u, ratio = symbols.u, symbols.entropy_ratio
    assert all(s.holds for s in gain.limit_steps())
    monkeypatch.setattr(symbols, "u", lambda s: u(-s))  # u -> 0 and its mirror image -> 1: the same sum
    monkeypatch.setattr(symbols, "entropy_ratio", lambda *q: 1 - ratio(*q))
    assert not any(sp.simplify(left - right) == 0 for left, right in binary_map.limits_of_u())
    assert not any(s.holds for s in gain.limit_steps())
    assert find("kk24.prop2_negative").check().verdict == Verdict.FAILED


def test_the_expected_square_needs_both_its_terms(monkeypatch):
    assert all(s.holds for s in fcl.squared_distance_steps())
    monkeypatch.setattr(fcl, "class_share", lambda q, p: p * (q - 1) ** 2)
    assert not all(s.holds for s in fcl.squared_distance_steps())
    assert find("l25.proper_after_map").check().verdict == Verdict.FAILED

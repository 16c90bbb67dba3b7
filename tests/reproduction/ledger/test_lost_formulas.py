"""Formulas that readers supply: what the ledger says with each, and what it refuses."""

import pytest
import sympy as sp
from click.testing import CliRunner

from reproduction.cli.claims import claims
from reproduction.ledger.lost_formulas import LOST, judge
from reproduction.ledger.verdicts import records


def test_they_are_claims_that_wait():
    assert {records()[id].verdict for id in LOST} == {"UNCHECKABLE HERE"}


@pytest.mark.parametrize(
    ("id", "formula", "verdict"),
    [
        ("kn24.fig1_coincide", "-(1 - p)**gamma*log(p)", "REFUTED"),
        ("kn24.fig1_coincide", "(1 - p)**gamma/(1 - p)*log(1/p)", "PROVED"),  # in another form
        ("kn24.fig1_gradient_diverges", "-(1 - p)**gamma*log(p)", "REFUTED"),
        ("kn24.lemma1", "CE - H*gamma", "PROVED"),
        ("kk24.prop3_proof_comparison_holds", "sqrt(gamma + 1)**s", "PROVED"),
    ],
)
def test_a_formula_is_judged(id, formula, verdict):
    done = CliRunner().invoke(claims, [id, "--formula", formula])
    assert done.exit_code == 0
    assert done.output.startswith(f"{verdict}, if the formula is {formula}\n")


def test_both_readings_of_the_focal_loss_are_those_of_the_caption():
    """By hand: at gamma 1 the one is (1 - p) times cross-entropy, the other is cross-entropy."""
    p, gamma = sp.symbols("p gamma", positive=True)
    first, second = (sp.sympify(text, {"p": p, "gamma": gamma}) for text in LOST["kn24.fig1_coincide"].readings)
    assert sp.simplify(first.subs(gamma, 1) + (1 - p) * sp.log(p)) == 0
    assert sp.simplify(second.subs(gamma, 1) + sp.log(p)) == 0


@pytest.mark.parametrize(
    ("id", "formula", "message"),
    [
        ("kn24.lemma1", "CE + gamma*H", "not among the formulas that are judged: CE - gamma"),
        ("kn24.lemma1", "CE - x", "must be a formula in CE, H, gamma, as CE - gamma"),
        ("kn24.lemma1", "((", "must be a formula in CE, H, gamma"),
        ("kn24.theorem1", "0", "a formula is judged for kk24.prop3_proof_comparison_holds"),
    ],
)
def test_what_is_refused(id, formula, message):
    with pytest.raises(ValueError, match=message.replace("*", r"\*")):
        judge(id, formula)

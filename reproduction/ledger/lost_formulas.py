"""Formulas that our copies of the papers have lost, and what the ledger says once a reader supplies one.

focal claims kn24.fig1_coincide --formula "-(1 - p)**gamma * log(p)"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import sympy as sp
from IPython.display import Markdown
from sympy.parsing.sympy_parser import parse_expr

from reproduction.ledger.evidence import Derivation, Disproof
from reproduction.ledger.judgement import Evidence
from reproduction.ledger.ledger import find
from reproduction.ledger.links import card_anchor

_POINTS, _DIGITS, _EQUAL = 12, 40, 1e-25


class Lost(NamedTuple):
    """What to look up in the paper, and, for each formula we can think of, what then is known of the claim."""

    line: str
    symbols: str = ""  # that the formula is written in; empty where it is to be judged by hand
    readings: Mapping[str, Callable[[], Evidence]] = {}


def _of(id: str) -> Callable[[], Evidence]:
    """The claim is then that one."""
    return lambda: find(id).evidence


def _against(id: str) -> Callable[[], Evidence]:
    """That one is then the opposite of the claim."""

    def opposite() -> Evidence:
        found = find(id).evidence
        assert isinstance(found, Derivation)
        return Disproof(found)

    return opposite


def _focal(with_gamma: Callable[[], Evidence], with_one_less: Callable[[], Evidence]) -> Lost:
    return Lost(
        "KN24 Definition 2, the focal loss of p",
        "p gamma",
        {"-(1 - p)**gamma*log(p)": with_gamma, "-(1 - p)**(gamma - 1)*log(p)": with_one_less},
    )


LOST = {
    "kk24.prop2_weight": Lost("KK24 App. A.2, the weight w(p) of the properness condition"),
    "kk24.prop3_proof_bound": Lost("KK24 App. A.3, the constant that bounds the derivative f'"),
    "kk24.prop3_proof_comparison_holds": Lost(
        "KK24 App. A.3, the function whose derivative is higher than f'",
        "s gamma",
        {"(gamma + 1)**(s/2)": _of("kk24.prop3_proof_comparison_reading")},
    ),
    "kk24.prop5_positive": Lost("KK24 App. A.5, the sign in 'f(q_k) > 0'"),
    "kk24.prop5_dominates": Lost("KK24 App. A.5, the sign and the exponent of the term with 1 - q in f'"),
    "kn24.lemma1": Lost(
        "KN24 Lemma 1, what focal loss is at least, of CE and H",
        "CE H gamma",
        {"CE - gamma*H": _of("kn24.lemma1_reading")},
    ),
    "kn24.fig1_coincide": _focal(_against("kn24.fig1_coincide_corrected"), _of("kn24.fig1_other_exponent")),
    "kn24.fig1_loss_smaller": _focal(_of("kn24.fig1_loss_smaller_reading"), _against("kn24.fig1_other_exponent")),
    "kn24.fig1_gradient_smaller": _focal(_of("kn24.fig1_gradient_where"), _against("kn24.fig1_other_exponent")),
    "kn24.fig1_gradient_diverges": _focal(_against("kn24.fig1_curvature_diverges"), _of("kn24.fig1_other_exponent")),
    "kn24.theorem1": Lost("KN24 Theorem 1 with Corollaries 1 and 2, in full"),
    "kn24.theorem2": Lost("KN24 Theorem 2, in full"),
    "kn24.maxwell_boltzmann": Lost(
        "KN24, the problem that its Maxwell-Boltzmann distribution solves, and its constraint"
    ),
    "kn24.pac_bayes": Lost("KN24, the PAC-Bayes bound"),
    "l25.thm41": Lost("L25 Definition and Theorem 4.1, in full"),
    "l25.a14_steps": Lost("L25 App. A.14, the terms and conditions of steps 5 and 6"),
    "l25.a8": Lost("L25 App. A.8, both conditions"),
    "l25.a6": Lost(
        "L25 Lemma A.3, the function phi of v",
        "v eta lam gamma",
        {
            "eta*(1 - v)**(gamma - 1)*(1 - v - gamma*v*log(v))/v - 2*lam*(v - eta)": _of("l25.a6_reading"),
        },
    ),
    "l25.a9": Lost(
        "L25 Eq. (8), what focal loss is at least, of KL, H_p and H_q",
        "KL H_p H_q gamma",
        {"KL + H_p - gamma*H_q": _of("l25.a9_reading")},
    ),
}


def judge(id: str, formula: str) -> Evidence:
    """The evidence for a claim whose formula a reader supplies, in the symbols of `LOST`.

    Raises:
        ValueError: a claim that waits for no formula, or for one that is judged by hand; no formula in its symbols; one
            that is none of the readings that are proved or refuted.
    """
    if id not in LOST or not LOST[id].readings:
        able = ", ".join(known for known, lost in LOST.items() if lost.readings)
        raise ValueError(f"a formula is judged for {able}. Got {id}.")
    lost = LOST[id]
    names = {name: sp.Symbol(name, positive=True) for name in lost.symbols.split()}
    try:
        given = parse_expr(formula, local_dict=dict(names))
        known = set(given.free_symbols) <= set(names.values())
    except Exception:
        known = False
    if not known:
        raise ValueError(
            f"{lost.line}, must be a formula in {', '.join(names)}, as {next(iter(lost.readings))}. Got {formula}."
        )
    for reading, evidence in lost.readings.items():
        if _equal(given, parse_expr(reading, local_dict=dict(names)), [*names.values()]):
            return evidence()
    raise ValueError(
        f"{lost.line}, is not among the formulas that are judged: {'; '.join(lost.readings)}. Got {formula}. "
        "Please open an issue with it."
    )


def _equal(one: sp.Expr, other: sp.Expr, symbols: list[sp.Symbol]) -> bool:
    """At random points of (0, 1), to many digits."""
    rng = np.random.default_rng(0)
    points = (
        {s: sp.Rational(int(k), 1000) for s, k in zip(symbols, rng.integers(50, 950, len(symbols)), strict=True)}
        for _ in range(_POINTS)
    )
    return all(abs(sp.N((one - other).subs(at), _DIGITS)) < _EQUAL for at in points)


def table() -> Markdown:
    """What is asked for: claim, line of the paper, and the symbols in which the ledger judges it."""
    rows = (
        f'| <a href="#{card_anchor(id)}">{id}</a> | {lost.line} | {lost.symbols.replace(" ", ", ") or "by hand"} |'
        for id, lost in LOST.items()
    )
    return Markdown("\n".join(["| claim | what to look up | judged, in |", "|---|---|---|", *rows]))

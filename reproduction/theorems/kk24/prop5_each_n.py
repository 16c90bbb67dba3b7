"""KK24 Prop. 5 for each number of classes: it holds if and only if gamma >= gamma*(1/(n-1))."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from focal_lib.theory.gain import critical_gamma
from reproduction.ledger.evidence import Derivation, Evidence, Step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.confidence import (
    confidence_proof,
    critical_gamma_steps,
    drop_of_tied_classes,
    tied_classes_fall_steps,
)
from reproduction.theorems.lemmas.published import published_critical_gamma_step

CHAPTER = "06_confidence"
paraphrased = Rows(CHAPTER, "paraphrased")
ours = Rows(CHAPTER, "ours")
q = symbols.q


@ours(
    "kk24.prop5_n_fails",
    "KK24 Prop. 5, corrected for each n",
    r"For $n \ge 4$ and $0 < \gamma < \gamma^*(\frac{1}{n-1})$ it fails, at $n - 1$ tied classes and a small last one.",
    formal=formal("exact", "kk24_prop5_gamma_star", "kk24_prop5_n_fails"),
    corrects="kk24.prop5",
)
def prop5_n_fails() -> Evidence:
    """n - 1 tied classes and a small last one."""
    steps = [*tied_classes_fall_steps(), *critical_gamma_steps(), published_critical_gamma_step()]
    for classes in (4, 5, 7, 10):
        fall = drop_of_tied_classes(classes, Fraction(round(900 * critical_gamma(classes)), 1000), Fraction(1, 10**6))
        steps.append(Step(rf"for example $n = {classes}$ at $0.9\,\gamma^*$, in ball arithmetic", bool(fall > 0)))
    return Derivation(tuple(steps))


@ours(
    "kk24.prop5_n_holds",
    "KK24 Prop. 5, corrected for each n",
    r"For $n \ge 4$ and $\gamma \ge \gamma^*(\frac{1}{n-1})$ confidence never falls.",
    formal=formal("exact", "kk24_prop5_gamma_star"),
    corrects="kk24.prop5",
)
def prop5_n_holds() -> Evidence:
    """A concave difference that is not negative at its ends."""
    found = confidence_proof()
    return replace(found, steps=(*found.steps, published_critical_gamma_step()))


@paraphrased(
    "kk24.prop5_three_classes",
    "KK24 Prop. 5, the case n = 3; section 3.3 on Fig. 5",
    r"For $n = 3$ the highest predicted probability never becomes lower, for any $\gamma > 0$.",
    formal=formal("exact", "kk24_prop5_three_classes"),
)
def prop5_three_classes() -> Evidence:
    """The same proof with gamma*(1/2) = 0."""
    return confidence_proof()

"""L25 Theorem 4.5, App. A.14: the post-processing gap; and the experiments of section 5."""

from __future__ import annotations

from fractions import Fraction

import flint
import sympy as sp

from focal_lib.claims.evidence import Counterexample, Derivation, Evidence, Unchecked, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.curvature import convexity_proof
from focal_lib.claims.lemmas.fcl_minimiser import risk
from focal_lib.theory.certificates import balls, formulas

CHAPTER = "12_focal_calibration_loss"


def gap_of_focal_minimiser(top: str, shifted: str, gamma: int, lam: Fraction) -> flint.arb:
    """How much FCL risk falls by moving a constant binary predictor from `top` to `shifted`.

    The truth is the map of `top`, so `top` minimises focal risk and its focal gap is 0. A constant
    shift is 1-Lipschitz: what it gains is at most the gap of FCL.
    """
    with balls.precision():
        q = [balls.exact(top), 1 - balls.exact(top)]
        p = formulas.focal_map(q, balls.exact(gamma))
        moved = [balls.exact(shifted), 1 - balls.exact(shifted)]
        return risk(q, p, gamma, lam) - risk(moved, p, gamma, lam)


@claim(
    "l25.thm45",
    source="L25 Thm. 4.5, App. A.14",
    statement=r"For every predictor and distribution the post-processing gap of FCL is at most that of focal loss.",
    chapter=CHAPTER,
    headline="smaller post-processing gap",
    instead="only at its own minimiser",
)
def thm45() -> Evidence:
    """The minimiser of focal loss has gap 0 for focal loss, not for FCL."""
    return Counterexample(
        r"$\gamma = 2$, $\lambda = 1$, the constant predictor $0.63$ that minimises focal loss: its focal gap is 0; moving it to $0.7$ lowers FCL",
        gap_of_focal_minimiser("0.63", "0.7", 2, Fraction(1)),
    )


@claim(
    "l25.thm45_corrected",
    source="L25 Thm. 4.5, corrected",
    statement=r"Each loss has gap 0 at its own minimiser: FCL's at $q_\lambda$, focal loss's at $q_0$.",
    chapter=CHAPTER,
    corrects="l25.thm45",
)
def thm45_corrected() -> Evidence:
    """The minimiser is best in every x, so no function of its output does better; the gap is never negative."""
    best, other = sp.symbols("r_min d", nonnegative=True)
    return Derivation(
        (
            *convexity_proof().steps,
            step(
                r"risk at $x$ after any post-processing is $r_{\min}(x) + d(x)$, $d \ge 0$: a gain of $-d$",
                best - (best + other),
                -other,
            ),
        ),
        r"The identity is a post-processing, so the gap is at least 0; at the minimiser it is at most 0.",
    )


@claim(
    "l25.tables",
    source="L25 section 5, Tables 1 to 7",
    statement=r"FCL has the lowest calibration errors on CIFAR, Tiny-ImageNet, 20 Newsgroups, AG News and FinSen, before and after temperature "
    r"scaling.",
    chapter=CHAPTER,
)
def tables() -> Evidence:
    """Needs the papers' networks on the papers' data."""
    return Unchecked(
        "needs ResNets, Wide-ResNet, DenseNet and a text CNN trained with eight losses on six data sets; the paper used one seed"
    )


@claim(
    "l25.chexnet",
    source="L25 section 5, App. A.16",
    statement=r"FCL improves anomaly localisation and AUROC of CheXNet on chest X-rays.",
    chapter=CHAPTER,
)
def chexnet() -> Evidence:
    """Needs ChestX-ray8."""
    return Unchecked("needs the 112,120 images of ChestX-ray8, which cannot be fetched without an agreement")

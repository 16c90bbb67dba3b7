"""M20 section 6 on temperature scaling, and Table 6 on the book's own training runs."""

from __future__ import annotations

import numpy as np
import sympy as sp
from scipy.special import softmax

from focal_lib.claims.evidence import Derivation, Disproof, Evidence, Step, step
from focal_lib.claims.from_runs import paired, results, temperatures, values_by_seed
from focal_lib.claims.ledger import claim
from focal_lib.theory.certificates import balls

CHAPTER = "10_gradient_factor"


def inverse_temperature_steps() -> tuple[Step, ...]:
    """d^2 NLL / d beta^2 of one sample is the variance of the logits under softmax(beta z)."""
    beta = sp.Symbol("beta", positive=True)
    z = sp.symbols("z_1:4", real=True)
    weights = [sp.exp(beta * v) for v in z]
    total = sum(weights)
    mean = sum(w * v for w, v in zip(weights, z, strict=True)) / total
    variance = sum(w * (v - mean) ** 2 for w, v in zip(weights, z, strict=True)) / total
    return (
        step(
            r"$\partial_\beta^2\big(\log\sum_i e^{\beta z_i} - \beta z_y\big) = \operatorname{Var}_{\mathrm{softmax}(\beta z)}(z) \ge 0$, "
            r"three classes shown",
            sp.diff(sp.log(total) - beta * z[0], beta, 2),
            variance,
        ),
    )


@claim(
    "m20.nll_not_convex",
    source="M20 section 6",
    statement=r"NLL is not a convex function of temperature.",
    chapter=CHAPTER,
    fidelity="paraphrased",
)
def nll_not_convex() -> Evidence:
    """One sample of margin 1: log(1 + e^(-1/T)) at T = 2, 4, 6."""
    with balls.precision():
        values = {t: (1 + (-balls.exact(1) / t).exp()).log() for t in (2, 4, 6)}
        concave = 2 * values[4] - values[2] - values[6]
    return Derivation((Step(r"two classes, margin 1: $2f(4) > f(2) + f(6)$, in ball arithmetic", bool(concave > 0)),))


@claim(
    "m20.nll_local_optimum",
    source="M20 section 6",
    statement=r"An optimisation algorithm may get stuck at a locally optimal temperature.",
    chapter=CHAPTER,
    fidelity="paraphrased",
)
def nll_local_optimum() -> Evidence:
    """NLL is convex in 1/T: every local minimum over T > 0 is a global one."""
    return Disproof(Derivation(inverse_temperature_steps()))


@claim(
    "m20.nll_inverse_temperature",
    source="M20 section 6, corrected",
    statement=r"NLL is convex in $\beta = 1/T$, so every local minimum over $T > 0$ is global.",
    chapter=CHAPTER,
    fidelity="ours",
    corrects="m20.nll_local_optimum",
)
def nll_inverse_temperature() -> Evidence:
    """A sum of convex functions of beta; T = 1/beta keeps minima."""
    return Derivation(inverse_temperature_steps())


def _share_above(gamma: float, temper: bool, level: float = 0.99) -> np.ndarray:
    """Share of test samples with confidence of at least `level`, one number a seed."""
    shares = []
    for result in results():
        if result.spec.gamma == gamma:
            run = temperatures().query("gamma == @gamma and seed == @result.spec.seed")
            fit = run["temperature"].item() if temper else 1.0
            shares.append(float((softmax(result.test.logits / fit, -1).max(-1) >= level).mean()))
    return np.array(shares)


@claim(
    "m20.table6_before",
    source="M20 Table 6",
    statement=r"Before temperature scaling focal loss predicts far fewer samples with confidence of 0.99 or more.",
    chapter=CHAPTER,
    fidelity="paraphrased",
    needs="runs",
)
def table6_before() -> Evidence:
    """gamma = 3 minus cross-entropy on Fashion-MNIST, paired over seeds."""
    quantity = r"$|S_{99}|$, focal $\gamma = 3$ minus cross-entropy (Fashion-MNIST, share of test samples)"
    return paired(quantity, "negative", _share_above(3.0, False), _share_above(0.0, False), -1)


@claim(
    "m20.table6_after",
    source="M20 Table 6",
    statement=r"After temperature scaling it predicts more such samples than cross-entropy.",
    chapter=CHAPTER,
    fidelity="paraphrased",
    needs="runs",
)
def table6_after() -> Evidence:
    """The same with each run's own temperature, fitted by NLL."""
    quantity = r"$|S_{99}|$ after temperature scaling, focal $\gamma = 3$ minus cross-entropy (Fashion-MNIST)"
    return paired(quantity, "positive", _share_above(3.0, True), _share_above(0.0, True), 1)


@claim(
    "m20.temperature_of_cross_entropy",
    source="M20 section 6",
    statement=r"The best temperature of cross-entropy is well above that of focal loss.",
    chapter=CHAPTER,
    fidelity="paraphrased",
    needs="runs",
)
def temperature_of_cross_entropy() -> Evidence:
    """T by NLL: cross-entropy minus gamma = 3, paired over seeds."""
    base, focal = (values_by_seed(temperatures(), "temperature", gamma=g) for g in (0.0, 3.0))
    quantity = r"$T$, cross-entropy minus focal $\gamma = 3$ (Fashion-MNIST)"
    return paired(quantity, "about 1 to 1.8", base, focal, 1)

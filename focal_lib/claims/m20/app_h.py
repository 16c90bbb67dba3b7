"""M20 App. H: focal loss, cross-entropy and the entropy of the prediction. Also KN24 Lemma 1 and L25 App. A.9."""

from __future__ import annotations

from collections.abc import Sequence

import flint
import numpy as np
import sympy as sp

from focal_lib.claims.evidence import Conditional, Counterexample, Derivation, Evidence, Search, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.entropy_bound import entropy_bound_steps
from focal_lib.claims.lemmas.map_slope import map_slope_steps
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls, formulas
from focal_lib.theory.maps import focal_log_probs

CHAPTER = "10_gradient_factor"
q = symbols.q
g = sp.Symbol("gamma", positive=True)
x = sp.Symbol("x", positive=True)


@claim(
    "m20.app_h",
    source="M20 App. H",
    statement=r"$\mathrm{FL}_\gamma(p, q) \ge \mathrm{CE}(p, q) - \gamma H(q)$.",
    chapter=CHAPTER,
    headline="focal loss >= cross-entropy - gamma entropy",
    instead="for every gamma >= 0",
)
def app_h() -> Evidence:
    """For every gamma >= 0 and every soft label, though the printed chain needs gamma >= 1."""
    return Derivation(entropy_bound_steps())


@claim(
    "m20.app_h_bernoulli",
    source="M20 App. H, first step",
    statement=r"$(1-q)^\gamma \ge 1 - \gamma q$ (Bernoulli).",
    chapter=CHAPTER,
)
def bernoulli() -> Evidence:
    """For gamma >= 1; the reverse holds for 0 < gamma < 1."""
    f = (1 - q) ** g - 1 + g * q
    with balls.precision():
        margin = balls.exact("3/4") - balls.exact("1/2").sqrt()
    inside = Derivation(
        (
            step(r"$f = (1-q)^\gamma - 1 + \gamma q$ is 0 at 0", f.subs(q, 0), 0),
            step(
                r"$f' = \gamma(1-(1-q)^{\gamma-1})$, not negative for $\gamma \ge 1$",
                sp.diff(f, q),
                g * (1 - (1 - q) ** (g - 1)),
            ),
        )
    )
    return Conditional(
        r"$\gamma \ge 1$ (or $\gamma = 0$)",
        inside,
        Counterexample(r"$\gamma = q = \frac12$: $\sqrt{1/2} < 1-\frac14$", margin),
    )


@claim(
    "m20.app_h_kl",
    source="M20 App. H, last steps",
    statement=r"$\mathrm{FL}_\gamma(p, q) \ge \mathrm{KL}(p\Vert q) + H(p) - \gamma H(q)$.",
    chapter=CHAPTER,
)
def app_h_kl() -> Evidence:
    """CE = KL + H(p)."""
    p = sp.symbols("p_1:4", positive=True)
    points = sp.symbols("q_1:4", positive=True)
    pairs = list(zip(p, points, strict=True))
    divergence = sum(a * sp.log(a / b) for a, b in pairs)
    return Derivation(
        (
            *entropy_bound_steps(),
            step(
                r"$\mathrm{CE}(p,q) = \mathrm{KL}(p\Vert q) + H(p)$",
                -sum(a * sp.log(b) for a, b in pairs),
                divergence - sum(a * sp.log(a) for a in p),
                lambda e: sp.simplify(sp.expand_log(e, force=True)),
            ),
        )
    )


@claim(
    "m20.entropy_binary",
    source="M20 App. H, Fig. 7",
    statement=r"For two classes the focal solution has higher entropy than the cross-entropy solution $q = p$, $p \ne \frac12$.",
    chapter=CHAPTER,
    corrects="m20.entropy_always",
)
def entropy_binary() -> Evidence:
    """The minimiser is closer to 1/2 (slope of the map above 1), and entropy falls away from 1/2."""
    entropy = -q * sp.log(q) - (1 - q) * sp.log(1 - q)
    return Derivation(
        (
            *map_slope_steps(),
            step(
                r"$H' = \log\frac{1-q}{q}$: negative above $\frac12$, positive below",
                sp.diff(entropy, q),
                sp.log(1 - q) - sp.log(q),
            ),
        )
    )


def entropy_change(point: Sequence[str], gamma: str) -> flint.arb:
    """H(p) - H(q) as a ball, q a point of exact decimals and p = the map of q, for which q is the focal solution."""
    with balls.precision():
        probs = [balls.exact(v) for v in point]
        mapped = formulas.focal_map(probs, balls.exact(gamma))
        return sum((v * v.log() for v in probs), balls.exact(0)) - sum((v * v.log() for v in mapped), balls.exact(0))


@claim(
    "m20.entropy_always",
    source="M20 App. H",
    statement=r"Solutions of focal loss always have higher entropy than those of cross-entropy.",
    chapter=CHAPTER,
    headline="focal solutions always have higher entropy",
    instead="true for two classes",
)
def entropy_always() -> Evidence:
    """Four classes, gamma = 1/2."""
    return Counterexample(
        r"$\gamma = \frac12$, four classes: the focal solution $(0.33, 0.33, 0.33, 0.01)$ has less entropy than its $p$",
        entropy_change(("0.33", "0.33", "0.33", "0.01"), "1/2"),
    )


@claim(
    "m20.entropy_three_classes",
    source="M20 App. H, the case of three classes",
    statement=r"With three classes focal solutions have higher entropy.",
    chapter=CHAPTER,
)
def entropy_three_classes() -> Evidence:
    """Random points, also near the edges."""
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.dirichlet(np.full(3, a), 20_000) for a in (0.3, 1.0, 5.0)])
    points = np.maximum(points, 1e-300)
    points /= points.sum(-1, keepdims=True)
    worst = np.inf
    for gamma in (0.1, 0.5, 1.0, 2.0, 5.0):
        log_p = focal_log_probs(np.log(points), gamma)
        worst = min(worst, float((-(points * np.log(points)) + np.exp(log_p) * log_p).sum(-1).min()))
    return Search(r"60,000 random points for each of $\gamma = 0.1, 0.5, 1, 2, 5$", 300_000, worst, 1e-12)

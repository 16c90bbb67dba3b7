"""M20 App. H: focal loss, cross-entropy and the entropy of the prediction. Also KN24 Lemma 1 and L25 App. A.9."""

from __future__ import annotations

from collections.abc import Sequence

import flint
import numpy as np
import sympy as sp

from focal_lib.claims.evidence import Derivation, Evidence, Search, Step, step, step_of_several
from focal_lib.claims.formal import formal
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.entropy_bound import divergence_step, entropy_bound_steps
from focal_lib.claims.lemmas.map_slope import map_slope_steps
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls, formulas
from focal_lib.theory.maps import focal_log_probs

CHAPTER = "10_gradient_factor"
q = symbols.q
g = sp.Symbol("gamma", positive=True)


@claim(
    "m20.app_h",
    source="M20 App. H",
    statement=r"For $\gamma \ge 1$: $\mathrm{FL}_\gamma(p, q) \ge \mathrm{CE}(p, q) - \gamma\,\mathrm{Entropy}(q)$.",
    chapter=CHAPTER,
    fidelity="quoted",
    formal=formal("exact", "m20_app_h"),
    headline="focal loss >= cross-entropy - gamma entropy",
    instead="for every gamma >= 0",
)
def app_h() -> Evidence:
    """For every gamma >= 0 and every soft label."""
    return Derivation(entropy_bound_steps())


@claim(
    "m20.app_h_bernoulli",
    source="M20 App. H, first step",
    statement=r"$(1-q)^\gamma \ge 1 - \gamma q$ 'by Bernoulli's inequality $\forall\gamma \ge 1$ and $0 \le q \le 1$'.",
    chapter=CHAPTER,
    fidelity="quoted",
    formal=formal("equivalent", "m20_app_h_bernoulli"),
)
def bernoulli() -> Evidence:
    """The difference is 0 at q = 0 and rises where (1-q)^(gamma-1) <= 1."""
    f = (1 - q) ** g - 1 + g * q
    above, a = sp.symbols("d a", nonnegative=True)  # gamma - 1 and -log(1-q)
    power = 1 - sp.exp(-above * a)  # 1 - (1-q)^(gamma-1)
    return Derivation(
        (
            step(r"$f = (1-q)^\gamma - 1 + \gamma q$ is 0 at 0", f.subs(q, 0), 0),
            step(r"$f' = \gamma(1-(1-q)^{\gamma-1})$", sp.diff(f, q), g * (1 - (1 - q) ** (g - 1))),
            step(
                r"$1-(1-q)^{\gamma-1} = 1 - e^{-(\gamma-1)a}$, $a = -\log(1-q)$, is 0 at $a = 0$ and does not fall for $\gamma \ge 1$",
                power.subs(a, 0) == 0 and sp.diff(power, a).is_nonnegative,
            ),
        )
    )


@claim(
    "m20.app_h_below_one",
    source="M20 App. H, continued below gamma = 1",
    statement=r"The bound of App. H holds for $0 < \gamma < 1$, too, where Bernoulli's inequality, its first step, is reversed: "
    r"$(1-q)^\gamma < 1 - \gamma q$ for $0 < q < 1$.",
    chapter=CHAPTER,
    fidelity="ours",
    formal=formal("related", "m20_app_h", "m20_app_h_bernoulli"),
)
def app_h_below_one() -> Evidence:
    """Another proof of the bound, for every gamma > 0; and the sign of Bernoulli's difference."""
    below, a = sp.symbols("d a", positive=True)  # gamma = 1/(1+d), a = -log(1-q)
    exponent = below / (1 + below)  # 1 - gamma
    f = (1 - q) ** g - 1 + g * q
    return Derivation(
        (
            *entropy_bound_steps(),
            step_of_several(
                r"$f = (1-q)^\gamma - 1 + \gamma q$ is 0 at 0, $f' = \gamma(1-(1-q)^{\gamma-1})$",
                (f.subs(q, 0), 0),
                (sp.diff(f, q), g * (1 - (1 - q) ** (g - 1))),
            ),
            step(
                r"$1-(1-q)^{\gamma-1} = 1 - e^{(1-\gamma)a}$ is 0 at $a = 0$ and falls",
                (1 - sp.exp(exponent * a)).subs(a, 0) == 0 and sp.diff(1 - sp.exp(exponent * a), a).is_negative,
            ),
        )
    )


@claim(
    "m20.app_h_kl",
    source="M20 App. H, last steps",
    statement=r"For $\gamma \ge 1$: $\mathrm{FL}_\gamma(p, q) \ge \mathrm{KL}(p\Vert q) + \mathrm{Entropy}(p) - \gamma\,\mathrm{Entropy}(q)$.",
    chapter=CHAPTER,
    fidelity="quoted",
    formal=formal("exact", "m20_app_h_kl"),
)
def app_h_kl() -> Evidence:
    """CE = KL + H(p), class by class."""
    return Derivation((*entropy_bound_steps(), divergence_step()))


@claim(
    "m20.entropy_binary",
    source="M20 App. H, Fig. 7",
    statement=r"'In a binary classification problem (i.e. $K = 2$)', 'solutions to focal loss will always have higher entropy than that of "
    r"cross entropy'. (At $p = 0$, $\frac12$ and 1 both solutions are $p$; taken as: for every other $p$.)",
    chapter=CHAPTER,
    fidelity="our reading",
    formal=formal("exact", "m20_entropy_binary"),
    headline="two classes: focal solutions have higher entropy",
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
    "m20.entropy_many_classes",
    source="M20 App. H, continued beyond its K = 2",
    statement=r"With four classes or more a focal solution can have lower entropy than the cross-entropy solution, its $p$: at "
    r"$\gamma = \frac12$, $(0.33, 0.33, 0.33, 0.01)$ is such a solution.",
    chapter=CHAPTER,
    fidelity="ours",
    formal=formal("related", "m20_entropy_four_classes"),
)
def entropy_many_classes() -> Evidence:
    """In ball arithmetic; with more classes of probability 0 it is the same point."""
    change = entropy_change(("0.33", "0.33", "0.33", "0.01"), "1/2")
    return Derivation(
        (Step(rf"$H(p) - H(q) = {float(change.mid()):.3g} > 0$, in ball arithmetic", bool(change > 0)),),
        r"A class of probability 0 in $p$ has probability 0 in the solution, so the same point serves for every $n \ge 4$.",
    )


@claim(
    "m20.entropy_three_classes",
    source="M20 App. H, the case of three classes",
    statement=r"With three classes focal solutions have higher entropy.",
    chapter=CHAPTER,
    fidelity="ours",
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

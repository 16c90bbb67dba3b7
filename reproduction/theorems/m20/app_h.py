"""M20 App. H: focal loss, cross-entropy and the entropy of the prediction. Also KN24 Lemma 1 and L25 App. A.9."""

from __future__ import annotations

from collections.abc import Sequence

import flint
import sympy as sp

from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import Derivation, Evidence, Step, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, confidence, curvature, entropy_bound, weight

CHAPTER = "gradient_factor"
quoted = Rows(CHAPTER, "quoted")
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")
q, g = symbols.q, symbols.g
x = sp.Symbol("x", positive=True)  # -log q_i
f = (1 - q) ** g - 1 + g * q  # of Bernoulli's inequality


quoted(
    "m20.app_h",
    "Focal loss is at least cross-entropy minus gamma times entropy",
    "M20 App. H",
    r"For $\gamma \ge 1$: $\mathrm{FL}_\gamma(p, q) \ge \mathrm{CE}(p, q) - \gamma\,\mathrm{Entropy}(q)$.",
    lambda: Derivation(entropy_bound.entropy_bound_steps()),
    formal=formal("exact", "m20_app_h"),
    in_readme=True,
    instead="for every gamma >= 0",
)


@quoted(
    "m20.app_h_bernoulli",
    "Bernoulli's inequality bounds (1 - q)^gamma for gamma from 1 on",
    "M20 App. H, first step",
    r"$(1-q)^\gamma \ge 1 - \gamma q$ 'by Bernoulli's inequality $\forall\gamma \ge 1$ and $0 \le q \le 1$'.",
    formal=formal("related", "m20_app_h_bernoulli"),  # for q < 1
)
def bernoulli() -> Evidence:
    """The difference is 0 at q = 0 and rises where (1-q)^(gamma-1) <= 1."""
    above, a = sp.symbols("d a", nonnegative=True)  # gamma - 1 and -log(1-q)
    power = 1 - sp.exp(-above * a)  # 1 - (1-q)^(gamma-1)
    return derivation(
        step(r"$f = (1-q)^\gamma - 1 + \gamma q$ is 0 at 0", (f.subs(q, 0), 0)),
        step(r"$f' = \gamma(1-(1-q)^{\gamma-1})$", (sp.diff(f, q), g * (1 - (1 - q) ** (g - 1)))),
        step(
            r"$1-(1-q)^{\gamma-1} = 1 - e^{-(\gamma-1)a}$, $a = -\log(1-q)$, is 0 at $a = 0$ and does not fall for $\gamma \ge 1$",
            power.subs(a, 0) == 0 and sp.diff(power, a).is_nonnegative,
        ),
        Step(
            r"at $q = 1$, $\gamma = 1 + d$: $0^\gamma = 0$, and $1 - \gamma = -d \le 0$",
            (f.subs({q: 1, g: 1 + above}) - above, above.is_nonnegative),
        ),
    )


@ours(
    "m20.app_h_below_one",
    "The entropy bound also holds for gamma below 1",
    "M20 App. H, continued below gamma = 1",
    r"The bound of App. H holds for $0 < \gamma < 1$, too, where Bernoulli's inequality, its first step, is reversed: "
    r"$(1-q)^\gamma < 1 - \gamma q$ for $0 < q < 1$.",
    formal=formal("exact", "m20_app_h", "m20_app_h_reversed"),
)
def app_h_below_one() -> Evidence:
    """Another proof of the bound, for every gamma > 0; and the sign of Bernoulli's difference."""
    below, a = sp.symbols("d a", positive=True)  # gamma = 1/(1+d), a = -log(1-q)
    exponent = below / (1 + below)  # 1 - gamma
    return derivation(
        *entropy_bound.entropy_bound_steps(),
        step(
            r"$f = (1-q)^\gamma - 1 + \gamma q$ is 0 at 0, $f' = \gamma(1-(1-q)^{\gamma-1})$",
            (f.subs(q, 0), 0),
            (sp.diff(f, q), g * (1 - (1 - q) ** (g - 1))),
        ),
        step(
            r"$1-(1-q)^{\gamma-1} = 1 - e^{(1-\gamma)a}$ is 0 at $a = 0$ and falls",
            (1 - sp.exp(exponent * a)).subs(a, 0) == 0 and sp.diff(1 - sp.exp(exponent * a), a).is_negative,
        ),
    )


def bound_terms(p: sp.Expr, largest: sp.Expr, part: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """What one class adds to the terms in gamma of three lines of App. H, from Hoelder's inequality on; largest: max_j p_j."""
    term = part * sp.log(part)
    return -g * sp.Abs(p * term), -g * largest * sp.Abs(term), g * term


def hoelder_steps() -> tuple[Step, ...]:
    """Each line is at least the next, class by class; every p_i q_i log q_i has one sign, so bars around the sum are bars in it."""
    p, less, missing, a = sp.symbols("p d e a", nonnegative=True)  # p_i, max p - p_i, 1 - max p, -log q_i
    lines = [sp.expand(line) for line in bound_terms(p, p + less, sp.exp(-a))]
    _, hoelder, entropy = (line.subs(p, 1 - less - missing) for line in lines)
    return (
        step(
            r"with $q_i = e^{-a}$, $a \ge 0$: $p_iq_i\log q_i = -p_i\,a\,e^{-a} \le 0$ in every class",
            (-p * sp.exp(-a) * sp.log(sp.exp(-a))).is_nonnegative,
        ),
        step(
            r"a class's part of the first line minus that of the second is $\gamma(\max_jp_j - p_i)\,ae^{-a} \ge 0$",
            (lines[0] - lines[1], g * less * a * sp.exp(-a)),
        ),
        step(
            r"of the second minus the third, $\gamma(1 - \max_jp_j)\,ae^{-a} \ge 0$",
            (sp.expand(hoelder - entropy), g * missing * a * sp.exp(-a)),
            simplify=sp.expand,
        ),
    )


reading(
    "m20.app_h_hoelder",
    "Hölder's inequality turns the sum into the entropy",
    "M20 App. H, third and fourth step",
    r"'By Hölder's inequality with $p = \infty$, $q = 1$': $-\gamma\,\vert\sum_ip_iq_i\log q_i\vert \ge -\gamma\max_jp_j\sum_i\vert "
    r"q_i\log q_i\vert$, and since '$\forall i\ p_i \le 1$' this is at least $\gamma\sum_iq_i\log q_i = -\gamma\,\mathrm{Entropy}(q)$. (The bars on the left, "
    r"not in our copy, are ours.)",
    lambda: Derivation(hoelder_steps()),
    formal=formal("exact", "m20_app_h_hoelder"),
)


@ours(
    "m20.app_h_sign",
    "Without bars the second step of the proof is no equality",
    "M20 App. H, second step, as our copy has it",
    r"For $\gamma > 0$, all $q_i > 0$ and without bars, presumably lost in our copy, the step to $-\sum_ip_i\log q_i - \gamma\sum_ip_iq_i\log q_i$ is no equality: this exceeds "
    r"$-\sum_i(1-\gamma q_i)\,p_i\log q_i$ by $-2\gamma\sum_ip_iq_i\log q_i \ge 0$, which is 0 only where $q_i$ is 1 for every "
    r"$p_i > 0$. With a plus sign, or with bars, it is one.",
)
def app_h_sign() -> Evidence:
    """Class by class; with q_i = e^(-x), x > 0, the sign is plain."""
    p, part = sp.symbols("p_i q_i", positive=True)
    before = -(1 - g * part) * p * sp.log(part)
    printed, plus = (-p * sp.log(part) + sign * g * p * part * sp.log(part) for sign in (-1, 1))
    excess = -2 * g * p * part * sp.log(part)
    return derivation(
        step(
            r"class by class the printed part exceeds the one before by $-2\gamma p_iq_i\log q_i$",
            (printed - before, excess),
        ),
        step(
            r"which is positive for $p_i > 0$ and $0 < q_i < 1$: with $q_i = e^{-x}$, $x > 0$, it is $2\gamma p_i\,xe^{-x}$",
            excess.subs(part, sp.exp(-x)).simplify().is_positive,
        ),
        step(r"with $+\gamma p_iq_i\log q_i$ the two are equal", (plus - before, 0)),
        step(
            r"and $\gamma p_iq_i\log q_i = -\gamma\,\vert p_iq_i\log q_i\vert$, every term having this sign",
            ((g * p * part * sp.log(part) + g * sp.Abs(p * part * sp.log(part))).subs(part, sp.exp(-x)), 0),
        ),
    )


quoted(
    "m20.app_h_kl",
    "Focal loss is bounded below by KL divergence and two entropies",
    "M20 App. H, last steps",
    r"For $\gamma \ge 1$: $\mathrm{FL}_\gamma(p, q) \ge \mathrm{KL}(p\Vert q) + \mathrm{Entropy}(p) - \gamma\,\mathrm{Entropy}(q)$.",
    lambda: derivation(*entropy_bound.entropy_bound_steps(), entropy_bound.divergence_step()),
    formal=formal("exact", "m20_app_h_kl"),
)

reading(
    "m20.entropy_binary",
    "Two classes: focal solutions have higher entropy than cross-entropy's",
    "M20 App. H, Fig. 7",
    r"'In a binary classification problem (i.e. $K = 2$)', 'solutions to focal loss will always have higher entropy than that of "
    r"cross entropy'. (At $p = 0$, $\frac12$ and 1 both solutions are $p$; taken as: for every other $p$ and $\gamma > 0$.)",
    lambda: derivation(
        *binary_map.stationarity_steps(),
        *curvature.convexity_proof().steps,
        *binary_map.map_slope_steps(),
        entropy_bound.entropy_slope_step(),
    ),
    formal=formal("exact", "m20_entropy_binary", "kk24_map_recovers_truth", "kk24_prop4", "log_loss_strictly_proper"),
    in_readme=True,
)


def entropy_change(point: Sequence[str], gamma: str) -> flint.arb:
    """H(p) - H(q) as a ball, q a point of exact decimals and p = the map of q, for which q is the focal solution."""
    with balls.precision():
        probs = [balls.exact(v) for v in point]
        mapped = formulas.focal_map(probs, balls.exact(gamma))
        return sum((v * v.log() for v in probs), balls.exact(0)) - sum((v * v.log() for v in mapped), balls.exact(0))


@ours(
    "m20.entropy_many_classes",
    "Four or more classes: a focal solution can have lower entropy",
    "M20 App. H, continued beyond its K = 2",
    r"With four classes or more a focal solution can have lower entropy than the cross-entropy solution, its $p$: at "
    r"$\gamma = \frac12$, $(0.33, 0.33, 0.33, 0.01)$ is such a solution.",
    formal=formal("exact", "m20_entropy_many_classes", "log_loss_strictly_proper"),
)
def entropy_many_classes() -> Evidence:
    """In ball arithmetic; with more classes of probability 0 it is the same point."""
    change = entropy_change(("0.33", "0.33", "0.33", "0.01"), "1/2")
    return derivation(
        *weight.lagrange_steps(),
        *weight.printed_weight_steps(),
        *curvature.convexity_proof().steps,
        Step(rf"$H(p) - H(q) = {float(change.mid()):.3g} > 0$, in ball arithmetic", bool(change > 0)),
        remark=r"A class of probability 0 in $p$ has probability 0 in the solution, so the same point serves for every $n \ge 4$.",
    )


ours(
    "m20.entropy_three_classes",
    "Three classes: a focal solution never has lower entropy",
    "M20 App. H, the case of three classes",
    r"With three classes a focal solution never has lower entropy than the cross-entropy solution, for any $\gamma > 0$.",
    lambda: derivation(
        *confidence.sharper_proof().steps,
        remark=r"The focal solution $q$ is led to the cross-entropy solution $p$ by the map. As $\gamma$ grows from 0 the highest of three "
        r"probabilities never falls and the lowest never rises, by the steps above (kk24.sharper_gamma): so the sum of the highest one, and of the "
        r"highest two, is at least as large for $p$ as for $q$. Then $p$ majorises $q$, and entropy, a concave function summed, is no larger.",
    ),
)

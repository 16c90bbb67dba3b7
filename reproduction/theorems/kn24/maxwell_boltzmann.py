"""KN24 Theorem 2 and the posterior of its summary: what we could not read, and what is known of both words."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import Derivation, Evidence, Step, Unchecked, derivation, step
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, curvature, weight

CHAPTER = "curvature"
quoted = Rows(CHAPTER, "quoted")
paraphrased = Rows(CHAPTER, "paraphrased")
ours = Rows(CHAPTER, "ours")
q, g = symbols.q, symbols.g
SOLUTION = "0.7"  # of the focal loss with gamma = 1


quoted(
    "kn24.theorem2",
    "Theorem 2, of which only the name could be read",
    "KN24 Theorem 2",
    r"'Theorem 2', of which we could read the name alone, in its list 'Theorems & Definitions'.",
    lambda: Unchecked(
        "what we read has neither the statement of Theorem 2 nor a sentence that tells what it is about; "
        "kn24.gibbs and kn24.entropy_constrained are what can be said of the words of its summary"
    ),
)

quoted(
    "kn24.maxwell_boltzmann",
    "Focal loss is entropy-constrained optimisation with a Maxwell-Boltzmann posterior",
    "KN24, summary of its page (TL;DR), in the third person",
    r"It 'shows that focal loss effectively reduces loss-surface curvature and frames this as an entropy-constrained "
    r"optimization problem linked to a Maxwell–Boltzmann posterior'.",
    lambda: Unchecked(
        "its first half, on curvature, is that of kn24.theorem1; of the second we could not read the problem, "
        "its constraint and the posterior, of which it does not say over what it is, weights or classes; kn24.gibbs "
        "says which problem a Maxwell-Boltzmann distribution solves, kn24.entropy_constrained compares focal loss with "
        "the bound of Lemma 1"
    ),
)

paraphrased(
    "kn24.pac_bayes",
    "The link to a posterior has PAC-Bayes support",
    "KN24, summary of its page (TL;DR), in the third person",
    r"The link to a posterior has 'support from a PAC-Bayes perspective'.",
    lambda: Unchecked(
        "what we read has no PAC-Bayes bound; kn24.gibbs says what least value such a bound's right side has, and where"
    ),
)


def gibbs_steps() -> tuple[Step, ...]:
    """E_rho L + KL(rho || pi)/beta = (KL(rho || gibbs) - log Z)/beta, part by part, and KL >= 0."""
    rho, prior, beta, z, t = sp.symbols("rho_i pi_i beta Z t", positive=True)
    loss = sp.Symbol("L_i", real=True)
    gibbs = prior * sp.exp(-beta * loss) / z
    count = sp.Symbol("N", positive=True)
    excess = t - 1 - sp.log(t)

    def divergence(of: sp.Expr, other: sp.Expr) -> sp.Expr:
        """What one parameter adds to KL."""
        return of * (sp.log(of) - sp.expand_log(sp.log(other), force=True))

    return (
        step(
            r"with $g_i = \pi_ie^{-\beta L_i}/Z$, parameter by parameter $\rho_iL_i + "
            r"\frac1\beta\rho_i\log\frac{\rho_i}{\pi_i} = "
            r"\frac1\beta\rho_i\log\frac{\rho_i}{g_i} - \frac1\beta\rho_i\log Z$, and $\sum_i\rho_i = 1$",
            (rho * loss + divergence(rho, prior) / beta, (divergence(rho, gibbs) - rho * sp.log(z)) / beta),
            simplify=sp.expand,
        ),
        step(
            r"$\rho_i\log\frac{\rho_i}{g_i} - \rho_i + g_i = \rho_i\,(t - 1 - \log t)$ with $t = \frac{g_i}{\rho_i}$",
            (divergence(rho, gibbs) - rho + gibbs, sp.expand_log((rho * excess).subs(t, gibbs / rho), force=True)),
            simplify=sp.expand,
        ),
        step(
            r"$t - 1 - \log t$ and its slope are 0 at 1, and its second derivative is $\frac1{t^2} > 0$: it is "
            r"positive elsewhere",
            (excess.subs(t, 1), 0),
            (sp.diff(excess, t).subs(t, 1), 0),
            (sp.diff(excess, t, 2), t**-2),
        ),
        step(
            r"for a uniform prior, $\pi_i = \frac1N$, $\mathrm{KL}(\rho\Vert\pi) = \log N - \mathrm{Entropy}(\rho)$",
            (divergence(rho, 1 / count), rho * sp.log(count) + rho * sp.log(rho)),
            simplify=sp.expand,
        ),
    )


ours(
    "kn24.gibbs",
    "A linear PAC-Bayes bound is least for the Gibbs posterior",
    "KN24 summary (TL;DR), what is known of its words",
    r"For losses $L_i$ of finitely many parameters, a prior $\pi_i > 0$ and $\beta > 0$ the right side of a PAC-Bayes "
    r"bound that is linear in both, $\sum_i\rho_iL_i + \frac1\beta \mathrm{KL}(\rho\Vert\pi)$, is least for exactly "
    r"one $\rho$, the Maxwell–Boltzmann (Gibbs) posterior $\rho_i \propto \pi_ie^{-\beta L_i}$. With a uniform prior "
    r"that is the distribution of greatest entropy among those with its mean loss.",
    lambda: Derivation(
        gibbs_steps(),
        r"So the sum is $\frac1\beta(\mathrm{KL}(\rho\Vert g) - \log Z)$, with $\mathrm{KL} \ge 0$ and 0 at $\rho = g$ "
        r"alone. Nothing in it is about focal loss: it holds for every loss.",
    ),
)


def bound_slope() -> sp.Expr:
    """The slope in q of CE(p, q) - gamma Entropy(q) for two classes."""
    p = sp.Symbol("p", positive=True)
    cross_entropy = -p * sp.log(q) - (1 - p) * sp.log(1 - q)
    return sp.diff(cross_entropy + g * (q * sp.log(q) + (1 - q) * sp.log(1 - q)), q)


@ours(
    "kn24.entropy_constrained",
    "The entropy-constrained problem has another solution than focal loss",
    "KN24 summary (TL;DR), of the bound that Lemma 1 most likely is",
    r"With $\gamma$ as its multiplier the entropy-constrained problem whose Lagrangian is that bound has another solution than "
    r"focal loss: for two classes, $\gamma = 1$ and the $p$ for which focal loss is "
    r"least at $q = (0.7, 0.3)$, $\mathrm{CE} - \gamma\,\mathrm{Entropy}(q)$ is least nearer to $\frac12$. "
    r"(With a multiplier chosen for each $p$ the two can agree.)",
)
def entropy_constrained() -> Evidence:
    """The bound is convex in q, and still rises at the focal solution."""
    p = sp.Symbol("p", positive=True)
    slope = bound_slope()
    with balls.precision():
        one, at = balls.exact(1), balls.exact(SOLUTION)
        truth = formulas.focal_map([at, one - at], one)[0]
        rise = -truth / at + (one - truth) / (one - at) + (at / (one - at)).log()
    return derivation(
        step(
            r"the slope of the bound in $q$ is $-\frac pq + \frac{1-p}{1-q} + \gamma\log\frac q{1-q}$",
            (slope, -p / q + (1 - p) / (1 - q) + g * (sp.log(q) - sp.log(1 - q))),
        ),
        step(
            r"which rises: its derivative is $\frac p{q^2} + \frac{1-p}{(1-q)^2} + \frac\gamma{q(1-q)} > 0$",
            (sp.diff(slope, q), p / q**2 + (1 - p) / (1 - q) ** 2 + g / (q * (1 - q))),
        ),
        step(
            r"at $q = \frac12$ the slope is $2 - 4p$, negative for $p > \frac12$",
            (slope.subs(q, sp.Rational(1, 2)), 2 - 4 * p),
        ),
        *binary_map.stationarity_steps(),
        *curvature.convexity_proof().steps,
        *weight.printed_weight_steps(),
        Step(
            rf"with $\gamma = 1$ and $p$ the focal map of $q = {SOLUTION}$, {float(truth.mid()):.4f}, the slope "
            rf"there is {float(rise.mid()):.4f} $> 0$, in ball arithmetic",
            bool(rise > 0) and bool(truth > 0.5),
        ),
        remark=r"So the least value lies between $\frac12$ and 0.7.",
    )

"""M20 Prop. 2 (App. B Prop. 4): the gamma for a threshold p0, by the Lambert W function."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import Conditional, Derivation, Disproof, Evidence, Step, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import confidence, entropy_ratio, gain, published

CHAPTER = "gradient_factor"
quoted = Rows(CHAPTER, "quoted")
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")
q = symbols.q
p0 = sp.Symbol("p_0", positive=True)
a, b = 1 - p0, p0 * sp.log(p0)
y0 = -a * sp.log(a) / b  # the argument's own solution of W e^W: gamma = 0


def lambert_steps() -> tuple[Step, ...]:
    """gamma = a/b + W/log a solves g(p0, gamma) = 1 for every W with W e^W = -a^(1-a/b) log(a)/b."""
    big_a, big_b, w = sp.symbols("a b W", real=True)
    log_a = sp.Symbol("l", real=True)  # log a
    gamma = big_a / big_b + w / log_a
    product = sp.exp((gamma - 1) * log_a) * (big_a - gamma * big_b)  # a^(gamma-1) (a - gamma b)
    argument = -sp.exp((1 - big_a / big_b) * log_a) * log_a / big_b
    return (
        step(
            r"$g(p_0, \gamma) = a^{\gamma-1}(a - \gamma b)$ with $a = 1-p_0$, $b = p_0\log p_0$",
            (sp.simplify(symbols.gain(p0, symbols.gamma) / (1 - p0) ** (symbols.gamma - 1)), a - symbols.gamma * b),
        ),
        step(
            r"$\gamma = \frac ab + \frac{W}{\log a}$ makes it $W e^W \big/ \big(-\frac{1}{b}a^{1-a/b}\log a\big) = 1$",
            (product, w * sp.exp(w) / argument),
        ),
        step(
            r"$\gamma = 0$ is the solution $W = y_0 = -\frac{a\log a}{b}$",
            (big_a / big_b + (-big_a * log_a / big_b) / log_a, 0),
        ),
    )


def root_steps() -> tuple[Step, ...]:
    """Every W is a solution, and which branch returns which."""
    return (*lambert_steps(), *branch_steps())


def branch_steps() -> tuple[Step, ...]:
    """y0 > -1 for p0 < 1/2: the principal branch returns y0, that is gamma = 0, the other the other root."""
    y = sp.Symbol("y", real=True)
    return (
        *entropy_ratio.terms_steps(),
        step(
            r"$y_0 + 1 = \frac{-f(p_0)}{p_0\log p_0}$, positive for $p_0 < \frac12$",
            (y0 + 1, -((1 - p0) * sp.log(1 - p0) - p0 * sp.log(p0)) / b),
        ),
        step(
            r"$(ye^y)' = (1+y)e^y$: $W_0$ inverts it on $y > -1$, $W_{-1}$ below",
            (sp.diff(y * sp.exp(y), y), (1 + y) * sp.exp(y)),
        ),
    )


HALF = sp.Rational(1, 2)
BELOW, ABOVE = sp.Interval.open(0, HALF), sp.Interval.open(HALF, 1)  # cases of p0
CASES = sp.Interval.open(0, 1)


def below_half() -> Derivation:
    """For p0 < 1/2: gamma* is the one positive root of g(p0, .) = 1, and g < 1 beyond it and beyond p0."""
    return derivation(
        *root_steps(),
        *confidence.critical_gamma_steps(),
        *gain.threshold_steps(),
        published.lambert_step(),
        remark=r"So for $p_0 < \frac12$ $\gamma^* > 0$ is the one positive root of $g(p_0, \gamma) = 1$. For $\gamma \ge \gamma^*$: $g(p_0, \gamma) \le 1$, "
        r"and $g(\cdot, \gamma)$, having fallen to at most 1 at $p_0$, stays below 1 after it.",
        where=BELOW,
    )


@quoted(
    "m20.prop2_inequality",
    "Lambert W gives the gamma for a given threshold",
    "M20 Prop. 2, App. B Prop. 4",
    r"'For $p \ge p_0$, $g(p, \gamma) \le 1$ for all' $\gamma \ge \gamma^*$, where "
    r"$\gamma^* = \frac ab + \frac1{\log a}W_{-1}\big(-\frac1b a^{1-a/b}\log a\big)$, $a = 1 - p_0$, $b = p_0\log p_0$.",
    formal=formal(
        "equivalent",
        "m20_prop2",
        "m20_prop2_fails_from_half_on",
        "m20_threshold_below_half",
        "m20_prop2_gamma_star_exists",
    ),
    in_readme=True,
)
def prop2_inequality() -> Evidence:
    """For p0 < 1/2 by the root; for p0 >= 1/2 gamma* = 0, and there g <= 1 for every gamma."""
    below = below_half()
    return derivation(
        *below.steps,
        *gain.larger_gamma_steps(),
        remark=below.remark
        + r" For $p_0 \ge \frac12$, $f(p_0) \le 0$ and $y_0 \le -1$, so $W_{-1}$ returns $y_0$ and $\gamma^* = 0$; for $p \ge \frac12$, where "
        r"$f \le 0$, too, $\log g$ is 0 at $\gamma = 0$ and does not rise.",
    )


@quoted(
    "m20.prop2_equality",
    "The factor g equals 1 only at that threshold and that gamma",
    "M20 Prop. 2, App. B Prop. 4, its second sentence",
    r"'Moreover, for $p \ge p_0$ and $\gamma \ge \gamma^*$, the equality $g(p, \gamma) = 1$ holds only for $p = p_0$ and $\gamma = \gamma^*$.'",
    formal=formal("equivalent", "m20_prop2", "m20_prop2_fails_from_half_on", "m20_prop2_gamma_star_exists"),
    instead="for thresholds below one half",
)
def prop2_equality() -> Evidence:
    """For p0 < 1/2. At p0 >= 1/2 the branch -1 gives gamma* = 0, where g = 1 for every p."""
    outside = Disproof(
        derivation(
            *root_steps(),
            step(r"$g(p, 0) = 1$ for every $p$", (symbols.gain(q, 0), 1)),
            remark=r"For $p_0 \ge \frac12$, $f(p_0) \le 0$ and $y_0 \le -1$, so $W_{-1}$ returns $y_0$ and $\gamma^* = 0$: the equality holds for "
            r"every $p$, not only for $p_0$.",
            where=sp.Interval.Ropen(HALF, 1),
        )
    )
    return Conditional("p_0", CASES, below_half(), outside)


def above_half_steps() -> tuple[Step, ...]:
    """For p0 > 1/2 the principal branch gives gamma = (W_0 - y0)/log a < 0."""
    w, gap = sp.Symbol("W", real=True), sp.Symbol("d", positive=True)
    log_a, big_a, big_b = sp.Symbol("l", negative=True), sp.Symbol("a", positive=True), sp.Symbol("b", negative=True)
    root = -big_a * log_a / big_b  # y0
    gamma = big_a / big_b + w / log_a
    return (
        step(r"$\gamma = \frac ab + \frac W{\log a} = \frac{W - y_0}{\log a}$", (gamma, (w - root) / log_a)),
        step(
            r"for $p_0 > \frac12$, $y_0 < -1 \le W_0$, so $W_0 - y_0 > 0$ and $\gamma < 0$, as $\log a < 0$",
            sp.simplify(gamma.subs(w, root + gap)).is_negative,
        ),
    )


quoted(
    "m20.principal_branch",
    "The principal branch of Lambert W yields a negative gamma",
    "M20 App. B, proof of Prop. 4",
    r"'If we consider the principal branch, the solution is' $\gamma \le \frac ab + \frac1{\log a}W_0(\cdot)$, 'which yields a "
    r"negative value for $\gamma$ that we discard.'",
    lambda: Conditional(
        "p_0",
        CASES,
        derivation(*root_steps(), *above_half_steps(), where=ABOVE),
        Disproof(
            derivation(
                *root_steps(),
                remark=r"For $p_0 \le \frac12$, $y_0 \ge -1$, so $W_0$ returns $y_0$, which is $\gamma = 0$, not a negative value.",
                where=sp.Interval.Lopen(0, HALF),
            )
        ),
    ),
    formal=formal("related", "m20_principal_branch_negative", "m20_principal_branch_is_zero"),
    instead="for thresholds above one half",
)

ours(
    "m20.principal_branch_corrected",
    "Below one half the principal branch yields gamma 0, cross-entropy",
    "M20 App. B, proof of Prop. 4, corrected",
    r"For $p_0 < \frac12$ the principal branch yields exactly $\gamma = 0$, cross-entropy.",
    lambda: Derivation(root_steps()),
    formal=formal("exact", "m20_principal_branch_is_zero"),
    corrects="m20.principal_branch",
)


@quoted(
    "m20.rhs_minimum",
    "The argument of Lambert W is negative, with minimum -1/e at 1/2",
    "M20 App. B, proof of Prop. 4",
    r"'The r.h.s.', $-\frac1b a^{1-a/b}\log a$, 'is always negative, with a minimum possible value of $-1/e$ that occurs at "
    r"$p_0 = 0.5$.' Here $a = 1 - p_0$ and $b = p_0\log p_0$.",
    formal=formal("exact", "m20_rhs_minimum"),
)
def rhs_minimum() -> Evidence:
    """It is y0 e^y0, and y e^y has its minimum -1/e at y = -1."""
    y = sp.Symbol("y", real=True)
    rhs = -sp.exp((1 - a / b) * sp.log(a)) * sp.log(a) / b
    return derivation(
        step(
            r"it is $y_0e^{y_0}$ with $y_0 = -\frac{a\log a}{b} < 0$",
            (sp.simplify(rhs / sp.exp(-a * sp.log(a) / b)), sp.simplify(y0)),
        ),
        step(r"$(ye^y)' = (1+y)e^y$: smallest at $y = -1$", (sp.diff(y * sp.exp(y), y), (1 + y) * sp.exp(y))),
        step(r"where it is $-1/e$", ((y * sp.exp(y)).subs(y, -1), -sp.exp(-1))),
        step(r"$y_0 = -1$ at $p_0 = \frac12$", (y0.subs(p0, HALF), -1)),
        *branch_steps(),
        remark=r"$y_0 = -1$ only at $\frac12$: $f$ of the first steps vanishes on $(0, 1)$ only there.",
    )


@reading(
    "m20.policy_regularise",
    "Both sample-dependent policies regularise from one half on",
    "M20 section 5, sample-dependent gamma",
    r"'When $q_y \ge 0.5$, we want to regularise the weights'; the policies 5,3,2 and 5,3 'satisfy the above condition'. (Taken as: "
    r"$g < 1$ there.)",
    formal=formal("exact", "m20_policy_regularises"),
)
def policy_regularise() -> Evidence:
    """gamma = 2 and 3 at 1/2, and beyond since g falls."""
    with balls.precision():
        margins = [1 - formulas.gain(balls.exact("1/2"), balls.exact(g)) for g in (2, 3)]
    return derivation(
        Step(r"$g(\frac12, 2) < 1$ and $g(\frac12, 3) < 1$, in ball arithmetic", all(bool(m > 0) for m in margins)),
        *gain.threshold_steps(),
    )


@ours(
    "m20.policy_accelerate_corrected",
    "The policy 5, 3 stops accelerating well before one half",
    "M20 section 5, on its idea of accelerating the rise of q_y as long as q_y < 0.5",
    r"The policy 5,3, with its step at 0.19 as the submission has it, accelerates, $g > 1$, for $0 < q_y < 0.2525$; from $0.2526$ on, still short of 0.5, $g < 1$.",
    formal=formal("exact", "m20_policy_accelerates"),
)
def policy_accelerate_corrected() -> Evidence:
    """g(., 5) > 1 up to 0.19 and g(., 3) > 1 up to tau(3)."""
    with balls.precision():
        five, three = balls.exact(5), balls.exact(3)
        signs = (
            formulas.gain(balls.exact("0.19"), five) > 1,
            formulas.gain(balls.exact("0.2525"), three) > 1,
            formulas.gain(balls.exact("0.2526"), three) < 1,
        )
    return derivation(
        Step(r"$g(0.19, 5) > 1$, $g(0.2525, 3) > 1 > g(0.2526, 3)$, in ball arithmetic", all(map(bool, signs))),
        *gain.threshold_steps(),
        remark=r"$g$ rises from 1, then falls, so $g > 1$ before each of these points and $g < 1$ after the last.",
    )

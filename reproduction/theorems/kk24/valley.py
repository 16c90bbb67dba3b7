"""Along which line the best temperature rises with the calibration gamma: its slope at 0, and two curves around it."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Evidence, Step, derivation, step
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, entropy_ratio, gain

ours = Rows("open_questions", "ours")
q, g = symbols.q, symbols.g
v = -sp.log(1 - q) - symbols.entropy_ratio()  # the derivative of log w by gamma at gamma = 0
LEAST = sp.Rational(-7, 100)
WHERE = "KK24 sections 3.2 and 5.2, taken further"
CLOSEST = (
    r"Let $t(\gamma)$ be the temperature closest to the map on some predictions $q$, all $q_i > 0$ and not all uniform, by the mean of $\mathrm{KL}(\hat p(q)\,\|\,"
    r"\operatorname{softmax}(\frac1t\log q))$."
)


@ours(
    "kk24.valley_between",
    "At every gamma the temperature that the map is like has two bounds",
    WHERE,
    CLOSEST
    + r" Then $\inf_{0<x<1} e(x) \le \frac1{t(\gamma)} \le 1 + \gamma$ for every $\gamma \ge 0$ and any number of classes, "
    r"$e(x) = \frac{x\,w'(x)}{w(x)}$.",
    not_formalised="not tried: the minimiser of a mean over any number of classes is not among the lemmas at hand",
)
def valley_between() -> Evidence:
    """The mean KL rises in 1/t where that is above all slopes of log w in log q between two classes, falls below all."""
    return derivation(
        gain.of_loss_step(r"$w = -\frac{1}{L'} = \frac qg$", g),
        *_between_slopes_steps(),
        *_at_most_steps(),
        step(
            r"each is a mean of $\frac{d\log w}{d\log q} = \frac{q\,w'}{w} = e(q)$ from $z_j$ to $z_i$, so at least $\inf e$",
            (q * sp.diff(sp.log(symbols.weight(q, g)), q), q * sp.diff(symbols.weight(q, g), q) / symbols.weight(q, g)),
        ),
        remark=r"The mean KL is strictly convex in $\frac1t$ where not all $q$ are uniform, and at $\gamma = 0$ both bounds are 1.",
    )


@ours(
    "kk24.valley_slope",
    "The slope of the temperature that the map is like has a formula",
    WHERE,
    CLOSEST
    + r" Then $1/t$ has the slope $\mathbb E\operatorname{Cov}_q(v, \log q)\big/\mathbb E\operatorname{Var}_q(\log q)$ at $\gamma = 0$, "
    r"$v = -\log(1-q) - \frac{-q\log q}{1-q}$. It is between $-0.07$ and 1 for any number of classes, and at least $2 - 2\log2$ for two.",
    not_formalised="not tried: the derivative of a minimiser over any number of classes is not among the lemmas at hand",
)
def valley_slope() -> Evidence:
    """The implicit function of the stationary point; the slope is a mean of slopes of v in log q between two classes."""
    return derivation(
        gain.of_loss_step(r"$w = -\frac{1}{L'} = \frac qg$", g),
        step(
            r"$\partial_\gamma\log w = v$ at $\gamma = 0$",
            (-sp.diff(sp.expand_log(sp.log(symbols.gain(q, g)), force=True), g).subs(g, 0), v),
        ),
        *_stationary_steps(),
        *_at_most_steps(),
        step(
            r"each slope of $\log w$ is 1 at $\gamma = 0$, and there its derivative by $\gamma$ is $\frac{v_i-v_j}{z_i-z_j}$: at most 1, that of $1 + \gamma$",
            (sp.log(symbols.weight(q, g)).subs(g, 0), sp.log(q)),
        ),
        *_least_steps(),
        *_two_classes_steps(),
        remark=r"The mean KL is convex in $\frac1t$, strictly unless all $q$ are uniform, so its stationary point is the closest temperature and the implicit function "
        r"theorem applies. The NLL of labels drawn from the map has the same derivatives.",
    )


def _stationary_steps() -> tuple[Step, ...]:
    """Of three classes, as of any number: both derivatives of sum (pi_i - p_i) z_i, z = log q."""
    beta = sp.Symbol("beta", positive=True)
    one, two = sp.symbols("q_1 q_2", positive=True)
    probs, tilts = (one, two, 1 - one - two), sp.symbols("v_1:4")
    z = [sp.log(x) for x in probs]

    def mean(of: list[sp.Expr], weights: tuple[sp.Expr, ...]) -> sp.Expr:
        return sum(w * x for w, x in zip(weights, of, strict=True)) / sum(weights)

    def covariance(a: list[sp.Expr], b: list[sp.Expr]) -> sp.Expr:
        return mean([x * y for x, y in zip(a, b, strict=True)], probs) - mean(a, probs) * mean(b, probs)

    tempered = mean(z, tuple(x**beta for x in probs))
    mapped = mean(z, tuple(x * sp.exp(g * tilt) for x, tilt in zip(probs, tilts, strict=True)))
    pairs = sum(probs[i] * probs[j] * (tilts[i] - tilts[j]) * (z[i] - z[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    return (
        step(
            r"with $\beta = \frac1t$, $z = \log q$ and $\pi \propto q^\beta$ the mean KL is stationary where $\mathbb E\sum_i(\pi_i-\hat p_i)z_i = 0$; at $\beta = 1$, $\gamma = 0$ "
            r"the derivative by $\beta$ is $\mathbb E\operatorname{Var}_q(z)$, that by $\gamma$ is $-\mathbb E\operatorname{Cov}_q(v,z)$",
            (sp.diff(tempered, beta).subs(beta, 1), covariance(z, z)),
            (sp.diff(mapped, g).subs(g, 0), covariance(list(tilts), z)),
        ),
        step(
            r"$\operatorname{Cov}_q(v,z) = \sum_{i<j}q_iq_j(v_i-v_j)(z_i-z_j)$: the slope is a mean of $\frac{v_i-v_j}{z_i-z_j}$, weighted by $q_iq_j(z_i-z_j)^2$",
            (covariance(list(tilts), z), pairs),
        ),
    )


def _between_slopes_steps() -> tuple[Step, ...]:
    """Where the derivative of the mean KL by 1/t has a sign: of three classes, as of any number."""
    beta = sp.Symbol("beta", positive=True)
    mapped, ratio, z = sp.symbols("p_1:4", positive=True), sp.symbols("r_1:4", positive=True), sp.symbols("z_1:4")
    q_i, q_j = sp.symbols("q_i q_j", positive=True)
    w_i, w_j = sp.symbols("w_i w_j", positive=True)
    whole, weighted = sum(mapped), sum(p * r for p, r in zip(mapped, ratio, strict=True))
    difference = sum(p * r * x for p, r, x in zip(mapped, ratio, z, strict=True)) / weighted
    difference -= sum(p * x for p, x in zip(mapped, z, strict=True)) / whole
    pairs = sum(mapped[i] * mapped[j] * (ratio[i] - ratio[j]) * (z[i] - z[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    return (
        step(
            r"with $\beta = \frac1t$, $z = \log q$ and $\pi \propto q^\beta$ the derivative of the KL by $\beta$ is $\sum_i(\pi_i-\hat p_i)z_i$, and with $r_i = \frac{\pi_i}{\hat p_i}$ "
            r"it has the sign of $\sum_{i<j}\hat p_i\hat p_j(r_i-r_j)(z_i-z_j)$",
            (difference, pairs / (whole * weighted)),
        ),
        step(
            r"$\log\frac{r_i}{r_j} = \beta(z_i-z_j) - (\log w_i - \log w_j)$: where $\beta$ is above all $\frac{\log w_i - \log w_j}{z_i - z_j}$, $r$ rises with $z$ and the KL with $\beta$; below "
            r"all, both fall. So $\frac1t$ is between the least and the largest of these slopes",
            (
                sp.expand_log(sp.log((q_i**beta / w_i) / (q_j**beta / w_j)), force=True),
                beta * (sp.log(q_i) - sp.log(q_j)) - (sp.log(w_i) - sp.log(w_j)),
            ),
        ),
    )


def _at_most_steps() -> tuple[Step, ...]:
    """No slope of log w in log q between two classes is above 1 + gamma."""
    ratio = symbols.entropy_ratio()
    phi = -g * sp.log(q * (1 - q)) - sp.log(1 + g * ratio)
    of_weight = sp.log(symbols.weight(q, g)) - (1 + g) * sp.log(q)
    falls = -g * (1 - 2 * q) / (q * (1 - q)) - g * sp.diff(ratio, q) / (1 + g * ratio)
    return (
        *entropy_ratio.sign_steps(),
        step(
            r"$\varphi = \log w - (1+\gamma)\log q = -\gamma\log q(1-q) - \log(1+\gamma b)$ falls up to $\frac12$, as $b' > 0$",
            (sp.expand_log(of_weight - phi, force=True), 0),
            (sp.diff(phi, q), falls),
        ),
        step(
            r"$\varphi(1-q) - \varphi(q) = \log\frac{1+\gamma b(q)}{1+\gamma b(1-q)} \ge 0$ for $q \ge \frac12$. With $q_j < q_i$, so $q_j \le 1 - q_i$: "
            r"$\varphi(q_j) \ge \varphi(q_i)$: $\frac{\log w_i - \log w_j}{z_i - z_j} \le 1 + \gamma$",
            (
                sp.expand_log(phi.subs(q, 1 - q) - phi, force=True),
                sp.log(1 + g * ratio) - sp.log(1 + g * symbols.entropy_ratio(1 - q)),
            ),
        ),
    )


def _least_steps() -> tuple[Step, ...]:
    """dv/d log q > -0.07: convex, then concave, with a tangent that is positive."""
    f = 2 * q * (1 - q) + q * sp.log(q) - LEAST * (1 - q) ** 2
    at, turn = sp.exp(-sp.Rational(5, 2)), 1 / (4 + 2 * LEAST)
    value, slope = f.subs(q, at), sp.diff(f, q).subs(q, at)
    return (
        step(
            r"$\frac{dv}{d\log q} + 0.07 = \frac{f}{(1-q)^2}$ with $f = 2q(1-q) + q\log q + 0.07(1-q)^2$, $f'' = \frac1q - 3.86$: convex, then concave",
            (q * sp.diff(v, q) - LEAST, f / (1 - q) ** 2),
            (sp.diff(f, q, 2), 1 / q - (4 + 2 * LEAST)),
        ),
        step(
            r"the tangent at $q = e^{-5/2}$ rises and is positive at 0, so $f > 0$ where it is convex",
            bool(slope.is_positive and sp.expand(value - at * slope).is_positive and (turn - at).is_positive),
        ),
        step(
            r"where it is concave, it is above its chord to $f(1) = 0$: each pair has a slope above $-0.07$",
            (f.subs(q, 1), 0),
        ),
    )


def _two_classes_steps() -> tuple[Step, ...]:
    s, high, low = symbols.s, symbols.u(symbols.s), symbols.u(-symbols.s)
    t = sp.Symbol("t", positive=True)
    difference = (v - v.subs(q, 1 - q)).subs(q, t / (1 + t))
    return (
        *binary_map.slope_of_u_steps()[:1],
        step(
            r"two classes, $s = z_1 - z_2 > 0$: $v_1 - v_2 = s - (u - \bar u)$, and $(u-\bar u)' = u + \bar u - 1 \le 2\log2 - 1$, $b$ being concave: the slope is at least $2 - 2\log2$",
            (
                sp.expand_log(difference, force=True),
                sp.log(t) - sp.expand_log((high - low).subs(s, sp.log(t)), force=True),
            ),
            (sp.diff(high - low, s), high + low - 1),
            (2 * symbols.entropy_ratio(sp.Rational(1, 2)), 2 * sp.log(2)),
        ),
    )

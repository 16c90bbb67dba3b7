"""Along which line the best temperature rises with the calibration gamma: the slope at gamma 0, and its bounds."""

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


@ours(
    "kk24.valley_slope",
    "The slope of the temperature that the map is like has a formula",
    "KK24 sections 3.2 and 5.2, taken further",
    r"Let $t(\gamma)$ be the temperature closest to the map on some predictions $q$, not all uniform, by the mean of $\mathrm{KL}(\hat p(q)\,\|\,"
    r"\operatorname{softmax}(\frac1t\log q))$. Then $1/t$ has the slope $\mathbb E\operatorname{Cov}_q(v, \log q)\big/\mathbb E\operatorname{Var}_q(\log q)$ at $\gamma = 0$, "
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
        *_at_most_one_steps(),
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


def _at_most_one_steps() -> tuple[Step, ...]:
    phi = v - sp.log(q)
    written = -(1 - 2 * q) / (q * (1 - q)) - sp.diff(symbols.entropy_ratio(), q)
    return (
        *entropy_ratio.sign_steps(),
        step(
            r"$\varphi = v - \log q$ falls up to $\frac12$, as $b' > 0$, and $\varphi(1-q) - \varphi(q) = b(q) - b(1-q) \ge 0$ for $q \ge \frac12$. With $q_j < q_i$, so "
            r"$q_j \le 1 - q_i$: $\varphi(q_j) > \varphi(q_i)$: each pair has a slope below 1",
            (sp.diff(phi, q), written),
            (phi.subs(q, 1 - q) - phi, symbols.entropy_ratio() - symbols.entropy_ratio(1 - q)),
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

r"""How far an excess of focal loss can leave the map from the truth: for every gamma > 0 and any number of classes.

In the steps w = q h, h = 1/g, w' = h e, p = p-hat(q); a probability q >= 1/2 of one class leaves r = 1 - q to the others;
s, u, u-bar and R are those of KK24 Prop. 2, A and A-bar the two parts of R', and sigma = gamma + 1 - R' the map's slope.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from focal_lib.theory.proper import regret_constant
from focal_lib.theory.temperature_bounds import beta_at_zero
from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, entropy_ratio, gain, weight

q, s, g = symbols.q, symbols.s, symbols.g
r = 1 - q
half, third = sp.Rational(1, 2), sp.Rational(1, 3)
two = sp.log(2)
part, part_bar, high, low, sigma, theta, m = sp.symbols("A B u v sigma theta m", positive=True)
LOG_WEIGHT_AT_HALF = g * two - sp.log(1 + g * two)  # log h(1/2)


def weight_slope_at_half() -> sp.Expr:
    """w'(1/2), by the constant c that the library publishes."""
    return 4 / regret_constant(g, two)


@cache
def regret_steps() -> tuple[Step, ...]:
    """E <= w'(1/2)/4 inside the simplex: what `kk24.regret` rests on."""
    return (*curvature_steps(), *lumps_steps(), *slope_steps(), *large_rest_steps(), *small_rest_steps())


def curvature_steps() -> tuple[Step, ...]:
    """-v'H''v >= 1/E for |v|_1 = 2, H the least risk, E = N^2 b_P + P^2 b_N of two lumps of classes."""
    f, w, tau = sp.Function("f"), sp.Function("w"), sp.Symbol("tau")
    v, lam, change, value, slope = sp.symbols("v lambda lambda_1 w w_1", positive=True)
    x, z, a, b, big = sp.symbols("x z a b P", positive=True)
    multiplier = sp.Symbol("t", real=True)
    loss_slope, loss_curvature = -1 / value, slope / value**2
    return (
        *weight.lagrange_steps(),
        step(
            r"the risk is linear in $p$ and touches the least risk $H$ at $\hat p$: with $f(\tau) = H(\hat p + \tau v)$, "
            r"$v = p - \hat p$, the excess $f(0) + f'(0) - f(1)$ is $\int_0^1(1-\tau)(-f''(\tau))\,d\tau$",
            (sp.diff((1 - tau) * f(tau).diff(tau) + f(tau), tau), (1 - tau) * f(tau).diff(tau, 2)),
        ),
        step(r"$L' = -\frac1w$, $L'' = \frac{w'}{w^2}$", (sp.diff(-1 / w(q), q), w(q).diff(q) / w(q) ** 2)),
        step(
            r"$p_iL'_i = -\lambda$ along $v$: $v_iL'_i + p_iL''_i\dot q_i = -\dot\lambda$ and $\sum_i\dot q_i = 0$; so $f' = \sum_iv_iL_i$, "
            r"$-f'' = \sum_i\frac{(v_iL'_i+\dot\lambda)^2}{p_iL''_i} = \sum_i\frac{(v_i-\dot\lambda w_i)^2}{p_iw'_i} \ge "
            r"\min_t\sum_i\frac{(v_i-tp_i)^2}{p_iw'_i}$",
            (
                (v * loss_slope + change) ** 2 / (lam * value * loss_curvature),
                (v - change * value) ** 2 / (lam * value * slope),
            ),
        ),
        step(
            r"let $\lVert v\rVert_1 = 2$, $P$ and $N = 1 - P$ the masses of the classes with $v_i > 0$ and of the others, $b_P$ and $b_N$ their "
            r"$\sum_ip_iw'_i$. $\frac{x^2}{a} + \frac{z^2}{b} \ge \frac{(x+z)^2}{a+b}$ leaves "
            r"$\frac{(1-tP)^2}{b_P} + \frac{(1+tN)^2}{b_N}$",
            (x**2 / a + z**2 / b - (x + z) ** 2 / (a + b), (b * x - a * z) ** 2 / (a * b * (a + b))),
        ),
        step(
            r"$N(1-tP) + P(1+tN) = 1$, so by Cauchy-Schwarz this is at least $1/E$, $E = N^2b_P + P^2b_N$",
            ((1 - big) * (1 - multiplier * big) + big * (1 + multiplier * (1 - big)), 1),
            (
                (x**2 / a + z**2 / b) * ((1 - big) ** 2 * a + big**2 * b) - ((1 - big) * x + big * z) ** 2,
                (big * b * x - (1 - big) * a * z) ** 2 / (a * b),
            ),
        ),
    )


def lumps_steps() -> tuple[Step, ...]:
    """E <= w'(1/2)/4 where no class is above 1/2; with one at q > 1/2, E <= F of the odds and slopes of two lumps."""
    b, k = symbols.entropy_ratio(), symbols.gain_sign(q, g)
    elasticity = q * sp.diff(sp.log(symbols.weight(q, g)), q)
    big, x, rho, top, most = sp.symbols("P x rho W M", positive=True)
    lumps = (1 - x) ** 2 * most * x + x**2 * ((1 - rho) * top + most * (rho - x))
    pair = rho * (1 - rho) * ((1 - rho) * most + rho * top)
    return (
        *weight.printed_weight_steps(),
        *gain.threshold_steps(),
        gain.at_half_step(),
        *entropy_ratio.sign_steps(),
        step(
            r"$w' = h\,e$ with $e = 1 + \frac{\gamma b}{1+\gamma b}\cdot\frac{-k}{1-q}$: where $k < 0$ each factor increases, elsewhere $e \le 1$. So for "
            r"$x \le y$: $e(x) \le \max(1, e(y))$, and $h(x) \le \max(1, h(y))$, $h$ falling from 1, then rising",
            (elasticity, 1 - g * b / (1 + g * b) * k / (1 - q)),
        ),
        step(
            r"$h(\frac12) = \frac{2^\gamma}{1+\gamma\log2}$ and $e(\frac12) = \beta(0)$, so $w'(\frac12) = h(\frac12)\,\beta(0)$, $c = 4/w'(\frac12)$",
            (elasticity.subs(q, half), beta_at_zero(g, two)),
            (sp.diff(symbols.weight(q, g), q).subs(q, half), weight_slope_at_half()),
        ),
        step(
            r"no class above $\frac12$: $w'_i \le w'(\frac12)$, so $E \le (N^2P + P^2N)\,w'(\frac12) = PN\,w'(\frac12) \le \frac14w'(\frac12)$",
            ((1 - big) ** 2 * big + big**2 * (1 - big), big * (1 - big)),
            (sp.Rational(1, 4) - big * (1 - big), (big - half) ** 2),
        ),
        step(
            r"one class at $q > \frac12$, in the lump $P$ say: the others have $w'_i \le M = \max(1, h(r))\max(1, e(r)) \le W = w'(q)$ and the mass "
            r"$\rho$, $\frac{\rho}{1-\rho} = \frac{\sum_{i\ge2} w_i}{w(q)} \le \frac{r\max(1,h(r))}{w(q)} \le 1$. With $x = N \le \rho$: "
            r"$E \le Mx(1-x) + x^2(1-\rho)(W-M)$, which increases in $x \le \frac12$: $E \le F = \rho(1-\rho)\big((1-\rho)M + \rho W\big)$",
            (lumps, most * x * (1 - x) + x**2 * (1 - rho) * (top - most)),
            (lumps.subs(x, rho), pair),
        ),
        step(
            r"$F$ increases in $\rho \le \frac12$: $\partial_\rho F = M(1-2\rho) + (W-M)\,\rho\,(2-3\rho)$. So let $\rho$ have its bound",
            (sp.diff(pair, rho), most * (1 - 2 * rho) + (top - most) * rho * (2 - 3 * rho)),
        ),
    )


def slope_steps() -> tuple[Step, ...]:
    """R'' >= -(B-A)^+ (1-R') for s > 0, and B - A <= 2 kappa (q - r): how fast the slope of the map can rise."""
    t = sp.Symbol("t", positive=True)  # e^-s
    at, u = 1 / (1 + t), sp.log(1 + t) / t
    soft = sp.log(1 + t) - 2 * t / (2 + t)
    sigmoid = 1 / (1 + sp.exp(-s))
    parts = [g * (symbols.u(x) - 1 / (1 + sp.exp(-x))) / (1 + g * symbols.u(x)) for x in (s, -s)]
    rest = g * sigmoid * (1 - sigmoid) * (1 / (1 + g * symbols.u(-s)) - 1 / (1 + g * symbols.u(s)))
    one, other = parts
    slope = one + other
    return (
        *binary_map.map_slope_steps(),
        step(
            r"$R' = A + \bar A$, $A = \frac{\gamma(u-q)}{1+\gamma u}$, $\bar A = \frac{\gamma(\bar u-r)}{1+\gamma\bar u}$, and "
            r"$R'' = (A-\bar A)(1-R') + \gamma qr\big(\frac{1}{1+\gamma\bar u} - \frac{1}{1+\gamma u}\big)$, whose last term is positive for $s > 0$",
            (sp.diff(symbols.logit_gap(s, g), s), slope),
            (sp.diff(slope, s), (one - other) * (1 - slope) + rest),
        ),
        step(
            r"$A' = \frac{\gamma(u-q-qr)}{1+\gamma u} - A^2$",
            (sp.diff(one, s), g * (symbols.u(s) - sigmoid - sigmoid * (1 - sigmoid)) / (1 + g * symbols.u(s)) - one**2),
        ),
        step(
            r"$u \ge \frac{2}{2+t}$, $t = e^{-s}$: $\log(1+t) - \frac{2t}{2+t}$ is 0 at 0 with derivative $\frac{t^2}{(1+t)(2+t)^2}$; so "
            r"$q + qr - u \le \frac{qr}{2+t}$",
            (soft.subs(t, 0), 0),
            (sp.diff(soft, t), t**2 / ((1 + t) * (2 + t) ** 2)),
            (symbols.u(-sp.log(t)), u),
            (at + at * (1 - at) - 2 / (2 + t), at * (1 - at) / (2 + t)),
        ),
        step(
            r"with $\kappa = \frac{\gamma}{1+\gamma}$: $(2+t)(1+\gamma u) \ge 2 + t + 2\gamma > 2(1+\gamma)$, so $-A' \le \frac\kappa2qr + A^2$; $\frac{\gamma u}{1+\gamma u} \le \kappa$ as $u < 1$, so "
            r"$A = \frac{\gamma u}{1+\gamma u}(1-\frac qu) \le \kappa(1-\sqrt q)$",
            ((2 + t) * (1 + g * 2 / (2 + t)), 2 + t + 2 * g),
            (g / (1 + g) - g * high / (1 + g * high), g * (1 - high) / ((1 + g) * (1 + g * high))),
            (g * (high - low) / (1 + g * high), g * high / (1 + g * high) * (1 - low / high)),
        ),
        step(
            r"for $q \ge \frac25$: $(1-\sqrt q)^2 \le qr$, since $q(1+\sqrt q) - (1-\sqrt q)$ rises and is positive at $\frac25$; so where "
            r"$\frac12 \le q \le \frac35$: $\bar A - A = \int_{-s}^s(-A') \le \frac32\kappa\int_{-s}^sqr = \frac32\kappa(q-r)$",
            (q * r - (1 - sp.sqrt(q)) ** 2, (1 - sp.sqrt(q)) * (q * (1 + sp.sqrt(q)) - (1 - sp.sqrt(q)))),
            (sp.diff(sigmoid, s), sigmoid * (1 - sigmoid)),
        ),
        _sign_step(r"the sign at $\frac25$", (q * (1 + sp.sqrt(q)) - (1 - sp.sqrt(q))).subs(q, sp.Rational(2, 5))),
        step(
            r"for $q \ge \frac35$: $\bar A \le \kappa(1-\sqrt r) \le 2\kappa(q-r)$, as $2(1-2m^2) - (1-m) = 1 + m - 4m^2$, $m = \sqrt r$, is concave, 1 at 0 "
            r"and positive at $\sqrt{2/5}$",
            (2 * (1 - 2 * m**2) - (1 - m), 1 + m - 4 * m**2),
            (sp.diff(1 + m - 4 * m**2, m, 2), -8),
        ),
        _sign_step(r"the sign at $\sqrt{2/5}$", (1 + m - 4 * m**2).subs(m, sp.sqrt(sp.Rational(2, 5)))),
    )


def _sign_step(text: str, number: sp.Expr) -> Step:
    return Step(text, bool(number.is_positive))


def large_rest_steps() -> tuple[Step, ...]:
    """F <= w'(1/2)/4 where h(r) >= 1: F is that of two classes, and falls in s."""
    a, b, e, e_bar = sp.symbols("a b e f", positive=True)  # w and the elasticities at q and at r
    z = sp.log(a / b)
    two_classes = a * b / (a + b) ** 2 * (a / (a + b) * b * e_bar / r + b / (a + b) * a * e / q)
    slope = r * e + q * e_bar
    form = slope * sp.sqrt(a * b) / (q * r) / (2 * sp.cosh(z / 2)) ** 3
    log_form = (sp.log(symbols.gain(q, g)) + sp.log(symbols.gain(r, g)) + sp.log(q * r)) / 2
    of_s = sp.expand_log(log_form, force=True).subs(q, 1 / (1 + sp.exp(-s)))
    parts = [g * (symbols.u(x) - 1 / (1 + sp.exp(-x))) / (1 + g * symbols.u(x)) for x in (s, -s)]
    bound = (1 + g / 4) - 2 * g / (1 + g) * (half + 1 / (g + 1))
    return (
        step(
            r"$h(r) \ge 1$, where $e(r) \ge 1$, too: $M = w'(r)$ and $\frac{1-\rho}{\rho} = \frac{w(q)}{w(r)} = e^z$ with $z$ the logit of the binary map, "
            r"$\frac{dz}{ds} = \sigma = r\,e(q) + q\,e(r)$; $F = \frac{\sigma}{8K\cosh^3(z/2)}$, $K = \sqrt{qr\,g(q)\,g(r)}$",
            (two_classes, form.rewrite(sp.exp)),
        ),
        step(
            r"$(\log K)' = \frac12\big(A - \bar A - (\gamma+1)(q-r)\big)$, so $(-\log F)' = \frac12\big(3\sigma\tanh\frac z2 - (\gamma+1)(q-r) + A - \bar A\big) + "
            r"\frac{R''}{\sigma}$",
            (sp.diff(of_s, s), (parts[0] - parts[1] - (g + 1) * (1 - sp.exp(-s)) / (1 + sp.exp(-s))) / 2),
        ),
        step(
            r"$\sigma > 1$, so $z \ge s$ and $\tanh\frac z2 \ge \tanh\frac s2 = q - r$; $R' < \gamma(u+\bar u-1) \le \gamma(2\,b(\frac12)-1) < \frac\gamma2$, $b$ being "
            r"concave, so $3\sigma - (\gamma+1) \ge 2 + \frac\gamma2$",
            (sp.tanh(s / 2).rewrite(sp.exp), (1 - sp.exp(-s)) / (1 + sp.exp(-s))),
            (2 * symbols.entropy_ratio(half) - 1, 2 * two - 1),
            (3 * (g + 1 - g / 2) - (g + 1), 2 + g / 2),
        ),
        _sign_step(r"$2\log2 - 1 < \frac12$", sp.Rational(3, 2) - 2 * two),
        step(
            r"$\frac{1-R'}{\sigma} \le \frac{1}{\gamma+1}$, as $\gamma + 1 - R' - (\gamma+1)(1-R') = \gamma R' \ge 0$. So where $\bar A > A$ "
            r"$(-\log F)'$ is at least $(q-r)\big(1 + \frac\gamma4 - 2\kappa(\frac12 + \frac1{\gamma+1})\big) = "
            r"(q-r)\,\frac{\gamma^3+2\gamma^2-3\gamma+4}{4(\gamma+1)^2} > 0$, and elsewhere more: $F$ falls",
            (g + 1 - part - (g + 1) * (1 - part), g * part),
            (bound, (g**3 + 2 * g**2 - 3 * g + 4) / (4 * (g + 1) ** 2)),
        ),
        _positive_step(r"$\gamma^3 + 2\gamma^2 - 3\gamma + 4 > 0$", g**3 + 2 * g**2 - 3 * g + 4),
        step(
            r"at $s = 0$ it is $F = \frac{\beta(0)}{8K} = \frac14w'(\frac12)$",
            (beta_at_zero(g, two) / (8 * half * symbols.gain(half, g)), weight_slope_at_half() / 4),
        ),
    )


def _positive_step(text: str, polynomial: sp.Expr) -> Step:
    """Positive for gamma > 0: its terms up to the second power have no root, and the others are not negative."""
    constant, linear, square, *higher = reversed(sp.Poly(sp.expand(polynomial), g).all_coeffs())
    signs = (constant, square, sp.expand(4 * constant * square - linear**2))
    return Step(text, all(n.is_positive for n in signs) and all(n.is_nonnegative for n in higher))


def small_rest_steps() -> tuple[Step, ...]:
    """F <= w'(1/2)/4 where h(r) < 1: many small classes are the worst."""
    h, e = sp.symbols("h e", positive=True)
    odds = q * h / r
    rho = 1 / (1 + odds)
    most = sp.Symbol("M", positive=True)
    pair = rho * (1 - rho) * ((1 - rho) * most + rho * h * e)
    elasticity = q * sp.diff(sp.log(symbols.weight(q, g)), q)
    u = symbols.entropy_ratio()
    excess = g * (u - q) / (1 + g * u)
    log_two = 2 * q + sp.log(1 - q)
    left, epsilon = sp.symbols("x_0 epsilon", positive=True)
    square = 2 * (1 - epsilon + g) * theta**2 - g * theta + left
    below = 4 * two**2 * ((1 + g) ** 3 - 2 * g) - (1 + g * two) * (1 + g) ** 2
    y = sp.Symbol("y", positive=True)
    gap = y - sp.log(1 + y) - y**2 / (2 * (1 + y))
    lower = (1 + g - (2 * two - 1) * g / (1 + g * two)) * (1 + (g * two) ** 2 / (2 * (1 + g * two)))
    return (
        step(
            r"$h(r) < 1$: $M = \max(1, e(r))$ and $\frac{\rho}{1-\rho} = \frac{r}{q\,h(q)}$: with $h = h(q)$ "
            r"$F = \frac{qrh^2}{(r+qh)^3}\,q\big(M + \frac rqe(q)\big)$",
            (pair, q * r * h**2 / (r + q * h) ** 3 * q * (most + r / q * e)),
        ),
        step(
            r"$r\,e(q) = r + \gamma q - A$, $q\,e(r) = q + \gamma r - \bar A$: $q(M + \frac rqe(q)) = \max(1 + \gamma q - A,\ \sigma) \le 1 + \gamma$",
            (r * elasticity, r + g * q - excess),
            (r + g * q - part + q + g * r - part_bar, 1 + g - part - part_bar),
        ),
        step(
            r"$q \ge \frac23$: $r + qh \ge h^q$ (means), $h^{3q} \ge h^2$ and $qr \le \frac29$, so $F \le \frac29(1+\gamma)$",
            ((q * r).subs(q, sp.Rational(2, 3)), sp.Rational(2, 9)),
        ),
        step(
            r"$x_0 = \log h(\frac12) = y - \log(1+y) \ge \frac{y^2}{2(1+y)}$, $y = \gamma\log2$: the difference is 0 at 0 with derivative "
            r"$\frac{y^2}{2(1+y)^2}$",
            (-sp.expand_log(sp.log(symbols.gain(half, g)), force=True), LOG_WEIGHT_AT_HALF),
            (gap.subs(y, 0), 0),
            (sp.diff(gap, y), y**2 / (2 * (1 + y) ** 2)),
        ),
        _positive_step(
            r"$\frac29(1+\gamma) \le \frac14w'(\frac12) = \frac14\beta(0)\,e^{x_0}$ by $e^{x_0} \ge 1 + x_0$",
            sp.cancel(sp.together((lower - sp.Rational(8, 9) * (1 + g)) * 18 * (1 + g * two) ** 2)),
        ),
        step(
            r"$q \le \frac23$: $q(e(r) - 1) = \gamma r - \bar A = \frac{\gamma(2r-\bar u+\gamma r\bar u)}{1+\gamma\bar u}$ and $2r - \bar u = \frac rq(2q+\log r)$, "
            r"concave in the bracket and positive at both ends: $e(r) \ge 1$, and $F = \frac{qrh^2\sigma}{(r+qh)^3} \le qr\,h^{2-3q}\sigma$",
            (g * m - g * (low - m) / (1 + g * low), g * (2 * m - low + g * m * low) / (1 + g * low)),
            (2 * r - symbols.entropy_ratio(r), r / q * log_two),
            (sp.diff(log_two, q, 2), -1 / (1 - q) ** 2),
        ),
        *(_sign_step(rf"its sign at $q = {sp.latex(at)}$", log_two.subs(q, at)) for at in (half, 2 * third)),
        step(
            r"with $\theta = q - r = \tanh\frac s2 \le \frac13$: $4qr = 1 - \theta^2$, $2 - 3q = \frac12(1-3\theta)$, and $-\log(1-\theta^2)$ has the derivative $\theta$ "
            r"in $s$, so $\log\frac{\sigma}{\beta(0)} = \int_0^s\frac{-R''}{\sigma} \le \frac{2\kappa}{\gamma+1}\int_0^s\theta = -\varepsilon\log(1-\theta^2)$, "
            r"$\varepsilon = \frac{2\gamma}{(1+\gamma)^2} \le \frac12$",
            ((4 * q * r).subs(q, (1 + theta) / 2), 1 - theta**2),
            ((2 - 3 * q).subs(q, (1 + theta) / 2), (1 - 3 * theta) / 2),
            (sp.diff(-sp.log(1 - sp.tanh(s / 2) ** 2), s), sp.tanh(s / 2)),
            (half - 2 * g / (1 + g) ** 2, (1 - g) ** 2 / (2 * (1 + g) ** 2)),
        ),
        step(
            r"$\log h(q) = -\gamma\log r - \log(1+\gamma u) \le x_0 - \gamma\log(1-\theta)$, as $u = b(q) \ge \log2$; and $-\log(1-\theta) \le "
            r"\frac{\theta}{1-\theta}$ gives $-(1-3\theta)\log(1-\theta) \le \theta(1-2\theta)$",
            (-g * sp.log((1 - theta) / 2) - sp.log(1 + g * two), LOG_WEIGHT_AT_HALF - g * sp.log(1 - theta)),
            (theta * (1 - 2 * theta) - (1 - 3 * theta) * theta / (1 - theta), 2 * theta**3 / (1 - theta)),
            (
                sp.diff(theta / (1 - theta) + sp.log(1 - theta), theta),
                theta / (1 - theta) ** 2,
            ),
        ),
        step(
            r"so $\log\frac{w'(1/2)}{4F} \ge x_0 + (1-\varepsilon)\theta^2 - \frac12(1-3\theta)x_0 - \frac\gamma2\theta(1-2\theta) \ge \frac12Q$, "
            r"$Q = 2(1-\varepsilon+\gamma)\theta^2 - \gamma\theta + x_0$",
            (
                left + (1 - epsilon) * theta**2 - (1 - 3 * theta) * left / 2 - g * theta * (1 - 2 * theta) / 2,
                square / 2 + 3 * theta * left / 2,
            ),
        ),
        step(
            r"and $Q \ge 0$: with that bound of $x_0$ its discriminant is $\gamma^2 - 8(1-\varepsilon+\gamma)x_0 \le "
            r"-\frac{\gamma^2D}{(1+\gamma\log2)(1+\gamma)^2}$, $D = 4\log^22\,((1+\gamma)^3-2\gamma) - (1+\gamma\log2)(1+\gamma)^2$",
            (
                sp.discriminant(square, theta).subs(
                    {left: (g * two) ** 2 / (2 * (1 + g * two)), epsilon: 2 * g / (1 + g) ** 2}
                ),
                -(g**2) * below / ((1 + g * two) * (1 + g) ** 2),
            ),
        ),
        _positive_step(r"$D > 0$", below),
    )

r"""When the focal calibration map raises the top probability (KK24 Prop. 5, and what is true of it).

With g(q) = (1-q)^gamma (1 + gamma b(q)) and h = 1/g the map is p_i proportional to q_i h(q_i), so

.. math:: \hat p_{\max} \ge q_{\max} \iff \sum_i q_i h(q_i) \le h(q_{\max}).

g rises from 1 to its maximum at p* and falls to 0; it is 1 again at tau(gamma) in (p*, 1/2).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, lambertw

from focal_lib.maps import focal_log_probs
from focal_lib.validation import check_gamma, check_probs

__all__ = [
    "confidence_change",
    "confidence_threshold",
    "critical_gamma",
    "elasticity",
    "inflection",
    "lambert_gamma",
    "log_gain",
    "log_gain_of_logit",
    "lowest_elasticity",
    "peak_probability",
    "rows_by_shape",
    "top_probability_bounds",
    "weight_curvature",
    "worst_row",
]


def log_gain(q: float, gamma: float) -> float:
    """log g(q) for 0 < q < 1."""
    return gamma * math.log1p(-q) + math.log1p(-gamma * q * math.log(q) / (1 - q))


def log_gain_of_logit(s: np.ndarray, gamma: float) -> np.ndarray:
    """log g at q = sigmoid(s), elementwise and stable for large logits."""
    soft = np.logaddexp(0, -s)  # -log q
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = np.where(s > 36, 1.0, soft / np.expm1(np.minimum(soft, 700)))  # b = x/(e^x - 1)
    return -gamma * np.logaddexp(0, s) + np.log1p(gamma * ratio)


def peak_probability(gamma: float) -> float:
    """p*(gamma): where g is largest (smallest for gamma < 0), the root of 2 (1-q)/log q + 1 - gamma q.

    M20 Prop. 1's k has the same sign; .2032 as gamma -> 0. Raises ValueError unless gamma > -1.
    """
    check_gamma(gamma, minimum=-1 + 1e-12)
    return float(brentq(lambda q: 2 * (1 - q) / math.log(q) + 1 - gamma * q, 1e-15, 1 - 1e-13, xtol=1e-16))


def top_probability_bounds(
    logit_top: np.ndarray, p_top: np.ndarray, gamma: float, classes: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""(low, high): the calibrated top probability of these rows at any lower, and at any higher, temperature.

    As T rises, q_top falls in each row; low bounds p_top from below wherever q_top is larger than here, high from above
    wherever it is smaller. By gamma:

    * gamma = 0, and two classes: p_top is an increasing function of q_top, so both are p_top itself.
    * gamma > 0: for q_top >= p* the elasticity of w is largest at the top class, so p_top rises with q_top. Below p*,
      where 1 <= g <= g(p*), it lies between q_top / g(p*) and g(p*) q_top.
    * -1 < gamma < 0: :math:`p_{top} = w_1 / (w_1 + \sum_{j>1} q_j h_j)` with h = 1/g and w_1 = q_top h(q_top),
      increasing in q_top. Every q_j is at most 1/2, where h lies between h_0 = min(1, h(1/2)) and h(p*), or h(1/2) if
      p* is above: h rises from 1 to h(p*) and falls after it, since :math:`b'(q)(1-q) - \gamma b - 1` decreases (b is
      concave and increasing). So p_top lies between two increasing functions,
      :math:`w_1 / (w_1 + (1 - q_{top}) h(p^*))` and the same with h_0.

    Args:
        logit_top: logit of q_top, (n,).
        p_top: the top probability after the map, (n,).

    Raises:
        ValueError: gamma <= -1.
    """
    if gamma == 0 or classes == 2:
        return p_top, p_top
    peak = min(peak_probability(gamma), 0.5)  # no other class has more
    log_extreme = log_gain(peak, gamma)  # log g(p*)
    if gamma > 0:
        q_top, extreme = expit(logit_top), math.exp(log_extreme)
        below = q_top < peak
        high = np.where(below, extreme * q_top, np.maximum(p_top, extreme * peak))
        return np.where(below, q_top / extreme, p_top), high
    far = np.minimum(logit_top, 750.0)  # where 1 - q_top is 0
    log_odds = far - log_gain_of_logit(far, gamma)  # log w_1 / (1 - q_top)
    return expit(log_odds + log_extreme), expit(log_odds + max(0.0, log_gain(0.5, gamma)))


def confidence_threshold(gamma: float) -> float:
    """tau(gamma), the root of g above p*: a top probability of at least tau never falls, for any n.

    Below tau it falls for large n (the other classes equal). tau(1) = 1/e; 1/2 as gamma -> 0.
    Raises ValueError unless gamma > 0.
    """
    check_gamma(gamma, minimum=5e-324)
    peak = peak_probability(gamma)
    if gamma < 1e-9:  # g - 1 is rounding; tau = 1/2 - O(gamma)
        return 0.5
    return float(brentq(lambda q: log_gain(q, gamma), peak, 0.5, xtol=1e-16, rtol=1e-15))


def lambert_gamma(p0: float) -> float:
    r"""The gamma with g(p0, gamma) = 1, so that focal loss has the smaller gradient for every p >= p0.

    :math:`\gamma^* = \frac ab + \frac{1}{\log a}W_{-1}\big(-\tfrac{1}{b}a^{1-a/b}\log a\big)` with a = 1 - p0,
    b = p0 log p0 (M20 Prop. 2). 0 for p0 >= 1/2, where every gamma will do.

    Raises:
        ValueError: p0 not in (0, 1).
    """
    if not 0 < p0 < 1:
        raise ValueError(f"p0 must lie in (0, 1). Got {p0}.")
    if p0 >= 0.5:
        return 0.0
    a, b = 1 - p0, p0 * math.log(p0)
    log_a = math.log1p(-p0)
    start = a / b + float(lambertw(-math.exp((1 - a / b) * log_a) * log_a / b, -1).real) / log_a
    ratio = -b / a  # W is ill-conditioned near p0 = 1/2: polish log g = 0 by Newton from the right of its peak
    right = 2 * (-1 / log_a - 1 / ratio)
    gamma = max(start, right) if math.isfinite(start) else right
    for _ in range(50):
        change = log_gain(p0, gamma) / (log_a + ratio / (1 + gamma * ratio))
        gamma -= change
        if abs(change) <= 1e-15 * gamma:
            break
    return gamma


def critical_gamma(n: int) -> float:
    """gamma*(1/(n-1)): the smallest gamma for which Prop. 5 holds on the whole simplex of n classes.

    0 for n = 2 and 3; 1.4289 for n = 4. Below it (4 <= n) a row of n - 1 tied classes is a
    counterexample. Raises ValueError for n < 2.
    """
    if n < 2:
        raise ValueError(f"n must be at least 2 classes. Got {n}.")
    return lambert_gamma(1 / (n - 1)) if n > 3 else 0.0


def elasticity(q: float, gamma: float) -> float:
    """e(q) = q w'(q)/w(q) for 0 < q < 1: the local inverse temperature between classes tied at q."""
    rest, log_q = 1 - q, math.log(q)
    ratio, slope = -q * log_q / rest, -(rest + log_q) / rest**2  # b, b'
    return 1 + gamma * q * (1 / rest - slope / (1 + gamma * ratio))


def lowest_elasticity(gamma: float) -> tuple[float, float]:
    """(q, e(q)) where the elasticity of w is smallest, below p*. Raises ValueError unless gamma > 0."""
    top = math.log(peak_probability(gamma))  # e = 1 at p*, and below it e < 1
    found = minimize_scalar(
        lambda x: elasticity(math.exp(x), gamma), bounds=(top - 12, top), method="bounded", options={"xatol": 1e-9}
    )
    return math.exp(found.x), float(found.fun)


def confidence_change(probs: np.ndarray, gamma: float) -> np.ndarray:
    """Change of the top class' probability by the map: (..., K) -> (...). Negative is a violation.

    Raises:
        ValueError: rows that are no distributions with positive entries.
    """
    probs = np.asarray(probs, dtype=np.float64)
    check_probs(probs)
    after = np.exp(focal_log_probs(np.log(probs), gamma))
    top = probs.argmax(-1)[..., None]
    return np.take_along_axis(after - probs, top, -1)[..., 0]


def weight_curvature(q: float, gamma: float) -> float:
    """A number with the sign of w''(q), 0 < q < 1: from w = -1/L' and three derivatives of L."""
    log_q, r = math.log(q), 1 - q
    d1 = gamma * r ** (gamma - 1) * log_q - r**gamma / q
    d2 = -gamma * (gamma - 1) * r ** (gamma - 2) * log_q + 2 * gamma * r ** (gamma - 1) / q + r**gamma / q**2
    d3 = (
        gamma * (gamma - 1) * (gamma - 2) * r ** (gamma - 3) * log_q
        - 3 * gamma * (gamma - 1) * r ** (gamma - 2) / q
        - 3 * gamma * r ** (gamma - 1) / q**2
        - 2 * r**gamma / q**3
    )
    return (2 * d2**2 - d3 * d1) / d1**2


def inflection(gamma: float) -> float:
    """q_i: w is concave below, convex above, so KK24's f = -w is not concave on (0, 1)."""
    check_gamma(gamma, minimum=5e-324)
    return float(brentq(lambda q: weight_curvature(q, gamma), 1e-6, 0.3, xtol=1e-15))


def worst_row(gamma: float, n: int, top: float) -> np.ndarray:
    """The row of n classes with largest probability `top` whose confidence falls most, (n,).

    w is concave, then convex, so at the worst row k classes are at the top, at most one lies
    between, and the rest are equal: those are searched.

    Raises:
        ValueError: top not in [1/n, 1).
    """
    if not 1 / n <= top < 1:
        raise ValueError(f"top must lie in [1/n, 1) = [{1 / n:g}, 1). Got {top}.")
    candidates = [np.full((1, n), 1 / n)] if top == 1 / n else []
    for k in range(1, min(n - 1, int(1 / top + 1e-12)) + 1):
        rest, m = 1 - k * top, n - k
        grid = np.linspace(0, min(top, rest), 202)[1:-1] if m > 1 else np.empty(0)
        middle = np.append(grid, rest / m)
        equal = (rest - middle) / (m - 1) if m > 1 else middle
        allowed = (equal > 0) & (equal <= top) & (middle > 0) & (middle <= top)
        rows = np.empty((int(allowed.sum()), n))
        rows[:, :k], rows[:, k], rows[:, k + 1 :] = top, middle[allowed], equal[allowed, None]
        candidates.append(rows)
    rows = np.concatenate(candidates)
    rows /= rows.sum(-1, keepdims=True)
    return rows[np.argmin(confidence_change(rows, gamma))]


def rows_by_shape(n: int, seed: int, count: int = 4_000) -> np.ndarray:
    """Rows of n classes, largest first, to search for extremes on: (m, n).

    Half are tied groups (up to four levels, group sizes and levels random, from nearly equal to
    far apart), half are Dirichlet samples of several concentrations.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        cuts = np.sort(rng.integers(1, n + 1, size=3))
        sizes = np.diff([0, *cuts, n])
        levels = -np.cumsum(rng.exponential(10.0 ** rng.uniform(-4, 1.2, size=4)))
        rows.append(np.repeat(levels, sizes))
    tied = np.exp(np.array(rows) - np.max(rows, axis=1, keepdims=True))
    spread = np.concatenate([rng.dirichlet(np.full(n, a), count // 4) for a in (0.3, 1.0, 10.0, 100.0)])
    both = np.sort(np.concatenate([tied / tied.sum(-1, keepdims=True), np.maximum(spread, 1e-300)]), axis=-1)[:, ::-1]
    return both / both.sum(-1, keepdims=True)

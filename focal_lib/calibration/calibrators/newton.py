r"""Fits of the NLL by Newton steps: log(1/T) alone, and (log 1/T, gamma) together.

Sums of the value and of its first and second derivatives are taken over chunks of samples. With
:math:`\beta = 1/T`, q = softmax(beta z) and t_i = logit q_i,

.. math:: t_i' = z_i - m_{-i}, \qquad t_i'' = -v_{-i}

where m_{-i} and v_{-i} are mean and variance of z over the other classes under q, and the map's log-weight is a
function of (t_i, gamma). Large fits start from the fit of a subset.
"""

from __future__ import annotations

import functools
import math
import warnings
from typing import NamedTuple

import numpy as np

from focal_lib.arrays import Place, label_index, largest, log_sigmoid, logsumexp, total
from focal_lib.calibration.calibrators.fit_samples import FitSamples, by_class, weighted_sum
from focal_lib.calibration.logit_sets import is_missing
from focal_lib.theory.entropy_ratio import bernoulli, bernoulli_curvature, bernoulli_slope

GAMMA_RANGE = (-0.9, 20.0)
_SAMPLE = 20_000  # samples, at most, that give the start of a larger fit
_NUMBERS, _AT_LEAST = 4_000_000, 100  # logits, at most, of those samples; with more classes than that allows, so many
_SHARE, _FEW = 8, 50_000  # one sample in so many is enough for a temperature's start, of at least so many numbers
_STARTS = (0.0, -0.8, 3.0, 10.0)  # gamma, temperature scaling first; with T near the line that KK24 Fig. 2 finds
_CLOSE = 10.0  # minima of the subset whose log-likelihood is nearer than this to the best may change places
_SAFE = 100.0  # sizes of logits whose exponentials are far from the largest and the smallest number
_GONE = -1e3  # beta z of an option that is not there, below the top's: p is 0, and squares keep the digits of others
_FAR = 12.0  # of log(1/T) from the scale of the logits: they separate the classes, or are worse than chance


def fit_temperature(samples: FitSamples, precision: float = 0.0) -> tuple[float, float]:
    """(value, T) at the minimum over T of the NLL + precision (log T)^2 / 2.

    Without precision the NLL is convex in 1/T: it has one minimum, or T tends to 0 or infinity. Then T is far on that
    side, with a ConvergenceWarning.
    """
    if precision:
        value, u = _descend_temperature(samples, 0.0, precision=precision)
        return value, math.exp(-u)
    square, slope_at_zero, wrong = samples.weighted_mean(_scale_and_side)
    middle = -0.5 * math.log(square) if square > 0 else 0.0
    if slope_at_zero >= 0 or wrong == 0:
        from sklearn.exceptions import ConvergenceWarning

        side, why = (
            (1, "0: no label is below another class") if wrong == 0 else (-1, "infinity: labels are not above chance")
        )
        warnings.warn(f"the NLL has no minimum, T tends to {why}", ConvergenceWarning, stacklevel=4)
        beta = math.exp(middle + side * _FAR)
        return float(samples.weighted_mean(functools.partial(temperature_sums, beta))[0]), 1 / beta
    value, u = _descend_temperature(samples, _start_of_temperature(samples, middle))
    return value, math.exp(-u)


def _start_of_temperature(samples: FitSamples, middle: float) -> float:
    """log(1/T) of a subset's fit; `middle` if there are few samples or the subset has no minimum."""
    share = max(len(samples) // _SHARE, _FEW // samples.classes)
    subset = samples.subsample(min(_most(samples.classes), share))
    if subset is samples:
        return middle
    u = _descend_temperature(subset, middle, _FAR)[1]
    return u if abs(u - middle) <= _FAR else middle


def _most(classes: int) -> int:
    """Largest size of the subset whose fit starts the fit of all samples."""
    return min(_SAMPLE, max(_AT_LEAST, _NUMBERS // classes))


def _scale_and_side(z: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Sums over samples: variance of the logits, slope of the NLL by 1/T at 0, number of wrong predictions."""
    z = _missing_at_the_mean(z)
    mean, picked = total(z) / z.shape[1], z[label_index(y)]
    parts = total(np.square(z - mean)) / z.shape[1], mean - picked, picked < largest(z)
    return np.array([weighted_sum(part, w) for part in parts])


def _missing_at_the_mean(z: np.ndarray) -> np.ndarray:
    """Replace missing options by the sample's mean, which changes neither mean nor maximum."""
    missing = is_missing(z)
    if not missing.any():
        return z
    mean = np.where(missing, 0.0, z).sum(-1, keepdims=True) / (~missing).sum(-1, keepdims=True)
    return np.where(missing, mean, z)


def _descend_temperature(
    samples: FitSamples, u: float, far: float = math.inf, precision: float = 0.0
) -> tuple[float, float]:
    """(NLL + precision u^2 / 2, u = log(1/T)) by steps from u, at most `far` away: without a minimum they never end."""
    start = u

    def parts(u: float) -> tuple[float, float, float]:
        beta = math.exp(u)
        value, slope, curve = samples.weighted_mean(functools.partial(temperature_sums, beta))
        slope, curve = beta * slope, beta * slope + beta**2 * curve
        return float(value + precision * u * u / 2), float(slope + precision * u), float(curve + precision)

    value, slope, curve = parts(u)
    for _ in range(100):
        step = float(np.clip(-slope / curve if curve > 0 else -math.copysign(1, slope), -2, 2))
        if abs(step) < 1e-6:  # the next one is of the order of its square
            return value + slope * step / 2, u + step
        while (new := parts(u + step))[0] > value + 1e-14 and abs(step) > 1e-12:
            step /= 2
        u += step
        value, slope, curve = new
        if abs(u - start) > far:
            break
    return value, u


def temperature_sums(beta: float, z: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """NLL of softmax(beta z) with its first and second derivatives by beta, summed over samples: (3,)."""
    if beta * max(-z.min(), z.max()) > _SAFE:
        z = z - largest(z)
    e = z * beta
    np.exp(e, out=e)
    sum_e = total(e)
    e *= z
    mean = total(e) / sum_e
    e *= z
    square = total(e) / sum_e
    picked = z[label_index(y)]
    parts = np.log(sum_e) - beta * picked, mean - picked, square - mean * mean
    return np.array([weighted_sum(part, w) for part in parts])


def fit_focal(samples: FitSamples, temperature: float, penalty: float = 0.0) -> tuple[float, float, float]:
    """(value, gamma, T) at the smallest minimum found of NLL + penalty gamma^2 / 2, by damped Newton steps.

    There can be several minima, so steps start from several gammas. With many samples they first run on a subset, then
    on all samples from temperature scaling and from the subset's minima that are close to its best.

    Args:
        temperature: of temperature scaling, gamma = 0.
    """
    u, subset = -math.log(temperature), samples.subsample(_most(samples.classes))
    starts = [np.array([u - math.log1p(0.6 * gamma), gamma]) for gamma in _STARTS]
    found = [_descend_focal(subset, start, penalty) for start in starts]
    if subset is not samples:
        least = min(value for value, _ in found)
        near = [theta for value, theta in found if value <= least + _CLOSE / subset.weight] + starts[:1]
        apart = [theta for i, theta in enumerate(near) if all(np.abs(theta - e).max() > 0.1 for e in near[:i])]
        found = [_descend_focal(samples, theta, penalty) for theta in apart]
    value, (log_beta, gamma) = min(found, key=lambda end: end[0])
    return value, float(gamma), math.exp(-log_beta)


def _focal_parts(samples: FitSamples, theta: np.ndarray, penalty: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Value, gradient (2,) and Hessian (2, 2) by theta = (log 1/T, gamma)."""
    beta, gamma = math.exp(theta[0]), float(theta[1])
    value, by_beta, by_gamma, bb, bg, gg = samples.weighted_mean(functools.partial(focal_sums, beta, gamma))
    gradient = np.array([beta * by_beta, by_gamma + penalty * gamma])
    hessian = np.array([[beta**2 * bb + beta * by_beta, beta * bg], [beta * bg, gg + penalty]])
    return float(value + penalty * gamma**2 / 2), gradient, hessian


def _descend_focal(samples: FitSamples, theta: np.ndarray, penalty: float) -> tuple[float, np.ndarray]:
    """Value and (log 1/T, gamma) at the end of the steps."""
    found, damping, start = _focal_parts(samples, theta, penalty), 1e-6, theta[0]
    low, high = GAMMA_RANGE
    for _ in range(60):
        value, gradient, hessian = found
        if (theta[1] <= low and gradient[1] > 0) or (theta[1] >= high and gradient[1] < 0):  # along the edge
            gradient, hessian = np.array([gradient[0], 0.0]), np.diag([hessian[0, 0], 1.0])
        curves, axes = np.linalg.eigh(hessian)
        for _ in range(30):
            step = np.clip(-axes @ ((axes.T @ gradient) / (np.abs(curves) + damping)), -1, 1)
            trial = np.array([theta[0] + step[0], np.clip(theta[1] + step[1], low, high)])
            tried = _focal_parts(samples, trial, penalty)
            if tried[0] <= value + 1e-14:
                damping = max(damping / 10, 1e-12)
                break
            damping *= 10
        else:
            break
        moved = float(np.abs(trial - theta).max())
        theta, found = trial, tried
        if moved < 1e-6 or abs(theta[0] - start) > _FAR:
            break
    return found[0], theta


def focal_sums(beta: float, gamma: float, z: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """NLL of the map of softmax(beta z), summed over samples, and its derivatives: (6,).

    In the order value, d/dbeta, d/dgamma, d2/dbeta2, d2/dbeta dgamma, d2/dgamma2.
    """
    top, label = label_index(z.argmax(-1)), label_index(y)
    z = by_class(z)
    z = z - z[top]
    np.copyto(z, _GONE / beta, where=is_missing(z))
    log_q, logit_top, dt, d2t = _softmax_and_moments(beta, z, top)
    log_w = _log_weight(_terms_below_half(log_q, gamma), gamma)
    for others, own in zip(log_w, _log_weight(_terms_of_logit(logit_top, gamma), gamma), strict=True):
        others[top] = own
    dbeta, dgamma = log_w.dt * dt, log_w.dgamma
    dbeta2, dbeta_dgamma = log_w.dt2, log_w.dt_dgamma
    for factor in (dt, dt):
        dbeta2 *= factor
    d2t *= log_w.dt
    dbeta2 += d2t
    dbeta_dgamma *= dt
    log_total = logsumexp(log_w.value)
    p = log_w.value - log_total
    np.exp(p, out=p)
    mean_dbeta, mean_dgamma = total(p * dbeta), total(p * dgamma)
    if w is not None:
        p *= w[:, None]
    return np.array(
        [
            weighted_sum(log_total - log_w.value[label], w),
            weighted_sum(mean_dbeta - dbeta[label], w),
            weighted_sum(mean_dgamma - dgamma[label], w),
            _second_moment(p, dbeta2, dbeta, dbeta) - weighted_sum(dbeta2[label] + mean_dbeta * mean_dbeta, w),
            _second_moment(p, dbeta_dgamma, dbeta, dgamma)
            - weighted_sum(dbeta_dgamma[label] + mean_dbeta * mean_dgamma, w),
            _second_moment(p, log_w.dgamma2, dgamma, dgamma)
            - weighted_sum(log_w.dgamma2[label] + mean_dgamma * mean_dgamma, w),
        ]
    )


def _second_moment(p: np.ndarray, second: np.ndarray, one: np.ndarray, two: np.ndarray) -> float:
    """Sum of p (one two + second): the second derivative of logsumexp but for the product of the means."""
    moment = one * two
    moment += second
    moment *= p
    return float(moment.sum())


def _softmax_and_moments(
    beta: float, z: np.ndarray, top: Place
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For z (m, K) with 0 at the top: log q, logit q_top (m, 1), and t', t'' of every class, (m, K).

    log q is that of 1/2 at the top, whose own value is the logit.
    """
    e = z.copy("K")
    e[top] = -math.inf
    runner_up = largest(e)
    e -= runner_up
    e *= beta
    np.exp(e, out=e)  # the rest, without underflow; 0 at the top
    rest = total(e)
    e *= z
    mean_rest = total(e) / rest
    e *= z
    square_rest = total(e) / rest
    log_rest = np.log(rest) + beta * runner_up
    log_total = -log_sigmoid(-log_rest)
    log_q = np.multiply(z, beta, out=e)
    log_q -= log_total
    log_q[top] = math.log(0.5)
    q = np.exp(log_q)
    share = np.exp(log_rest - log_total)  # 1 - q_top
    away = 1 / (1 - q)
    q *= z
    mean = share * mean_rest - q
    mean *= away
    mean[top] = mean_rest
    q *= z
    square = np.subtract(share * square_rest, q, out=q)
    square *= away
    square[top] = square_rest
    dt = z - mean
    mean *= mean
    mean -= square
    return log_q, -log_rest, dt, mean


class _Terms(NamedTuple):
    """Terms of log w and its derivatives, all of one shape. b' and b'' are derivatives by x = -log q."""

    log_q: np.ndarray
    log_r: np.ndarray  # r = 1 - q
    q: np.ndarray
    r: np.ndarray
    scale: np.ndarray  # 1 / (1 + gamma b)
    b: np.ndarray  # b and its derivatives divided by 1 + gamma b
    db: np.ndarray
    d2b: np.ndarray


class _LogWeight(NamedTuple):
    """log w with its derivatives by t = logit q and by gamma."""

    value: np.ndarray
    dt: np.ndarray
    dgamma: np.ndarray
    dt2: np.ndarray
    dt_dgamma: np.ndarray
    dgamma2: np.ndarray


def _terms_below_half(log_q: np.ndarray, gamma: float) -> _Terms:
    """For q <= 1/2: b is written out, as nothing cancels there and passes over (m, K) dominate the time."""
    q = np.exp(log_q)
    r = 1 - q
    odds = q / r
    b = odds * log_q
    np.negative(b, out=b)
    factor = log_q + 1
    factor -= b  # b' = odds factor, b'' = -odds (1 + (1 + 2 odds) factor)
    scale = gamma * b
    scale += 1
    np.reciprocal(scale, out=scale)
    odds_scale = odds * scale
    db = odds_scale * factor
    odds *= -2
    odds -= 1
    odds *= factor
    odds -= 1
    odds *= odds_scale
    b *= scale
    return _Terms(log_q, np.log1p(-q), q, r, scale, b, db, odds)


def _terms_of_logit(t: np.ndarray, gamma: float) -> _Terms:
    """At any t = logit q; slower."""
    log_q, log_r = log_sigmoid(t), log_sigmoid(-t)
    x = -log_q
    b = bernoulli(x)
    scale = 1 / (1 + gamma * b)
    db, d2b = bernoulli_slope(x) * scale, bernoulli_curvature(x) * scale
    return _Terms(log_q, log_r, np.exp(log_q), np.exp(log_r), scale, b * scale, db, d2b)


def _log_weight(terms: _Terms, gamma: float) -> _LogWeight:
    """log w = log q - gamma log(1 - q) - log(1 + gamma b), where q' = q r and x' = -r by t."""
    log_q, log_r, q, r, scale, b, db, d2b = terms
    qr = q * r
    dt2 = gamma * (qr * (1 - db) + r * r * (gamma * db * db - d2b)) - qr
    return _LogWeight(
        value=np.log(scale) + log_q - gamma * log_r,
        dt=r + gamma * (q + r * db),
        dgamma=-log_r - b,
        dt2=dt2,
        dt_dgamma=q + r * db * scale,
        dgamma2=b * b,
    )

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
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from focal_lib.calibration.calibrators.fit_samples import FitSamples, weighted_sum
from focal_lib.calibration.missing_options import is_missing
from focal_lib.theory.entropy_ratio import bernoulli, bernoulli_curvature, bernoulli_slope

GAMMA_RANGE = (-0.9, 20.0)
_SAMPLE = 20_000  # samples, at most, that give the start of a larger fit
_NUMBERS, _AT_LEAST = 4_000_000, 500  # logits, at most, of those samples; with more classes than that allows, so many
_SHARE, _FEW = 8, 50_000  # one sample in so many is enough for a temperature's start, of at least so many numbers
_STARTS = (0.0, -0.8, 3.0, 10.0)  # gamma, temperature scaling first; with T near the line that KK24 Fig. 2 finds
_CLOSE = 10.0  # minima of the subset whose log-likelihood is nearer than this to the best may change places
_SAFE = 100.0  # sizes of logits whose exponentials are far from the largest and the smallest number
_FAR = 12.0  # of log(1/T) from the scale of the logits: they separate the classes, or are worse than chance


def fit_temperature(samples: FitSamples) -> tuple[float, float]:
    """(NLL, T) at the minimum over T. The NLL is convex in 1/T, so there is one, or T tends to 0 or infinity.

    In that case a T far on that side, with a ConvergenceWarning.
    """
    square, slope_at_zero, wrong = samples.weighted_mean(_scale_and_side)
    middle = -0.5 * math.log(square) if square > 0 else 0.0
    if slope_at_zero >= 0 or wrong == 0:
        side, why = (
            (1, "0: no label is below another class") if wrong == 0 else (-1, "infinity: labels are not above chance")
        )
        warnings.warn(f"the NLL has no minimum, T tends to {why}", ConvergenceWarning, stacklevel=4)
        beta = math.exp(middle + side * _FAR)
        return float(samples.weighted_mean(functools.partial(temperature_sums, beta))[0]), 1 / beta
    value, u = _descend_temperature(samples, _start_of_temperature(samples, middle))
    return value, math.exp(-u)


def _start_of_temperature(samples: FitSamples, middle: float) -> float:
    """log(1/T) of a subset's fit, or `middle` where there are few samples, or the subset has no minimum."""
    share = max(len(samples) // _SHARE, _FEW // samples.classes)
    subset = samples.subsample(min(_most(samples.classes), share))
    if subset is samples:
        return middle
    u = _descend_temperature(subset, middle, _FAR)[1]
    return u if abs(u - middle) <= _FAR else middle


def _most(classes: int) -> int:
    """Samples, at most, of the subset that a larger fit starts from."""
    return min(_SAMPLE, max(_AT_LEAST, _NUMBERS // classes))


def _scale_and_side(z: Tensor, y: Tensor, w: Tensor | None = None) -> np.ndarray:
    """Summed over samples: variance of a sample's logits, the NLL's slope by 1/T at 0, labels below another class."""
    z = _missing_at_the_mean(z)
    mean, picked = z.mean(-1), z.gather(-1, y[:, None])[:, 0]
    square, wrong = (z - mean[:, None]).square().mean(-1), (picked < z.amax(-1)).double()
    return np.array([float(weighted_sum(part, w)) for part in (square, mean - picked, wrong)])


def _missing_at_the_mean(z: Tensor) -> Tensor:
    """Options that are not there get the mean of the sample's, which moves neither mean nor maximum."""
    missing = is_missing(z)
    if not bool(missing.any()):
        return z
    mean = z.masked_fill(missing, 0.0).sum(-1, keepdim=True) / (~missing).sum(-1, keepdim=True)
    return torch.where(missing, mean, z)


def _descend_temperature(samples: FitSamples, u: float, far: float = math.inf) -> tuple[float, float]:
    """(NLL, log(1/T)) from the start u, no farther than that: without a minimum it would go on."""
    start = u

    def parts(u: float) -> tuple[float, float, float]:
        beta = math.exp(u)
        value, slope, curve = samples.weighted_mean(functools.partial(temperature_sums, beta))
        return float(value), float(beta * slope), float(beta * slope + beta**2 * curve)

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


def temperature_sums(beta: float, z: Tensor, y: Tensor, w: Tensor | None = None) -> np.ndarray:
    """NLL of softmax(beta z), and its first and second derivative by beta, summed over samples: (3,)."""
    if beta * float(torch.stack(torch.aminmax(z)).abs().max()) > _SAFE:
        z = z - z.amax(-1, keepdim=True)
    ones = torch.ones(z.shape[-1], dtype=z.dtype)  # with few classes a product is faster than a sum
    e = (z * beta).exp_()
    total = e @ ones
    weighted = e.mul_(z)
    mean = weighted @ ones / total
    square = weighted.mul_(z) @ ones / total
    picked = z.gather(-1, y[:, None])[:, 0]
    parts = torch.log(total) - beta * picked, mean - picked, square - mean * mean
    return torch.stack([weighted_sum(part, w) for part in parts]).numpy()


def fit_focal(samples: FitSamples, temperature: float, penalty: float = 0.0) -> tuple[float, float, float]:
    """(value, gamma, T) at the smallest minimum found of NLL + penalty gamma^2 / 2, by damped Newton steps.

    There can be several. Steps start from several gammas; of many samples, on a subset, and then on all from
    temperature scaling and from those minima of the subset that chance may have put behind.

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


def focal_sums(beta: float, gamma: float, z: Tensor, y: Tensor, w: Tensor | None = None) -> np.ndarray:
    """NLL of the map of softmax(beta z), summed over samples, and its derivatives: (6,).

    In the order value, d/dbeta, d/dgamma, d2/dbeta2, d2/dbeta dgamma, d2/dgamma2.
    """
    best, top = z.max(-1, keepdim=True)
    z = z - best
    log_q, logit_top, dt, d2t = _softmax_and_moments(beta, z, top)
    of_top = _log_weight(_terms_of_logit(logit_top, gamma), gamma)
    pairs = zip(_log_weight(_terms_below_half(log_q, gamma), gamma), of_top, strict=True)
    log_w = _LogWeight(*(others.scatter_(-1, top, own) for others, own in pairs))
    dbeta = log_w.dt * dt
    dbeta2 = log_w.dt2.mul_(dt).mul_(dt).add_(log_w.dt.mul_(d2t))
    dbeta_dgamma, dgamma = log_w.dt_dgamma.mul_(dt), log_w.dgamma
    log_total = torch.logsumexp(log_w.value, -1, keepdim=True)
    p = torch.exp(log_w.value - log_total)
    label = y[:, None]
    mean_dbeta, mean_dgamma = (p * dbeta).sum(-1, keepdim=True), (p * dgamma).sum(-1, keepdim=True)
    sums = (
        weighted_sum(log_total - log_w.value.gather(-1, label), w),
        weighted_sum(mean_dbeta - dbeta.gather(-1, label), w),
        weighted_sum(mean_dgamma - dgamma.gather(-1, label), w),
        _second_moment(p, dbeta2, dbeta, dbeta, label, w) - weighted_sum(mean_dbeta * mean_dbeta, w),
        _second_moment(p, dbeta_dgamma, dbeta, dgamma, label, w) - weighted_sum(mean_dbeta * mean_dgamma, w),
        _second_moment(p, log_w.dgamma2, dgamma, dgamma, label, w) - weighted_sum(mean_dgamma * mean_dgamma, w),
    )
    return torch.stack(sums).numpy()


def _second_moment(p: Tensor, second: Tensor, one: Tensor, two: Tensor, label: Tensor, w: Tensor | None) -> Tensor:
    """The second derivative of logsumexp minus the label's entry, but for the product of the means."""
    return weighted_sum(p * torch.addcmul(second, one, two), w) - weighted_sum(second.gather(-1, label), w)


def _softmax_and_moments(beta: float, z: Tensor, top: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """For z (m, K) with 0 at the top: log q, logit q_top (m, 1), and t', t'' of every class, (m, K).

    log q is that of 1/2 at the top, whose own value is the logit.
    """
    others = z.scatter(-1, top, -math.inf)
    runner_up = others.amax(-1, keepdim=True)
    e = torch.exp((others - runner_up) * beta)  # the rest, without underflow; 0 at the top
    rest = e.sum(-1, keepdim=True)
    weighted = e.mul_(z)
    mean_rest = weighted.sum(-1, keepdim=True) / rest
    square_rest = weighted.mul_(z).sum(-1, keepdim=True) / rest
    log_rest = torch.log(rest).add_(runner_up, alpha=beta)
    log_total = softplus(log_rest)
    log_q = (z * beta).sub_(log_total).scatter_(-1, top, math.log(0.5))
    q = torch.exp(log_q)
    share = torch.exp(log_rest - log_total)  # 1 - q_top
    away = 1 / (1 - q)
    mean = (share * mean_rest - q * z).mul_(away).scatter_(-1, top, mean_rest)
    square = (share * square_rest - q.mul_(z).mul_(z)).mul_(away).scatter_(-1, top, square_rest)
    return log_q, -log_rest, z - mean, torch.addcmul(-square, mean, mean)


class _Terms(NamedTuple):
    """What log w and its derivatives are made of, all alike in shape. b' and b'' are by x = -log q."""

    log_q: Tensor
    log_r: Tensor  # r = 1 - q
    q: Tensor
    r: Tensor
    scale: Tensor  # 1 / (1 + gamma b)
    b: Tensor  # b and its derivatives divided by 1 + gamma b
    db: Tensor
    d2b: Tensor


class _LogWeight(NamedTuple):
    """log w with its derivatives by t = logit q and by gamma."""

    value: Tensor
    dt: Tensor
    dgamma: Tensor
    dt2: Tensor
    dt_dgamma: Tensor
    dgamma2: Tensor


def _terms_below_half(log_q: Tensor, gamma: float) -> _Terms:
    """For q <= 1/2: b is written out, as nothing cancels there and few passes over (m, K) are what the time goes to."""
    q = torch.exp(log_q)
    r = 1 - q
    odds = q / r
    b = odds * -log_q
    factor = (log_q + 1).sub_(b)  # b' = odds factor, b'' = -odds (1 + (1 + 2 odds) factor)
    scale = 1 / (1 + gamma * b)
    db = (odds * factor).mul_(scale)
    d2b = (1 + 2 * odds).mul_(factor).add_(1).mul_(odds).mul_(scale).neg_()
    return _Terms(log_q, torch.log1p(-q), q, r, scale, b * scale, db, d2b)


def _terms_of_logit(t: Tensor, gamma: float) -> _Terms:
    """At any t = logit q; slower."""
    log_q, log_r = logsigmoid(t), logsigmoid(-t)
    x = -log_q
    b = bernoulli(x)
    scale = 1 / (1 + gamma * b)
    db, d2b = bernoulli_slope(x) * scale, bernoulli_curvature(x) * scale
    return _Terms(log_q, log_r, torch.exp(log_q), torch.exp(log_r), scale, b * scale, db, d2b)


def _log_weight(terms: _Terms, gamma: float) -> _LogWeight:
    """log w = log q - gamma log(1 - q) - log(1 + gamma b), where q' = q r and x' = -r by t."""
    log_q, log_r, q, r, scale, b, db, d2b = terms
    qr = q * r
    dt2 = (qr * (1 - db)).addcmul_(r * r, gamma * db * db - d2b).mul_(gamma).sub_(qr)
    return _LogWeight(
        value=torch.log(scale).add_(log_q).sub_(log_r, alpha=gamma),
        dt=r + gamma * torch.addcmul(q, r, db),
        dgamma=-log_r - b,
        dt2=dt2,
        dt_dgamma=torch.addcmul(q, r * db, scale),
        dgamma2=b * b,
    )

r"""An e-process against calibration: evidence that stays valid under continuous monitoring.

The null hypothesis is that, given the past, each prediction is right with probability equal to its confidence:
:math:`P(y_t = 1 \mid p_t, \text{past}) = p_t`. Nothing else is assumed; confidences may depend on the past. A bet on
another probability :math:`q_t` multiplies the stake by

.. math:: f_t = \frac{q_t^{y_t} (1 - q_t)^{1 - y_t}}{p_t^{y_t} (1 - p_t)^{1 - y_t}}
   = 1 + \lambda_t (y_t - p_t) , \qquad \lambda_t = \frac{q_t - p_t}{p_t (1 - p_t)} ,

which has mean 1 under the null. The product of such bets from any time on is therefore a test martingale. So is their
mixture over bets and starting times j with weights :math:`w_j`, where stakes not yet started stay constant:

.. math:: E_t = \sum_{j \le t} w_j \frac1A \sum_a \prod_{i=j}^t f_i^{(a)} + \sum_{j > t} w_j .

By Ville's inequality :math:`P(\sup_t E_t \ge 1/\alpha) \le \alpha` (Ville 1939; Shafer & Vovk 2019; Ramdas et al.
2023; for calibration Arnold, Henzi & Ziegel 2023). Bets are that confidences are too high or too low, by a temperature
or by a shift of the log-odds. A start at every j costs :math:`\ln 1/w_j`, about :math:`\ln j + 2 \ln \ln j`. Restarts
at powers of 2 alone would cost less, but a drift between two of them would meet stakes that are already lost.

With a tolerance d the null hypothesis is :math:`|P(y_t = 1 \mid p_t, \text{past}) - p_t| \le d`. Bets that the
confidence is too high then replace p_t by p_t - d, bets that it is too low by p_t + d; no bet is made outside (0, 1).
f_t is monotone in P(y_t = 1 | ...) and has mean 1 at the edge of the tolerance, so its mean is at most 1 within it.

Outcomes that depend on each other are taken in blocks of N, with one bet a block,

.. math:: F_b = \frac1N \sum_{t \in b} f_t , \qquad H_0: P(y_t = 1 \mid p_t, \text{earlier blocks}) = p_t .

A mean of e-values is one whatever their dependence (Vovk & Wang 2021), so F_b has mean at most 1 however outcomes of
a block depend on each other. Losses in a block average out, so bets may be larger: shifts are multiplied by sqrt(N).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy

_TEMPERATURES = (1.25, 1.5, 2.0, 3.0)
_SHIFTS = (0.1, 0.3, 1.0)
# (direction, slope, shift): the log-odds l of the confidence move by slope max(l, 0) + shift, those of an event's
# probability by slope l + shift: a temperature then says that probabilities are too extreme, or not enough
BETS: tuple[tuple[int, float, float], ...] = (
    *((-1, 1 - 1 / t, 0.0) for t in _TEMPERATURES),
    *((-1, 0.0, s) for s in _SHIFTS),
    *((1, t - 1, 0.0) for t in _TEMPERATURES),
    *((1, 0.0, s) for s in _SHIFTS),
)
overconfident = np.array([sign < 0 for sign, _, _ in BETS])  # bets that the confidence is too high
of_extremes = np.array([slope > 0 for _, slope, _ in BETS])  # bets by a temperature


def log_factors(
    confidence: np.ndarray,
    correct: np.ndarray,
    resolution: float,
    tolerance: float = 0.0,
    *,
    event: bool = False,
    strength: float = 1.0,
) -> np.ndarray:
    """log f of every sample and bet, (m,), (m,) -> (m, bets).

    Args:
        event: the confidences are probabilities of an event, correct says whether it came: bets by a temperature are
            made below 1/2, too.
        strength: multiplies the shifts.

    For a confidence within `resolution` of 1, bets that it is too high use 1 - resolution, and bets that it is too low
    are skipped; near 0 the reverse. The mean of f is then at most 1, so the bound holds.
    """
    p = np.clip(confidence, resolution, 1 - resolution)
    sign, slope, shift = (np.array(column) for column in zip(*BETS, strict=True))
    side = np.where(event & (p < 0.5), -1.0, 1.0)[:, None]
    up = (sign > 0) ^ ((side < 0) & of_extremes)
    low, high = (column[:, None] for column in _log_odds(p - tolerance, p + tolerance).T)
    odds = np.where(up, high, low)
    none = np.where(up, (confidence > 1 - resolution)[:, None], (confidence < resolution)[:, None]) | np.isinf(odds)
    odds = np.where(none, 0.0, odds)
    moved = odds + sign * (slope * side * np.maximum(side * odds, 0) + strength * shift)
    won = np.where(correct > 0, -1.0, 1.0)[:, None]  # log sigmoid(l) = -log(1 + exp(-l)) if right, of -l if wrong
    return np.where(none, 0.0, np.logaddexp(0, won * odds) - np.logaddexp(0, won * moved))


def block_factors(factors: np.ndarray, size: int) -> np.ndarray:
    """log F of every block and bet, (blocks size, bets) -> (blocks, bets)."""
    blocks = factors.reshape(-1, size, len(BETS))
    return blocks[:, 0] if size == 1 else scipy.special.logsumexp(blocks, axis=1) - np.log(size)


def _log_odds(*probabilities: np.ndarray) -> np.ndarray:
    """Log-odds, a column for each (m,); infinite outside (0, 1)."""
    p = np.clip(np.stack(probabilities, axis=1), 0, 1)
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def log_unstarted(steps: np.ndarray | int) -> np.ndarray:
    """log of the stakes not yet started after `steps` samples, 1 / (1 + log(1 + steps))."""
    return -np.log1p(np.log1p(steps))


def _log_starting(steps: np.ndarray) -> np.ndarray:
    """log of the stake that starts at each of these samples, counted from 1."""
    return np.log(np.log1p(1 / steps)) + log_unstarted(steps - 1) + log_unstarted(steps)


def log_wealth(factors: np.ndarray, before: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Wealth of the bets, and the e-process, after each of m further samples.

    Args:
        factors: (m, bets), from log_factors.
        before: (bets,), log wealth so far; -inf before the first sample.
        steps: number of samples so far.

    Returns:
        log wealth of the started bets, (m, bets), before averaging over bets; log E, (m,).
    """
    each = steps + np.arange(1.0, len(factors) + 1)
    total = np.cumsum(factors, axis=0)
    joining = _log_starting(each)[:, None] - (total - factors)
    wealth = total + np.logaddexp.accumulate(np.vstack([before, joining]), axis=0)[1:]
    mixture = scipy.special.logsumexp(wealth, axis=1) - np.log(len(BETS))
    return wealth, np.logaddexp(mixture, log_unstarted(each))


@dataclass
class Recent:
    """For each bet, its gain since it began to win, and sums over the samples since then."""

    gain: np.ndarray = field(default_factory=lambda: np.zeros(len(BETS)))
    count: np.ndarray = field(default_factory=lambda: np.zeros(len(BETS), dtype=np.int64))
    confidence: np.ndarray = field(default_factory=lambda: np.zeros(len(BETS)))  # sums
    correct: np.ndarray = field(default_factory=lambda: np.zeros(len(BETS)))

    def update(self, factors: np.ndarray, confidence: np.ndarray, correct: np.ndarray) -> None:
        """The largest gain over all starts, and its start (Page 1954)."""
        total = np.vstack([np.zeros(len(BETS)), np.cumsum(factors, axis=0)])
        last = len(total) - 1 - np.argmin(total[::-1], axis=0)  # the last of the smallest
        restart = total.min(axis=0) <= -self.gain  # also of samples that one does not bet on
        start, keep = np.where(restart, last, 0), ~restart
        sums = [np.r_[0.0, np.cumsum(values)] for values in (confidence, correct)]
        self.gain = keep * self.gain + total[-1] - total[start, np.arange(len(BETS))]
        self.count = keep * self.count + len(factors) - start
        self.confidence = keep * self.confidence + sums[0][-1] - sums[0][start]
        self.correct = keep * self.correct + sums[1][-1] - sums[1][start]

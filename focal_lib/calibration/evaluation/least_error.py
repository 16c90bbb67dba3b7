r"""How sure a difference of two models' losses can be, however few rare errors are among the samples.

Losses are skewed: where a model is nearly always right, a sample may hold none of the rare errors that its mean is
made of, and its own spread would be next to nothing. So a standard error is at least that of labels drawn from
probabilities that the samples do not contradict. Those are sought between the reference's, r, and the method's, p:

.. math:: q_s \propto r^{1-s} p^s , \qquad s \in [0, 1] .

With d = log p - log r of the label, and labels drawn from q_s, the sum of d has a mean that rises with s and a known
variance. The smallest s is taken at which the sum that was seen is at most 1.96 standard deviations above its mean: 0
where the reference may well be calibrated, more where it is shown not to be, 1 at most. Of 200 samples, all right at a
confidence of 0.9, that leaves an error of about 2 % (the 'rule of three'), neither 10 % nor none.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

__all__ = ["PATH", "least_standard_errors", "moments_of_labels"]

PATH = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)  # s; in between is interpolated
_CONTRADICTED = 1.96  # standard deviations


def moments_of_labels(log_p: Tensor, log_r: Tensor, weights: Tensor | None = None) -> np.ndarray:
    """What labels drawn from q_s, for each s of PATH, would make of a chunk's sums, (s, 3).

    Mean and variance of the log-loss of r minus that of p, and variance of the difference of their Brier scores.

    Args:
        log_p, log_r: (m, K), of the method and of its reference.
        weights: (m,), of the samples.
    """
    gain, brier = torch.where(log_r == log_p, 0.0, log_p - log_r), 2 * (log_r.exp() - log_p.exp())
    w = torch.ones(len(log_p), dtype=log_p.dtype) if weights is None else weights
    found = []
    for s in PATH:
        mixed = log_r if s == 0 else log_p if s == 1 else (1 - s) * log_r + s * log_p
        q = torch.softmax(mixed, -1)
        mean, of_loss = _moments(q, gain)
        _, of_brier = _moments(q, brier)
        found.append([float(part.sum()) for part in (w * mean, w * w * of_loss, w * w * of_brier)])
    return np.array(found)


def _moments(q: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of values (m, K) by probabilities (m, K), (m,) each; what has probability 0 does not count."""
    values = torch.where(q > 0, values, 0.0)
    mean = (q * values).sum(-1)
    return mean, (q * (values - mean[:, None]).square()).sum(-1)


def least_standard_errors(moments: np.ndarray, gain: float, n: int) -> np.ndarray:
    """Of the mean differences in log-loss and in Brier score, (2,); infinite where p is 0 and those labels are not.

    Args:
        moments: (s, 3), of `moments_of_labels`, summed over all samples.
        gain: the sum of the log-losses of r minus those of p that was seen.
        n: number of samples.
    """
    mean, *variances = moments.T
    with np.errstate(divide="ignore", invalid="ignore"):
        above = (gain - mean) / np.sqrt(variances[0])
    within = np.flatnonzero(~(above > _CONTRADICTED))
    last = int(within[0]) if len(within) else len(PATH) - 1
    if not len(within) or last == 0:
        at = [v[last] for v in variances]
    elif np.isfinite(above[last - 1 : last + 1]).all():
        share = (above[last - 1] - _CONTRADICTED) / (above[last - 1] - above[last])
        at = [(1 - share) * v[last - 1] + share * v[last] for v in variances]
    else:  # the reference gives 0 to a label that the method does not
        at = [v[last - 1] for v in variances]
    return np.sqrt(np.nan_to_num(at, nan=np.inf)) / n

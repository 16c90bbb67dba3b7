"""Slow definitions, sample by sample."""

import math

import mpmath
import torch


def slow_focal(logits, labels, gamma):
    """Row by row from the probabilities."""
    losses = []
    for row, label in zip(torch.softmax(logits, -1), labels, strict=True):
        q = row[label]
        losses.append(-((1 - q) ** gamma) * torch.log(q))
    return torch.stack(losses)


def probabilities(row):
    exps = [math.exp(v - max(row)) for v in row]
    return [e / sum(exps) for e in exps]


def reference_focal(logits, label, gamma):
    """-(1-q)^gamma log q of one row, in 40 digits."""
    with mpmath.workdps(40):
        exps = [mpmath.exp(mpmath.mpf(v)) for v in logits]
        q = exps[label] / sum(exps)
        return -((1 - q) ** gamma) * mpmath.log(q), q

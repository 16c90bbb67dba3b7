"""Slow definitions, sample by sample."""

import math


def probabilities(row):
    exps = [math.exp(v - max(row)) for v in row]
    return [e / sum(exps) for e in exps]

"""Logits and labels for losses."""

import math

import pytest
import torch


@pytest.fixture
def batch():
    torch.manual_seed(0)
    return 3 * torch.randn(20, 6, dtype=torch.float64), torch.randint(0, 6, (20,))


def probabilities(row):
    """Softmax of a list of numbers, one by one."""
    exps = [math.exp(v - max(row)) for v in row]
    return [e / sum(exps) for e in exps]

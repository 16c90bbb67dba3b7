"""Logits and labels for losses."""

import pytest
import torch


@pytest.fixture
def batch():
    torch.manual_seed(0)
    return 3 * torch.randn(20, 6, dtype=torch.float64), torch.randint(0, 6, (20,))

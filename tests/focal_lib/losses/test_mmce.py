"""MMCE by double loops."""

import itertools
import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from focal_lib.losses import MMCELoss
from focal_lib.losses import mmce as module
from focal_lib.losses.mmce import mmce
from tests.focal_lib.losses.conftest import probabilities


def slow_mmce(logits, labels, divided_by):
    """By double loops over the pairs of samples."""
    rows = [probabilities(row) for row in logits.tolist()]
    r = [max(q) for q in rows]
    c = [int(q.index(max(q)) == label) for q, label in zip(rows, labels.tolist(), strict=True)]
    of_right, of_wrong = sum(c) ** divided_by, (len(c) - sum(c)) ** divided_by
    gaps = [(1 - one) / of_right if right else -one / of_wrong for one, right in zip(r, c, strict=True)]
    pairs = itertools.product(zip(r, gaps, strict=True), repeat=2)
    return math.sqrt(sum(g * h * math.exp(-abs(a - b) / 0.4) for (a, g), (b, h) in pairs))


@pytest.mark.parametrize("divided_by", [1, 2])
def test_mmce_against_a_slow_definition(batch, divided_by):
    logits, labels = batch
    labels = torch.where(torch.arange(20) < 9, logits.argmax(-1), labels)  # some right, some wrong
    expected = cross_entropy(logits, labels) + 1.5 * slow_mmce(logits, labels, divided_by)
    torch.testing.assert_close(MMCELoss(1.5, divided_by=divided_by)(logits, labels), expected)


def test_mmce_of_a_batch_of_one_kind_has_no_weighted_error():
    logits = torch.tensor([[3.0, 0.0], [0.0, 2.0]], requires_grad=True)
    value = MMCELoss(5.0)(logits, torch.tensor([0, 1]))
    torch.testing.assert_close(value, cross_entropy(logits, torch.tensor([0, 1])))
    value.backward()
    assert torch.isfinite(logits.grad).all()


def test_without_the_kernel_it_is_the_same(monkeypatch):
    generator = torch.Generator().manual_seed(2)
    confidence = torch.rand(300, generator=generator, dtype=torch.float64)
    confidence[:9] = confidence[9]  # ties
    correct = torch.rand(300, generator=generator) < confidence
    found = []
    for large in (1000, 10):
        monkeypatch.setattr(module, "LARGE", large)
        r = confidence.clone().requires_grad_()
        value = mmce(r, correct)
        found.append((value, *torch.autograd.grad(value, r)))
    torch.testing.assert_close(found[0][0], found[1][0])
    torch.testing.assert_close(found[0][1][10:], found[1][1][10:])  # at a tie the kernel has a corner


def test_a_training_set_fits_into_memory():
    """Its kernel would take 16 GB."""
    logits = torch.randn(45_000, 10, generator=torch.Generator().manual_seed(0), requires_grad=True)
    (slope,) = torch.autograd.grad(MMCELoss(2.0)(logits, torch.arange(45_000) % 10), logits)
    assert torch.isfinite(slope).all()


def test_what_divides_is_named_and_no_truth_value():
    """`weighted` stood in its place in earlier versions."""
    with pytest.raises(TypeError, match="positional"):
        MMCELoss(2.0, False)
    with pytest.raises(ValueError, match=r"divided_by must be one real number\. Got False"):
        MMCELoss(2.0, divided_by=False)

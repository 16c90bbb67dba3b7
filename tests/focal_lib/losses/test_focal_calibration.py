"""The focal calibration loss."""

import mpmath
import pytest
import torch
from torch.nn.functional import one_hot

from focal_lib.losses import FocalCalibrationLoss
from tests.focal_lib.losses.slow import reference_focal, slow_focal


def test_l1_variant_of_the_focal_calibration_loss(batch):
    logits, labels = batch
    distance = (torch.softmax(logits, -1) - one_hot(labels, 6)).abs().sum(-1)
    expected = slow_focal(logits, labels, 2.0) + 0.7 * distance
    torch.testing.assert_close(FocalCalibrationLoss(2.0, 0.7, "none", norm="l1")(logits, labels), expected)
    with pytest.raises(ValueError, match="norm must be"):
        FocalCalibrationLoss(1, 1, norm="max")


def test_in_forty_digits():
    logits = 3 * torch.randn(40, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(40) % 6
    rows = []
    for row, label in zip(logits.tolist(), labels.tolist(), strict=True):
        exps = [mpmath.exp(v) for v in row]
        square = sum((v / sum(exps) - (i == label)) ** 2 for i, v in enumerate(exps))
        rows.append(float(reference_focal(row, label, 2)[0] + mpmath.mpf(1.5) * square))
    found = FocalCalibrationLoss(2.0, 1.5, reduction="none")(logits, labels)
    torch.testing.assert_close(found, torch.tensor(rows, dtype=torch.float64), rtol=1e-12, atol=1e-14)


def test_bad_lam():
    with pytest.raises(ValueError, match="lam must be"):
        FocalCalibrationLoss(1.0, -0.1)

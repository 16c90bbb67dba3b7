"""Printed effects, read back from the tables' cells."""

import pytest

from focal_lib.claims.printed_effects import kk24_change, kk24_gain, mean_difference


def test_mean_over_the_networks_of_a_data_set():
    """M20 Table 1 on CIFAR-10: FLSD-53 1.55, 1.87, 1.56, 1.22 against 4.35, 4.41, 3.23, 4.52."""
    found = mean_difference("M20", "cifar10", "ece", "pre", "flsd-53", "cross-entropy", -1)
    assert found.size == pytest.approx((1.55 + 1.87 + 1.56 + 1.22 - 4.35 - 4.41 - 3.23 - 4.52) / 4, abs=1e-4)
    assert found.text == "negative, -2.58 on average over 4 networks"


def test_a_table_without_the_claimed_sign_gives_no_size():
    """After temperature scaling M20's focal loss with gamma 3 is as good as cross-entropy, on average."""
    found = mean_difference("M20", "cifar10", "ece", "post", "focal 3", "cross-entropy", -1)
    assert found.size is None
    assert "negative in words, " in found.text
    assert found.text.endswith("0.00 on average over 4 networks in the table")
    higher = mean_difference("M20", "cifar10", "ece", "pre", "flsd-53", "cross-entropy", 1)
    assert (higher.size, higher.sign) == (None, 1)


def test_legible_rows_of_kk24():
    assert kk24_gain("cifar10", ("cross-entropy",)).size == pytest.approx(0.71 - 1.03)
    several = kk24_gain("cifar10", ("focal 1", "focal 2", "focal 3", "focal 7", "flsd-53"))
    assert several.size == pytest.approx((0.82 - 1.05 + 0.61 - 0.66 + 1.23 - 1.30) / 3, abs=1e-4)
    assert several.text.endswith("over the 3 of 5 losses that are legible")
    assert kk24_gain("cifar10", ("focal 3",)) == (-1, None, "negative; no size is legible")
    assert kk24_change("cifar10", "error", "focal 7", "cross-entropy", 1).size == pytest.approx(1.9)
    assert kk24_change("cifar10", "error", "focal 2", "cross-entropy", 1).size is None


def test_on_another_data_set_no_size_counts():
    assert kk24_gain("fashion-mnist", ("cross-entropy",)).size is None
    assert mean_difference("M20", "fashion-mnist", "ece", "pre", "flsd-53", "cross-entropy", -1).size is None

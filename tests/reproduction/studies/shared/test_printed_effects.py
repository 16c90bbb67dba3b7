"""Printed effects, read back from the tables' cells."""

import numpy as np
import pytest
from scipy import stats

from reproduction.ledger.judgement import NEGATIVE
from reproduction.studies.printed_tables import printed_tables
from reproduction.studies.shared.printed_effects import kk24_change, kk24_gain, mean_difference


def test_mean_over_the_networks_of_a_data_set():
    """M20 Table 1 on CIFAR-10: FLSD-53 1.55, 1.87, 1.56, 1.22 against 4.35, 4.41, 3.23, 4.52."""
    found = mean_difference("M20", "cifar10", "ece", "pre", "flsd-53", "cross-entropy", -1)
    assert found.size == pytest.approx((1.55 + 1.87 + 1.56 + 1.22 - 4.35 - 4.41 - 3.23 - 4.52) / 4, abs=1e-4)
    assert found.text == "negative; in the table -2.58 on average over 4 networks (95 % for one more -5.01 to -0.15)"
    differences = np.array([1.55, 1.87, 1.56, 1.22]) - [4.35, 4.41, 3.23, 4.52]
    half = stats.t.ppf(0.975, 3) * differences.std(ddof=1) * np.sqrt(1 + 1 / 4)
    assert found.span == pytest.approx((differences.mean() - half, differences.mean() + half))


def test_one_run_of_one_network_prints_a_sign_alone():
    """L25's Tiny-ImageNet has ResNet-50 only: how far another run would be from it the table does not tell."""
    found = mean_difference("L25", "tiny-imagenet", "ece", "pre", "fcl", "cross-entropy", -1)
    assert (found.size, found.span) == (None, None)
    assert found.text.endswith(", one run of one network")
    assert "in the table -" in found.text


def test_every_network_of_a_table_lies_in_the_interval_for_one_more():
    for loss in ("cross-entropy", "flsd-53", "dual-focal"):
        found = mean_difference("L25", "cifar10", "ece", "pre", "fcl", loss, -1)
        cells = printed_tables().query(
            "paper == 'L25' and dataset == 'CIFAR-10' and metric == 'ece' and stage == 'pre'"
        )
        wide = cells.drop_duplicates(["network", "loss"]).pivot(index="network", columns="loss", values="value")
        differences = wide["fcl"] - wide[loss]
        assert len(differences) == 4
        assert (differences >= found.span[0]).all()
        assert (differences <= found.span[1]).all()


def test_only_the_claimed_side_of_0_is_printed():
    """M20 Table 1 after scaling: -0.40, -0.09, -0.08, -0.02; the interval for one more network holds 0."""
    found = mean_difference("M20", "cifar10", "ece", "post", "flsd-53", "cross-entropy", -1)
    half = stats.t.ppf(0.975, 3) * np.std([-0.40, -0.09, -0.08, -0.02], ddof=1) * np.sqrt(1 + 1 / 4)
    assert found.span == (pytest.approx(-0.1475 - half), NEGATIVE[1])
    assert found.text.endswith(f"(95 % for one more {-0.1475 - half:+.2f} to {-0.1475 + half:+.2f})")


def test_a_table_without_the_claimed_sign_gives_no_size():
    """After temperature scaling M20's focal loss with gamma 3 is as good as cross-entropy, on average."""
    found = mean_difference("M20", "cifar10", "ece", "post", "focal 3", "cross-entropy", -1)
    assert found.size is None
    assert "negative in words; in the table " in found.text
    assert found.text.endswith("0.00 on average over 4 networks")
    higher = mean_difference("M20", "cifar10", "ece", "pre", "flsd-53", "cross-entropy", 1)
    assert (higher.size, higher.sign) == (None, 1)


def test_legible_rows_of_kk24():
    alone = kk24_gain("cifar10", ("cross-entropy",))
    assert alone.size == pytest.approx(0.71 - 1.03)
    welch = stats.ttest_ind_from_stats(0.71, 0.16, 5, 1.03, 0.17, 5, equal_var=False)
    half = stats.t.ppf(0.975, 7.97) * abs(alone.size / welch.statistic)
    assert alone.span == pytest.approx((alone.size - half, alone.size + half), abs=1e-3)
    several = kk24_gain("cifar10", ("focal 1", "focal 2", "focal 3", "focal 7", "flsd-53"))
    assert several.size == pytest.approx((0.82 - 1.05 + 0.61 - 0.66 + 1.23 - 1.30) / 3, abs=1e-4)
    assert "-0.12 on average over focal 1, focal 7, FLSD-53 alone, as the others are not printed" in several.text
    assert several.text.endswith("(95 % Welch interval over 5 seeds -0.28 to +0.05)")
    error = np.sqrt(sum(sd**2 / 5 for sd in (0.35, 0.25, 0.10, 0.07, 0.20, 0.13))) / 3
    assert several.size - several.span[0] == pytest.approx(2.1 * error, rel=0.05)  # t with some 18 degrees of freedom
    assert kk24_gain("cifar10", ("focal 3",)) == (-1, None, "negative; no size is printed or legible", None)
    error = kk24_change("cifar10", "error", "focal 7", "cross-entropy", 1)
    assert error.size == pytest.approx(1.9)
    assert error.span == pytest.approx((1.9 - 0.1458, 1.9 + 0.1458), abs=1e-3)  # sd 0.1 of each, t with 8 degrees
    assert kk24_change("cifar10", "error", "focal 2", "cross-entropy", 1).size is None


def test_on_another_data_set_no_size_counts():
    assert kk24_gain("fashion-mnist", ("cross-entropy",)).size is None
    assert mean_difference("M20", "fashion-mnist", "ece", "pre", "flsd-53", "cross-entropy", -1).size is None

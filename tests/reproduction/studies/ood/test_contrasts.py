"""Means over corruptions, gains over sets, on made-up tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from focal_lib import metrics
from reproduction.studies.ood import contrasts
from reproduction.studies.ood.contrasts import (
    auroc_by_gamma,
    detection_gains,
    energy_minus_probability,
    evaluate_by_unknown,
    over_severity,
    tabulate_changes,
    tabulate_gains,
    temperature_changes,
    temperature_under,
)
from reproduction.studies.ood.plan import CIFAR
from reproduction.studies.shared.recorded import read_unknown
from reproduction.studies.shared.written_contrasts import evaluate_contrasts

RNG = np.random.default_rng(0)


def shift_table(seeds=3):
    rows = [
        {"loss": loss, "seed": seed, "corruption": c, "severity": s, "method": "none", "metric": metric}
        for loss in ("cross-entropy", "focal 3")
        for seed in range(seeds)
        for c in ("fog", "snow", "contrast")
        for s in (0, 1, 5)
        for metric in ("gap", "nll")
    ]
    return pd.DataFrame(rows).assign(value=RNG.normal(size=len(rows)))


def test_over_severity_is_the_mean_over_corruptions_first():
    table = shift_table()
    severities, mean, half = over_severity(table, "focal 3", "none", "gap", ("fog", "snow"))
    assert severities.tolist() == [0, 1, 5]
    of_seed = [
        table.query(f"loss == 'focal 3' and metric == 'gap' and severity == 5 and seed == {seed}")
        .query("corruption != 'contrast'")["value"]
        .mean()
        for seed in range(3)
    ]
    wanted = metrics.t_interval(of_seed)
    assert (mean[2], half[2]) == pytest.approx((wanted.estimate, wanted.high - wanted.estimate))
    with pytest.raises(ValueError, match="table must have gap of flsd-53, none, under fog"):
        over_severity(table, "flsd-53", "none", "gap", ("fog",))


def test_each_set_of_images_has_its_contrasts(monkeypatch):
    losses = ("cross-entropy", "focal 3", "fcl 4 1.5", "fcl 2 0.5", "flsd-53")
    rows = [
        {"dataset": "cifar10", "model": "resnet8", "loss": loss, "seed": seed, "method": method, "metric": metric}
        | {"objective": "" if method == "none" else "nll"}
        for loss in losses
        for seed in range(3)
        for method in ("none", "temperature")
        for metric in ("auroc max-probability", "auroc entropy")
    ]
    values = {name: RNG.normal(size=len(rows)) for name in ("cifar100", "cifar10-c-gaussian-noise-5")}
    monkeypatch.setattr(contrasts, "read_unknown", lambda grid, name: pd.DataFrame(rows).assign(value=values[name]))
    found = evaluate_by_unknown("any", CIFAR, list(values))
    assert len(found) == len(CIFAR)
    assert found["primary"].sum() == 2
    assert found["name"][6] == "cifar10-c-gaussian-noise-5: fcl 4 1.5, auroc max-probability"
    table = pd.DataFrame(rows).assign(value=values["cifar10-c-gaussian-noise-5"])
    assert found["difference"][7] == evaluate_contrasts(table, CIFAR[7:8])["difference"][0]
    for _, family in found[~found["primary"]].groupby("table"):
        np.testing.assert_allclose(family["p_adjusted"], metrics.holm(family["p"]))


def made_shift(changes):
    """A table of `measure_shift` with these changes of adaptive ECE by a temperature: (loss, corruption, severity)."""
    same = {"dataset": "x", "model": "y", "metric": "adaptive-ece"}
    rows = []
    for (loss, corruption, severity), by_seed in changes.items():
        where = same | {"loss": loss, "corruption": corruption, "severity": severity}
        for seed, change in enumerate(by_seed):
            for method, objective, value in (("none", "", 5.0), ("temperature", "nll", 5 + change)):
                rows.append(where | {"seed": seed, "method": method, "objective": objective, "value": value})
    return pd.DataFrame(rows)


CHANGES = {
    ("focal 3", "contrast", 0): (9.0, 9.1, 9.2),
    ("focal 3", "contrast", 1): (4.0, 4.01, 4.02),
    ("focal 3", "contrast", 2): (1.0, 3.0, 2.0),
    ("focal 3", "gaussian-blur", 1): (-6.0, -6.01, -6.02),
    ("focal 3", "gaussian-blur", 2): (-0.1, 0.2, 0.1),
    ("cross-entropy", "contrast", 1): (-8.0, -8.2, -8.1),
    ("cross-entropy", "contrast", 2): (-1.0, 1.0, 0.5),
    ("cross-entropy", "gaussian-blur", 1): (-3.0, -3.0, -2.9),
    ("cross-entropy", "gaussian-blur", 2): (0.1, -0.3, 0.3),
}


def test_what_was_not_written_down_is_corrected_over_all_losses_corruptions_and_severities():
    found = temperature_changes(made_shift(CHANGES))
    assert len(found) == 8  # without clean images
    p = [stats.ttest_1samp(found_by_seed, 0).pvalue for (*_, severity), found_by_seed in CHANGES.items() if severity]
    by_name = found.set_index("name")
    assert sorted(found["p"]) == pytest.approx(sorted(p))
    assert sorted(found["p_adjusted"]) == pytest.approx(sorted(metrics.holm(p)))
    assert by_name.loc["focal 3, contrast 2", "low"] < 0 < by_name.loc["focal 3, contrast 2", "high"]
    assert by_name.loc["focal 3, contrast 1", "significant"]
    assert by_name.loc["focal 3, Gaussian blur 1", "difference"] == pytest.approx(-6.01)
    shown = tabulate_changes(found)
    assert shown.loc[("focal 3", "contrast")].tolist() == ["+4.0 *", "+2.0"]
    assert shown.loc[("cross-entropy", "Gaussian blur")].tolist() == ["-3.0 *", "+0.0"]


def test_of_one_corruption_the_change_is_the_mean_over_its_severities():
    assert temperature_under(made_shift(CHANGES), "contrast", "focal 3").tolist() == pytest.approx([2.5, 3.505, 3.01])
    with pytest.raises(ValueError, match="table must"):
        temperature_under(made_shift(CHANGES), "fog", "focal 3")


def test_energy_minus_the_largest_probability_is_of_the_same_networks():
    table = read_unknown("fashion-mnist-fresh", "mnist-5k")
    gain = energy_minus_probability(table)
    assert list(gain.columns) == ["cross-entropy", "focal 3", "fcl 4 1.5"]
    rows = table.query("loss == 'focal 3' and seed == 5 and method == 'none'").set_index("metric")["value"]
    assert gain.loc[5, "focal 3"] == pytest.approx(rows["auroc energy"] - rows["auroc max-probability"])


def test_gains_are_paired_over_seeds_in_each_set():
    table = read_unknown("fashion-mnist-fresh", "mnist-5k").query("method == 'none' and metric == 'auroc energy'")
    wide = table.pivot(index="seed", columns="loss", values="value")
    wanted = metrics.t_interval(wide["focal 3"] - wide["cross-entropy"])
    (row,) = detection_gains([("fashion-mnist-fresh", "mnist-5k", "focal 3")], ["energy"]).to_dict("records")
    assert (row["difference"], row["high"]) == pytest.approx((wanted.estimate, wanted.high))
    assert row["cross-entropy"] == pytest.approx(wide["cross-entropy"].mean())


def test_the_difference_from_cross_entropy_by_gamma():
    table = read_unknown("fashion-mnist", "mnist-5k")
    gammas, mean, half = auroc_by_gamma(table, "energy")
    (row,) = detection_gains([("fashion-mnist", "mnist-5k", "focal 3")], ["energy"]).to_dict("records")
    assert gammas.tolist() == [1, 2, 3, 5, 7]
    assert (mean[2], half[2]) == pytest.approx((row["difference"], row["high"] - row["difference"]))


def test_gains_are_shown_a_row_a_set_and_loss():
    asked = [("fashion-mnist-fresh", "mnist-5k", loss) for loss in ("focal 3", "fcl 4 1.5")]
    gains = detection_gains(asked, ["max-probability", "energy"])
    shown = tabulate_gains(gains, {("fashion-mnist-fresh", "mnist-5k"): "fresh"})
    assert shown["trained on"].tolist() == ["fresh", "fresh"]
    assert shown["loss"].tolist() == ["focal 3", "fcl 4 1.5"]
    assert shown["cross-entropy, by largest probability"].tolist() == gains["cross-entropy"].tolist()[::2]
    assert shown["minus cross-entropy, by energy"][0].startswith(f"{gains['difference'][1]:+.1f} (")

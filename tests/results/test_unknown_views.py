"""Views of chapter 19's tables, against sums done by hand and words for every case."""

import numpy as np
import pandas as pd
import pytest

from focal_lib import metrics, results
from focal_lib.results import unknown_views
from focal_lib.results.written_unknown import CIFAR

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
    severities, mean, half = results.over_severity(table, "focal 3", "none", "gap", ("fog", "snow"))
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
        results.over_severity(table, "flsd-53", "none", "gap", ("fog",))


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
    monkeypatch.setattr(unknown_views, "read_unknown", lambda grid, name: pd.DataFrame(rows).assign(value=values[name]))
    found = results.evaluate_by_unknown("any", CIFAR, list(values))
    assert len(found) == len(CIFAR)
    assert found["primary"].sum() == 2
    assert found["name"][6] == "cifar10-c-gaussian-noise-5: fcl 4 1.5, auroc max-probability"
    table = pd.DataFrame(rows).assign(value=values["cifar10-c-gaussian-noise-5"])
    assert found["difference"][7] == results.evaluate_contrasts(table, CIFAR[7:8])["difference"][0]
    for _, family in found[~found["primary"]].groupby("table"):
        np.testing.assert_allclose(family["p_adjusted"], metrics.holm(family["p"]))


@pytest.mark.parametrize(
    ("signs", "said"),
    [
        ([], "none of 2 is significant"),
        ([1], "1 of 3 is significant, with the sign asked for"),
        ([-1], "1 of 3 is significant, against the sign asked for"),
        ([1, 1], "2 of 4 are significant, all with the sign asked for"),
        ([1, -1, -1], "3 of 5 are significant, 1 of them with the sign asked for"),
        ([-1, -1], "2 of 4 are significant, none with the sign asked for"),
    ],
)
def test_how_many_are_significant_in_words(signs, said):
    found = pd.DataFrame(
        {"difference": [*signs, 1, -1], "claimed": 1, "significant": [True] * len(signs) + [False] * 2}
    )
    assert results.say_significant(found) == said

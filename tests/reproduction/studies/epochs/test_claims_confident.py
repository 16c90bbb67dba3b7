"""M20 Table 6 and Fig. 8 on made numbers: reproduced where they are as printed, not where they are the opposite."""

import numpy as np
import pytest

from reproduction.ledger import Verdict, find
from reproduction.studies.epochs import claims_confident as confident_here
from reproduction.studies.epochs.confident import confidence_where_agreed, confident_shares
from reproduction.studies.shared.from_runs import with_gamma
from reproduction.studies.shared.scalings import m20_temperature
from reproduction.studies.shared.two_way import BySeed

GAMMAS = (0.0, *confident_here.GAMMAS)


def made(**changes):
    """Four seeds; each step of gamma changes the number by so much, before and after temperature scaling."""

    def of(gamma, stage):
        change = changes[stage if stage == "before" else "after"]
        return BySeed(tuple(range(4)), 0.5 + gamma * change * (1 + 0.05 * np.arange(4)))

    return of


@pytest.mark.parametrize(
    ("claim", "number", "sign"),
    [
        ("m20.table6_before_here", "share", {"before": -0.1, "after": 0.0}),
        ("m20.table6_after_here", "share", {"before": 0.0, "after": 0.1}),
        ("m20.fig8_wrong_before_here", "on_mistakes", {"before": -0.1, "after": 0.0}),
        ("m20.fig8_wrong_after_here", "on_mistakes", {"before": 0.0, "after": -0.1}),
    ],
)
def test_each_stage_is_judged_by_itself(claim, number, sign, monkeypatch):
    check = find(claim).check
    monkeypatch.setattr(confident_here, number, made(**sign))
    assert check().verdict == Verdict.REPRODUCED
    monkeypatch.setattr(confident_here, number, made(**{stage: -value for stage, value in sign.items()}))
    assert check().verdict == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("right", "verdict"), [(0.9, Verdict.REPRODUCED), (0.999, Verdict.NOT_REPRODUCED), (0.99, Verdict.UNDECIDED)]
)
def test_the_confident_are_right_less_often_than_they_say(right, verdict, monkeypatch):
    values = right + 0.001 * (np.arange(4) - 1.5)
    monkeypatch.setattr(confident_here, "right", lambda gamma: BySeed(tuple(range(4)), values))
    assert confident_here.table6_right_here().verdict == verdict


@pytest.mark.parametrize("claim", ["m20.table6_after_here", "m20.fig8_wrong_after_here"])
def test_by_m20s_temperatures_the_verdict_is_another(claim, monkeypatch):
    """As the statements say."""
    check = find(claim).check
    verdict = check().verdict
    monkeypatch.setattr(confident_here, "_temperatures", lambda _: by_m20)
    by_m20 = {
        (run.spec.gamma, run.spec.seed): m20_temperature(run)
        for gamma in GAMMAS
        for run in with_gamma(confident_here.results(), gamma)
    }
    assert check().verdict != verdict


def test_the_numbers_on_all_images_are_those_of_the_page():
    runs = [run for run in confident_here.results() if run.spec.is_focal and run.spec.gamma in GAMMAS]
    shares, mistakes = confident_shares(runs), confidence_where_agreed(runs).query("kind == 'wrong'")
    for of, frame, column in (
        (confident_here.share, shares, "share"),
        (confident_here.on_mistakes, mistakes, "confidence"),
    ):
        for (gamma, stage), own in frame.groupby(["gamma", "stage"]):
            found = of(gamma, stage)
            np.testing.assert_allclose(found.of_all, own.sort_values("seed")[column])
            assert found.values.shape == (len(own), 21)
    plain = shares.query("gamma == 0 and stage == 'before'").sort_values("seed")
    np.testing.assert_allclose(confident_here.right(0.0).of_all, plain["right"])

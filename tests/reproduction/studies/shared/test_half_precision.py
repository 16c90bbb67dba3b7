"""float16 for logits on record: where no metric moves by 0.01 points, and nowhere else."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from focal_lib.metrics.by_name import METRICS
from reproduction.checkout import ROOT
from reproduction.engine.spec import Spec
from reproduction.engine.store import Logits, Result
from reproduction.studies.shared import half_precision
from reproduction.studies.shared.half_precision import decide, moves
from reproduction.studies.shared.over_seeds import SCALINGS
from reproduction.studies.shared.recorded import load_recorded

PLAIN = SCALINGS[:1]
WITH_RUNS = sorted({path.parents[1].name for path in (ROOT / "results").glob("*/*/logits.npz")})


@pytest.fixture
def result(synthetic_logits):
    """A run of 400 samples whose logits float16 holds."""

    def part(seed):
        logits, labels = synthetic_logits(400, 5, seed)
        return Logits(logits.astype(np.float16).astype(np.float32), labels)

    return Result(Spec(gamma=2), pd.DataFrame(), part(0), part(1), None)


def scaled(result, part, factor):
    before = getattr(result, part)
    return replace(result, **{part: Logits(before.logits * np.float32(factor), before.labels)})


def test_what_float16_holds_does_not_move(result):
    found = moves(result)
    assert (found["moved"] == 0).all()
    assert set(found["metric"]) == {*METRICS, "temperature"}
    assert len(found) == len(SCALINGS) * len(METRICS) + len(SCALINGS) - 1


@pytest.mark.parametrize(
    ("moved", "number"), [(0.0099, np.float16), (0.01, np.float32), (np.inf, np.float32), (np.nan, np.float32)]
)
@pytest.mark.parametrize("place", [0, 12, -1])
def test_one_metric_after_one_scaling_of_one_run_settles_it(result, monkeypatch, place, moved, number):
    rows = [(*scaling, name, 0.0) for scaling in SCALINGS for name in (*METRICS, "temperature")]
    planted = pd.DataFrame(rows, columns=["method", "objective", "metric", "moved"])
    planted.iloc[place, -1] = moved

    def some(given, scalings):
        found = planted[[pair in scalings for pair in zip(planted["method"], planted["objective"], strict=True)]]
        return found if given is result else found.assign(moved=0.0)

    monkeypatch.setattr(half_precision, "moves", some)
    answer = decide([replace(result), result])
    assert answer.number is number
    assert answer.words.startswith(f"Logits are recorded in {np.dtype(number).name}: ")
    if number is np.float16:
        assert "no metric or temperature of 2 runs moves by 0.01 points" in answer.words


def test_points_are_those_of_the_tables(result):
    loose = scaled(result, "test", 1.00037)
    found = moves(loose, PLAIN).set_index("metric")["moved"]
    one, two = (softmax(z.astype(np.float64), -1) for z in (loose.test.logits, loose.test.logits.astype(np.float16)))
    for name in ("ece", "nll", "brier", "error"):
        f, labels = METRICS[name].function, loose.test.labels
        assert found[name] == pytest.approx(100 * abs(f(two, labels) - f(one, labels)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("part", ["validation", "test"])
def test_a_logit_too_large_for_float16_is_kept(result, part):
    large = scaled(result, part, 1e5)
    assert np.isinf(moves(large, PLAIN)["moved"]).all()
    assert decide([large]).number is np.float32


@pytest.mark.parametrize("name", WITH_RUNS)
def test_recorded_runs_are_in_what_was_decided(name, capsys):
    """What is there of each grid: some are recorded run by run."""
    results = load_recorded(name, part=True)
    answer = decide(results)
    with capsys.disabled():
        print(f"\n{name}: {answer.words}")
    for result in results:
        with np.load(ROOT / "results" / name / result.spec.digest / "logits.npz") as file:
            assert {file[f"{part}_logits"].dtype for part in ("validation", "test")} == {np.dtype(answer.number)}

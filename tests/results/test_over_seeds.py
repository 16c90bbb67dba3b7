"""Tables of runs: duckdb's means and pairings against pandas', metrics against their own functions."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import softmax

from focal_lib.checkout import ROOT
from focal_lib.metrics.bins import adaptive_ece
from focal_lib.results import over_seeds
from focal_lib.training.run import run, trained
from focal_lib.training.grids import read_grid
from focal_lib.training.spec import Spec
from focal_lib.training.store import Logits, Result, load, record_runs


def made_result(loss, seed, **parameters):
    rng = np.random.default_rng([seed, len(loss), int(parameters.get("gamma", 0))])
    parts = []
    for _ in range(2):
        labels = rng.integers(0, 4, 300)
        logits = 3 * np.eye(4)[labels] + 2 * rng.standard_normal((300, 4))
        parts.append(Logits(logits.astype(np.float32), labels))
    return Result(Spec(loss=loss, seed=seed, **parameters), pd.DataFrame(), parts[0], parts[1], None)


@pytest.fixture(scope="module")
def results():
    return [made_result("focal", seed, gamma=gamma) for gamma in (0, 3) for seed in range(4)]


@pytest.fixture(scope="module")
def measured(results):
    return over_seeds.measure(results)


def test_one_row_a_run_stage_and_metric(results, measured):
    assert len(measured) == len(results) * len(over_seeds.STAGES) * len(over_seeds.METRICS)
    probs = softmax(results[0].test.logits.astype(float), -1)
    first = measured[(measured["stage"] == "pre") & (measured["metric"] == "adaptive-ece")].iloc[0]
    assert first["value"] == pytest.approx(100 * adaptive_ece(probs, results[0].test.labels))
    errors = measured[measured["metric"] == "error"].groupby(["loss", "seed"])["value"].nunique()
    assert (errors == 1).all()  # no stage changes which class is on top


def test_spread_is_pandas(measured, tmp_path):
    over_seeds.write(measured, tmp_path / "t.parquet")
    found = over_seeds.spread(tmp_path / "t.parquet")
    wanted = measured.groupby(["loss", "stage", "metric"], sort=False)["value"].agg(["mean", "std"]).reset_index()
    assert found["loss"].tolist() == wanted["loss"].tolist()  # order of the grid
    np.testing.assert_allclose(found["mean"], wanted["mean"], rtol=1e-12)
    np.testing.assert_allclose(found["sd"], wanted["std"], rtol=1e-9)
    assert (found["seeds"] == 4).all()


def test_several_files_at_once(measured, tmp_path):
    for seed, part in measured.groupby("seed"):
        over_seeds.write(part, tmp_path / f"seed-{seed}.parquet")
    assert (over_seeds.spread(tmp_path / "seed-*.parquet")["seeds"] == 4).all()


def test_pairs_are_of_one_seed(measured):
    found = over_seeds.against(measured)
    row = found[(found["stage"] == "pre") & (found["metric"] == "nll")].iloc[0]
    pre = measured[(measured["stage"] == "pre") & (measured["metric"] == "nll")].pivot(
        index="seed", columns="loss", values="value"
    )
    wanted = stats.ttest_rel(pre["focal 3"], pre["cross-entropy"])
    interval = wanted.confidence_interval()
    assert (row["difference"], row["low"], row["high"]) == pytest.approx(
        ((pre["focal 3"] - pre["cross-entropy"]).mean(), interval.low, interval.high)
    )
    stages = over_seeds.against(measured, None, "ts, ece")
    assert set(stages["stage"]) == set(over_seeds.STAGES) - {"ts, ece"}
    with pytest.raises(ValueError, match="a loss or a stage to compare with"):
        over_seeds.against(measured, "cross-entropy", "pre")


def test_one_seed_has_no_interval(measured):
    found = over_seeds.against(measured[measured["seed"] == 0])
    assert found["low"].isna().all()


def test_recorded_runs_keep_what_a_table_needs(tmp_path, monkeypatch):
    from tests.training.test_data import write_npz
    from tests.training.test_run import SMALL

    write_npz(tmp_path / "data" / "fashion-mnist", n_train=100, n_test=30)
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))
    spec = Spec(gamma=1, **SMALL)
    with pytest.raises(FileNotFoundError):
        record_runs([spec], tmp_path / "kept", tmp_path / "runs")
    whole = run(spec, tmp_path / "runs")
    assert record_runs([spec], tmp_path / "kept", tmp_path / "runs") == 1
    kept = load(spec, tmp_path / "kept")
    assert kept.train is None
    np.testing.assert_array_equal(kept.test.logits, whole.test.logits)
    pd.testing.assert_frame_equal(kept.history, whole.history)
    assert sorted(p.name for p in (tmp_path / "kept" / spec.digest).iterdir()) == [
        "history.parquet",
        "logits.npz",
        "spec.json",
    ]
    model, parts = trained(spec, tmp_path / "runs", "cpu")
    np.testing.assert_allclose(model(parts["test"][0]).detach().numpy(), whole.test.logits, rtol=1e-5, atol=1e-6)
    with pytest.raises(FileNotFoundError, match=r"has no weights.pt"):
        trained(spec, tmp_path / "kept")


@pytest.mark.parametrize("folder", sorted(p.name for p in (ROOT / "results").iterdir() if p.is_dir()))
def test_recorded_results_are_whole_and_their_table_is_theirs(folder):
    place = ROOT / "results" / folder
    specs = read_grid(ROOT / "workflow" / "grids" / f"{folder}.yaml")
    assert {s.digest for s in specs} == {p.name for p in place.iterdir() if p.is_dir()}  # no more, no less
    results = [load(spec, place) for spec in specs]  # checksums
    kept = pd.read_parquet(place / "table.parquet")
    assert len(kept) == len(results) * len(over_seeds.STAGES) * len(over_seeds.METRICS)
    again = over_seeds.measure([results[-1]])
    same = kept.tail(len(again)).reset_index(drop=True)
    pd.testing.assert_frame_equal(same, again, rtol=1e-6)


def test_recorded_results_say_how_they_were_made():
    for path in (ROOT / "results").glob("*/*/spec.json"):
        record = json.loads(path.read_text())
        assert set(record) == {"spec", "recipe", "checksum", "device", "threads", "commit", "versions"}
        assert record["commit"]
        assert not record["commit"].endswith("-dirty")

"""The runs kept in results/: whole, described, and their table made from them."""

import json

import numpy as np
import pandas as pd
import pytest

from focal_lib.metrics.by_name import METRICS
from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.studies.calibrators.record import COMPARED
from reproduction.studies.shared.over_seeds import SCALINGS, measure
from reproduction.studies.shared.recorded import SEARCHED, load_recorded, load_whole_seeds, read_table, read_whole_seeds
from reproduction.studies.shared.two_way import LEFT_OUT
from tests.quick import first_is_quick
from workflow.dependencies import modules_used, sources

KEPT = [path for path in (ROOT / "results").iterdir() if path.is_dir()]
WITHOUT_RUNS = {  # tables alone
    "advice",
    "calarena",
    "fcl-networks",
    "human-labels",
    "intervals",
    "landscape",
    "law",
    "losses",
    "open-questions",
    "options",
    "people",
    "speed",
    "texts",
    "unknown-inputs",
    "watch",
    "where-it-looks",
}
KEPT_IN_PART = {"cifar10-resnet8": {"cross-entropy", "focal 5"}}  # losses whose logits are kept; the table has all
# asked for steps, length or precision alone; kept in part
NOT_SEARCHED = {"cifar10-bf16-gpu", "cifar10-clipped", "cifar10-float32-gpu", "cifar10-precision", "cifar10-resnet8"}
NOT_SEARCHED |= {"cifar10-long", "cifar10-long-fresh", "fashion-mnist"}  # the last one by the page itself
FOLDERS = sorted({path.name for path in KEPT} - WITHOUT_RUNS - KEPT_IN_PART.keys())
KEY = ["model", "loss", "seed", "method", "objective", "metric"]


@pytest.mark.parametrize("folder", first_is_quick(FOLDERS))
def test_runs_are_whole_and_their_table_is_theirs(folder):
    planned = {s.digest for s in read_grid(ROOT / "workflow" / "grids" / f"{folder}.yaml")}
    kept = {p.name for p in (ROOT / "results" / folder).iterdir() if p.is_dir()}
    assert kept == planned
    results = load_recorded(folder)  # checksums
    table = read_table(folder)
    assert len(table) == len(results) * len(SCALINGS) * len(METRICS)
    last = measure(results[-1:])
    recorded, again = (frame.drop(columns=list(LEFT_OUT)) for frame in (table.tail(len(last)), last))
    pd.testing.assert_frame_equal(recorded.reset_index(drop=True), again, rtol=1e-6)
    recorded, again = (frame[list(LEFT_OUT)].astype(float) for frame in (table.tail(len(last)), last))
    np.testing.assert_allclose(recorded, again, rtol=2e-3, atol=1e-6)  # of three digits


@pytest.mark.parametrize("of", ["cifar10", "fashion-mnist"])
def test_grids_of_a_data_set_have_the_same_test_images(of):
    """In the same order: contrasts of two grids leave out the same groups."""
    named = [folder for folder in (*FOLDERS, *KEPT_IN_PART) if folder == of or folder.startswith(f"{of}-")]
    labels = [run.test.labels for folder in named for run in load_recorded(folder, part=True)]
    assert len(named) > 1
    assert all(np.array_equal(own, labels[0]) for own in labels)


def test_a_clone_stays_small():
    """What is recorded is at most 120 MB."""
    assert sum(path.stat().st_size for path in (ROOT / "results").rglob("*") if path.is_file()) < 120e6


@pytest.mark.parametrize("folder", first_is_quick(FOLDERS))
def test_table_holds_what_the_fits_of_today_give(folder):
    """By NLL, which is quick, of every third run: a table from before a change of the fit shows here."""
    fitted = measure(load_recorded(folder)[::3], [s for s in SCALINGS if s[1] in ("", "nll")])
    require_on_record(folder, fitted, "value", "temperature", "calibration_gamma")


@pytest.mark.parametrize("folder", ["cifar10-bf16-gpu", "cifar10-float32-gpu"])
def test_runs_that_show_what_a_gpu_changes_are_of_one(folder):
    """Runs of a processor have the same names."""
    made_on = {machine for run in load_recorded(folder) for machine in run.compute.machines}
    assert made_on == {"NVIDIA H100 80GB HBM3"}
    assert {run.spec.training.precision for run in load_recorded(folder)} == {folder.split("-")[1]}


@pytest.mark.parametrize("folder", KEPT_IN_PART)
def test_of_runs_kept_in_part_the_table_has_all(folder):
    planned, runs = read_grid(f"workflow/grids/{folder}.yaml"), load_recorded(folder, part=True)
    kept = [spec.digest for spec in planned if spec.label in KEPT_IN_PART[folder]]
    assert [run.spec.digest for run in runs] == kept
    rows = read_table(folder)[["loss", "seed"]].drop_duplicates().itertuples(index=False, name=None)
    assert set(rows) == {(spec.label, spec.seed) for spec in planned}
    fitted = measure(runs, [s for s in SCALINGS if s[1] in ("", "nll")])
    require_on_record(folder, fitted, "value", "temperature", "calibration_gamma")


def require_on_record(folder, fitted, *columns):
    """Each of these rows stands in the folder's table, with the same numbers."""
    both = read_table(folder).merge(fitted, on=KEY, suffixes=("", "_again"))
    assert len(both) == len(fitted)
    for column in columns:
        pd.testing.assert_series_equal(both[column], both[f"{column}_again"], rtol=1e-6, check_names=False)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["cifar10-record", "cifar10-resnet18", "cifar10-clipped"])
def test_verdicts_rest_on_the_temperatures_of_every_run(folder):
    """Those chosen by ECE, on which most contrasts are evaluated; and each run as trained."""
    chosen = [s for s in SCALINGS if s[0] == "none" or (s[0] == "temperature" and s[1] in ("ece", "adaptive-ece"))]
    runs = load_recorded(folder)
    fitted = measure(runs, chosen)
    assert len(fitted) == len(runs) * len(chosen) * len(METRICS)
    require_on_record(folder, fitted, "value", "temperature")


def test_runs_say_how_they_were_made():
    for path in (ROOT / "results").glob("*/*/spec.json"):
        record = json.loads(path.read_text())
        assert {"spec", "recipe", "checksum", "threads", "commit", "versions"} <= set(record)
        assert {"device", "machines"} & set(record)
        assert record["commit"]
        assert not record["commit"].endswith("-dirty")


@pytest.mark.parametrize("path", sorted((ROOT / "results" / "unknown-inputs").glob("*.parquet")), ids=lambda p: p.stem)
def test_a_table_of_unknown_inputs_has_every_run_of_its_grid(path):
    table = pd.read_parquet(path)
    grid = path.stem.removesuffix("-shift")
    specs = read_grid(ROOT / "workflow" / "grids" / f"{grid}.yaml")
    runs = table[["loss", "seed"]].drop_duplicates()
    assert set(runs.itertuples(index=False, name=None)) == {(s.label, s.seed) for s in specs}
    shown = ["unknown"] if grid == path.stem else ["corruption", "severity"]
    assert not table.duplicated(["loss", "seed", *shown, "method", "objective", "metric"]).any()
    signed = table["metric"] == "gap"
    assert table["value"].where(~signed, table["value"].abs()).between(0, 100).all()
    assert table["commit"].nunique() == 1
    assert not table["commit"].str.endswith("-dirty").any()


def test_the_table_of_the_landscape_has_every_run_of_its_grid():
    table = read_table("landscape")
    specs = read_grid(ROOT / "workflow" / "grids" / "landscape.yaml")
    runs = table[["model", "loss", "seed"]].drop_duplicates()
    assert set(runs.itertuples(index=False, name=None)) == {(s.model, s.label, s.seed) for s in specs}
    assert not table.duplicated(["model", "loss", "seed", "metric"]).any()
    assert table["value"].notna().all()
    assert table[["commit", "code", "images", "signs"]].drop_duplicates().shape[0] == 1
    assert not table["commit"].str.endswith("-dirty").any()


def test_a_record_does_not_count_among_what_made_it():
    """Else it could not go on: with each row the code would seem another."""
    made_of = sources(modules_used(ROOT / "reproduction/studies/landscape/record.py"))
    assert not [name for name in made_of if name.startswith("results/")]


@pytest.mark.parametrize("folder", first_is_quick(FOLDERS))
def test_runs_and_rows_of_whole_seeds_are_the_same(folder):
    table, runs = read_whole_seeds(folder), load_whole_seeds(folder)
    rows = table[["loss", "seed"]].drop_duplicates().itertuples(index=False, name=None)
    assert sorted(rows) == sorted({(run.spec.label, run.spec.seed) for run in runs})
    pd.testing.assert_frame_equal(table, read_table(folder))
    assert len(runs) == len(load_recorded(folder))


def test_what_is_not_recorded_is_named():
    with pytest.raises(FileNotFoundError, match="no-such-runs"):
        load_recorded("no-such-runs")


def test_every_record_with_logits_is_searched():
    assert {path.parents[1].name for path in (ROOT / "results").glob("*/*/logits.npz")} == {*SEARCHED, *NOT_SEARCHED}
    assert set(COMPARED) <= set(SEARCHED)

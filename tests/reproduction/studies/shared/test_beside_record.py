"""Own runs beside a record: numbers by plain pandas and SciPy, and what is refused."""

import shutil

import numpy as np
import pandas as pd
import pytest
import scipy

from focal_lib.metrics.intervals import t_interval
from focal_lib.metrics.significance import smallest_effect
from reproduction.checkout import ROOT
from reproduction.engine.imported import Imported, write_imported
from reproduction.engine.store import Logits
from reproduction.studies.shared.beside_record import (
    NotAlike,
    compare_with_papers,
    compare_with_record,
    recorded_names,
    scalings_for,
)
from reproduction.studies.shared.recorded import load_recorded
from reproduction.studies.shared.trained_alike import load_folder

RECORD = "cifar10-record"
LIKE_IT = {"n_train": 45_000, "recipe": "cifar-one-cycle", "epochs": 16, "precision": "bf16", "threads": 1}


def recorded(loss):
    return [run for run in load_recorded(RECORD, part=True) if run.spec.label == loss]


@pytest.fixture
def mine(tmp_path):
    """Copies the record's runs of a loss into a folder of one's own."""

    def copy(loss, seeds=(0, 1, 2, 3)):
        for run in recorded(loss):
            if run.spec.seed in seeds:
                shutil.copytree(ROOT / "results" / RECORD / run.spec.digest, tmp_path / "mine" / run.spec.digest)
        return load_folder(tmp_path / "mine")

    return copy


@pytest.fixture
def imported(tmp_path):
    """Imports the record's logits of a loss as somebody's own, changed as said."""

    def make(loss="focal 3", seeds=(0, 1, 2), change=lambda logits: logits, validation=lambda own: own, **told):
        for run in recorded(loss):
            if run.spec.seed in seeds:
                parts = {"validation": validation(run.validation), "test": run.test}
                parts = {name: Logits(change(part.logits), part.labels) for name, part in parts.items()}
                given = {"dataset": "cifar10", "model": "airbench-cnn", "loss": "mine", "seed": run.spec.seed}
                write_imported(Imported(**given | LIKE_IT | told), parts, tmp_path / "theirs", "logits.npz")
        return load_folder(tmp_path / "theirs")

    return make


def by_hand(ours, theirs, metric):
    """Difference, half width, p of two losses of the record as trained, from its table alone."""
    table = pd.read_parquet(ROOT / "results" / RECORD / "table.parquet").query("method == 'none' and metric == @metric")
    columns = ["value", *(f"left_out_{k}" for k in range(20))]
    one, two = (table[table["loss"] == loss].set_index("seed")[columns].astype(float) for loss in (ours, theirs))
    apart = (one - two).loc[[0, 1, 2, 3]].to_numpy()
    value, left_out = apart[:, 0], apart[:, 1:]
    centred = left_out - left_out.mean(axis=1, keepdims=True)
    covariances = 19 / 20 * centred @ centred.T
    of_seeds, of_images = value.var(ddof=1) / 4, max(covariances[~np.eye(4, dtype=bool)].mean(), 0)
    half = np.sqrt(scipy.stats.t.ppf(0.975, 3) ** 2 * of_seeds + scipy.stats.t.ppf(0.975, 19) ** 2 * of_images)
    error = np.sqrt(of_seeds + of_images)
    degrees = scipy.optimize.brentq(lambda df: scipy.stats.t.ppf(0.975, df) - half / error, 2.9, 19)
    return value.mean(), half, 2 * scipy.stats.t.sf(abs(value.mean()) / error, degrees), error, degrees


def test_numbers_against_plain_pandas_and_scipy(mine):
    """Differences, two-way intervals, p values, Holm and the smallest visible difference, all by hand."""
    found = compare_with_record(mine("focal 3"), RECORD, ["nll", "ece"], ["cross-entropy", "focal 1"])
    assert found.differences == ()
    rows = found.rows[found.rows["scaling"] == "none"]
    assert list(rows["metric"] + rows["against"]) == [
        "nllcross-entropy",
        "nllfocal 1",
        "ececross-entropy",
        "ecefocal 1",
    ]
    for row in rows.itertuples():
        mean, half, p, error, degrees = by_hand("focal 3", row.against, row.metric)
        assert row.difference == pytest.approx(mean, rel=1e-6)
        assert (row.high - row.low) / 2 == pytest.approx(half, rel=2e-3)  # changes on record are float16
        assert row.p == pytest.approx(p, rel=2e-2)
        limit = scipy.stats.t.isf(0.05 / 8 / 2, degrees)
        power = scipy.stats.nct.sf(limit, degrees, row.smallest / error)
        assert power == pytest.approx(0.8, abs=2e-3)
    ordered = found.rows.sort_values("p")
    holm = np.maximum.accumulate(np.minimum(ordered["p"] * np.arange(8, 0, -1), 1))
    np.testing.assert_allclose(ordered["p_adjusted"], holm)
    assert set(found.rows["over"]) == {"4 seeds and 10,000 test images, paired"}


def test_own_logits_are_measured_as_the_record_is(imported):
    """NLL and ECE of float32 logits by SciPy, of a method that divides them by 2."""
    found = compare_with_record(imported(change=lambda logits: logits / 2), RECORD, against=["focal 3"]).rows
    here = found[found["scaling"] == "none"].set_index("metric")["here"]
    losses, eces = [], []
    for run in recorded("focal 3")[:3]:
        log_probs = scipy.special.log_softmax(run.test.logits.astype(float) / 2, axis=1)
        labels = run.test.labels
        losses.append(-log_probs[np.arange(10_000), labels].mean())
        confidence, correct = np.exp(log_probs.max(axis=1)), log_probs.argmax(axis=1) == labels
        number = np.minimum((confidence * 15).astype(int), 14)
        gaps = [(confidence[number == k] - correct[number == k]).sum() for k in range(15)]
        eces.append(np.abs(gaps).sum() / 100)
    assert here["nll"] == pytest.approx(np.mean(losses), rel=1e-6)
    assert here["ece"] == pytest.approx(np.mean(eces), rel=1e-6)
    after = found[found["scaling"] == "temperature by nll"].iloc[0]
    assert after["difference"] == pytest.approx(0, abs=1e-4)  # dividing by 2 is undone
    assert after["answer"].startswith("no difference shown; one of 0.00")


def test_the_best_of_the_record_has_the_smallest_mean(mine):
    rows = compare_with_record(mine("focal 7", seeds=(0, 1)), RECORD, ["ece", "error"]).rows
    table = pd.read_parquet(ROOT / "results" / RECORD / "table.parquet")
    whole = table[table.groupby("loss")["seed"].transform("nunique") == 4]
    for row in rows.itertuples():
        same = dict(zip(("method", "objective"), (*row.scaling.split(" by "), "")[:2], strict=True))
        own = whole[(whole[["metric", *same]] == pd.Series({"metric": row.metric} | same)).all(axis=1)]
        assert row.best == (row.against == own.groupby("loss")["value"].mean().idxmin())
    assert rows.groupby(["metric", "scaling"])["best"].sum().tolist() == [1, 1, 1]
    assert set(rows["over"]) == {"2 seeds and 10,000 test images, paired"}
    assert rows["smallest"].isna().all()
    assert "two seeds show little" in rows["answer"].str.cat()


FAULTS = {
    "training samples": ({"n_train": 2_000}, "training samples 2,000 here, 45,000 there"),
    "recipe": ({"recipe": "cifar-one-cycle-clipped"}, "recipe cifar-one-cycle-clipped here, cifar-one-cycle there"),
    "epochs": ({"epochs": 4}, "epochs 4 here, 16 there"),
    "threads": ({"threads": 2}, "threads 2 here, 1 there"),
    "precision": ({"precision": "float32"}, "precision float32 here, bf16 there"),
    "data": ({"dataset": "cifar10-c-fog-5"}, "data set cifar10-c-fog-5 here, cifar10 there"),
    "recipe not told": ({"recipe": None}, "recipe not told here, cifar-one-cycle there"),
    "size not told": ({"n_train": None}, "training samples not told here, 45,000 there"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_difference_is_refused_by_its_name(imported, fault):
    told, message = FAULTS[fault]
    with pytest.raises(NotAlike) as error:
        compare_with_record(imported(seeds=(0,), **told), RECORD, ["error"])
    (line,) = [line for line in str(error.value).splitlines() if line.startswith("  ")]
    assert line == f"  {message}"


def test_validation_samples_and_test_labels_are_compared(imported):
    some = imported(seeds=(0,), validation=lambda own: Logits(own.logits[:4000], own.labels[:4000]))
    with pytest.raises(NotAlike, match="validation samples 4,000 here, 5,000 there"):
        compare_with_record(some, RECORD, ["error"])
    labels = np.roll(some[0].test.labels, 1)
    other = [run.__class__(**vars(run) | {"test": Logits(run.test.logits, labels)}) for run in some]
    with pytest.raises(NotAlike, match=r"test labels here other than there \(mine\)"):
        compare_with_record(other, RECORD, ["error"])


def test_anyway_has_numbers_and_no_verdict(imported):
    found = compare_with_record(imported(epochs=4), RECORD, ["error"], anyway=True)
    assert found.differences == ("epochs 4 here, 16 there",)
    assert found.rows[["p", "p_adjusted", "smallest"]].isna().all(axis=None)
    assert set(found.rows["answer"]) == {""}
    assert found.rows[["difference", "low", "high"]].notna().all(axis=None)


def test_what_is_not_told_of_threads_is_a_note(imported):
    found = compare_with_record(imported(threads=None, precision=None), RECORD, ["error"])
    assert found.notes[0] == "Not told on one side: precision, threads."


def test_one_seed_has_numbers_alone(mine):
    rows = compare_with_record(mine("focal 3", seeds=(1,)), RECORD, ["error"]).rows
    assert rows[["low", "high", "p", "p_adjusted", "smallest"]].isna().all(axis=None)
    assert set(rows["answer"]) == {"no verdict: one seed has no interval"}
    table = pd.read_parquet(ROOT / "results" / RECORD / "table.parquet").query("metric == 'error' and method == 'none'")
    values = table[table["seed"] == 1].set_index("loss")["value"]
    assert rows["difference"].iloc[0] == pytest.approx(values["focal 3"] - values["cross-entropy"])


def test_other_validation_images_are_no_pairs(imported):
    """Seeds of the same number, whose networks were not trained on the same images."""
    apart = imported(validation=lambda own: Logits(own.logits[::-1], own.labels[::-1]))
    (row,) = compare_with_record(apart, RECORD, ["nll"], ["focal 5"]).rows.query("scaling == 'none'").itertuples()
    assert row.over == "3 and 4 seeds and 10,000 test images, not paired"
    table = pd.read_parquet(ROOT / "results" / RECORD / "table.parquet").query("metric == 'nll' and method == 'none'")
    ours, theirs = (table[table["loss"] == loss]["value"].to_numpy() for loss in ("focal 3", "focal 5"))
    welch = scipy.stats.ttest_ind(ours[:3], theirs, equal_var=False).confidence_interval(0.95)
    assert row.difference == pytest.approx(ours[:3].mean() - theirs.mean(), rel=1e-6)
    assert row.high - row.low >= (welch.high - welch.low) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "cifar11"}, "record must be one of cifar10-bf16-gpu, .*Got 'cifar11'"),
        ({"metrics": ["accuracy"]}, "metric must be one of error, nll"),
        ({"against": ["focal 4"]}, "loss of the record must be one of cross-entropy, .*Got 'focal 4'"),
        ({"name": "fashion-mnist-architectures"}, "network must be one of small-vit, .* Got airbench-cnn"),
    ],
)
def test_unknown_names_are_listed(mine, given, message):
    with pytest.raises(ValueError, match=message):
        compare_with_record(mine("focal 3", seeds=(0,)), **{"name": RECORD} | given)


def test_runs_that_nothing_tells_apart_are_refused(mine, imported):
    runs = mine("focal 3", seeds=(0,))
    with pytest.raises(ValueError, match=r"one a loss and seed\. Got several of focal 3, seed 0"):
        compare_with_record([*runs, *runs], RECORD)
    with pytest.raises(ValueError, match=r"one data set and network\. Got airbench-cnn on cifar10; other on cifar10"):
        compare_with_record([*runs, *imported(model="other", seeds=(0,))], RECORD)


def test_a_folder_moved_aside_is_no_run(mine, tmp_path):
    (run,) = mine("focal 3", seeds=(0,))
    (folder,) = (tmp_path / "mine").iterdir()
    shutil.copytree(folder, folder.with_name(f"{folder.name}.1"))
    assert len(load_folder(tmp_path / "mine")) == 1
    assert run.settings["threads"] == "1"
    with pytest.raises(FileNotFoundError, match="must hold finished runs"):
        load_folder(tmp_path)


def test_threads_of_a_gpu_decide_nothing():
    runs = load_folder(ROOT / "results" / "cifar10-bf16-gpu")
    with pytest.raises(NotAlike, match="threads a GPU's here, 1 there"):
        compare_with_record(runs, RECORD, ["error"])


def test_papers_that_share_a_recipe_are_alike(imported):
    """ResNet-50 by M20's recipe, beside the printed cells of M20, L25 and KK24."""
    like = {"model": "resnet50", "epochs": 350}
    tables, unlike = compare_with_papers(imported(recipe="m20-cifar", **like), ["ece", "adaptive-ece"])
    assert unlike == []
    before, after = "as trained", "after temperature scaling"
    assert tables["ece"].loc["cross-entropy", (before, "M20")] == 4.35
    assert (
        tables["ece"].loc["mine"].drop([(before, "here"), (before, "sd"), (after, "here"), (after, "sd")]).isna().all()
    )
    assert tables["adaptive-ece"].loc["cross-entropy", (after, "KK24")] == 1.03
    table = pd.read_parquet(ROOT / "results" / RECORD / "table.parquet")
    own = table.query("loss == 'focal 3' and seed < 3 and metric == 'ece' and method == 'none'")["value"]
    assert tables["ece"].loc["mine", (before, "here")] == pytest.approx(own.mean(), rel=1e-6)


def test_no_table_is_printed_of_that_network(mine):
    assert compare_with_papers(mine("focal 3", seeds=(0,)), ["ece"]) == ({}, [])


def test_names_are_those_of_grids_with_tables():
    assert {"cifar10-record", "fashion-mnist"} <= set(recorded_names())
    assert not {"law", "people"} & set(recorded_names())


def test_a_temperature_is_chosen_by_the_metric_where_tables_have_it():
    assert [scalings_for(m)[-1][1] for m in ("nll", "ece", "adaptive-ece", "brier")] == [
        "nll",
        "ece",
        "adaptive-ece",
        "nll",
    ]
    assert scalings_for("error") == (("none", ""),)


def test_smallest_effect_of_a_stricter_level_is_larger():
    found = t_interval([0.1, 0.2, 0.4, 0.3])
    assert smallest_effect(found.at(1 - 0.05 / 8)) > smallest_effect(found)

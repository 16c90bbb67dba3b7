"""Unknown and corrupted images, shown to small networks."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from focal_lib import metrics
from focal_lib.calibration import FocalTemperatureScaling, TemperatureScaling
from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS
from reproduction.engine import data
from reproduction.engine.contrasts import Setting
from reproduction.engine.data.corruptions import CORRUPTION_KINDS
from reproduction.engine.data.dataset import Dataset, Split
from reproduction.engine.run import run
from reproduction.engine.store import RunMissing
from reproduction.studies.ood import measures
from reproduction.studies.ood import record as recording
from reproduction.studies.ood.contrasts import evaluate_by_unknown
from reproduction.studies.ood.measures import (
    compare_by_shift,
    logits_on,
    mean_over_shifts,
    measure_detection,
    measure_shift,
    unknown_images,
)
from reproduction.studies.ood.plan import (
    CIFAR,
    CIFAR_SHIFTS,
    CIFAR_SHOWN,
    FRESH_DIGITS,
    RECORDED_DIGITS,
    corruptions_asked,
    digit_contrasts,
    shift_contrasts,
)
from reproduction.studies.shared import recorded
from reproduction.studies.shared.recorded import read_shift, read_unknown
from reproduction.studies.shared.written_contrasts import evaluate_contrasts


def test_own_test_images_get_their_logits_again(small, tmp_path, monkeypatch):
    """Of each seed by its own scale, and the data set is read once."""
    specs = [small(seed=seed) for seed in (0, 1)]
    results = [run(spec, tmp_path) for spec in specs]
    test = data.load("fashion-mnist").test.inputs
    loads, load = [], data.load
    monkeypatch.setattr(data, "load", lambda name: loads.append(name) or load(name))
    found = list(logits_on(specs, {"test": test, "dark": test // 4}, tmp_path))
    assert [spec for spec, _ in found] == specs
    for result, (_, logits) in zip(results, found, strict=True):
        np.testing.assert_allclose(logits["test"], result.test.logits, atol=1e-5)
        assert logits["test"].dtype == np.float32
        assert np.abs(logits["dark"] - logits["test"]).max() > 1e-3
    assert loads == ["fashion-mnist"]


def test_more_images_than_go_through_at_once(finished):
    spec, folder, _ = finished
    many = np.random.default_rng(0).integers(0, 256, (1003, 28, 28, 1), dtype=np.uint8)
    ((_, found),) = logits_on([spec], {"all": many, "last": many[-5:]}, folder.parent)
    assert found["all"].shape == (1003, 10)
    np.testing.assert_allclose(found["all"][-5:], found["last"], atol=1e-5)


def test_what_cannot_be_shown(small, finished, tmp_path):
    spec, folder, _ = finished
    for shape, kind in (((3, 28, 28, 3), np.uint8), ((3, 28, 28, 1), float), ((0, 28, 28, 1), np.uint8)):
        with pytest.raises(ValueError, match=r"images of new must be uint8 of shape \(n, 28, 28, 1\), as"):
            list(logits_on([spec], {"new": np.zeros(shape, kind)}, folder.parent))
    with pytest.raises(RunMissing, match="has no weights here"):
        list(logits_on([small(seed=5)], {}, tmp_path))


RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (60, 4, 4, 1), dtype=np.uint8)
LABELS = RNG.integers(0, 4, 60)
WEIGHTS = RNG.normal(size=(16, 4))


def says(spec, images):
    """A made-up network: linear in the pixels, another for each seed."""
    return (images.reshape(len(images), -1) / 255.0 @ WEIGHTS * (1 + spec.seed) + spec.gamma).astype(np.float32)


@pytest.fixture
def asked(monkeypatch):
    """Networks and data made up; how many networks were asked."""
    count = []

    def logits_on(specs, images, root=None):
        for spec in specs:
            count.append(spec)
            yield spec, {name: says(spec, given) for name, given in images.items()}

    part = Split(IMAGES, LABELS)
    monkeypatch.setattr(measures, "logits_on", logits_on)
    monkeypatch.setattr(measures.data, "load", lambda name: Dataset(name, 4, part.take(np.arange(20)), part))
    monkeypatch.setattr(measures, "_ROWS", {})
    return count


def test_detection_is_by_the_scores_of_test_and_unknown_images(made_results, asked):
    table = measure_detection(made_results, "else")
    run = made_results[5]  # gamma 3, seed 1
    new, held_out = says(run.spec, IMAGES), (run.validation.logits, run.validation.labels)
    fit = TemperatureScaling("nll").fit(*held_out)
    mapped = FocalTemperatureScaling("nll", "newton", gammas=PAPER_GAMMAS).fit(*held_out)
    rows = table[(table["loss"] == "focal 3") & (table["seed"] == 1)].set_index(["method", "metric"])["value"]
    energy = [metrics.energy_score(z) for z in (run.test.logits, new)]
    assert rows["none", "auroc energy"] == pytest.approx(100 * metrics.auroc(*energy))
    assert rows["none", "fpr95 energy"] == pytest.approx(100 * metrics.fpr_at_tpr(*energy))
    after = [softmax(z.astype(float) / fit.temperature_, -1).max(-1) for z in (run.test.logits, new)]
    assert rows["temperature", "auroc max-probability"] == pytest.approx(100 * metrics.auroc(*after), abs=1e-6)
    after = [mapped.predict_proba(z.astype(float)).max(-1) for z in (run.test.logits, new)]
    assert rows["focal-temperature", "auroc max-probability"] == pytest.approx(100 * metrics.auroc(*after), abs=1e-6)
    assert ("focal-temperature", "auroc energy") not in rows.index
    assert set(table["unknown"]) == {"else"}


def test_networks_are_asked_once(made_results, asked):
    first = measure_detection(made_results[:3], "else")
    again = measure_detection(made_results[:4], "else")
    assert len(asked) == 4
    assert again[: len(first)].equals(first)
    measure_detection(made_results[:1], "another")
    assert len(asked) == 5


def test_of_digits_all_are_unknown_and_of_other_data_sets_the_test_images(asked):
    assert len(unknown_images("mnist-5k")) == 80
    assert len(unknown_images("cifar100")) == 60


def test_shift_has_every_severity_and_clean_images_under_each_corruption(made_results, asked):
    kinds = ("contrast", "gaussian-noise")
    table = measure_shift(made_results, kinds, images=50, severities=(2, 5))
    assert len(table) == 8 * 2 * (3 * 3 * 4 + 2 * 16)  # runs, corruptions, severities, scalings, metrics; and detection
    clean = table[table["severity"] == 0].set_index(["corruption", "loss", "seed", "method", "metric"])["value"]
    assert clean["contrast"].equals(clean["gaussian-noise"])
    run = made_results[1]
    images = measures.data.corrupt(IMAGES[:50], "contrast", 5)
    probs = softmax(says(run.spec, images).astype(float), -1)
    where = "corruption == 'contrast' and severity == 5 and loss == 'cross-entropy' and seed == 1 and method == 'none'"
    rows = table.query(where).set_index("metric")["value"]
    assert rows["nll"] == pytest.approx(metrics.nll(probs, LABELS[:50]))
    assert rows["adaptive-ece"] == pytest.approx(100 * metrics.adaptive_ece(probs, LABELS[:50]))
    gap = probs.max(-1).mean() - (probs.argmax(-1) == LABELS[:50]).mean()
    assert rows["gap"] == pytest.approx(100 * gap)
    means = mean_over_shifts(table)
    of_nll = table.query("severity > 0 and loss == 'focal 3' and seed == 2 and method == 'none' and metric == 'nll'")
    found = means.query("loss == 'focal 3' and seed == 2 and method == 'none' and metric == 'nll'")
    assert found["value"].item() == pytest.approx(of_nll["value"].mean())
    compared = compare_by_shift(table, "nll", "temperature", "none")
    assert len(compared) == 2 * 2 * 3
    cell = table.query("corruption == 'contrast' and severity == 2 and loss == 'focal 3' and metric == 'nll'")
    wide = cell.pivot(index="seed", columns="method", values="value")
    wanted = metrics.paired_t_interval(wide["temperature"], wide["none"])
    row = compared.query("corruption == 'contrast' and severity == 2 and loss == 'focal 3'").iloc[0]
    assert tuple(row[["difference", "low", "high"]]) == pytest.approx((wanted.estimate, wanted.low, wanted.high))


def test_corrupted_images_are_told_from_clean_ones_at_each_severity(made_results, asked):
    table = measure_shift(made_results[4:6], ("contrast", "gaussian-blur"), images=50, severities=(1, 5))
    run = made_results[5]
    fit = TemperatureScaling("nll").fit(run.validation.logits, run.validation.labels)
    corrupted = measures.data.corrupt(IMAGES[:50], "contrast", 5)
    known, other = (says(run.spec, images).astype(float) for images in (IMAGES[:50], corrupted))
    where = "corruption == 'contrast' and severity == 5 and seed == 1"
    rows = table.query(where).set_index(["method", "metric"])["value"]
    energy = [metrics.energy_score(z) for z in (known, other)]
    assert rows["none", "auroc energy"] == pytest.approx(100 * metrics.auroc(*energy))
    assert rows["none", "fpr95 energy"] == pytest.approx(100 * metrics.fpr_at_tpr(*energy))
    likely = [softmax(z / fit.temperature_, -1).max(-1) for z in (known, other)]
    assert rows["temperature", "auroc max-probability"] == pytest.approx(100 * metrics.auroc(*likely), abs=1e-6)
    assert ("focal-temperature", "auroc entropy") in rows.index
    assert ("focal-temperature", "auroc energy") not in rows.index
    apart = table["metric"].str.startswith(("auroc", "fpr95"))
    assert set(table.loc[apart, "severity"]) == {1, 5}  # clean images are not told from themselves
    means = mean_over_shifts(table)  # of other metrics as in a record of before
    told = means["metric"].str.startswith(("auroc", "fpr95"))
    pd.testing.assert_frame_equal(mean_over_shifts(table[~apart]), means[~told].reset_index(drop=True))


def test_more_images_than_there_are_is_refused(made_results, asked):
    with pytest.raises(ValueError, match=r"images must be 1 to 60. Got 61"):
        measure_shift(made_results, ("contrast",), images=61)


def test_what_was_written_down_stays():
    """The contrasts were committed before any network was shown these images: another one would be another question."""
    digits, shift = digit_contrasts(), shift_contrasts()
    sizes = [len(family) for family in (digits, RECORDED_DIGITS, FRESH_DIGITS, CIFAR, shift, CIFAR_SHIFTS)]
    assert sizes == [9, 5, 4, 12, 8, 8]
    assert digits[0].ours == Setting(("focal 3",))
    assert digits[0].metric == "auroc max-probability"
    assert {c.claimed for c in digits if c.metric.startswith("fpr95")} == {-1}
    assert shift[0].ours == Setting(("cross-entropy",), "focal-temperature", "nll")
    assert shift[0].theirs == Setting(("cross-entropy",), "temperature", "nll")
    assert {c.theirs.losses for c in (*digits, *RECORDED_DIGITS, *CIFAR)} == {("cross-entropy",)}


def test_recorded_answers_name_what_was_shown():
    with pytest.raises(ValueError, match=r"unknown must be one of mnist-5k. Got 'svhn'"):
        read_unknown("fashion-mnist-unknown", "svhn")
    table = read_unknown("fashion-mnist-unknown", "mnist-5k")
    assert set(table["loss"]) == {"cross-entropy", "focal 3", "flsd-53", "fcl 4 1.5", "fcl 2 0.5"}
    assert table.groupby("loss")["seed"].nunique().unique().tolist() == [4]


def test_what_cifar10_networks_said_is_of_every_corruption_and_loss():
    """Of every one but frost, which could be made only later: either all networks were shown it or none."""
    table = read_shift("cifar10-unknown")
    made = [name for kind in CORRUPTION_KINDS.values() for name in kind]
    shown = list(table["corruption"].unique())
    assert shown in (made, [name for name in made if name != "frost"])
    assert set(table["loss"]) == {"cross-entropy", "focal 3", "flsd-53", "fcl 4 1.5", "fcl 2 0.5"}
    detection = 5 * 16 if table["metric"].str.startswith("auroc").any() else 0  # none in an older record
    assert len(table) == 15 * len(shown) * (6 * 3 * 4 + detection)  # runs, corruptions, severities, scalings, metrics
    assert set(table["images"]) == {2000}
    shown = evaluate_by_unknown("cifar10-unknown", CIFAR, CIFAR_SHOWN)
    assert list(shown["seeds"].unique()) == [3]


@pytest.mark.slow
def test_the_recording_of_cifar10(made_results, asked, photographs, monkeypatch, tmp_path):
    """Every kind of corruption, as `measure_shift` has it; and what reads it."""
    monkeypatch.setattr(recording, "load_runs", lambda path, root, part: [*made_results[:2], *made_results[4:6]])
    monkeypatch.setattr(recording, "SHIFTED", {"cifar10-unknown": (50, CORRUPTION_KINDS)})
    monkeypatch.setattr(recorded, "ROOT", tmp_path)
    out = tmp_path / "results" / "unknown-inputs"
    recording.main(["cifar10-unknown", "--out", str(out), "--root", str(tmp_path)])
    recorded.read_unknown.cache_clear()
    recorded.read_shift.cache_clear()
    table = read_shift("cifar10-unknown")
    recorded.read_shift.cache_clear()
    assert len(table) == 4 * 15 * (6 * 3 * 4 + 5 * 16)  # runs, corruptions, severities, scalings, metrics; detection
    assert table["metric"].str.startswith("auroc").any()
    assert set(table["images"]) == {50}
    assert table["commit"].str.len().min() > 6
    assert tuple(table["corruption"].unique()) == tuple(name for kind in CORRUPTION_KINDS.values() for name in kind)
    wanted = measure_shift([*made_results[:2], *made_results[4:6]], ("fog",), images=50)
    found = table[table["corruption"] == "fog"][wanted.columns]
    assert found.reset_index(drop=True).equals(wanted)
    shown = pd.read_parquet(out / "cifar10-unknown.parquet")["unknown"]
    assert set(shown) == {"cifar100", "cifar10-c-gaussian-noise-5"}
    asked = corruptions_asked(table)
    assert set(table["corruption"]) - set(asked["corruption"]) == {"frost"}
    answered = evaluate_contrasts(mean_over_shifts(asked), CIFAR_SHIFTS)
    assert len(answered) == len(CIFAR_SHIFTS)


def test_any_grid_is_shown_other_images_and_the_record_is_left(made_results, asked, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(recording, "load_runs", lambda path, root, part: made_results[:4] if part else [])
    monkeypatch.setattr(recording, "ROOT", tmp_path)
    (tmp_path / "workflow" / "grids").mkdir(parents=True)
    (tmp_path / "workflow" / "grids" / "mine.yaml").touch()
    recording.main(["mine", "--shown", "svhn", "else", "--root", str(tmp_path)])
    table = pd.read_parquet(tmp_path / "_build" / "unknown-inputs" / "mine.parquet")
    assert set(table["unknown"]) == {"svhn", "else"}
    assert not (tmp_path / "results").exists()
    means = recording.mean_aurocs(table)
    assert list(means.columns) == [f"auroc {score}" for score in ("max-probability", "entropy", "energy")]
    wanted = table.query("method == 'none' and metric == 'auroc energy' and unknown == 'svhn'")["value"].mean()
    row = means.xs(("svhn", "cross-entropy"), level=["unknown", "loss"])
    assert row["auroc energy"].item() == pytest.approx(wanted)
    assert "auroc energy" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["mine"], r"grids must be among fashion-mnist.* Got mine; others go with --shown"),
        (["cifar10-unknown", "--shown", "nothing-such"], r"--shown: dataset must be one of"),
        (["cifar10-unknown", "--shown", "svhn"], r"--shown: svhn was not found. Provide it"),
    ],
)
def test_what_cannot_be_shown_is_said(given, said, monkeypatch, capsys):
    def missing(name):
        if name == "svhn":
            raise FileNotFoundError("svhn was not found. Provide it")
        raise ValueError("dataset must be one of ...")

    monkeypatch.setattr(measures.data, "load", missing)
    with pytest.raises(SystemExit):
        recording.main(given)
    assert re.search(said, capsys.readouterr().err)

"""Tables of new scores: the columns of fit by their names, and what goes with them as it is written."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.tool.apply.files import apply_to_table
from focal_lib.tool.report.report import calibrate

NAMES = ("cat", "dog", "a bird")


@pytest.fixture(scope="module")
def logits():
    return np.random.default_rng(0).normal(size=(300, 3)) * 3


@pytest.fixture(scope="module")
def named(logits):
    """Fitted where columns had names."""
    labels = (softmax(logits / 2, axis=-1).cumsum(1) > np.random.default_rng(1).random((300, 1))).argmax(1)
    frame = pd.DataFrame(logits, columns=list(NAMES))
    return calibrate((frame, labels), "temperature", resamples=2, keep="temperature", force=True).calibrator


@pytest.fixture
def table(logits):
    """Columns in another order, and others among them."""
    frame = pd.DataFrame(logits, columns=list(NAMES))[["dog", "a bird", "cat"]]
    frame.insert(0, "id", [f"{i:03}" for i in range(300)])
    return frame.assign(label="cat", note="yes, and no")


@pytest.mark.parametrize("read_as", [".csv", ".parquet"])
@pytest.mark.parametrize("written_as", [".csv", ".parquet"])
def test_probabilities_stand_in_place_of_the_scores(named, logits, table, tmp_path, read_as, written_as):
    source, out = tmp_path / f"new{read_as}", tmp_path / f"probs{written_as}"
    table.to_csv(source, index=False) if read_as == ".csv" else table.to_parquet(source)
    assert apply_to_table(named, source, out) == 300
    found = pd.read_csv(out, dtype={"id": str}) if written_as == ".csv" else pd.read_parquet(out)
    assert list(found.columns) == list(table.columns)
    np.testing.assert_allclose(found[list(NAMES)], softmax(logits / named.temperature_, axis=-1), rtol=1e-12)
    for name in ("id", "label", "note"):
        assert found[name].tolist() == table[name].tolist()


def test_probabilities_alone_in_the_order_of_fit(named, logits, table, tmp_path):
    table.to_csv(tmp_path / "new.csv", index=False)
    apply_to_table(named, tmp_path / "new.csv", tmp_path / "probs.npy")
    found = np.load(tmp_path / "probs.npy")
    np.testing.assert_allclose(found, softmax(logits / named.temperature_, axis=-1), rtol=1e-12)


def test_without_names_all_columns_but_the_label(logits, tmp_path):
    fit = TemperatureScaling().fit(logits, np.arange(300) % 3)
    pd.DataFrame(logits).assign(label=0).to_csv(tmp_path / "new.csv", index=False)
    apply_to_table(fit, tmp_path / "new.csv", tmp_path / "probs.npy")
    np.testing.assert_allclose(np.load(tmp_path / "probs.npy"), fit.predict_proba(logits), rtol=1e-12)


def test_one_column_by_its_name_whatever_stands_beside_it(tmp_path):
    """An age is no logit, and a label of another name no score."""
    scores = np.linspace(-4, 4, 200)
    y = (np.random.default_rng(0).random(200) < expit(scores / 2)).astype(int)
    pd.DataFrame({"score": scores, "y": y}).to_csv(tmp_path / "fit.csv", index=False)
    options = {"label_column": "y", "class_names": ("no", "yes"), "keep": "temperature", "force": True}
    fit = calibrate(tmp_path / "fit.csv", "temperature", resamples=2, **options).calibrator
    new = pd.DataFrame({"age": range(30, 230), "score": scores, "y": y})
    new.to_csv(tmp_path / "new.csv", index=False)
    apply_to_table(fit, tmp_path / "new.csv", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(found["score"], expit(scores / fit.temperature_), rtol=1e-12)
    pd.testing.assert_frame_equal(found[["age", "y"]], new[["age", "y"]])


def test_labels_of_a_multi_label_table_stay(tmp_path):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 2)) * 3
    table = pd.DataFrame(z, columns=["a", "b"]).assign(y0=rng.random(300) < expit(z[:, 0]), y1=rng.random(300) < 0.5)
    table = table.astype({"y0": int, "y1": int})
    table.to_csv(tmp_path / "ml.csv", index=False)
    options = {"label_column": "y0,y1", "keep": "temperature", "force": True}
    fit = calibrate(tmp_path / "ml.csv", "temperature", resamples=2, **options).calibrator
    apply_to_table(fit, tmp_path / "ml.csv", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    pd.testing.assert_frame_equal(found[["y0", "y1"]], table[["y0", "y1"]])
    np.testing.assert_allclose(found[["a", "b"]], expit(z / fit.temperature_), rtol=1e-12)


def test_an_index_of_pandas_is_a_column(named, table, tmp_path):
    table.set_index("id").to_parquet(tmp_path / "new.parquet")
    apply_to_table(named, tmp_path / "new.parquet", tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv", dtype=str)["id"].tolist() == table["id"].tolist()


def test_other_columns_than_can_be_meant_are_refused(logits, tmp_path):
    fit = TemperatureScaling().fit(logits, np.arange(300) % 3)
    pd.DataFrame(logits).assign(more=1.5).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(ValueError, match=r"all columns but 'label', 3 columns\. Got 0, 1, 2, more"):
        apply_to_table(fit, tmp_path / "new.csv", tmp_path / "out.npy")


def test_one_column_of_a_positive_class(tmp_path):
    scores = np.linspace(-4, 4, 200)
    labels = (np.random.default_rng(0).random(200) < expit(scores / 2)).astype(int)
    fit = calibrate((scores, labels), "temperature", resamples=2, keep="temperature", force=True).calibrator
    pd.DataFrame({"score": scores, "label": labels}).to_csv(tmp_path / "new.csv", index=False)
    apply_to_table(fit, tmp_path / "new.csv", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(found["score"], expit(scores / fit.temperature_), rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="dog"), "cat, dog, a bird. Got id, a bird, cat, label, note; no 'dog'"),
        (lambda t: t.set_axis(["id", "dog", "dog", "cat", "label", "note"], axis=1), "no 'a bird'"),
        (lambda t: t.set_axis(["dog", "dog", "a bird", "cat", "label", "note"], axis=1), "Got 'dog' more than once"),
        (lambda t: t.assign(dog="much"), "must hold numbers. Got str|must hold numbers. Got object"),
        (lambda t: t.assign(dog=[np.nan, *t["dog"][1:]]), "Got none in column dog of sample 0"),
    ],
)
def test_what_is_refused_leaves_nothing(named, table, tmp_path, change, message):
    change(table).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(ValueError, match=message):
        apply_to_table(named, tmp_path / "new.csv", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_column_that_counts_is_no_class(logits, tmp_path):
    fit = TemperatureScaling().fit(logits[:, :2], np.arange(300) % 2)
    (tmp_path / "new.csv").write_text("id,score\n" + "\n".join(f"{i},{z}" for i, z in enumerate(logits[:, 0])))
    with pytest.raises(ValueError, match="Leave out 'id'"):
        apply_to_table(fit, tmp_path / "new.csv", tmp_path / "out.npy")


def test_to_standard_output(named, logits, table, tmp_path, monkeypatch):
    table.to_csv(tmp_path / "new.csv", index=False)
    stream = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr("sys.stdout", stream)
    apply_to_table(named, tmp_path / "new.csv", type(tmp_path)("-"))
    stream.seek(0)
    assert np.load(stream.buffer).shape == (300, 3)


@pytest.mark.parametrize("read_as", [".csv", ".parquet"])
@pytest.mark.parametrize("written_as", [".csv", ".parquet", ".npy"])
def test_a_table_without_samples_stays_one(named, table, tmp_path, read_as, written_as):
    """As of a day on which nothing came."""
    source, out, none = tmp_path / f"new{read_as}", tmp_path / f"probs{written_as}", table[:0]
    none.to_csv(source, index=False) if read_as == ".csv" else none.to_parquet(source)
    assert apply_to_table(named, source, out) == 0
    if written_as == ".npy":
        assert np.load(out).shape == (0, 3)
        return
    found = pd.read_csv(out) if written_as == ".csv" else pd.read_parquet(out)
    assert list(found.columns) == list(table.columns)
    assert len(found) == 0

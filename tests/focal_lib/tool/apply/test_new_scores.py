"""New scores in the layout that was fitted on, calibrated and of the same shape; in memory and from files."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.logit_sets import MISSING
from focal_lib.calibration.methods import PRIOR_SD
from focal_lib.calibration.saved import load_calibrator, save_calibrator
from focal_lib.tool.apply.files import apply_calibrator
from focal_lib.tool.apply.new_scores import apply_to_scores
from focal_lib.tool.gate import check
from focal_lib.tool.report.report import calibrate

RNG = np.random.default_rng(0)
FAST = {"methods": "temperature,focal-temperature", "resamples": 50, "force": True}
T = 2.0


def drawn(scores):
    return (RNG.random(scores.shape) < expit(scores / T)).astype(int)


def classes_drawn(logits, axis):
    p = softmax(logits / T, axis)
    return (p.cumsum(axis) > RNG.random(p.sum(axis, keepdims=True).shape)).argmax(axis)


def options_drawn(count):
    rows = [RNG.normal(size=RNG.integers(2, 6)) * 4 for _ in range(count)]
    return rows, np.array([RNG.choice(len(row), p=softmax(row / T)) for row in rows])


BINARY, MANY = RNG.normal(size=800) * 4, RNG.normal(size=(300, 4)) * 4
MAPS = RNG.normal(size=(10, 3, 12, 12)) * 4
ROWS, RIGHT = options_drawn(800)


@pytest.fixture(scope="module")
def reports():
    return {
        "binary": calibrate((BINARY, drawn(BINARY)), **FAST),
        "multi-label": calibrate((MANY, drawn(MANY)), **FAST),
        "segmentation": calibrate((MAPS, classes_drawn(MAPS, 1)), pixels=60, **FAST),
        "tokens": calibrate((np.moveaxis(MAPS, 1, -1), classes_drawn(MAPS, 1)), **FAST),
        "options": calibrate((ROWS, RIGHT), **FAST),
    }


@pytest.mark.parametrize(
    ("layout", "new"),
    [
        ("binary", BINARY[:7]),
        ("binary", BINARY[:7, None]),
        ("multi-label", MANY[:7]),
        ("multi-label", MANY[:7, :2]),  # two labels are no two classes
        ("segmentation", MAPS[:3]),
        ("tokens", np.moveaxis(MAPS, 1, -1)[:3]),
    ],
)
def test_the_shape_stays(reports, layout, new, tmp_path):
    report = reports[layout]
    save_calibrator(report.calibrator, tmp_path / "calibrator.json")
    fit = load_calibrator(tmp_path / "calibrator.json")
    assert fit.layout_ == layout
    found = apply_to_scores(fit, new)
    assert found.shape == new.shape
    if layout in ("binary", "multi-label"):
        wanted = fit.predict_proba(np.stack([0 * new.ravel(), new.ravel()], -1))[:, 1].reshape(new.shape)
        np.testing.assert_allclose(apply_to_scores(fit, expit(new), "probs"), found, rtol=1e-6)
        assert np.corrcoef(found.ravel(), new.ravel())[0, 1] > 0.8
    else:
        axis = 1 if layout == "segmentation" else 3
        np.testing.assert_allclose(found.sum(axis), 1)
        wanted = np.moveaxis(
            fit.predict_proba(np.moveaxis(new, axis, -1).reshape(-1, 3)).reshape(3, 12, 12, 3), -1, axis
        )
    np.testing.assert_allclose(found, wanted)
    np.save(tmp_path / "new.npy", new)
    assert apply_calibrator(fit, tmp_path / "new.npy", tmp_path / "p.npy", chunk=300) == len(new)
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), found, rtol=1e-12)


def test_one_temperature_for_all_labels_is_the_minimum_over_all(reports):
    report = reports["multi-label"]
    z, y = report.fitted_on.logits, report.fitted_on.labels

    def nll(u):
        return -np.mean(log_softmax(z * np.exp(u), -1)[np.arange(len(y)), y]) + u * u / (2 * PRIOR_SD**2 * len(y))

    best = np.exp(-minimize_scalar(nll, bounds=(-3, 3), method="bounded", options={"xatol": 1e-9}).x)
    assert report.fits["temperature", "nll"].temperature_ == pytest.approx(best, rel=1e-6)


# --- options --------------------------------------------------------------------------------


def test_options_that_are_not_there_do_not_move_the_fit(reports):
    report = reports["options"]
    z, y = report.fitted_on.logits, report.fitted_on.labels
    rows = [row[row > MISSING / 2] for row in z]

    def nll(u):
        losses = [-log_softmax(row * np.exp(u))[label] for row, label in zip(rows, y, strict=True)]
        return np.mean(losses) + u * u / (2 * PRIOR_SD**2 * len(y))

    best = minimize_scalar(nll, bounds=(-3, 3), method="bounded", options={"xatol": 1e-9})
    fit = report.fits["temperature", "nll"]
    assert fit.temperature_ == pytest.approx(np.exp(-best.x), rel=1e-6)
    assert fit.objective_ == pytest.approx(best.fun, rel=1e-9)
    wide = TemperatureScaling(prior_sd=PRIOR_SD).fit(np.pad(z, ((0, 0), (0, 50)), constant_values=MISSING), y)
    assert wide.temperature_ == pytest.approx(fit.temperature_, rel=1e-9)


def test_the_ece_of_options_is_that_of_each_row(reports):
    report = reports["options"]
    assert {method.name for method in report.fits} == {"temperature", "focal-temperature"}
    fit = TemperatureScaling("ece").fit(report.fitted_on.logits, report.fitted_on.labels)
    rows = [row[row > MISSING / 2] for row in report.fitted_on.logits]
    confidence = np.array([softmax(row / fit.temperature_).max() for row in rows])
    correct = np.array([row.argmax() == label for row, label in zip(rows, report.fitted_on.labels, strict=True)])
    bins = np.clip(np.ceil(confidence * 15).astype(int) - 1, 0, 14)
    gaps = [abs((confidence - correct)[bins == b].sum()) for b in range(15)]
    assert fit.objective_ == pytest.approx(sum(gaps) / len(rows), abs=1e-9)


@pytest.mark.parametrize("key", [("temperature", "nll"), ("focal-temperature", "nll")])
def test_any_number_of_options_and_0_where_none_is(reports, key):
    fit = reports["options"].fits[key]
    fit.layout_ = "options"
    new = np.array([[1, 2, np.nan, -np.inf, 0, 3, 1], [5, 1, 2, 3, 4, 0, 1], [0, 9, *[np.nan] * 5]])
    found = apply_to_scores(fit, new)
    assert (found[~np.isfinite(new)] == 0).all()
    np.testing.assert_allclose(found.sum(-1), 1)
    np.testing.assert_allclose(found[2, :2], apply_to_scores(fit, new[2:, :2])[0])
    if fit.gamma_ == 0:
        np.testing.assert_allclose(found[0, [0, 1, 4, 5, 6]], softmax(np.array([1, 2, 0, 3, 1]) / fit.temperature_))


def test_methods_with_parameters_for_each_column_are_refused_for_options():
    with pytest.raises(ValueError, match=r"a column is another option in every sample. Got vector, isotonic"):
        calibrate((ROWS, RIGHT), "vector,isotonic")
    assert {method.name for method in calibrate((ROWS, RIGHT), "all", resamples=50).fits} == {
        "temperature",
        "focal-temperature",
    }


def test_labels_of_other_rows_are_suspicious_where_columns_mean_nothing(reports):
    assert not reports["options"].suspicions
    shuffled = [int(RNG.integers(0, len(row))) for row in ROWS]
    with pytest.raises(ValueError, match="say no more of the labels than of labels in a random order"):
        calibrate((ROWS, shuffled))


def test_groups_in_both_sets_are_said():
    z, y = RNG.normal(size=(400, 3)) * 4, RNG.integers(0, 3, 400)
    groups = np.arange(400) // 4
    with pytest.raises(ValueError, match="50 of the 100 groups of the test set stand among those to fit on, too"):
        calibrate(((z, classes_drawn(z, 1)), (z + 0.5, y)), groups=(groups, groups + 50))


# --- refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "new", "message"),
    [
        ("binary", MANY, r"scores of binary must have the 2 classes of fit, shape \(n,\), .* Got \(300, 4\)"),
        ("multi-label", MAPS, r"shape \(n, L\)\. Got \(10, 3, 12, 12\)"),
        ("segmentation", MAPS[:, :2], r"shape \(N, 3, H, W\)"),
        ("tokens", MAPS, r"shape \(B, T, 3\)"),
        ("options", BINARY, r"shape \(n, K\), K any number"),
        ("options", np.array([[1, np.nan]]), "at least two options in every sample"),
        ("binary", np.array([np.nan]), "scores must be finite"),
    ],
)
def test_other_shapes_are_refused(reports, layout, new, message):
    with pytest.raises(ValueError, match=message):
        apply_to_scores(reports[layout].calibrator, new)


def test_scores_are_taken_for_what_was_fitted_on(tmp_path):
    """Probabilities of one class, which as logits would all come out near a half."""
    p = expit(BINARY)
    fit = calibrate((p, drawn(BINARY)), given="probs", keep="temperature", **FAST).calibrator
    save_calibrator(fit, tmp_path / "c.json")
    loaded = load_calibrator(tmp_path / "c.json")
    assert loaded.given_ == "probs"
    np.testing.assert_allclose(apply_to_scores(loaded, p), expit(BINARY / fit.temperature_), rtol=1e-9)
    np.testing.assert_allclose(apply_to_scores(loaded, BINARY, "logits"), expit(BINARY / fit.temperature_), rtol=1e-9)
    np.save(tmp_path / "p.npy", p)
    apply_calibrator(loaded, tmp_path / "p.npy", tmp_path / "out.npy")
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), apply_to_scores(loaded, p), rtol=1e-9)


def test_two_classes_take_scores_of_one(tmp_path):
    z = np.stack([np.zeros(800), BINARY], -1)
    fit = TemperatureScaling().fit(z, drawn(BINARY))
    np.testing.assert_allclose(apply_to_scores(fit, BINARY), fit.predict_proba(z)[:, 1])
    save_calibrator(fit, tmp_path / "c.json")
    assert load_calibrator(tmp_path / "c.json").layout_ == "classes"


def test_zeros_among_the_votes_of_a_forest_decide_no_fit(tmp_path):
    """200 trees, 2 % events: the fits read a 0 as half a vote, and what the votes say as given is judged as it is."""
    random = np.random.default_rng(0)
    true = expit(random.normal(size=6_000) * 1.5 - 5)
    votes, labels = random.binomial(200, true**1.3) / 200, (random.random(6_000) < true).astype(int)
    assert labels[votes == 0].sum() == 14
    report = calibrate((votes, labels), "temperature,platt", given="probs", resamples=50)
    readers = "the fits, and slope and intercept,"
    read = f"{(votes == 0).sum():,} of 6,000 samples have a probability of 0, which {readers} read as 0.0025."
    assert read in report.notes
    given = report.metrics.query("method == 'as given'").set_index("metric")["value"]
    assert given["observed/expected"] == pytest.approx(labels.sum() / votes.sum())
    assert f"O/E {given['observed/expected']:.2f}" in check((votes, labels), 0.01, given="probs").words
    save_calibrator(report.calibrator, tmp_path / "c.json")
    fit = load_calibrator(tmp_path / "c.json")
    found = apply_to_scores(fit, votes)
    losses = [-np.where(labels, np.log(p), np.log1p(-p)).mean() for p in (found, true)]
    assert losses[0] < 1.1 * losses[1] < given["nll"] / 3
    assert apply_to_scores(fit, np.zeros(1)) == found[votes == 0][0]  # whatever else is there
    logits = log_softmax(np.stack([0 * votes, np.log(np.maximum(votes, 1e-9) / (1 - votes))], -1), -1)
    np.testing.assert_allclose(fit.to_module()(torch.tensor(logits))[:, 1].numpy(), found, rtol=1e-9)

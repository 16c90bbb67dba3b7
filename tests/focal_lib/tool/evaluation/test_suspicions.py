"""What looks wrong is refused with its likely cause, and what is right is not."""

import numpy as np
import pytest
from scipy.special import softmax

from focal_lib.calibration.logit_sets import LogitSet, convert
from focal_lib.tool import calibrate
from focal_lib.tool.evaluation.suspicions import (
    FAR,
    find_cautions,
    find_suspicions,
    read_pairing,
    swapped_classes,
)
from focal_lib.tool.gate import Outcome, check


@pytest.fixture(scope="module")
def sample():
    """Logits (2000, 10) of an overconfident model with their labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 2000)
    z = rng.normal(size=(2000, 10)) * 1.2
    z[np.arange(2000), y] += rng.normal(2.5, 1.5, 2000)
    return 2 * z, y


def found_in(z, y, given="logits", **of_samples):
    data = LogitSet(z, y, **of_samples)
    return find_suspicions(data, data, given, one_set=True)


def in_two_columns(score, y):
    return LogitSet(np.c_[np.zeros(len(y)), score], y, layout="binary")


def away(data):
    return read_pairing(data).away


def found_swapped(data):
    return swapped_classes(data, read_pairing(data).predicted)


def one_hot(numbers, k):
    return np.eye(k)[numbers]


def never_wrong(z, y):
    right = z.argmax(1) == y
    return z[right], y[right]


def shuffled(z, y):
    return z, np.random.default_rng(1).permutation(y)


def prediction_beside(z, y):
    return np.c_[z[:, 0], z[:, 0] > 0], (y == 0).astype(np.int64)


WRONG = [
    (shuffled, "samples and labels in the same order"),
    (lambda z, y: (z[:, np.random.default_rng(1).permutation(10)], y), "Classes have changed places"),
    (lambda z, y: (z[:, [1, 0, *range(2, 10)]], y), "0 has 1, 1 has 0"),
    (lambda z, y: (z[y < 9], y[y < 9] + 1), "do the labels count from 1"),
    (lambda z, y: (np.c_[np.arange(len(z)), z], y), "as an index does"),
    (lambda z, y: (np.c_[np.full(len(z), z.min()), z], y), "does another column come first"),
    (lambda z, y: (-z, y), "sign of the scores turned"),
    (lambda z, y: (np.round(softmax(z, 1), 2), y), r"All numbers lie in \[0, 1\]"),
    (lambda z, y: (np.round(100 * softmax(z, 1), 1), y), "numbers sum to 100 in every sample.*--given probs"),
    (lambda z, y: (np.c_[z, y], y), r"^Column 10 is the label of each of the 2,000 samples: leave it out"),
    (lambda z, y: (np.c_[np.round(z), y], y), r"^Column 10 is the label of each of the 2,000 samples: leave it out"),
    (
        lambda z, y: (np.c_[z.argmax(1), z], y),
        r"^Column 0 is the prediction of the others.*2,000 samples",
    ),
    (
        lambda z, y: (np.c_[z, z.argmax(1) == y], y),
        r"^Column 10 holds whole numbers alone, from 0 to 1, and",
    ),
    (prediction_beside, r"^Column 1 holds whole numbers alone"),
    (never_wrong, "is misclassified: the best temperature tends to 0"),
]


@pytest.mark.parametrize(("change", "words"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_refused_with_its_cause(sample, change, words):
    with pytest.raises(ValueError, match=rf"(?s){words}.*Nothing was fitted"):
        calibrate(change(*sample), "temperature", resamples=50)


def test_what_is_right_passes(sample):
    z, y = sample
    assert found_in(z, y) == []
    assert found_in(z[:30], y[:30]) == []
    assert found_in(1e300 * z, y) == []
    assert found_in(np.round(z), y) == []


@pytest.mark.parametrize(
    ("change", "given"),
    [
        (np.round, "logits"),  # a quantised network
        (lambda z: np.round(2 * z) / 2, "logits"),
        (lambda z: np.c_[np.zeros(len(z)), z[:, 1:] - z[:, :1]], "logits"),  # the first class as reference
        (lambda z: z - np.log(np.exp(z).sum(1, keepdims=True)), "log-probs"),
        (lambda z: np.maximum(z, 0), "logits"),
        (lambda z: 5 * one_hot(z.argmax(1), 10), "logits"),
        (lambda z: 100 * one_hot(z.argmax(1), 10), "logits"),
        (lambda z: np.sign(z - z.mean()), "logits"),
        (lambda z: z.argsort(1).argsort(1), "logits"),  # ranks
        (lambda z: (1e3 * z).astype(np.float16), "logits"),
    ],
)
def test_unusual_logits_are_not_refused(sample, change, given):
    z, y = sample
    assert found_in(change(z), y, given) == []


def test_binary_scores_of_whole_numbers_are_not_refused(sample):
    z, y = sample
    y = (y == 0).astype(np.int64)
    for score in (np.round(z[:, 0]), np.sign(z[:, 0] - 3), 2.0 * (z[:, 0] > 3) - 1):
        assert find_suspicions(*[in_two_columns(score, y)] * 2, one_set=True) == []
    right = np.arange(200) % 2  # predictions without a mistake, one-hot: column 1 is the label, and a class
    words = found_in(one_hot(right, 2), right)
    assert not any("Column" in text for text in words)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_one_hot_predictions_are_classes(k):
    rng = np.random.default_rng(k)
    for _ in range(20):
        z, y = one_hot(rng.integers(0, k, 60), k), rng.integers(0, k, 60)
        assert not any("Column" in text for text in found_in(3 * z, y))


@pytest.mark.parametrize("most", [100, 40])
def test_one_column_of_percentages(most):
    """Where none is above 50, labels tell: of scores from 0 up every sample is predicted."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, 1000) * most / 100
    y = (rng.random(1000) < p).astype(np.int64)
    words = find_suspicions(*[in_two_columns(np.round(100 * p, 1), y)] * 2, one_set=True)[0]
    assert "lie in [0, 100], from 0" in words
    assert "divide by 100 and say --given probs" in words
    positive = (rng.random(1000) < 1 / (1 + np.exp(-12 * p))).astype(np.int64)
    assert (
        find_suspicions(*[in_two_columns(12 * p, positive)] * 2, one_set=True) == []
    )  # all positive, and most labels are


def test_one_column_of_probabilities_names_the_option(sample):
    z, y = sample
    p = 1 / (1 + np.exp(-z[:, 0]))
    rare = in_two_columns(p**4, (y == 0).astype(np.int64))  # as logits all are predicted, mostly wrongly
    (words,) = find_suspicions(rare, rare, one_set=True)
    assert words.startswith("All numbers lie in [0, 1]")
    assert "say --given probs if they are the probability of the positive class" in words
    assert f"from {(p**4).min():.3g} to" in words


def test_a_column_is_named_and_can_be_kept(sample):
    z, y = sample
    assert len(found_in(*prediction_beside(z, y))) == 1  # what the pairing says of such columns is another cause
    pair, names = (np.c_[z, y], y), (*"abcdefghij", "true")
    found = check(pair, 0.9, class_names=names)
    assert found.outcome is Outcome.INVESTIGATE
    assert found.words.startswith("Investigate: Column 'true' is the label of each of the 2,000 samples")
    assert "Column 'true'" not in check(pair, 0.9, class_names=names, force=True).words


def test_a_rare_class_is_no_chance():
    """A model that always predicts the frequent class can be right as often as chance, and say much."""
    rng = np.random.default_rng(0)
    score = rng.normal(-4, 1, 3000)
    y = (rng.random(3000) < 1 / (1 + np.exp(-score))).astype(np.int64)
    assert found_in(np.c_[np.zeros(3000), score], y) == []


def test_it_can_be_gone_on_and_is_said(sample):
    report = calibrate(shuffled(*sample), "temperature", resamples=50, force=True)
    assert "samples and labels in the same order" in report.notes[0]
    assert report.provenance["options"].endswith("force True")


def test_test_samples_that_were_fitted_on(sample):
    z, y = sample
    with pytest.raises(ValueError, match=r"500 of 1,000 test samples stand among those to fit on"):
        calibrate(((z[:1000], y[:1000]), (z[500:1500], y[500:1500])), "temperature", resamples=50)


def test_association_is_a_standard_score_under_a_random_pairing(sample):
    z, y = sample[0][:300], sample[1][:300]
    rng = np.random.default_rng(0)
    scores = [away(LogitSet(z, rng.permutation(y))) for _ in range(400)]
    assert abs(np.mean(scores)) < 0.2
    assert np.std(scores) == pytest.approx(1, abs=0.15)
    assert max(map(abs, scores)) < FAR
    assert away(LogitSet(z, y)) > 10


def test_association_by_its_definition(sample):
    z, y = sample[0][:40], sample[1][:40]
    s = z - np.log(np.exp(z).sum(1, keepdims=True))
    pairs = s[:, y]  # of sample i with the label of sample j
    centred = pairs - pairs.mean(1, keepdims=True) - pairs.mean(0) + pairs.mean()
    expected = (np.trace(pairs) - 40 * pairs.mean()) / np.sqrt((centred**2).sum() / 39)
    assert away(LogitSet(z, y)) == pytest.approx(expected, rel=1e-9)


def test_predictions_that_are_all_alike_say_nothing():
    data = LogitSet(np.zeros((100, 3)), np.arange(100) % 3)
    assert away(data) == 0.0


def test_classes_confused_now_and_then_have_not_changed_places(sample):
    z, y = sample
    assert found_swapped(LogitSet(z, y)) == {}
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.4, (y + 1) % 10, y)
    assert found_swapped(LogitSet(z, noisy)) == {}


def with_weights(sample, scale):
    """Five classes of the ten, small logits, and a column of weights that nobody named."""
    z, y = sample
    few = y < 5
    weights = np.random.default_rng(2).uniform(0.3, 1.7, few.sum())
    return np.c_[z[few, :5] * scale, weights], y[few]


@pytest.mark.parametrize("scale", [0.05, 0.3])
def test_a_column_that_many_predict_and_no_label_is(sample, scale):
    z, y = with_weights(sample, scale)
    names = (*"abcde", "w")
    with pytest.raises(
        ValueError, match=r"Column 'w' is the prediction of .* and no label is it.*--weights w.*--force"
    ):
        calibrate((z, y), "temperature", resamples=50, class_names=names)
    assert check((z, y), 0.05, class_names=names).outcome is Outcome.INVESTIGATE
    (words,) = found_in(z, y)
    assert words.startswith("Column 5 is the prediction of")
    report = calibrate((z, y), "temperature", resamples=50, class_names=names, force=True)
    assert "Column 'w'" in report.notes[0]


def test_other_columns_without_a_label_are_named(sample):
    z, y = with_weights(sample, 0.05)
    (words,) = found_in(np.c_[z, np.full(len(z), -9.0)], y, class_names=(*"abcde", "w", "site"))
    assert "no label is it, nor 'site':" in words


def test_classes_that_are_seldom_predicted_may_have_no_label(sample):
    z, y = sample
    there = y != 9
    assert (z[there].argmax(1) == 9).sum() >= 5
    few = z[there][:100], y[there][:100]
    assert (few[0].argmax(1) == 9).sum() > 0
    assert found_in(*few) == []


def test_a_class_predicted_over_few_images_may_have_no_label():
    """A thousand pixels of two images are no thousand times."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 10_000)
    z = rng.normal(size=(10_000, 4))
    z[np.arange(10_000), y] += 3
    z[:1000, 3] += 20
    images = np.arange(10_000) // 500
    assert found_in(z, y, groups=images) == []
    (words,) = found_in(z, y)
    assert "Column 3" in words


def test_fewer_right_than_at_random(sample):
    """Every label in the second place says much of the label, and is never right."""
    z, y = np.minimum(sample[0], 8.0), sample[1]
    z[np.arange(len(y)), y] = 8.0
    z[np.arange(len(y)), (y + np.random.default_rng(3).integers(1, 10, len(y))) % 10] = 8.5
    (words,) = found_in(z, y)
    assert "fewer than of a guess at random among 10 classes" in words


def test_a_model_trained_with_balanced_classes_is_right_less_often_than_the_commonest_class():
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.01).astype(np.int64)
    score = np.where(y, 1.5, -1.5) + rng.normal(0, 1.5, 20_000)
    assert ((score > 0) == y).mean() < 0.9
    assert found_in(np.c_[np.zeros(20_000), score], y) == []


def test_models_of_rare_events_that_say_little_are_not_refused():
    """Right pairs; but what 1 % of events can show is less than the distance to a random order that others have."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        logit = rng.standard_normal(1000) - 4.9
        y = (rng.random(1000) < 1 / (1 + np.exp(-logit))).astype(np.int64)
        data = LogitSet(np.stack([np.zeros(1000), logit], 1), y)
        assert find_suspicions(data, data, one_set=True, fitted=False) == []


@pytest.fixture(scope="module", params=[2, 10, 100])
def sure_probabilities(request):
    """Probabilities (4000, K) of a model whose logits are three times too large, with their labels."""
    k, n = request.param, 4000
    rng = np.random.default_rng(k)
    z = rng.normal(size=(n, k)) * 3
    y = (z + rng.gumbel(size=z.shape)).argmax(1)
    p = np.exp(3 * (z - z.max(1, keepdims=True)))
    return p / p.sum(1, keepdims=True), y


def as_set(p, y):
    return LogitSet(convert(p, "probs"), y)


def said_of(p, y):
    """Suspicions and cautions."""
    data = as_set(p, y)
    return find_suspicions(data, data, "probs", one_set=True), find_cautions(data, data, "probs")


@pytest.mark.parametrize("decimals", [3, 4, 5])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rounded_probabilities_are_refused_with_their_cause(sure_probabilities, decimals, kind):
    p, y = sure_probabilities
    rounded = np.round(p, decimals)
    none = rounded[np.arange(len(y)), y] == 0
    found, cautions = said_of(rounded.astype(kind), y)
    if p.shape[1] == 2 and decimals == 3:  # a forest of a thousand trees has such votes, too
        assert found == []
        assert cautions[0].startswith(f"{none.sum()} of 4,000 labels had probability 0")
        return
    assert found[0].startswith(f"The probabilities are rounded to {decimals} decimals, and {none.sum():,} of 4,000")
    assert cautions == []
    assert said_of(rounded[~none], y[~none])[0] == []  # that no label meets


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_probabilities_as_they_are_pass_but_of_half_precision(sure_probabilities, kind):
    p, y = sure_probabilities
    found, cautions = said_of(p.astype(kind), y)
    half = [text.startswith("The probabilities are rounded to half precision (float16)") for text in found]
    assert (half, cautions) == ([True] if kind is np.float16 else [], [])


@pytest.mark.parametrize("trees", [1, 16, 80, 100, 300])
def test_zeros_of_a_forest_are_a_caution(sure_probabilities, trees):
    """Votes of trees are multiples of one part in so many, and no rounding; of one tree they are one-hot."""
    p, y = sure_probabilities
    votes = np.random.default_rng(0).multinomial(trees, p) / trees
    zeros = int((votes[np.arange(len(y)), y] == 0).sum())
    assert zeros
    found, cautions = said_of(votes, y)
    assert found == []
    assert cautions[0].startswith(f"{zeros:,} of 4,000 labels had probability 0")


def test_what_is_cautioned_of_is_in_the_report(sure_probabilities):
    p, y = sure_probabilities
    votes = np.random.default_rng(0).multinomial(20, p) / 20
    report = calibrate((votes, y), "temperature", resamples=50, given="probs")
    assert any("labels had probability 0" in note for note in report.notes)
    with pytest.raises(ValueError, match=r"rounded to 4 decimals.*Nothing was fitted.*--force"):
        calibrate((np.round(p, 4), y), "temperature", resamples=50, given="probs")
    forced = calibrate((np.round(p, 4), y), "temperature", resamples=50, given="probs", force=True)
    assert "rounded to 4 decimals" in forced.notes[0]
    assert not any("had probability 0" in note for note in forced.notes)
    assert check((np.round(p, 4), y), 0.4, given="probs").outcome is not Outcome.INVESTIGATE  # its ECE is right

"""Tables over the epochs against slow definitions; networks looked at while they train, against runs and autograd."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import softmax

from focal_lib.losses import FocalLoss
from focal_lib.metrics.bins import ece
from reproduction.engine.fit import do_epoch, final_logits, prepare
from reproduction.engine.spec import Spec
from reproduction.engine.store import Logits
from reproduction.studies.epochs import while_training
from reproduction.studies.epochs.while_training import Followed, Snapshot, follow


def snapshot(epoch, seed, scale):
    rng = np.random.default_rng([epoch, seed])
    parts = []
    for n in (12, 30):
        labels = rng.integers(0, 4, n)
        parts.append(Logits((scale * (np.eye(4)[labels] + rng.standard_normal((n, 4)))).astype(np.float32), labels))
    return Snapshot(epoch, *parts, rng.random(12), 2.0 + epoch)


@pytest.fixture(scope="module")
def followed():
    return [
        Followed(Spec(gamma=gamma, seed=seed), tuple(snapshot(e, seed, 6 - gamma) for e in range(3)))
        for seed in (0, 1)
        for gamma in (0, 3)
    ]


def test_final_gaps_are_those_of_the_last_epoch_of_each_run(make_result):
    short, long = make_result("focal", 0), make_result("focal", 1, gamma=3)
    columns = {"epoch": [1, 2, 2], "split": ["train", "test", "train"]}
    numbers = {"accuracy": [0.1, 0.5, 0.9], "confidence": [0.2, 0.625, 0.75]}
    history = pd.DataFrame(columns | numbers)
    runs = [replace(long, history=history), replace(short, history=history[:2])]
    assert while_training.final_gaps(runs, "train")["gap"].tolist() == pytest.approx([-0.15, 0.1])
    of_test = while_training.final_gaps(runs, "test")
    assert of_test[["loss", "gamma", "seed"]].to_numpy().tolist() == [
        ["focal 3", 3, 1],
        [short.spec.label, short.spec.gamma, 0],
    ]
    assert of_test["gap"].tolist() == pytest.approx([0.125, 0.125])


def test_the_ece_of_histories_is_that_of_equal_width_where_every_row_has_it():
    before = pd.DataFrame({"epoch": [1, 2], "adaptive_ece": [0.1, 0.2]})
    now = before.assign(ece=[0.1, 0.3])
    assert while_training.ece_of_histories(now) == ("equal width", "ece")
    for lacking in (before, pd.concat([before, now]), now.assign(ece=[np.nan, 0.3])):
        assert while_training.ece_of_histories(lacking) == ("equal mass", "adaptive_ece")


def test_a_snapshot_against_sample_by_sample(followed):
    frame = while_training.describe_followed(followed)
    assert len(frame) == 12
    row = frame[(frame["gamma"] == 3) & (frame["seed"] == 1) & (frame["epoch"] == 2)].iloc[0]
    part = followed[3].snapshots[2].train
    true, norms, wrong = [], [], 0
    for logits, label in zip(part.logits.astype(float), part.labels, strict=True):
        true.append(softmax(logits)[label])
        norms.append(np.sqrt(((logits - logits.mean()) ** 2).sum()))
        wrong += logits.argmax() != label
    assert row["true_class"] == pytest.approx(np.mean(true))
    assert row["logit_norm"] == pytest.approx(np.mean(norms))
    assert row["train_error"] == pytest.approx(wrong / 12)
    assert row["weight_norm"] == 4.0
    part, by_hit = followed[3].snapshots[2].test, {True: [], False: []}
    for logits, label in zip(part.logits.astype(float), part.labels, strict=True):
        by_hit[bool(logits.argmax() == label)].append(softmax(logits)[label])
    assert row["test_error"] == pytest.approx(len(by_hit[False]) / 30)
    assert row["true_class_right"] == pytest.approx(np.mean(by_hit[True]))
    assert row["true_class_wrong"] == pytest.approx(np.mean(by_hit[False]))
    assert row["gradient_norm"] == np.median(followed[3].snapshots[2].gradient_norms)


def test_without_a_mistake_nothing_is_said_of_mistakes(followed):
    snap = followed[0].snapshots[0]
    labels = snap.test.logits.argmax(-1)
    for shift, nothing in ((0, "true_class_wrong"), (1, "true_class_right")):
        test = Logits(snap.test.logits, (labels + shift) % 4)
        only = Snapshot(0, snap.train, test, snap.gradient_norms, 2.0)
        row = while_training.describe_followed([Followed(Spec(), (only,))]).iloc[0]
        both = row[["true_class_right", "true_class_wrong"]]
        assert both.index[both.isna()].tolist() == [nothing]


def test_the_norm_of_logits_knows_nothing_of_what_the_softmax_ignores(followed):
    snap = followed[0].snapshots[0]
    moved = Snapshot(0, Logits(snap.train.logits + 5, snap.train.labels), snap.test, snap.gradient_norms, 2.0)
    one, two = (while_training.describe_followed([Followed(Spec(), (s,))])["logit_norm"][0] for s in (snap, moved))
    assert one == pytest.approx(two, rel=1e-6)


def test_bands_go_from_the_lowest_seed_to_the_highest_in_the_order_of_gamma(followed):
    frame = while_training.describe_followed(reversed(followed))
    bands = while_training.over_seeds_by_epoch(frame, ["true_class"])["true_class"]
    assert list(bands) == ["cross-entropy", "focal 3"]
    epochs, mean, low, high = bands["focal 3"]
    assert epochs.tolist() == [0, 1, 2]
    values = frame[(frame["gamma"] == 3) & (frame["epoch"] == 1)]["true_class"]
    assert (low[1], high[1]) == (values.min(), values.max())
    assert mean[1] == pytest.approx(values.mean())


def test_less_cross_entropy_is_paired_by_seed_and_epoch(followed):
    frame = while_training.describe_followed(followed)
    less = while_training.minus_cross_entropy(frame, ["true_class"]).sample(frac=1, random_state=0)
    assert set(less["loss"]) == {"focal 3"}
    for _, row in less.iterrows():
        pair = frame[(frame["seed"] == row["seed"]) & (frame["epoch"] == row["epoch"])].set_index("gamma")["true_class"]
        assert row["true_class"] == pytest.approx(pair[3.0] - pair[0.0])


def test_a_loss_with_gamma_0_is_not_taken_for_cross_entropy(followed):
    others = [Spec(loss="flsd-53"), Spec(loss="dual-focal", gamma=3), Spec(loss="focal-scheduled-531")]
    frame = while_training.describe_followed(followed)
    mixed = while_training.describe_followed([*(replace(followed[0], spec=spec) for spec in others), *followed])
    asked = (while_training.minus_cross_entropy(table, ["true_class"]) for table in (frame, mixed))
    pd.testing.assert_frame_equal(*asked)


def test_a_seed_has_no_part_in_choosing_its_epoch():
    rows = [(seed, epoch) for seed in range(3) for epoch in (5, 10, 15)]
    frame = pd.DataFrame(rows, columns=["seed", "epoch"])
    frame["nll"] = [9.0, 0.0, 9.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0]  # the first seed's is lowest at epoch 10
    assert while_training.lowest_epoch(frame, "nll", 0) == 15
    assert while_training.lowest_epoch(frame, "nll", 1) == 10
    assert while_training.lowest_epoch(frame[frame["seed"] == 0], "nll", 0) == 10  # alone, by itself


def test_bins_of_all_seeds_are_those_of_their_samples_together(followed):
    bins = while_training.reliability_by_epoch(followed, "focal 3", [1, 2])
    assert list(bins) == ["epoch 1", "epoch 2"]
    parts = [f.snapshots[1].test for f in followed if f.spec.gamma == 3]
    probs = softmax(np.concatenate([p.logits for p in parts]).astype(float), -1)
    labels = np.concatenate([p.labels for p in parts])
    found = bins["epoch 1"]
    assert found.count.sum() == 60
    assert (found.count * np.abs(found.gap)).sum() / 60 == pytest.approx(ece(probs, labels, while_training.BINS))


def test_gradient_norms_of_all_seeds(followed):
    norms = while_training.gradient_norms_at(followed, 2)
    assert {loss: len(values) for loss, values in norms.items()} == {"cross-entropy": 24, "focal 3": 24}
    assert norms["focal 3"][:12] == pytest.approx(followed[1].snapshots[2].gradient_norms)


def test_histories_keep_one_split_in_order(made_results):
    history = pd.DataFrame({"split": ["test", "train", "test"], "epoch": [10, 5, 5], "nll": [1.0, 2.0, 3.0]})
    runs = [type(r)(r.spec, history, r.validation, r.test, r.train) for r in made_results[3:5]]
    frame = while_training.histories(runs)
    assert frame["nll"].tolist() == [3.0, 1.0, 3.0, 1.0]
    assert frame["loss"].tolist() == ["cross-entropy"] * 2 + ["focal 3"] * 2
    assert frame["seed"].tolist() == [3, 3, 0, 0]


def of_losses(ours, theirs, epochs=(1, 2, 3, 4)):
    rows = [("focal 3", ours), ("cross-entropy", theirs)]
    return pd.DataFrame([(loss, e, v) for loss, values in rows for e, v in zip(epochs, values, strict=False)]).set_axis(
        ["loss", "epoch", "ece"], axis="columns"
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([4, 1, 3, 1], [2, 2, 2, 2], 4),  # what is lower once and then not does not count
        ([4, 4, 1, 1], [2, 2, 2, 2], 3),
        ([1, 1, 1, 1], [2, 2, 2, 2], 1),
        ([1, 1, 1, 2], [2, 2, 2, 2], None),  # equal is not lower
    ],
)
def test_from_which_epoch_on_a_loss_is_lower(ours, theirs, expected):
    found = while_training.lower_from(of_losses(ours, theirs), "ece", "focal 3", "cross-entropy")
    assert found == expected


def test_lower_from_wants_the_same_epochs():
    with pytest.raises(ValueError, match=r"the same epochs of focal 3 and cross-entropy. Got 4 and 3"):
        while_training.lower_from(of_losses([1] * 4, [2] * 3), "ece", "focal 3", "cross-entropy")


def test_reliability_of_kept_epochs_pools_the_seeds_at_each_and_ends_with_the_last(make_result):
    runs = [make_result("focal", seed, gamma=3) for seed in (0, 1)]
    last = runs[0].spec.training.epochs
    early = [Logits(0.1 * run.test.logits, run.test.labels) for run in runs]
    kept = [replace(run, test_by_epoch={2: part}) for run, part in zip(runs, early, strict=True)]
    found = while_training.reliability_of_kept([*kept, make_result("focal", 0)], "focal 3")
    assert list(found) == [2, last]
    for parts, bins in zip((early, [run.test for run in runs]), found.values(), strict=True):
        probs = softmax(np.concatenate([part.logits for part in parts]).astype(float), -1)
        labels = np.concatenate([part.labels for part in parts])
        error = (bins.count * np.abs(bins.gap)).sum() / len(labels)
        assert error == pytest.approx(ece(probs, labels))
    with pytest.raises(ValueError, match=r"one of flsd-53. Got none"):
        while_training.reliability_of_kept(kept, "flsd-53")


def test_what_is_followed_is_what_a_run_trains(small):
    """To the last bit: the looks in between draw no random numbers and leave the weights alone."""
    specs = [small(gamma=gamma, seed=seed, model="mlp") for seed in (0, 1) for gamma in (0, 2)]
    for spec, found in zip(specs, follow(specs), strict=True):
        assert found.spec == spec
        assert [snap.epoch for snap in found.snapshots] == list(range(spec.training.epochs + 1))
        trainer, parts = prepare(spec, "cpu")
        rows = [row for _ in range(spec.training.epochs) for row in do_epoch(spec, trainer, parts)]
        arrays, last = final_logits(trainer, parts), found.snapshots[-1]
        assert np.array_equal(last.train.logits, arrays["train_logits"])
        assert np.array_equal(last.test.logits, arrays["test_logits"])
        assert np.array_equal(last.test.labels, arrays["test_labels"])
        (row,) = [r for r in rows if r["epoch"] == 4 and r["split"] == "train"]
        assert last.weight_norm == row["weight_norm"]
        assert np.quantile(last.gradient_norms, 0.9) == pytest.approx(row["gradient_q90"], rel=1e-5)


def test_losses_of_a_seed_begin_alike_and_then_part(small):
    one, two = (f.snapshots for f in follow([small(gamma=gamma, model="mlp") for gamma in (0, 3)], 1))
    assert np.array_equal(one[0].train.logits, two[0].train.logits)
    assert not np.array_equal(one[1].train.logits, two[1].train.logits)


def test_an_epoch_of_one_batch_is_a_step_of_gradient_descent(small):
    """The first step of SGD with momentum is the gradient, of the mean loss and of the weight decay."""
    spec = small(gamma=2, model="mlp", recipe="cifar-cpu", batch_size=60, learning_rate=0.01)
    after = follow([spec], 1)[0].snapshots[1]
    trainer, parts = prepare(spec, "cpu")
    images, labels = parts["train"]
    loss = FocalLoss(2.0)(trainer.model(images), labels)
    decay = trainer.recipe.weight_decay
    for weight, slope in zip(
        trainer.model.parameters(), torch.autograd.grad(loss, list(trainer.model.parameters())), strict=True
    ):
        weight.data -= 0.01 * (slope + decay * weight.data)
    assert after.train.logits == pytest.approx(trainer.logits(images).numpy(), abs=1e-5)


def test_the_schedule_is_the_specifications_when_less_is_trained(small):
    whole, part = follow([small(model="mlp")])[0], follow([small(model="mlp")], 2, test_samples=7)[0]
    assert len(part.snapshots) == 3
    assert np.array_equal(part.snapshots[2].train.logits, whole.snapshots[2].train.logits)
    # not bitwise: some processors multiply a matrix of few rows in another order
    np.testing.assert_allclose(part.snapshots[2].test.logits, whole.snapshots[2].test.logits[:7], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("options", "message"), [({"epochs": 0}, "epochs"), ({"test_samples": 0}, "test_samples")])
def test_nothing_to_look_at_is_refused(small, options, message):
    with pytest.raises(ValueError, match=message):
        follow([small()], **options)


def test_a_loss_that_learns_from_validation_is_refused(small):
    with pytest.raises(ValueError, match="validation samples"):
        follow([small(loss="adafocal")])

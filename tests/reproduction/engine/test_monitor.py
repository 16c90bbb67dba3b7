"""Rows of the history against slow definitions."""

import numpy as np
import pytest
import torch

from focal_lib.losses import FocalLoss, HessianTraceLoss
from focal_lib.losses.hessian import hessian_trace
from focal_lib.metrics.bins import adaptive_ece
from reproduction.engine import models
from reproduction.engine.monitor import summary
from reproduction.engine.spec import Spec
from reproduction.engine.trainer import Trainer


@pytest.fixture
def trainer():
    def make(loss):
        torch.manual_seed(0)
        return Trainer(models.build("mlp", 1, 6, 4), loss, Spec().training, torch.Generator(), 1)

    return make


def test_history_against_slow_definitions(trainer):
    """Gradient quantiles sample by sample through autograd, norms and entropies from the logits."""
    trained = trainer(FocalLoss(2.0))
    model = trained.model
    images, labels = torch.randn(25, 1, 6, 6), torch.arange(25) % 4
    row = summary(trained, images, labels)
    norms = []
    for image, label in zip(images, labels, strict=True):
        model.zero_grad()
        FocalLoss(2.0)(model(image[None]), label[None]).backward()
        norms.append(float(torch.cat([model[-1].weight.grad.flatten(), model[-1].bias.grad]).norm()))
    for q in (10, 50, 90):
        assert row[f"gradient_q{q}"] == pytest.approx(np.quantile(norms, q / 100), rel=1e-4)
    probs = model(images).detach().double().softmax(-1).numpy()
    wrong = probs.argmax(-1) != labels.numpy()
    assert row["entropy_wrong"] == pytest.approx(-(probs * np.log(probs)).sum(-1)[wrong].mean(), rel=1e-6)
    assert row["nll_right"] == pytest.approx(-np.log(probs.max(-1))[~wrong].mean(), rel=1e-6)
    truth = probs[range(25), labels.numpy()]
    assert row["true_class_right"] == pytest.approx(truth[~wrong].mean(), rel=1e-6)
    assert row["true_class_wrong"] == pytest.approx(truth[wrong].mean(), rel=1e-6)
    assert row["weight_norm"] == pytest.approx(float(model[-1].weight.detach().norm()), rel=1e-6)


def test_history_has_the_ece_of_equal_width_and_that_of_equal_mass(trainer):
    """Equal width bin by bin, (i / 15, (i + 1) / 15], as M20 section 2 has it."""
    trained = trainer(FocalLoss(0.0))
    images, labels = 4 * torch.randn(40, 1, 6, 6), torch.arange(40) % 4
    row = summary(trained, images, labels)
    probs = trained.model(images).detach().double().softmax(-1).numpy()
    confidence, right, by_hand = probs.max(-1), probs.argmax(-1) == labels.numpy(), 0.0
    for i in range(15):
        kept = (confidence > i / 15) & (confidence <= (i + 1) / 15)
        by_hand += abs((confidence[kept] - right[kept]).sum()) / 40
    assert row["ece"] == pytest.approx(by_hand, rel=1e-6)
    assert row["adaptive_ece"] == pytest.approx(adaptive_ece(probs, labels.numpy()), rel=1e-6)
    assert row["ece"] != pytest.approx(row["adaptive_ece"], rel=1e-3)


def test_a_loss_adds_columns_of_its_own(trainer):
    trained, images, labels = trainer(HessianTraceLoss(0.1)), torch.randn(25, 1, 6, 6), torch.arange(25) % 4
    row = summary(trained, images, labels)
    expected = hessian_trace(trained.model, torch.nn.CrossEntropyLoss(), images, labels).value
    assert row["hessian_trace"] == pytest.approx(expected)
    assert "hessian_trace" not in summary(trainer(FocalLoss(0.0)), images, labels)

"""Nothing of a step stays behind on the CPU: shapes, types and devices are worked out as on a GPU, without one."""

import warnings
from dataclasses import replace

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from focal_lib.loss_records import LOSS_RECORDS
from focal_lib.losses.by_name import build
from focal_lib.losses.focal import FocalLoss
from reproduction.engine import models
from reproduction.engine.recipes import RECIPES
from reproduction.engine.trainer import Trainer

GPU = torch.device("cuda:0")
RECIPE = replace(RECIPES["cifar-one-cycle"], batch_size=20)
LOOK_AT_VALUES = {"proper-focal", "hessian-trace"}  # of which there are none here


@pytest.fixture(autouse=True)
def no_gpu():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "CUDA is not available")  # autocast says so
        yield


def step_on_gpu(make_loss):
    """The loss of a step, and the logits after it."""
    with FakeTensorMode():
        with GPU:
            network = models.build("airbench-cnn", 3, 32, 10)
            images, index = torch.empty(100, 3, 32, 32), torch.empty(20, dtype=torch.int64)
            labels, crops = torch.empty(100, dtype=torch.int64), torch.empty(100, 3, dtype=torch.int64)
        trainer = Trainer(network, make_loss(), RECIPE, torch.Generator().manual_seed(0), 100)
        trainer.loss.start_epoch(0)
        return trainer.objective(images, labels, crops, index), trainer.logits(images)


@pytest.mark.parametrize("name", sorted(LOSS_RECORDS.keys() - LOOK_AT_VALUES))
def test_a_step_is_on_one_device(name):
    loss, logits = step_on_gpu(lambda: build(name, 2.0, 0.5, 7))
    assert (loss.device, loss.dtype, loss.shape) == (GPU, torch.float32, ())
    assert (logits.device, logits.dtype, logits.shape) == (GPU, torch.float32, (100, 10))


def test_a_loss_with_weights_on_the_cpu_is_noticed():
    class Wrong(FocalLoss):
        def objective(self, logits, labels, model, generator):
            return super().objective(logits, labels, model, generator) * torch.ones(2).sum(0, keepdim=True)

    with pytest.raises(RuntimeError, match=r"same device|two devices|two different devices"):
        step_on_gpu(lambda: Wrong(2.0))

"""Mixed precision on a CPU: the head and the logits stay float32, and a run resumes bitwise."""

import json

import numpy as np
import pytest
import torch
from torch import nn

from reproduction.engine import fit, models
from reproduction.engine.models.text import TOKEN_MODELS, TREE_MODELS
from reproduction.engine.precision import Float32Linear, autocast, give_float32_head, pick_precision
from reproduction.engine.run import run
from reproduction.engine.spec import Spec

CPU = torch.device("cpu")


def test_auto_is_float32_on_a_cpu():
    assert pick_precision("auto", CPU) == "float32"
    assert pick_precision("auto", torch.device("cuda")) == "bf16"
    assert pick_precision("bf16", CPU) == "bf16"


def made(name):
    with torch.device("meta"):
        if name in models.MODELS[: len(models.images.IMAGE_MODELS)]:
            return models.build(name, 3, 32, 7)
        return (TOKEN_MODELS | TREE_MODELS)[name](50, 7, None)


@pytest.mark.parametrize("name", [name for name in models.MODELS if not name.endswith("-glove")])
def test_the_head_of_every_network_is_the_layer_of_its_classes(name):
    model = made(name)
    weights, names = dict(model.named_parameters()), list(model.state_dict())
    give_float32_head(model)
    (head,) = [module for module in model.modules() if isinstance(module, Float32Linear)]
    assert head.out_features == 7
    assert list(model.state_dict()) == names
    for name, weight in model.named_parameters():
        assert weight is weights[name]  # the optimiser's


def test_logits_are_not_rounded():
    torch.manual_seed(0)
    model, images = models.build("resnet8", 3, 32, 10), torch.randn(20, 3, 32, 32)
    with autocast(CPU, "float32"):
        exact = model(images)
    with autocast(CPU, "bf16"):
        assert model(images).dtype == torch.bfloat16
        give_float32_head(model)
        logits = model(images)
    assert logits.dtype == torch.float32
    assert (logits.bfloat16().float() != logits).float().mean() > 0.9
    torch.testing.assert_close(logits, exact, rtol=0.1, atol=0.05)
    with autocast(CPU, "float32"):
        assert model(images).dtype == torch.float32


@pytest.mark.parametrize("how", [("resnet8", "cifar-cpu"), ("airbench-cnn", "cifar-one-cycle")], ids="-".join)
@pytest.mark.slow
def test_a_run_in_bf16_says_so_and_resumes_bitwise(small, tmp_path, killed, how):
    given = {"model": how[0], "recipe": how[1], "gamma": 2.0}
    spec = small(**given, precision="bf16")
    whole = run(spec, tmp_path / "whole")
    record = json.loads((tmp_path / "whole" / spec.digest / "spec.json").read_text())
    assert record["precision"] == record["spec"]["training"]["precision"] == "bf16"
    assert record["step"] == "plain"
    killed(2, spec, tmp_path / "killed")
    np.testing.assert_array_equal(run(spec, tmp_path / "killed").test.logits, whole.test.logits)
    exact = run(small(**given, precision="float32"), tmp_path / "whole")
    assert np.abs(exact.test.logits - whole.test.logits).max() > 1e-3
    assert (torch.from_numpy(whole.test.logits).bfloat16().float().numpy() == whole.test.logits).mean() < 0.1


def test_precision_names_a_run_only_where_it_is_chosen():
    assert "precision" not in json.dumps(Spec().as_dict)
    digests = {Spec(precision=precision).digest for precision in ("recipe", "float32", "bf16")}
    assert len(digests) == 3
    assert Spec(precision="bf16").command == "focal run -p precision bf16"
    with pytest.raises(ValueError, match=r"precision must be recipe, float32 or bf16. Got 'fp16'"):
        Spec(precision="fp16")


def test_the_features_of_a_row_are_seen_before_the_head():
    """The hook of the monitor finds the same layer."""
    model = models.build("mlp", 1, 4, 3)
    give_float32_head(model)
    assert isinstance([module for module in model.modules() if isinstance(module, nn.Linear)][-1], Float32Linear)


@pytest.fixture
def tf32():
    """The two switches of PyTorch, on."""
    switches = torch.backends.cudnn, torch.backends.cuda.matmul
    before = [switch.allow_tf32 for switch in switches]
    for switch in switches:
        switch.allow_tf32 = True
    yield switches
    for switch, value in zip(switches, before, strict=True):
        switch.allow_tf32 = value


def test_float32_is_float32_on_a_gpu(monkeypatch, tf32):
    monkeypatch.setattr(fit, "pick_device", torch.device)
    monkeypatch.setattr(fit, "load_parts", lambda spec, device, dataset: (None, {"train": ((), ())}))
    monkeypatch.setattr(fit, "fresh_trainer", lambda *given: None)
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    monkeypatch.setattr(torch, "use_deterministic_algorithms", lambda *_, **given: None)
    fit.prepare(Spec(), "cpu")
    assert all(switch.allow_tf32 for switch in tf32)
    assert not torch.utils.deterministic.fill_uninitialized_memory  # all is written before it is read
    fit.prepare(Spec(), "cuda")
    assert not any(switch.allow_tf32 for switch in tf32)

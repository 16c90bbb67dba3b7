"""Steps in three ways: the same numbers, one graph, states that any device can go on from."""

import contextlib
import copy
from dataclasses import replace

import pytest
import torch
from torch._dynamo.utils import counters

from focal_lib.loss_records import LOSS_RECORDS
from focal_lib.losses.by_name import build
from reproduction.engine import models, step
from reproduction.engine.models.text import TreeLSTM
from reproduction.engine.monitor import summary
from reproduction.engine.recipes import RECIPES
from reproduction.engine.step import pick_way, take_step, use_fused_update
from reproduction.engine.trainer import WARM_UP, Trainer
from tests.quick import first_is_quick

CPU, GPU = torch.device("cpu"), torch.device("cuda")
IMAGES = torch.randn(40, 3, 32, 32, generator=torch.Generator().manual_seed(1)).contiguous(
    memory_format=torch.channels_last
)
LABELS = torch.arange(40) % 3
DROPS = replace(RECIPES["kk24-cifar"], epochs=7, drops=(1, 2), batch_size=16)  # full batches, and one of 8
CYCLE = replace(RECIPES["cifar-one-cycle"], epochs=3, batch_size=16)
SCHEDULED = {name for name in LOSS_RECORDS if "scheduled" in name}


def make(way, loss="focal", model="mlp", recipe=DROPS, device=CPU, backend="aot_eager"):
    torch.manual_seed(0)
    network = models.build(model, 3, 32, 3).to(device, memory_format=torch.channels_last)
    generator = torch.Generator().manual_seed(0)
    return Trainer(network, build(loss, 2.0, 0.5, 7), recipe, generator, 40, way, backend)


def train(trainer, epochs=3):
    device = next(trainer.model.parameters()).device
    data = IMAGES.to(device), LABELS.to(device)
    means = []
    for _ in range(epochs):
        means.append(trainer.train_epoch(*data))
        trainer.validate(*data)
        summary(trainer, *data)  # whose hook and evaluation mode must not be another graph
    return means, trainer.logits(data[0])


@pytest.mark.parametrize("loss", first_is_quick(name for name in LOSS_RECORDS if build(name, 2.0, 0.5, 7).one_graph))
def test_a_compiled_step_gives_the_numbers_of_a_plain_one(loss):
    """Over rates, epochs and last batches one graph is made; of a gamma that is scheduled, one for each value."""
    counters.clear()
    means, logits = train(make("compiled", loss))
    assert counters["stats"]["unique_graphs"] == (2 if loss in SCHEDULED else 1)  # gamma 5, then 3
    assert not counters["graph_break"]
    expected, plain = train(make("plain", loss))
    assert means == pytest.approx(expected, rel=1e-5)
    torch.testing.assert_close(logits, plain, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("recipe", first_is_quick([DROPS, CYCLE]), ids=["drops, float32", "one cycle, bf16"])
def test_a_network_with_batch_statistics_is_one_graph(recipe):
    counters.clear()
    compiled = make("compiled", model="airbench-cnn", recipe=recipe)
    with torch._dynamo.config.patch(error_on_recompile=True):
        means, logits = train(compiled)
    assert counters["stats"]["unique_graphs"] == 1
    plain = make("plain", model="airbench-cnn", recipe=recipe)
    expected, exact = train(plain)
    loose = recipe is CYCLE  # sums in another order are rounded to bfloat16
    assert means == pytest.approx(expected, rel=0.05 if loose else 1e-4)
    torch.testing.assert_close(logits, exact, rtol=0.1 if loose else 1e-3, atol=0.1 if loose else 1e-4)
    for name, buffer in plain.model.named_buffers():
        if name.endswith("num_batches_tracked"):
            assert buffer == compiled.model.get_buffer(name) == (9 if recipe is DROPS else 6)


def test_a_loss_that_says_it_is_no_single_graph_is_none():
    """Proper focal loss, which says so too, is one that looks at values: a GPU cannot replay it."""
    assert [name for name in LOSS_RECORDS if not build(name, 2.0, 0.5, 7).one_graph] == [
        "proper-focal",
        "hessian-trace",
    ]
    with pytest.raises((torch._dynamo.exc.TorchDynamoException, RuntimeError)):
        train(make("compiled", "hessian-trace"), epochs=1)


@pytest.mark.slow
def test_a_second_trainer_of_this_process_is_compiled_too():
    """PyTorch gives up on a function after eight graphs of it."""
    with torch._dynamo.config.patch(recompile_limit=1):
        for loss in ("focal", "flsd-53", "brier"):
            counters.clear()
            train(make("compiled", loss), epochs=1)
            assert counters["stats"]["unique_graphs"] == 1


def test_ways(monkeypatch):
    monkeypatch.delenv("FOCAL_STEP", raising=False)
    assert pick_way(CPU, True, True) == "plain"
    assert pick_way(GPU, True, True) == "graph"
    assert pick_way(GPU, True, False) == "compiled"
    monkeypatch.setenv("FOCAL_STEP", "compiled")
    assert pick_way(CPU, True, True) == "plain"
    assert pick_way(GPU, True, True) == "compiled"
    monkeypatch.setenv("FOCAL_STEP", "graph")
    assert pick_way(GPU, TreeLSTM.one_graph, True) == "plain"
    monkeypatch.setenv("FOCAL_STEP", "fast")
    with pytest.raises(ValueError, match=r"FOCAL_STEP must be plain, compiled or graph. Got 'fast'"):
        pick_way(CPU, True, True)


@pytest.fixture
def settled_on_the_cpu(monkeypatch):
    """Trainers whose optimiser is settled here as it would be on a GPU."""
    monkeypatch.setattr(Trainer, "_use_fused_update", lambda trainer: use_fused_update(trainer.optimiser, CPU))
    return monkeypatch


@pytest.mark.parametrize("recipe", [DROPS, replace(CYCLE, precision="float32")], ids=["drops", "one cycle"])
def test_a_rate_on_the_device_follows_the_schedule(recipe, settled_on_the_cpu):
    settled = make("plain", recipe=recipe)
    settled_on_the_cpu.undo()
    plain = make("plain", recipe=recipe)
    rate = settled.optimiser.param_groups[0]["lr"]
    expected, found = train(plain), train(settled)
    assert settled.optimiser.param_groups[0]["lr"] is rate  # where a CUDA graph reads it
    assert float(rate) == pytest.approx(plain.optimiser.param_groups[0]["lr"], rel=1e-6)
    assert float(rate) < 0.0011
    assert found[0] == pytest.approx(expected[0], rel=1e-4)
    torch.testing.assert_close(found[1], expected[1], rtol=1e-3, atol=1e-4)


def test_a_state_tells_no_device(settled_on_the_cpu):
    settled, again = make("plain"), make("plain")
    train(settled, 1)
    again.restore(copy.deepcopy(settled.state()))
    assert isinstance(again.optimiser.param_groups[0]["lr"], torch.Tensor)
    assert train(again, 1)[0] == train(settled, 1)[0]
    settled_on_the_cpu.undo()
    plain, moved = make("plain"), make("plain")
    train(plain, 2)
    assert same_kind(settled.state(), plain.state())
    moved.restore(copy.deepcopy(settled.state()))
    assert same_kind(moved.optimiser.param_groups, plain.optimiser.param_groups)
    assert train(moved, 1)[0] == pytest.approx(train(plain, 1)[0], rel=1e-4)


def same_kind(one, two):
    """The same keys, types and texts at every level."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same_kind(one[name], two[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(same_kind, one, two))
    return type(one) is type(two) and (isinstance(one, torch.Tensor | float) or one == two)


class _Stream:
    """Stands for a CUDA stream."""

    def __init__(self, device=None):
        self.device = device

    def wait_stream(self, other):
        pass


class _Graph:
    """Stands for a CUDA graph of one step: recorded without being done, it is done at each replay.

    While one is recorded nothing can be compiled.
    """

    recorded = 0

    def record(self, objective, optimiser, index, *update):
        compiled = counters["stats"]["unique_graphs"]
        objective(index)
        assert counters["stats"]["unique_graphs"] == compiled
        self.step, self.loss = (objective, optimiser, index, *update), torch.full((), float("nan"))
        _Graph.recorded += 1
        return self.loss

    def replay(self):
        self.loss.copy_(take_step(*self.step))


@pytest.fixture
def graphs_on_the_cpu(monkeypatch):
    """CUDA graphs acted by Python: what is recorded, when, and with which indices it is replayed."""
    monkeypatch.setattr(_Graph, "recorded", 0)

    @contextlib.contextmanager
    def recording(graph, stream):
        with monkeypatch.context() as inside:
            inside.setattr(step, "take_step", graph.record)
            yield

    for name, acted in (("Stream", _Stream), ("CUDAGraph", _Graph), ("graph", recording)):
        monkeypatch.setattr(torch.cuda, name, acted)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: _Stream())
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())


@pytest.mark.parametrize("loss", first_is_quick(["focal", "focal-scheduled-532", "adafocal"]))
@pytest.mark.parametrize(
    "recipe",
    [replace(DROPS, batch_size=6), replace(CYCLE, batch_size=6), replace(CYCLE, batch_size=6, clip_norm=0.02)],
    ids=["keep", "drop", "cut"],
)
def test_a_step_is_recorded_once_an_epoch_and_replayed(graphs_on_the_cpu, recipe, loss):
    replayed = make("graph", loss, recipe=recipe)
    means, logits = train(replayed)
    assert _Graph.recorded == 3
    expected, plain = train(make("compiled", loss, recipe=recipe))
    assert means == expected
    torch.testing.assert_close(logits, plain, rtol=0, atol=0)


def test_what_another_trainer_has_reset_is_compiled_before_it_is_recorded(graphs_on_the_cpu):
    first = make("graph", recipe=replace(DROPS, batch_size=6))
    train(first, 1)
    make("graph")
    train(first, 1)
    assert _Graph.recorded == 2


class Recording:
    """Ends with an error, if there is one."""

    def __init__(self, error=None):
        self.error = error

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.error:
            raise self.error


def test_a_step_that_fails_while_it_is_recorded_raises_its_own_error():
    """And not that of the recording, which a failed step leaves invalid."""

    def too_large():
        raise torch.OutOfMemoryError("CUDA out of memory")

    def stopped():
        raise KeyboardInterrupt

    ended = RuntimeError("capture was invalidated")
    with pytest.raises(KeyboardInterrupt):
        step.take_recorded(Recording(ended), stopped)
    for recording in (Recording(ended), Recording()):
        with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
            step.take_recorded(recording, too_large)
    with pytest.raises(RuntimeError, match="invalidated"):
        step.take_recorded(Recording(ended), lambda: torch.zeros(()))
    assert step.take_recorded(Recording(), lambda: torch.ones(())) == 1


def test_few_steps_are_not_recorded(graphs_on_the_cpu):
    train(make("graph"), 1)  # two full batches and one of eight: a graph would pay for nothing
    assert _Graph.recorded == 0


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@needs_gpu
@pytest.mark.parametrize("loss", [name for name in LOSS_RECORDS if build(name, 2.0, 0.5, 7).one_graph])
@pytest.mark.parametrize("way", ["compiled", "graph"])
def test_ways_agree_on_a_gpu(way, loss):
    recipe = replace(DROPS, precision="float32", batch_size=5, learning_rate=0.01)  # eight steps: some are replayed
    assert WARM_UP < 8
    expected, plain = train(make("plain", loss, "resnet8", recipe, GPU))
    means, logits = train(make(way, loss, "resnet8", recipe, GPU, "inductor"))
    assert means == pytest.approx(expected, rel=1e-2)
    torch.testing.assert_close(logits, plain, rtol=0.05, atol=0.05)


@needs_gpu
@pytest.mark.parametrize("way", ["plain", "compiled", "graph"])
def test_a_restored_state_goes_on_bitwise_on_a_gpu(way):
    torch.use_deterministic_algorithms(True, warn_only=True)  # as in a run
    recipe = replace(CYCLE, batch_size=5)
    whole, first = (make(way, "flsd-53", "resnet8", recipe, GPU, "inductor") for _ in "ab")
    train(whole, 1)
    train(first, 1)
    second = make(way, "flsd-53", "resnet8", recipe, GPU, "inductor")
    second.restore(copy.deepcopy(first.state()))
    torch.testing.assert_close(train(second, 1)[1], train(whole, 1)[1], rtol=0, atol=0)

"""Losses, networks and recipes from outside: found, refused by name, part of a run's identity."""

import os
import pickle
import sys
from dataclasses import replace

import pytest
import torch

from reproduction.engine import own, plugins
from reproduction.engine.grids import make_spec, read_grid
from reproduction.engine.models import check_model
from reproduction.engine.papers import differences_from_papers
from reproduction.engine.plan import check_runs
from reproduction.engine.recipes import RECIPES
from reproduction.engine.run import run, trained
from reproduction.engine.spec import Spec

MINE = """
import torch
from torch import nn

from bits import SCALE
from reproduction.engine.recipes import Recipe


class Poly(nn.Module):
    def __init__(self, gamma, lam=1.0):
        super().__init__()
        self.gamma, self.lam = gamma, lam

    def forward(self, logits, labels):
        log_q = torch.log_softmax(logits, -1).gather(1, labels[:, None])[:, 0]
        rest = 1 - log_q.exp()
        return SCALE * (-(rest**self.gamma) * log_q + self.lam * rest ** (self.gamma + 1)).mean()


def plain(logits, labels):
    return nn.functional.cross_entropy(logits, labels)


class Net(nn.Module):
    def __init__(self, channels, size, classes):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(channels * size**2, classes))

    def forward(self, images):
        return self.layers(images)


SHORT = Recipe("my own", "adam", 1e-3, 20, 2)
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module in the current folder, which takes a number from another beside it; writes further ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "bits.py").write_text("SCALE = 1.0\n")

    def write(text=MINE, name="mine"):
        (tmp_path / f"{name}.py").write_text(text)
        return tmp_path / f"{name}.py"

    write()
    return write


def test_an_own_loss_network_and_recipe_train(mine, small, tmp_path):
    spec = small(loss="mine:Poly", gamma=2, model="mine:Net", recipe="mine:SHORT", epochs=0)
    result = run(spec, tmp_path / "runs")
    assert (spec.label, spec.lam, spec.training.epochs) == ("mine:Poly 2 1", 1.0, 2)
    assert result.test.logits.shape == (30, 10)
    assert type(trained(spec, tmp_path / "runs")[0]).__name__ == "Net"
    assert spec.command.startswith("focal run -p model mine:Net -p loss mine:Poly -p gamma 2 -p lam 1")
    assert "_code" not in spec.command
    assert {"loss mine:Poly 2 1, which is none of theirs", "recipe mine:SHORT: my own"} < {
        *differences_from_papers(spec)
    }


def test_the_same_loss_from_outside_has_the_numbers_of_the_engines_own(mine, small, tmp_path):
    ours, theirs = (run(small(loss=loss), tmp_path / "runs") for loss in ("mine:plain", "cross-entropy"))
    torch.testing.assert_close(ours.test.logits, theirs.test.logits, rtol=0, atol=1e-5)


def test_an_edited_loss_is_another_run(mine, small, tmp_path):
    first = small(loss="mine:plain")
    before = run(first, tmp_path / "runs")
    mine(MINE.replace("cross_entropy(logits, labels)", "cross_entropy(3 * logits, labels)"))
    second = small(loss="mine:plain")
    assert second.digest != first.digest
    assert not (run(second, tmp_path / "runs").test.logits == before.test.logits).all()
    assert replace(first, seed=1).loss_code == first.loss_code  # as it was when it was read
    mine()
    assert small(loss="mine:plain").digest == first.digest


def test_what_the_module_imports_from_its_folder_counts_too(mine, small, tmp_path):
    logits, labels = torch.tensor([[0.0, 1.0]]), torch.tensor([0])
    values, digests = [], set()
    for scale in (1.0, 3.0):
        (tmp_path / "bits.py").write_text(f"SCALE = {scale}\n")
        spec = small(loss="mine:Poly", gamma=0)
        digests.add(spec.digest)
        values.append(float(own.make_loss(spec.loss, spec.loss_code, {"gamma": 0, "lam": 1.0})(logits, labels)))
    assert len(digests) == 2
    assert values[1] == pytest.approx(3 * values[0])


def test_the_folder_is_no_part_of_the_name(mine, small, tmp_path, monkeypatch):
    before = small(loss="mine:plain").digest
    (tmp_path / "moved").mkdir()
    for name in ("mine.py", "bits.py"):
        (tmp_path / name).rename(tmp_path / "moved" / name)
    monkeypatch.chdir(tmp_path / "moved")
    assert small(loss="mine:plain").digest == before


def test_a_specification_goes_to_another_process_only_with_its_code(mine, small, monkeypatch):
    spec = pickle.loads(pickle.dumps(small(loss="mine:plain")))
    mine(MINE + "# edited\n")
    monkeypatch.setattr(plugins, "_MODULES", {})
    with pytest.raises(ValueError, match=rf"the code of .*mine.py must be {spec.loss_code}, .* Got "):
        plugins.load(spec.loss, spec.loss_code)
    with pytest.raises(ValueError, match=r"parameters must be among .* Got loss_code"):
        make_spec({"loss": "mine:plain", "loss_code": spec.loss_code})


def test_a_grid_finds_what_lies_beside_it(mine, tmp_path, monkeypatch):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "near.py").write_text("def loss(logits, labels, gamma):\n    return logits.mean() * gamma\n")
    grid = tmp_path / "study" / "grid.yaml"
    grid.write_text("loss: [{loss: near:loss, gamma: [1, 2]}, {loss: mine:plain}]\n")
    with pytest.raises(ValueError, match=r"near must be a module: near.py in"):
        Spec(loss="near:loss", gamma=1)
    specs = read_grid(grid)
    assert [spec.label for spec in specs] == ["near:loss 1", "near:loss 2", "mine:plain"]
    check_runs(specs)
    assert {str(tmp_path), str(tmp_path / "study")} <= set(os.environ["PYTHONPATH"].split(os.pathsep))


def test_two_studies_may_call_their_modules_alike(mine, tmp_path):
    grids = []
    for number in (1, 2):
        folder = tmp_path / f"study{number}"
        folder.mkdir()
        (folder / "same.py").write_text(f"def loss(logits, labels):\n    return {number} * logits.sum()\n")
        (folder / "grid.yaml").write_text("loss: same:loss\n")
        grids += read_grid(folder / "grid.yaml")
    values = [own.make_loss(spec.loss, spec.loss_code, {})(torch.ones(1, 1), torch.tensor([0])) for spec in grids]
    assert list(map(float, values)) == [1, 2]


def test_epochs_are_told_to_a_loss_that_asks(mine):
    mine("def loss(logits, labels, epochs):\n    return epochs * logits.mean()\n")
    spec = Spec(loss="mine:loss", epochs=7)
    given = {"gamma": 0.0, "lam": 0.0, "epochs": 7}
    assert float(own.make_loss(spec.loss, spec.loss_code, given)(torch.ones(2, 2), None)) == 7


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"loss": "nowhere:Loss"}, r"nowhere must be a module: nowhere.py in .* or on sys.path. Got no such file"),
        ({"loss": "mine:Polly"}, r"mine.py must define Polly. Got SCALE, Recipe, Poly, plain, Net, SHORT"),
        ({"model": "mine:Polly"}, r"mine.py must define Polly"),
        ({"loss": "mine.py:Poly"}, r"mine.py must be a module: mine.py.py|mine/py.py in"),
        ({"loss": "./mine:Poly"}, r"must be named module:Name, as in my_loss:MyLoss. Got './mine:Poly'"),
        ({"loss": "mine:Poly"}, r"mine:Poly needs gamma. Got none"),
        ({"loss": "mine:Poly", "gamma": -1}, r"gamma must be a number >= 0"),
        ({"loss": "mine:plain", "gamma": 2}, r"mine:plain has no gamma: leave it out. Got 2"),
        (
            {"loss": "mine:SCALE"},
            r"mine:SCALE must be a class of torch modules, or a function .* Got an object of type",
        ),
        ({"loss": "mine:Recipe"}, r"mine:Recipe must be a class of torch modules, .* Got the class Recipe"),
        ({"loss": "mine:Net"}, r"mine:Net must take no others than gamma, lam, epochs .* Got channels, size, classes"),
        ({"recipe": "mine:Poly"}, r"mine:Poly must be a reproduction.engine.recipes.Recipe. Got the class Poly"),
        ({"recipe": "nope"}, r"recipe must be one of .*, or module:NAME. Got 'nope'"),
        ({"loss": "nope"}, r"loss must be one of .*, or module:Name of your own. Got 'nope'"),
    ],
)
def test_what_is_wrong_with_a_name_is_told(mine, given, told):
    with pytest.raises(ValueError, match=told):
        Spec(**given)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def loss(x):\n    return x\n", r"odd:loss must begin with \(logits, labels\). Got \(x\)"),
        ("def loss(x, y, beta):\n    return x\n", r"odd:loss must take no others than gamma, lam, epochs .* Got beta"),
        ("def loss(x, y, gamma='2'):\n    return x\n", r"gamma of odd:loss must have no default, or a number >= 0"),
        ("def loss(x, y, lam=-1):\n    return x\n", r"lam of odd:loss must have no default, or a number >= 0. Got -1"),
        ("x = 1\nimport no_such_thing\n", r"odd.py must be a module .*no_such_thing' \(odd.py, line 2\)"),
        ("def loss(:\n", r"odd.py must be a module that can be imported. Got SyntaxError: .*odd.py, line 1"),
    ],
)
def test_what_is_wrong_with_a_module_is_told(mine, text, told):
    mine(text, "odd")
    with pytest.raises(ValueError, match=told):
        Spec(loss="odd:loss")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def loss(x, y):\n    return x.softmax(-1)\n", r"one number with a gradient. Got shape \(2, 10\)"),
        ("def loss(x, y):\n    return x.mean().item()\n", r"one number with a gradient. Got "),
        ("def loss(x, y):\n    z = 1\n    return x.nope()\n", r"AttributeError: .* \(odd.py, line 3\)"),
        (
            "def loss(x, y):\n    return x.mean() * float('nan')\n",
            r"the loss must be finite. Got nan of the network as it",
        ),
        ("def loss(x, y):\n    x -= x.max()\n    return x.mean()\n", r"in-place operation. \(odd.py, line 2\)"),
        ("def loss(x, y):\n    raise IndexError('of mine')\n", r"Got IndexError: of mine \(odd.py, line 2\)"),
        (
            "from torch import nn\nclass loss(nn.Linear):\n    def __init__(self):\n        super().__init__(2, 2)\n",
            r"odd:loss must have no weights: only the network's are trained. Got loss.weight, loss.bias",
        ),
    ],
)
def test_a_loss_is_tried_before_any_work(mine, small, tmp_path, text, told):
    mine(text, "odd")
    with pytest.raises(ValueError, match=told):
        run(small(loss="odd:loss"), tmp_path / "runs")
    assert not list((tmp_path / "runs").glob("[0-9a-f]*/*"))


NETWORK = "from torch import nn\ndef net({}):\n    return {}\n"
TUPLE = """from torch import nn
class Twice(nn.Linear):
    def forward(self, images):
        return images, images
def net(classes):
    return Twice(28, classes)
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (NETWORK.format("channels, depth, classes", "1"), r"than channels, size, height, .* without a .* Got depth"),
        (NETWORK.format("classes", "classes"), r"odd:net must make a torch module. Got int"),
        (
            NETWORK.format("classes", "nn.Flatten()"),
            r"odd:net must have weights to train. Got none that takes a gradient",
        ),
        (NETWORK.format("classes", "nn.Conv2d(1, 2, 28)"), r"must have shape \(n, K\) = \(2, 10\). Got \(2, 2, 1, 1\)"),
        (TUPLE, r"logits must have shape \(n, K\) = \(2, 10\). Got tuple"),
        (NETWORK.format("classes", "nn.Linear(3, classes)"), r"inputs \(2, 1, 28, 28\). Got RuntimeError"),
        ("net = 3\n", r"odd:net must be a class or function that makes a network. Got int"),
    ],
)
def test_a_network_is_tried_before_any_work(mine, small, tmp_path, text, told):
    mine(text, "odd")
    with pytest.raises(ValueError, match=told):
        run(small(model="odd:net"), tmp_path / "runs")
    assert not list((tmp_path / "runs").glob("[0-9a-f]*/*"))


def test_a_plan_refuses_a_network_by_its_arguments(mine):
    check_runs([Spec(model="mine:Net")])
    with pytest.raises(ValueError, match=r"mine:Net must take no others than words, classes .* Got channels, size"):
        check_model("mine:Net", "ag-news", "tokens")


@pytest.mark.parametrize(
    ("model", "fits"), [("mlp", False), ("small-cnn", False), ("small-vit", False), ("resnet8", True)]
)
def test_networks_take_rectangles_or_are_refused_before_training(small, tmp_path, write_npz, epochs, model, fits):
    write_npz(tmp_path / "data" / "wide", n_train=200, shape=(8, 16))
    spec = small(dataset="wide", model=model, epochs=1)
    if fits:
        assert run(spec, tmp_path / "runs").test.logits.shape == (10, 10)
        return
    with pytest.raises(ValueError, match=rf"model {model}, .* data set wide must go together: .*\(2, 1, 8, 16\). Got "):
        run(spec, tmp_path / "runs")
    assert epochs == []


def test_a_network_of_rectangles_names_height_and_width(mine, small, tmp_path, write_npz):
    write_npz(tmp_path / "data" / "wide", n_train=200, shape=(8, 16))
    with pytest.raises(ValueError, match=r"mine:Net must take no others than channels, height, width, .* Got size"):
        run(small(dataset="wide", model="mine:Net"), tmp_path / "runs")
    mine(MINE.replace("size**2", "height * width").replace("size,", "height, width,"))
    assert run(small(dataset="wide", model="mine:Net", epochs=1), tmp_path / "runs").test.logits.shape == (10, 10)


def test_trying_changes_no_random_number(mine, small, tmp_path):
    mine("import torch\ndef loss(x, y):\n    return x.mean() + torch.rand(()) + 0 * torch.rand(9).sum()\n", "odd")
    model, loss = torch.nn.Linear(3, 2), plugins.load("odd:loss")
    before = torch.get_rng_state()
    own.try_out("it", model, own.OwnLoss(loss), torch.ones(2, 3), torch.tensor([0, 1]), 2)
    assert torch.equal(torch.get_rng_state(), before)


def test_dropout_and_a_loss_that_draws_go_on_where_they_stopped(mine, small, tmp_path, killed):
    mine(MINE.replace("nn.Flatten(),", "nn.Flatten(), nn.Dropout(0.3),"))
    mine(
        "import torch\ndef loss(x, y):\n    return torch.nn.functional.cross_entropy(x + torch.randn_like(x), y)\n",
        "odd",
    )
    spec = small(model="mine:Net", loss="odd:loss")
    killed(2, spec, tmp_path / "runs")
    whole, resumed = run(spec, tmp_path / "whole"), run(spec, tmp_path / "runs")
    assert (whole.test.logits == resumed.test.logits).all()


def test_an_installed_function_is_a_loss_too():
    spec = Spec(loss="torch.nn.functional:multi_margin_loss")
    assert spec.label == "torch.nn.functional:multi_margin_loss"
    assert sys.modules["torch.nn.functional"] is torch.nn.functional


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"optimiser": "adamw"}, r"optimiser of a recipe must be sgd, adam, adagrad. Got 'adamw'"),
        ({"keep": "first"}, r"keep of a recipe must be last, best. Got 'first'"),
        ({"epochs": 0}, r"epochs of a recipe must be at least 1. Got 0"),
    ],
)
def test_a_recipe_with_an_unknown_choice_is_refused(change, told):
    """Else another optimiser would be taken without a word."""
    with pytest.raises(ValueError, match=told):
        replace(RECIPES["book-fast"], **change)

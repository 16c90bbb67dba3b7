"""Networks for texts: shapes, padding, and the Tree-LSTM against a recursion one node at a time."""

import numpy as np
import pytest
import torch

from reproduction.engine import models
from reproduction.engine.data import Dataset, Split
from reproduction.engine.data import tokens as parse
from reproduction.engine.models.text import GlobalPoolingCNN, TreeLSTM
from reproduction.engine.run import run
from reproduction.engine.spec import Spec

WORDS = ("", "<unknown>", "a", "b", "c")
LINES = ["(3 (2 a) (3 (1 b) (4 (2 c) (2 a))))", "(0 b)", "(4 (4 (2 a) (2 zz)) (1 c))"]


def recursive_state(model, tree):
    """(memory, state) of a node, straight from the formulas of Tai et al. (2015)."""
    if tree.word is not None:
        token = WORDS.index(tree.word) if tree.word in WORDS else 1
        i, o, u = model.leaf(model.embedding.weight[token]).chunk(3)
        c = torch.sigmoid(i) * torch.tanh(u)
        return c, torch.sigmoid(o) * torch.tanh(c)
    (c1, h1), (c2, h2) = (recursive_state(model, child) for child in tree.children)
    i, f1, f2, o, u = model.node(torch.cat([h1, h2])).chunk(5)
    c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f1) * c1 + torch.sigmoid(f2) * c2
    return c, torch.sigmoid(o) * torch.tanh(c)


def test_tree_lstm_is_the_recursion():
    torch.manual_seed(0)
    model = TreeLSTM(len(WORDS), 2, width=7, memory=5).double()
    trees = [parse.parse_tree(line) for line in LINES]
    encoded = torch.from_numpy(parse.encode_trees(trees, WORDS))
    wanted = torch.stack([model.output(recursive_state(model, tree)[1]) for tree in trees])
    torch.testing.assert_close(model(encoded), wanted, rtol=1e-12, atol=1e-12)
    model(encoded).sum().backward()
    batched = model.node.weight.grad.clone()
    model.zero_grad()
    torch.stack([model.output(recursive_state(model, tree)[1]) for tree in trees]).sum().backward()
    torch.testing.assert_close(batched, model.node.weight.grad, rtol=1e-10, atol=1e-12)


def test_tree_lstm_parameters():
    model = TreeLSTM(10, 2, width=300, memory=150)
    assert sum(p.numel() for p in model.parameters()) == 10 * 300 + 3 * (301 * 150) + 5 * (301 * 150) + 2 * 151


@pytest.mark.parametrize("length", [1, 7, 50, 1000])
def test_cnn_takes_texts_of_any_length(length):
    model = GlobalPoolingCNN(len(WORDS), 20).eval()
    assert model(torch.randint(5, (3, length))).shape == (3, 20)


def test_vectors_are_the_start_and_padding_stays_zero():
    vectors = np.arange(15, dtype=np.float32).reshape(5, 3)
    model = GlobalPoolingCNN(5, 2, vectors)
    np.testing.assert_array_equal(model.embedding.weight.detach(), vectors)
    model(torch.tensor([[2, 0, 0]])).sum().backward()
    assert model.embedding.weight.grad[0].abs().sum() == 0
    assert model.embedding.weight.grad[2].abs().sum() > 0


def dataset(kind, inputs):
    part = Split(inputs, np.zeros(len(inputs), np.int64))
    return Dataset("x", 2, part, part, kind=kind, vocabulary=WORDS)


def test_networks_fit_their_inputs():
    tokens, trees = dataset("tokens", np.zeros((2, 9), np.int32)), dataset("trees", np.zeros((2, 3, 4), np.int32))
    assert isinstance(models.build_for("gp-cnn", tokens), GlobalPoolingCNN)
    assert isinstance(models.build_for("tree-lstm", trees), TreeLSTM)
    with pytest.raises(ValueError, match=r"model for x \(trees\) must be one of tree-lstm, .*-glove, or .* Got 'mlp'"):
        models.build_for("mlp", trees)


def test_runs_on_texts(write_reviews, tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    write_reviews(tmp_path / "movie-reviews")
    common = {"dataset": "movie-reviews", "n_train": 10, "n_validation": 5, "epochs": 2, "evaluate_every": 1}
    result = run(Spec(model="gp-cnn", recipe="text-fast", gamma=2, **common), tmp_path / "runs")
    assert result.test.logits.shape == (2, 2)
    with pytest.raises(ValueError, match=r"recipe cifar-fast crops and flips images. Got movie-reviews, tokens"):
        run(Spec(model="gp-cnn", recipe="cifar-fast", **common), tmp_path / "runs")


def test_runs_on_trees(tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    (tmp_path / "sst").mkdir()
    for side in ("train", "dev", "test"):
        (tmp_path / "sst" / f"{side}.txt").write_text("\n".join(LINES * 4) + "\n")
    spec = Spec(dataset="sst", model="tree-lstm", recipe="m20-sst", n_train=9, n_validation=6, epochs=3)
    result = run(spec, tmp_path / "runs")
    assert result.validation.logits.shape == (6, 2)
    assert np.isfinite(result.test.logits).all()

"""Who follows a run is given its history, changes none of its numbers, and is asked for by name."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from focal_lib import cli
from reproduction.engine.follow import find_followers
from reproduction.engine.run import run


@pytest.fixture
def writers(monkeypatch):
    """Writers of a TensorBoard that is not there: folder, and what they were given."""
    made = []

    class Writer:
        def __init__(self, folder, purge_step):
            self.folder, self.first, self.given, self.flushed = folder, purge_step, [], 0
            made.append(self)

        def add_scalar(self, name, value, step):
            self.given.append((step, name, value))

        def flush(self):
            self.flushed += 1

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return made


@pytest.fixture
def mlflow(monkeypatch):
    """An MLflow that is not there: what it was told. It knows a run until that has ended."""
    told = []
    own = SimpleNamespace(info=SimpleNamespace(run_id="a run"))

    def known():
        names = [name for name, _, _ in told]
        return [own] * (names.count("create_run") - names.count("set_terminated"))

    class Client:
        def __getattr__(self, name):
            answers = {"get_experiment_by_name": None, "create_experiment": "7"}
            answers |= {"create_run": own, "search_runs": known()}
            return lambda *given, **named: told.append((name, given, named)) or answers.get(name)

    module = ModuleType("mlflow")
    module.MlflowClient = Client
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return told


def test_tensorboard_is_given_each_row(small, tmp_path, writers, killed):
    spec = small(evaluate_every=2)
    whole = run(spec, tmp_path / "alone")
    followed = run(spec, tmp_path, followers=find_followers(["tensorboard"]))
    np.testing.assert_array_equal(followed.test.logits, whole.test.logits)
    (writer,) = writers
    assert (writer.folder, writer.first) == (str(tmp_path / spec.digest / "tensorboard"), 2)
    assert {step for step, _, _ in writer.given} == {2, 4}
    assert writer.flushed == 2
    row = whole.history.query("epoch == 4 and split == 'test'").iloc[0]
    assert (4, "test/nll", row["nll"]) in writer.given
    run(spec, tmp_path, followers=find_followers(["tensorboard"]))  # finished: nothing to tell
    assert len(writers) == 1


def test_mlflow_is_told_parameters_rows_and_the_end_in_one_run_of_its_own(small, tmp_path, mlflow, killed):
    spec = small(gamma=2.0)
    killed(3, spec, tmp_path, followers=find_followers(["mlflow"]))
    assert "set_terminated" not in [name for name, _, _ in mlflow]
    run(spec, tmp_path, followers=find_followers(["mlflow"]))
    names = [name for name, _, _ in mlflow]
    assert names[:4] == ["get_experiment_by_name", "create_experiment", "search_runs", "create_run"]
    assert names.count("create_run") == names.count("set_terminated") == 1
    assert names[-1] == "set_terminated"
    assert ("log_param", ("a run", "gamma", 2.0), {}) in mlflow
    steps = [named["step"] for name, given, named in mlflow if name == "log_metric" and given[1] == "test_accuracy"]
    assert steps == [1, 2, 3, 4]


def test_a_follower_that_fails_stops_nothing(small, tmp_path, caplog):
    def fail(spec, folder, rows):
        raise ConnectionError("no server")

    run(small(), tmp_path, followers=[fail])
    assert "does not follow: no server" in caplog.text


def test_what_is_not_installed_is_refused_before_work(small_data, tmp_path, monkeypatch, grid):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.setenv("FOCAL_RUNS", str(tmp_path / "runs"))
    path = grid("gamma: 0\nn_train: 60\nn_validation: 30\n")
    for command in (["run"], ["grid", str(path)]):
        refused = CliRunner().invoke(cli.main, [*command, "--follow", "mlflow"])
        assert refused.exit_code == 1
        assert "Error: --follow mlflow needs its package: pip install mlflow." in refused.output
        assert "must be tensorboard or mlflow" in CliRunner().invoke(cli.main, [*command, "--follow", "x"]).output
    assert not list((tmp_path / "runs").glob("[!.]*"))

"""Commands of other packages, where what they need is not installed."""

from importlib.metadata import entry_points

import pytest
from click.testing import CliRunner

import focal_lib.cli as cli

RUN = "focal run needs the reproduction's packages: pip install 'focal-lib"


class _Entry:
    """The entry point of `focal run`, whose loading or running fails."""

    def __init__(self, error):
        (self.real,) = entry_points(group="focal_lib.commands", name="run")
        self.name, self.module, self.dist, self.error = "run", self.real.module, self.real.dist, error

    def load(self):
        raise self.error


def _with(monkeypatch, error):
    real = cli.entry_points
    entry = _Entry(error)
    monkeypatch.setattr(cli, "entry_points", lambda **of: [entry] if of.get("name") == "run" else real(**of))
    return CliRunner()


@pytest.mark.parametrize("arguments", [["run"], ["run", "--help"], ["run", "gamma=1", "--root", "x"]])
def test_what_a_command_lacks_is_one_line(monkeypatch, arguments):
    done = _with(monkeypatch, ModuleNotFoundError("No module named 'torch'", name="torch")).invoke(cli.main, arguments)
    assert done.exit_code == 1
    (line,) = done.output.splitlines()
    assert line.startswith(f"Error: {RUN}")


def test_help_lists_it(monkeypatch):
    done = _with(monkeypatch, ModuleNotFoundError("No module named 'torch'", name="torch")).invoke(cli.main, ["--help"])
    assert done.exit_code == 0
    assert "run        pip install 'focal-lib" in done.output


def test_lacking_while_it_runs(monkeypatch):
    (run,) = entry_points(group="focal_lib.commands", name="run")
    error = ModuleNotFoundError("No module named 'torch'", name="torch")

    def callback(**_):
        raise error

    monkeypatch.setattr(run.load(), "callback", callback)
    done = CliRunner().invoke(cli.main, ["run"])
    assert done.exit_code == 1
    assert RUN in done.output


def test_a_fault_of_the_package_is_not_hidden(monkeypatch):
    fault = ModuleNotFoundError("No module named 'reproduction.gone'", name="reproduction.gone")
    done = _with(monkeypatch, fault).invoke(cli.main, ["run"])
    assert done.exception is fault

"""The notebook runner: whole results or none, and parameters that exist."""

import nbformat
import pytest
from click.testing import CliRunner

from focal_lib.cli import main
from focal_lib.pages.execute import execute, find_source

PAGE = """# %% tags=["parameters"]
gamma: float = 2.0  # focal parameter
fail: bool = False

# %%
if fail:
    raise ArithmeticError("planted")
print(gamma * 2)
"""


@pytest.fixture
def page(tmp_path):
    source = tmp_path / "page.py"
    source.write_text(PAGE)
    return source


def test_executes_with_parameters(page, tmp_path):
    out = tmp_path / "out" / "page.ipynb"
    execute(page, out, {"gamma": 4})
    notebook = nbformat.read(out, as_version=4)
    assert notebook.cells[-1].outputs[0].text == "8\n"
    assert [p.name for p in out.parent.iterdir()] == ["page.ipynb"]


def test_unknown_parameter_stops_and_lists_the_valid_ones(page, tmp_path):
    with pytest.raises(
        ValueError, match=r"must be among:\n  gamma: focal parameter; float, default 2.0\n  fail.*\nGot gama"
    ):
        execute(page, tmp_path / "out.ipynb", {"gama": 4})
    assert not list(tmp_path.glob("*.ipynb"))


def test_failure_leaves_no_result_and_keeps_the_evidence(page, tmp_path):
    out = tmp_path / "out.ipynb"
    with pytest.raises(RuntimeError, match="ArithmeticError: planted"):
        execute(page, out, {"fail": True})
    assert not out.exists()
    assert out.with_suffix(".failed.ipynb").exists()
    execute(page, out)
    assert out.exists()
    assert not out.with_suffix(".failed.ipynb").exists()


def test_unknown_notebook_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"must be one of .*ledger.*Got 'leger'"):
        find_source("leger")


def test_command_reports_errors_without_a_traceback():
    result = CliRunner().invoke(main, ["notebook", "leger"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: notebook must be one of")

"""The notebook runner: whole results or none, and parameters that exist."""

import ast
import os
import re

import nbformat
import papermill
import pytest
from click.testing import CliRunner

from focal_lib.cli import main
from reproduction.checkout import ROOT
from reproduction.pages import execute as module
from reproduction.pages.execute import check_parameters, describe_parameters, execute, find_source

PAGE = """# %% tags=["parameters"]
gamma: float = 2.0  # focal parameter
gammas: str = "1, 2"  # to draw
fail: bool = False
classes: int = 3  # of the example; at least 2
share: float = None  # in (0, 1)

# %%
if fail:
    raise ArithmeticError("planted")
print(gamma * 2, gammas.split(", "))
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
    assert notebook.cells[-1].outputs[0].text == "8 ['1', '2']\n"
    assert [p.name for p in out.parent.iterdir()] == ["page.ipynb"]


def test_a_list_of_one_number_stays_text(page, tmp_path):
    out = tmp_path / "page.ipynb"
    execute(page, out, {"gammas": 3})
    assert nbformat.read(out, as_version=4).cells[-1].outputs[0].text == "4.0 ['3']\n"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"classes": 2.5}, "classes must be a whole number at least 2. Got 2.5"),
        ({"classes": "ten"}, "classes must be a whole number at least 2. Got 'ten'"),
        ({"classes": True}, "classes must be a whole number at least 2. Got True"),
        ({"classes": 1}, "classes must be a whole number at least 2. Got 1"),
        ({"classes": None}, "classes must be a whole number at least 2. Got None"),
        ({"share": 1}, r"share must be a number in \(0, 1\). Got 1"),
        ({"gamma": "x"}, "gamma must be a number. Got 'x'"),
        ({"gamma": float("nan")}, "gamma must be a number. Got nan"),
        ({"gamma": None}, "gamma must be a number. Got None"),
        ({"fail": 1}, "fail must be true or false. Got 1"),
        ({"gammas": [1, 2]}, r"gammas must be text. Got \[1, 2\]"),
        ({"gammas": None}, "gammas must be text. Got None"),
    ],
)
def test_values_that_the_notebook_does_not_declare_are_refused(page, tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        execute(page, tmp_path / "out.ipynb", given)
    assert not list(tmp_path.glob("*.ipynb"))


def test_values_are_as_declared(page, tmp_path):
    (tmp_path / "page.ipynb").write_text(nbformat.writes(module._read(page)))
    given = {"classes": 1e1, "share": None, "gamma": 3, "gammas": 2.5, "fail": True}
    found = check_parameters(tmp_path / "page.ipynb", given)
    assert found == {"classes": 10, "share": None, "gamma": 3, "gammas": "2.5", "fail": True}
    assert type(found["classes"]) is int


def test_unknown_parameter_stops_and_lists_the_valid_ones(page, tmp_path):
    with pytest.raises(ValueError, match=r"must be among:\n  gamma: .*default 2.0\n[\s\S]*fail[\s\S]*Got gama"):
        execute(page, tmp_path / "out.ipynb", {"gama": 4})
    assert not list(tmp_path.glob("*.ipynb"))


def test_parameters_are_described_by_their_comments(page):
    assert dict(describe_parameters(page))["gamma"] == "focal parameter; float, default 2.0"


def test_failure_leaves_no_result_and_keeps_the_evidence(page, tmp_path):
    out = tmp_path / "out.ipynb"
    with pytest.raises(RuntimeError, match="ArithmeticError: planted"):
        execute(page, out, {"fail": True})
    assert not out.exists()
    assert out.with_suffix(".failed.ipynb").exists()
    execute(page, out)
    assert out.exists()
    assert not out.with_suffix(".failed.ipynb").exists()


def test_a_page_of_the_book_runs_in_the_projects_folder(tmp_path, monkeypatch):
    """Others, those of a study in the checkout too, run where they are called from."""
    folder = tmp_path / "checkout"
    (folder / "notebooks").mkdir(parents=True)
    (tmp_path / "other.py").write_text('# %% tags=["parameters"]\nx: int = 0\n\n# %%\nimport os\nprint(os.getcwd())\n')
    monkeypatch.setattr(module, "ROOT", folder)
    monkeypatch.chdir(tmp_path)
    pages = {folder / "notebooks" / "page.py": folder, folder / "page.py": tmp_path, tmp_path / "other.py": tmp_path}
    for source, where in pages.items():
        source.write_text((tmp_path / "other.py").read_text())
        execute(source, tmp_path / "out.ipynb")
        shown = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells[-1].outputs[0].text.strip()
        assert os.path.samefile(shown, where)


def test_unknown_notebook_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"must be one of .*ledger.*Got 'leger'"):
        find_source("leger")


def test_a_notebook_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_source("ledger") == ROOT / "notebooks" / "ledger.py"


def test_command_reports_errors_without_a_traceback():
    result = CliRunner().invoke(main, ["notebook", "leger"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: notebook must be one of")


def test_a_page_for_the_book_has_no_html(page, tmp_path):
    result = CliRunner().invoke(main, ["notebook", str(page), "--for-book", "--html", str(tmp_path / "page.html")])
    assert result.exit_code == 1
    assert "Got both" in result.output


def test_neither_the_source_nor_another_file_is_replaced(page, tmp_path):
    with pytest.raises(ValueError, match="the result must go into another file than the input"):
        execute(page, page)
    assert page.read_text() == PAGE
    precious = tmp_path / "out.failed.ipynb"
    precious.write_text("precious")
    with pytest.raises(FileExistsError, match="must be free for a failed run, or hold one"):
        execute(page, tmp_path / "out.ipynb")
    assert precious.read_text() == "precious"
    os.mkfifo(tmp_path / "pipe.ipynb")
    with pytest.raises(FileExistsError, match=r"must be a file, or nothing yet. Got a pipe"):
        execute(page, tmp_path / "pipe.ipynb")
    with pytest.raises(ValueError, match=r"written as \.ipynb: its name must end so. Got out.txt"):
        execute(page, tmp_path / "out.txt")


def test_the_range_of_a_parameter_is_in_the_help(page):
    assert dict(describe_parameters(page))["classes"] == "of the example; at least 2; int, default 3"


@pytest.mark.parametrize("given", [["-p", "gamma=3"], ["-p", "gamma=3", "-p", "classes", "4"], ["-pgamma=3"]])
@pytest.mark.parametrize("command", ["notebook", "run"])
def test_a_parameter_with_an_equals_sign_gets_a_hint(page, command, given):
    named = [str(page)] if command == "notebook" else []
    result = CliRunner().invoke(main, [command, *named, *given])
    assert result.exit_code == 2
    assert "-p takes a name and a value: -p gamma 3. Got gamma=3." in result.output


def test_help_says_what_values_a_command_takes():
    assert "true" not in CliRunner().invoke(main, ["run", "--help"]).output
    assert "a number, text, true or false" in CliRunner().invoke(main, ["notebook", "--help"]).output


def test_outputs_have_the_names_of_what_they_are(page):
    result = CliRunner().invoke(main, ["notebook", str(page), "--out", "page.html"])
    assert "written as .ipynb: its name must end so. Got page.html" in result.output
    result = CliRunner().invoke(main, ["notebook", str(page), "--html", "page.txt"])
    assert "written as .html: its name must end so. Got page.txt" in result.output


@pytest.mark.parametrize("source", sorted((ROOT / "notebooks").glob("*.py")), ids=lambda path: path.stem)
def test_what_the_books_notebooks_declare_holds_for_their_defaults(source, tmp_path, caplog):
    notebook = tmp_path / "page.ipynb"
    notebook.write_text(nbformat.writes(module._read(source)))
    defaults = {name: ast.literal_eval(p["default"]) for name, p in papermill.inspect_notebook(str(notebook)).items()}
    assert check_parameters(notebook, defaults) == defaults
    assert "Unable to parse" not in caplog.text  # papermill would not know the parameter
    for name, meaning in describe_parameters(source):
        if defaults[name] is not None and re.search(r"; (> 0|at least \d+|in \(0, 1\)); ", meaning):
            with pytest.raises(ValueError, match=f"{name} must be"):
                check_parameters(notebook, {name: -1})

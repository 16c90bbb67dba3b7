"""Execute a notebook of the book headless: papermill, with its parameters checked first."""

from __future__ import annotations

import math
import os
import re
import tempfile
import time
from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import papermill
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from focal_lib.atomic_write import check_target, part_of
from reproduction.checkout import ROOT, require_checkout
from reproduction.parameters import Range


def _kernel_config(folder: str) -> Config:
    """Unix sockets in a folder of the run's own: parallel kernels race for TCP ports, and share
    the default socket name."""
    transport = {"transport": "ipc", "ip": f"{folder}/kernel"} if os.name == "posix" else {}
    return Config({"KernelManager": transport})


def find_source(name: str | Path, folder: Path | None = None) -> Path:
    """The py:percent file of a notebook, by path or by name.

    Args:
        folder: where names are looked up. Default: the notebooks of the checkout.

    Raises:
        FileNotFoundError: a name, and no checkout to find it in.
        ValueError: no such notebook; the message lists those there are.
    """
    if Path(name).suffix == ".py" and Path(name).is_file():
        return Path(name)
    folder = folder or require_checkout("a notebook by its name") / "notebooks"
    path = folder / f"{name}.py"
    if path.is_file():
        return path
    known = ", ".join(sorted(p.stem for p in folder.glob("*.py")))
    raise ValueError(f"notebook must be one of {known or f'(none in {folder})'}. Got {str(name)!r}.")


def check_parameters(notebook: Path, parameters: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """The parameters as the notebook declares them; papermill itself only logs unknown ones, and checks no type.

    What is declared stands in the notebook's first cell: the type by an annotation or the default; behind the last
    semicolon of the comment, or as the whole of it, the range of a number ('> 0', 'at least 2', 'in [0, 1)'). None is
    refused but where it is the default or the comment has a word on 'none'.

    Raises:
        ValueError: for unknown ones with the valid ones, their defaults and meanings; for a value of another type or
            out of its range.
    """
    declared = papermill.inspect_notebook(str(notebook))
    if unknown := sorted(set(parameters) - set(declared)):
        listed = "".join(f"\n  {parameter}: {meaning}" for parameter, meaning in _described(declared)) or " none"
        raise ValueError(f"parameters of {name or notebook.stem} must be among:{listed}\nGot {', '.join(unknown)}.")
    return {parameter: _as_declared(parameter, value, declared[parameter]) for parameter, value in parameters.items()}


def describe_parameters(source: Path) -> list[tuple[str, str]]:
    """The parameters of a py:percent notebook, each with its comment, type and default."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = Path(folder, f"{source.stem}.ipynb")
        nbformat.write(_read(source), notebook)
        return _described(papermill.inspect_notebook(str(notebook)))


def _described(declared: Mapping[str, Any]) -> list[tuple[str, str]]:
    meanings = ((name, p["help"], p["inferred_type_name"], p["default"]) for name, p in declared.items())
    return [(name, f"{text}{'; ' * bool(text)}{kind}, default {default}") for name, text, kind, default in meanings]


_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}


def _as_declared(name: str, value: Any, declared: Mapping[str, Any]) -> Any:
    kind, meaning = declared["inferred_type_name"], declared["help"]
    if kind not in _KINDS:
        return value
    if value is None and kind != "str" and (declared["default"] == "None" or re.search(r"\bnone\b", meaning)):
        return None
    number = not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    if kind == "str" and number:  # a list 'gamma, gamma' of one
        return str(value)
    wanted = Range.parse(meaning.rpartition(";")[2]) if kind in ("int", "float") else None
    if kind == "int":
        fits = number and value % 1 == 0
    elif kind == "float":
        fits = number
    else:
        fits = isinstance(value, bool if kind == "bool" else str)
    if not fits or (wanted is not None and value not in wanted):
        span = f" {meaning.rpartition(';')[2].strip()}" if wanted else ""
        raise ValueError(f"{name} must be {_KINDS[kind]}{span}. Got {value!r}.")
    return int(value) if kind == "int" else value


def _read(source: Path) -> nbformat.NotebookNode:
    notebook = jupytext.read(source)
    notebook.metadata.setdefault("kernelspec", {"name": "python3", "language": "python", "display_name": "Python 3"})
    return notebook


def _is_failure(path: Path) -> bool:
    """Whether the file is a notebook that papermill ran, and so one that may be replaced."""
    try:
        return "papermill" in nbformat.read(path, as_version=4).metadata
    except Exception:  # another file, or none
        return False


def execute(source: Path, out: Path, parameters: Mapping[str, Any] | None = None) -> float:
    """Run a py:percent notebook and write the executed .ipynb, or nothing at all.

    The result is written beside `out` and renamed at the end, so a file called `out` is always
    a whole run. A failed run is kept as `out` with the suffix .failed.ipynb. A page of the book runs
    in the project's folder, where the paths of its parameters lie.

    Returns:
        Seconds it took.

    Raises:
        ValueError: an unknown parameter, a value of another type or out of its range; `out` is the source, or does
            not end in .ipynb.
        FileExistsError: `out` is something else than a file, or a failed run of another name is in the way.
        RuntimeError: a cell raised; the message names the cell and the kept notebook.
    """
    parameters = parameters or {}
    check_target(out, source, ending=".ipynb")
    out.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(out.resolve().with_suffix(".ipynb"))  # the name that papermill knows
    folder = str(ROOT) if source.resolve().is_relative_to(ROOT / "notebooks") else None
    failed = out.with_suffix(".failed.ipynb")
    own_failure = _is_failure(failed)
    if failed.exists() and not own_failure:
        raise FileExistsError(f"{failed} must be free for a failed run, or hold one. Got another file.")
    nbformat.write(_read(source), part)
    started = time.monotonic()
    try:
        parameters = check_parameters(part, parameters, source.stem)
        with tempfile.TemporaryDirectory(prefix="focal-") as sockets:
            papermill.execute_notebook(
                str(part), str(part), parameters, progress_bar=False, cwd=folder, config=_kernel_config(sockets)
            )
        part.replace(out)
    except PapermillExecutionError as error:
        part.replace(failed)
        raise RuntimeError(
            f"{source.name}, cell {error.cell_index}: {error.ename}: {error.evalue}\nKept as {failed}"
        ) from None
    finally:
        part.unlink(missing_ok=True)
    if own_failure:
        failed.unlink(missing_ok=True)
    return time.monotonic() - started

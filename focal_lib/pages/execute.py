"""Execute a notebook of the book headless: papermill, with its parameters checked first."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import papermill
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from focal_lib.atomic_write import write_whole

__all__ = ["as_html", "check_parameters", "execute", "find_source"]


def _kernel_config(folder: str) -> Config:
    """Unix sockets in a folder of the run's own: parallel kernels race for TCP ports, and share
    the default socket name."""
    transport = {"transport": "ipc", "ip": f"{folder}/kernel"} if os.name == "posix" else {}
    return Config({"KernelManager": transport})


def find_source(name: str | Path, folder: Path = Path("notebooks")) -> Path:
    """The py:percent file of a notebook, by path or by name.

    Raises:
        ValueError: no such notebook; the message lists those there are.
    """
    for path in (Path(name), folder / f"{name}.py"):
        if path.suffix == ".py" and path.is_file():
            return path
    known = ", ".join(sorted(p.stem for p in folder.glob("*.py")))
    raise ValueError(f"notebook must be one of {known or f'(none in {folder})'}. Got {str(name)!r}.")


def check_parameters(notebook: Path, parameters: Mapping[str, Any], name: str = "") -> None:
    """Refuse parameters the notebook does not have; papermill itself only logs them.

    Raises:
        ValueError: naming the unknown ones and the valid ones with their defaults.
    """
    valid = papermill.inspect_notebook(str(notebook))
    unknown = sorted(set(parameters) - set(valid))
    if unknown:
        listed = ", ".join(f"{k} (default {v['default']})" for k, v in valid.items()) or "none"
        raise ValueError(f"parameters of {name or notebook.stem} must be among: {listed}. Got {', '.join(unknown)}.")


def execute(source: Path, out: Path, parameters: Mapping[str, Any] | None = None) -> float:
    """Run a py:percent notebook and write the executed .ipynb, or nothing at all.

    The result is written beside `out` and renamed at the end, so a file called `out` is always
    a whole run. A failed run is kept as `out` with the suffix .failed.ipynb.

    Returns:
        Seconds it took.

    Raises:
        ValueError: an unknown parameter.
        RuntimeError: a cell raised; the message names the cell and the kept notebook.
    """
    parameters = dict(parameters or {})
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f".{out.stem}.{os.getpid()}.part.ipynb")
    failed = out.with_suffix(".failed.ipynb")
    notebook = jupytext.read(source)
    notebook.metadata.setdefault("kernelspec", {"name": "python3", "language": "python", "display_name": "Python 3"})
    nbformat.write(notebook, part)
    started = time.monotonic()
    try:
        check_parameters(part, parameters, source.stem)
        with tempfile.TemporaryDirectory(prefix="focal-") as sockets:
            papermill.execute_notebook(
                str(part), str(part), parameters, progress_bar=False, config=_kernel_config(sockets)
            )
        part.replace(out)
    except PapermillExecutionError as error:
        part.replace(failed)
        raise RuntimeError(
            f"{source.name}, cell {error.cell_index}: {error.ename}: {error.evalue}\nKept as {failed}"
        ) from None
    finally:
        part.unlink(missing_ok=True)
    failed.unlink(missing_ok=True)
    return time.monotonic() - started


def as_html(executed: Path, out: Path) -> None:
    """One HTML page without the code, which opens without a network."""
    from nbconvert import HTMLExporter  # slow to import

    exporter = HTMLExporter(exclude_input=True, template_name="classic")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    for script in ("mathjax_url", "require_js_url", "jquery_url", "mermaid_js_url", "jupyter_widgets_base_url"):
        setattr(exporter, script, "")
    text, _ = exporter.from_notebook_node(_without_myst(nbformat.read(executed, as_version=4)))
    write_whole(out, lambda part: part.write_text(text, encoding="utf-8"))


def _without_myst(page: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """What Sphinx understands and nbconvert does not, as plain Markdown: labels, references, admonitions."""
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = _plain(cell.source)
        for output in cell.get("outputs", []):
            if "text/markdown" in (data := output.get("data", {})):
                data["text/markdown"] = _plain("".join(data["text/markdown"]))
    return page


def _plain(text: str) -> str:
    text = re.sub(r"^\([\w-]+\)=\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\{\w+\}`([^`<]+?)\s*(?:<[^`]*>)?`", r"\1", text)
    return re.sub(r"```\{\w+\} (.*)\n(?::.*\n)*((?:.*\n)*?)```", r"**\1**\n\n\2", text)

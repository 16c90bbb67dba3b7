"""The foot of every page: what was run, from which commit and when, with which versions, and how to run it again."""

from __future__ import annotations

import platform
import shlex
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from IPython.display import Markdown

from reproduction.checkout import ROOT, commit

VERSIONS_OF = ("focal-lib", "numpy", "scipy", "sympy", "python-flint", "torch", "scikit-learn", "matplotlib")


def versions() -> dict[str, str]:
    """Installed versions of Python and of what the numbers depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in VERSIONS_OF}}


def command(name: str, **parameters: Any) -> str:
    """The command that makes the page `name` with these parameters, from any folder of the machine."""
    return f"focal notebook {name}{_flags(parameters)} --out {name}.ipynb"


def _flags(parameters: dict[str, Any]) -> str:
    return "".join(f" -p {key} {shlex.quote(str(value))}" for key, value in parameters.items())


def _relative(value: Any) -> Any:
    """A path inside the checkout as its reader has it; anything else as it is."""
    if isinstance(value, str) and Path(value).is_absolute() and Path(value).is_relative_to(ROOT):
        return Path(value).relative_to(ROOT).as_posix()
    return value


def foot(name: str, **parameters: Any) -> Markdown:
    """Commit, date, parameters, versions, time since the kernel began, and the commands that rerun the page `name`.

    Args:
        name: the notebook's file name without suffix, 'convexity'.
        parameters: the papermill parameters with the values this run used; paths inside the checkout are shown
            relative to it.
    """
    given = {key: _relative(value) for key, value in parameters.items()}
    listed = ", ".join(f"`{key} = {value!r}`" for key, value in given.items()) or "none"
    numbers = ", ".join(f"{key} {value}" for key, value in versions().items())
    made = f"commit `{commit() or 'unknown'}`, {datetime.now(UTC):%Y-%m-%d}"
    gpu = ""
    if (torch := sys.modules.get("torch")) is not None and torch.cuda.is_available():
        gpu = f", GPU {torch.cuda.get_device_name()}"
    return Markdown(
        f"""```{{admonition}} How this page was made
:class: tip dropdown
* Made from: {made}
* Parameters: {listed}
* Versions: {numbers}; {platform.system()} on {platform.machine()}{gpu}
* Run time: {time.time() - psutil.Process().create_time():.1f} s
* The same page with these or other parameters, names checked first:

      {command(name, **given)}

  or with papermill alone, in the project's folder:

      jupytext --to ipynb -o - notebooks/{name}.py | papermill{_flags(given)} - {name}.ipynb
```"""
    )

"""The foot of every page: what was run, with which versions, how long, and how to run it again."""

from __future__ import annotations

import platform
import shlex
import sys
import time
from importlib.metadata import version
from typing import Any

from IPython.display import Markdown

__all__ = ["VERSIONS_OF", "foot", "versions"]

VERSIONS_OF = ("focal-lib", "numpy", "scipy", "sympy", "python-flint", "torch", "scikit-learn", "matplotlib")
_STARTED = time.monotonic()  # notebooks import this module in their first cell


def versions() -> dict[str, str]:
    """Installed versions of Python and of what the numbers depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in VERSIONS_OF}}


def foot(name: str, **parameters: Any) -> Markdown:
    """Parameters, versions, run time and the commands that rerun the page `name`.

    Args:
        name: the notebook's file name without suffix, '02_convexity'.
        parameters: the papermill parameters with the values this run used.
    """
    flags = "".join(f" -p {key} {shlex.quote(str(value))}" for key, value in parameters.items())
    listed = ", ".join(f"`{key} = {value!r}`" for key, value in parameters.items()) or "none"
    numbers = ", ".join(f"{key} {value}" for key, value in versions().items())
    gpu = ""
    if (torch := sys.modules.get("torch")) is not None and torch.cuda.is_available():
        gpu = f", GPU {torch.cuda.get_device_name()}"
    return Markdown(
        f"""```{{admonition}} How this page was made
:class: tip dropdown
* Parameters: {listed}
* Versions: {numbers}; {platform.system()} on {platform.machine()}{gpu}
* Run time: {time.monotonic() - _STARTED:.1f} s
* The same page with other parameters, names checked first:

      focal notebook {name}{flags} --out {name}.ipynb

  or with papermill alone:

      jupytext --to ipynb -o - notebooks/{name}.py | papermill{flags} - {name}.ipynb
```"""
    )

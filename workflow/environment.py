"""Does the activated environment hold what the project needs?

    python workflow/environment.py

Says yes (exit status 0) or what is missing (1), so that `make` takes an environment of conda, or a virtual one that
somebody keeps, where it can, and makes `.venv` where it cannot. Any Python 3 must be able to run this.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("reproduction", "book", "test", "dask", "methods", "onnx")


def missing(root: Path = ROOT, extras: Iterable[str] = EXTRAS) -> list[str]:
    """What this Python lacks of the project's requirements in pyproject.toml."""
    try:
        import tomllib  # since Python 3.11

        from packaging.requirements import Requirement
        from packaging.specifiers import SpecifierSet
    except ImportError as error:
        return ["Python 3.11 to 3.13" if error.name == "tomllib" else str(error.name)]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    if ".".join(map(str, sys.version_info[:3])) not in SpecifierSet(project["requires-python"]):
        return [f"Python {project['requires-python']}"]
    wanted = [*project["dependencies"], *(text for name in extras for text in project["optional-dependencies"][name])]
    lacking = [text for text in wanted if not all(map(_installed, _with_extras(Requirement(text))))]
    found = importlib.util.find_spec("focal_lib")
    if found is None or found.origin is None or Path(found.origin).resolve() != root / "focal_lib" / "__init__.py":
        lacking.append(f"focal-lib of this folder (pip install --no-deps -e {root})")
    return lacking


def _installed(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(importlib.metadata.version(requirement.name), prereleases=True)
    except importlib.metadata.PackageNotFoundError:
        return False


def _with_extras(requirement: Requirement) -> Iterator[Requirement]:
    """The requirement, and what its own extras need: dask[array] needs NumPy."""
    yield requirement
    try:
        needs = importlib.metadata.requires(requirement.name) or []
    except importlib.metadata.PackageNotFoundError:
        return
    for need in map(type(requirement), needs):
        if need.marker and any(need.marker.evaluate({"extra": extra}) for extra in requirement.extras):
            yield need


def main() -> int:
    lacking = missing()
    if not lacking:
        print(f"Using the activated environment {sys.prefix}.", file=sys.stderr)
        return 0
    shown = ", ".join(lacking[:3]) + (f" and {len(lacking) - 3} more" if len(lacking) > 3 else "")
    print(f"Using .venv: the activated environment {sys.prefix} lacks {shown}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""Which files of focal_lib a notebook depends on: its imports, and the claims it shows.

The import graph is grimp's. Claims are registered by decorators and found by id at run time,
so their modules are looked up by the id in the `@claim("...")` line.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

import grimp

__all__ = ["claims_shown", "notebook_modules", "sources"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "focal_lib"


@functools.cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(PACKAGE, cache_dir=None)


def _path(module: str) -> Path:
    base = ROOT.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts) + 1)]


def _closure(modules: Iterable[str]) -> set[str]:
    """The modules, all they import, and the packages they lie in."""
    found: set[str] = set()
    todo = list(modules)
    while todo:
        module = todo.pop()
        if module not in found:
            found.add(module)
            todo += [*_graph().find_modules_directly_imported_by(module), *_parents(module)]
    return found


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def _claim_modules() -> dict[str, str]:
    """Claim id -> module that defines it."""
    found = {}
    for path in sorted((ROOT / PACKAGE / "claims").glob("*/*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "claim" and node.args:
                found[ast.literal_eval(node.args[0])] = module
    return found


def claims_shown(notebook: Path) -> set[str]:
    """Ids of the claims a notebook shows; all of them where it calls ledger().

    Raises:
        ValueError: an id that no module defines.
    """
    known = _claim_modules()
    ids: set[str] = set()
    for node in ast.walk(ast.parse(notebook.read_text())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name == "ledger":
                ids |= set(known)
            elif name in ("show", "find") and node.args and isinstance(node.args[0], ast.Constant):
                ids.add(str(node.args[0].value))
    if unknown := sorted(ids - set(known)):
        raise ValueError(f"claims shown in {notebook.name} must be in the ledger. Got {', '.join(unknown)}.")
    return ids


def notebook_modules(notebook: Path) -> set[str]:
    """Every focal_lib module the notebook runs."""
    known = _graph().modules
    direct = {name for name in _imports(ast.parse(notebook.read_text())) if name in known}
    return _closure(direct | {_claim_modules()[id] for id in claims_shown(notebook)})


def sources(modules: Iterable[str]) -> list[str]:
    """Files of the modules and of all they import, relative to the project."""
    return sorted(_path(m).relative_to(ROOT).as_posix() for m in _closure(modules))

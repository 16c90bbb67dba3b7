"""Losses, networks and recipes of your own, named 'module:Name'; PyTorch is not imported.

The module is looked for beside the grid file, in the current folder and on sys.path. A digest of its source, and of
what it imports from its own folder, is part of a run's specification: an edited loss is another run.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from modulefinder import ModuleFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from focal_lib.loss_records import LossRecord
from reproduction.engine.recipes import RECIPES, Recipe

_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_INSTALLED = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")}
_BESIDE: ContextVar[tuple[Path, ...]] = ContextVar("folders that are looked into first", default=())
_MODULES: dict[tuple[str, str], ModuleType] = {}  # name and digest -> the module as it was then
_OWN: set[str] = set()  # names in sys.modules that are of such modules


def is_own(name: str) -> bool:
    """Whether a loss, network or recipe is named 'module:Name'."""
    return ":" in name


@contextmanager
def beside(folder: Path) -> Iterator[None]:
    """While modules are looked for in this folder first."""
    token = _BESIDE.set((folder.resolve(), *_BESIDE.get()))
    try:
        yield
    finally:
        _BESIDE.reset(token)


def code_of(name: str, code: str = "") -> str:
    """Digest of the source behind 'module:Name', which is imported.

    Args:
        code: a digest that is known already: a module loaded with it is not looked for again.

    Raises:
        ValueError: no such module, one that cannot be imported, no such name in it, or another digest than `code`.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"what is your own must be named module:Name, as in my_loss:MyLoss. Got {name!r}.")
    module, _, attribute = name.partition(":")
    if (module, code) not in _MODULES:
        wanted, (folder, file) = code, _find(module)
        try:
            files = _imported_files(module, folder, file)
            code = _digest(files)
            if wanted in ("", code) and (module, code) not in _MODULES:
                _MODULES[module, code] = _import(module, folder, files)
            if folder not in _INSTALLED:
                _keep_in_reach(folder)
        except Exception as error:  # the module may raise anything
            raise ValueError(f"{file} must be a module that can be imported. Got {describe(error, file)}") from error
        if wanted not in ("", code):
            raise ValueError(f"the code of {file} must be {wanted}, of when the run was made. Got {code}.")
    loaded = _MODULES[module, code]
    if not hasattr(loaded, attribute):
        names = [own for own, value in vars(loaded).items() if not isinstance(value, ModuleType)]
        there = ", ".join(own for own in names if not own.startswith("_"))
        raise ValueError(f"{loaded.__file__} must define {attribute}. Got {there or 'nothing'}.")
    return code


def load(name: str, code: str = "") -> Any:
    """What 'module:Name' names, of the source with that digest. Raises as `code_of`."""
    code = code_of(name, code)
    module, _, attribute = name.partition(":")
    return getattr(_MODULES[module, code], attribute)


def describe(error: BaseException, file: Path | None = None) -> str:
    """'NameError: ... (my_loss.py, line 3)': the last line of `file`, or of any module of your own, that it passed."""
    files = {str(file)} if file else {str(module.__file__) for module in _MODULES.values()}
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    where = f" ({Path(lines[-1].filename).name}, line {lines[-1].lineno})" if lines else ""
    return f"{type(error).__name__}: {error}{where}"


def _find(module: str) -> tuple[Path, Path]:
    """The folder to import a module from, and its file."""
    own, rest = Path(*module.split(".")), list(map(Path, sys.path))
    first = [*_BESIDE.get(), Path.cwd()]
    for folder in (*first, *rest):
        for file in (folder / own.with_suffix(".py"), folder / own / "__init__.py"):
            if file.is_file():
                return folder.resolve(), folder.resolve() / file.relative_to(folder)
    looked = ", ".join(map(str, dict.fromkeys(first)))
    raise ValueError(f"{module} must be a module: {own}.py in {looked} or on sys.path. Got no such file.")


def _imported_files(module: str, folder: Path, file: Path) -> dict[str, Path]:
    """Name -> file of a module and of all that it imports from its own folder; of an installed one it alone."""
    if folder in _INSTALLED:
        return {module: file}
    finder = ModuleFinder([str(folder)], excludes=["focal_lib", "reproduction"])
    finder.import_hook(module)
    files = {name: Path(getattr(found, "__file__", None) or "") for name, found in finder.modules.items()}
    return {name: path for name, path in files.items() if path.is_file()}


def _digest(files: Mapping[str, Path]) -> str:
    found = hashlib.sha256()
    for name, path in sorted(files.items()):
        found.update(f"{name}\n".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def _import(module: str, folder: Path, files: Mapping[str, Path]) -> ModuleType:
    """The module as its files are now, whatever was imported under its name before."""
    if folder not in _INSTALLED:
        for name, path in files.items():
            if name in _OWN or getattr(sys.modules.get(name), "__file__", None) == str(path):
                sys.modules.pop(name, None)
        _OWN.update(files)
    sys.path.insert(0, str(folder))
    try:
        loaded = import_module(module)
    finally:
        sys.path.remove(str(folder))
    if os.path.realpath(loaded.__file__ or "") != os.path.realpath(files[module]):
        raise ImportError(f"Python has another module {module}, {loaded.__file__}: rename yours")
    return loaded


def _keep_in_reach(folder: Path) -> None:
    """For what a module imports later, and for the jobs and pages that this process starts."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    search = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    if str(folder) not in search:
        os.environ["PYTHONPATH"] = os.pathsep.join([*search, str(folder)])


def find_recipe(name: str, code: str = "") -> Recipe:
    """The recipe of that name, or your own.

    Raises:
        ValueError: none has the name, or what it names is no Recipe; as `code_of`.
    """
    if not is_own(name):
        if name not in RECIPES:
            raise ValueError(f"recipe must be one of {', '.join(RECIPES)}, or module:NAME. Got {name!r}.")
        return RECIPES[name]
    if not isinstance(recipe := load(name, code), Recipe):
        raise ValueError(f"{name} must be a reproduction.engine.recipes.Recipe. Got {_kind(recipe)}.")
    return recipe


def loss_record(name: str, code: str) -> LossRecord:
    """What tables and messages say of a loss of your own. Raises as `loss_defaults`."""
    uses = tuple(own for own in loss_defaults(name, code) if own != "epochs")
    return LossRecord(name, "", name.partition(":")[2], uses)


def loss_defaults(name: str, code: str) -> dict[str, float | None]:
    """Those of gamma, lam and epochs that your loss takes -> its default, None where it has none.

    Raises:
        ValueError: neither a class of torch modules nor a function of (logits, labels), or one that needs more.
    """
    from torch import nn

    loss = load(name, code)
    is_class = isinstance(loss, type) and issubclass(loss, nn.Module)
    if not is_class and (isinstance(loss, type | nn.Module) or not callable(loss)):
        raise ValueError(
            f"{name} must be a class of torch modules, or a function of (logits, labels). Got {_kind(loss)}."
        )
    parameters = list(inspect.signature(loss).parameters.values())
    if not is_class:
        batch, parameters = parameters[:2], parameters[2:]
        if len(batch) < 2 or any(one.kind not in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in batch):
            raise ValueError(f"{name} must begin with (logits, labels). Got {inspect.signature(loss)}.")
    taken = chosen_arguments(name, parameters, ("gamma", "lam", "epochs"))
    for own, default in taken.items():
        if default is not None and not (isinstance(default, int | float) and default >= 0):
            raise ValueError(f"{own} of {name} must have no default, or a number >= 0. Got {default!r}.")
    return taken


def chosen_arguments(name: str, parameters: list[inspect.Parameter], offered: tuple[str, ...]) -> dict[str, Any]:
    """Those offered that a signature has -> default, None where there is none.

    Raises:
        ValueError: it needs others.
    """
    missing = [
        one.name
        for one in parameters
        if one.name not in offered
        and one.default is one.empty
        and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if missing:
        raise ValueError(
            f"{name} must take no others than {', '.join(offered)} without a default. Got {', '.join(missing)}."
        )
    return {one.name: None if one.default is one.empty else one.default for one in parameters if one.name in offered}


def _kind(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"an object of type {type(value).__name__}"

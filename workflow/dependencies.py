"""Which files of focal_lib and reproduction a notebook depends on: the names it uses, and the claims it shows.

A name of a package's face, `from focal_lib.theory import tau` or `theory.tau`, leads to the module that defines it.
Which modules there are is grimp's. Claims are registered by decorators and found by id at run time,
so their modules are looked up by the id in the `@claim("...")` line, or in a row of a table, `Rows`.
Importing the ledger instead would cost seconds at each start of snakemake.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

import grimp

from focal_lib.atomic_write import write_whole
from focal_lib.loss_records import LOSS_RECORDS

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("focal_lib", "reproduction")


@functools.cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


@functools.cache
def _path(module: str) -> Path:
    base = ROOT.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts) + 1)]


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def _nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(_tree(path)))


@functools.cache
def face(package: str) -> dict[str, str]:
    """What a package's `__init__` imports: public name -> module that defines it. {} for any other module."""
    init = _path(package)
    if init.name != "__init__.py":
        return {}
    nodes = [node for node in _tree(init).body if isinstance(node, ast.ImportFrom) and node.module != package]
    return {alias.asname or alias.name: str(node.module) for node in nodes for alias in node.names}


def _defining(module: str, name: str) -> str:
    """The module that defines `name` of `module`: a face leads to the module behind it, a submodule is itself."""
    names = face(module)
    if name in names:  # before submodules: a function may have its module's name
        return _defining(names[name], name)
    return f"{module}.{name}" if f"{module}.{name}" in _graph().modules else module


def _closure(modules: Iterable[str]) -> set[str]:
    """The modules and all they import."""
    found: set[str] = set()
    todo = list(modules)
    while todo:
        module = todo.pop()
        if module not in found:
            found.add(module)
            todo += _used(_path(module))
    return found


@functools.cache
def _used(path: Path) -> set[str]:
    """Modules behind the names of focal_lib that the file uses."""
    found, packages = set(), {}
    nodes = _nodes(path)
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in _graph().modules}
        elif isinstance(node, ast.ImportFrom) and node.module in _graph().modules:
            for alias in node.names:
                module = _defining(node.module, alias.name)
                if face(module) and module == f"{node.module}.{alias.name}":  # a package: see which names are used
                    packages[alias.asname or alias.name] = module
                else:
                    found.add(module)
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages:
            found.add(_defining(packages[node.value.id], node.attr))
    if path == _path("focal_lib.losses.by_name"):  # imports them by the names in their records
        found |= {f"focal_lib.losses.{record.source.split('.')[0]}" for record in LOSS_RECORDS.values()}
    return found


@functools.cache
def claim_modules() -> dict[str, str]:
    """Claim id -> the module that registers it, by `@claim(...)` or by a row of a table."""
    found = {}
    for path in sorted([*ROOT.glob("reproduction/theorems/*/*.py"), *ROOT.glob("reproduction/studies/*/claims_*.py")]):
        given = [node for node in _tree(path).body if isinstance(node, ast.Assign) and _calls(node.value) == "Rows"]
        tables = {target.id for node in given for target in node.targets if isinstance(target, ast.Name)}
        for node in _nodes(path):
            if isinstance(node, ast.Call) and _calls(node) in {"claim", *tables} and node.args:
                found[ast.literal_eval(node.args[0])] = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return found


def _calls(node: ast.expr) -> str:
    """The name of what it calls; '' of anything else."""
    return str(getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""


def _claims_named(notebook: Path, *calls: str) -> set[str]:
    """Ids of the claims that calls of these names are given.

    Raises:
        ValueError: an id that no module defines.
    """
    ids: set[str] = set()
    for node in _nodes(notebook):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in calls:
            ids |= {str(arg.value) for arg in node.args if isinstance(arg, ast.Constant)}
    if unknown := sorted(ids - set(claim_modules())):
        raise ValueError(f"claims shown in {notebook.name} must be in the ledger. Got {', '.join(unknown)}.")
    return ids


def _claims_of_papers(notebook: Path) -> set[str]:
    """Ids of the claims of the papers that the notebook shows whole, by `claims_of_paper("kk24", ...)`."""
    calls = [n for n in _nodes(notebook) if isinstance(n, ast.Call) and _calls(n) == "claims_of_paper"]
    papers = {node.args[0].value for node in calls if isinstance(node.args[0], ast.Constant)}
    return {id for id in claim_modules() if id.split(".")[0] in papers}


def claims_checked(notebook: Path) -> set[str]:
    """Ids of the claims whose evidence a notebook may compute: all of them where it calls ledger()."""
    calls = (getattr(node.func, "id", "") for node in _nodes(notebook) if isinstance(node, ast.Call))
    return set(claim_modules()) if "ledger" in calls else _claims_named(notebook, "find")


def modules_used(path: Path) -> set[str]:
    """Every focal_lib module that a file imports, directly or through others; claims shown by id do not count."""
    return _closure(_used(path))


def notebook_modules(notebook: Path) -> set[str]:
    """Every module of the packages that the notebook runs."""
    return _closure(_used(notebook) | {claim_modules()[id] for id in claims_checked(notebook)})


def notebook_sources(notebook: Path) -> list[str]:
    """Files that what a notebook shows depends on, relative to the project.

    Of a claim that it shows with the verdict on record: the module that says it, not what its evidence comes from.
    """
    shown = _claims_named(notebook, "show") | _claims_of_papers(notebook)
    said = {_path(claim_modules()[id]).relative_to(ROOT).as_posix() for id in shown}
    return sorted({*sources(notebook_modules(notebook) | {"reproduction.pages.execute"}), *said})


@functools.cache
def _data() -> dict[str, list[Path]]:
    """Files that modules read, by name: inside the package, the tables of recorded runs, the record of formal proofs.

    Tables by their folder, too, its name or from `results` on, and grids by theirs, which recorded runs share: what is
    planned.
    """
    inside = [
        path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.*")
        if path.suffix not in (".py", ".pyc") and path.is_file()
    ]
    found: dict[str, list[Path]] = {}
    tables = sorted((ROOT / "results").glob("*/*.parquet"))
    for path in sorted([*inside, *tables, ROOT / "proofs" / "theorems.json"]):
        found.setdefault(path.name, []).append(path)
    for path in tables:
        for name in (path.parent.name, f"results/{path.parent.name}"):
            if name != "fashion-mnist":  # the data set, in most modules that say so
                found.setdefault(name, []).append(path)
    for path in sorted((ROOT / "workflow" / "grids").glob("*.yaml")):
        found.setdefault(path.stem, []).append(path)
    return found


@functools.cache
def _files_read(module: str) -> list[Path]:
    """Files whose name, folder in results/ or grid the module holds as a text: it may put a name together."""
    nodes = _nodes(_path(module))
    names = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return [path for name in names & set(_data()) for path in _data()[name]]


def sources(modules: Iterable[str]) -> list[str]:
    """Files of the modules and of all they import, and what these read, relative to the project.

    Of the packages they lie in the `__init__`, but not all that this imports for others.
    """
    found = _closure(modules)
    files = {_path(parent) for module in found for parent in _parents(module)}
    files |= {path for module in found for path in _files_read(module)}
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


def digest(path: Path) -> str:
    """Of the contents of a file and of all that it imports of the two packages: what numbers that it makes depend on.

    What lies in results/ does not count: a recorder would refuse to go on with what it saved itself.
    """
    names = [name for name in sources(modules_used(path)) if not name.startswith("results/")]
    return hashlib.sha256(path.read_bytes() + _digest(names).encode()).hexdigest()[:12]


def _digest(names: Iterable[str]) -> str:
    """Of files of the project, names and contents."""
    return hashlib.sha256(b"".join(name.encode() + _content(name) for name in sorted(set(names)))).hexdigest()


@functools.cache
def _content(name: str) -> bytes:
    return hashlib.sha256((ROOT / name).read_bytes()).digest()


def keep_digest(where: Path, names: Iterable[str]) -> str:
    """Keep the digest of these files of the project, names and contents, in a file; the file's name.

    It is written where the digest is another one, so that its time is that of the last change: an input that stands
    for hundreds of files.
    """
    found = _digest(names)
    if not where.exists() or where.read_text() != found:
        where.parent.mkdir(parents=True, exist_ok=True)
        write_whole(where, lambda part: part.write_text(found))
    return str(where)

"""Has the code that trains changed since its version was last decided on? Called as a program: it is decided now.

    python -m workflow.training_version

What counts are the modules that the numbers of a run depend on, as Python sees them: no comments, docstrings, blank
lines or line breaks.
"""

from __future__ import annotations

import ast
import hashlib
import json
from pathlib import Path

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT
from reproduction.engine.store import VERSION
from workflow.dependencies import sources

FILE = Path(__file__).with_name("training_version.json")
NUMBERS = ["reproduction.engine.fit"]  # from a specification to logits


def fingerprint(code: str) -> str:
    """Hash of what the code does; '' of one that only imports, as a package's face does."""
    body = [node for node in ast.parse(code).body if not _is_text(node)]
    if all(_imports(node) or _names_exports(node) for node in body):
        return ""
    return hashlib.sha256(_plain(ast.parse(code)).encode()).hexdigest()[:16]


def _plain(node: object) -> str:
    """The tree as text, the same in every version of Python: an empty or missing part is left out."""
    if isinstance(node, list):
        return f"[{' '.join(_plain(item) for item in node if not _is_text(item))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = ((name, getattr(node, name, None)) for name in node._fields if name not in ("ctx", "kind"))
    return f"({type(node).__name__} {' '.join(f'{n}={_plain(v)}' for n, v in parts if v is not None and v != [])})"


def _is_text(node: object) -> bool:
    """A docstring, or another string that stands by itself."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imports(node: ast.stmt) -> bool:
    """An import, or one that is tried."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Try) and all(map(_imports, node.body))
    )


def _names_exports(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def fingerprints() -> dict[str, str]:
    """File -> fingerprint, of every module that the numbers of a run depend on."""
    modules = (name for name in sources(NUMBERS) if name.endswith(".py"))  # a grid's file decides which runs, not how
    found = {name: fingerprint((ROOT / name).read_text()) for name in modules}
    return {name: value for name, value in found.items() if value}


def undecided() -> list[str]:
    """Files that changed, came or went since the last decision; [] if none, or if VERSION alone has changed."""
    before, now = json.loads(FILE.read_text()), fingerprints()
    files = before["files"]
    return sorted(name for name in files.keys() | now.keys() if files.get(name) != now.get(name))


def main() -> None:
    changed = undecided() if FILE.is_file() else []
    text = json.dumps({"version": VERSION, "files": fingerprints()}, indent=1) + "\n"
    write_whole(FILE, lambda part: part.write_text(text))
    print(f"Version {VERSION} of the training code now stands for its state of today.")
    print("\n".join(f"  {name}" for name in changed) or "  Nothing had changed.")


if __name__ == "__main__":
    main()

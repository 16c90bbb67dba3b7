"""What modules of the library import when they are imported: not torch, but for those named; nothing of the extras."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIGHT = ("theory", "metrics", "calibration", "plots", "tool", "cli")
EXTRAS = {"duckdb", "filelock", "flint", "onnx", "onnxscript", "platformdirs", "psutil", "seaborn", "sympy"}
# compute with torch today, which is why torch is still a dependency: the list may only become shorter
WITH_TORCH = {
    *("theory/entropy_ratio.py", "theory/maps.py", "theory/proper.py"),
    *("metrics/all_metrics.py", "metrics/bins.py", "metrics/design_gaps.py", "metrics/net_benefit.py"),
    *("metrics/predictions.py", "metrics/samples.py", "metrics/scores.py", "metrics/smooth.py"),
    "calibration/logit_sets.py",
    *(f"calibration/calibrators/{name}.py" for name in ("base", "ece_surface", "fit_samples", "linear", "newton")),
    *(f"calibration/calibrators/{name}.py" for name in ("searches", "seen_classes", "torch_module")),
    *("tool/evaluation/possible_labels.py", "tool/evaluation/scoring.py", "tool/evaluation/suspicions.py"),
    *("tool/inputs/parts.py", "tool/report/decisions.py"),
}


def imported_at_once(source: str) -> set[str]:
    """First names of what a module imports when it is imported: not in functions, not for type checkers alone."""

    def statements(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
                for other in child.orelse:
                    yield other
                    yield from statements(other)
                continue
            yield child
            yield from statements(child)

    found = set()
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).partition(".")[0])
    return found


def modules() -> dict[str, set[str]]:
    folder = ROOT / "focal_lib"
    paths = [path for name in LIGHT for path in sorted((folder / name).rglob("*.py"))]
    return {path.relative_to(folder).as_posix(): imported_at_once(path.read_text()) for path in paths}


def test_torch_is_imported_only_by_modules_named_here():
    assert {name for name, imports in modules().items() if imports & {"torch", "torchvision"}} == WITH_TORCH


def test_nothing_of_the_extras_is_imported_at_once():
    assert {name: imports & EXTRAS for name, imports in modules().items() if imports & EXTRAS} == {}


@pytest.mark.parametrize(
    "planted",
    [
        "import torch",
        "import torch.nn as nn",
        "from torch.nn import functional",
        "try:\n    import torch\nexcept ImportError:\n    pass",
        "class A:\n    import torch",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import torch",
    ],
)
def test_a_planted_import_is_seen(planted):
    assert "torch" in imported_at_once(planted)


@pytest.mark.parametrize(
    "allowed", ["def f():\n    import torch", "if TYPE_CHECKING:\n    from torch import Tensor", "from . import torch"]
)
def test_an_import_in_a_function_or_for_types_is_none(allowed):
    assert "torch" not in imported_at_once(allowed)


def test_few_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert len(project["dependencies"]) <= 10
    assert not any(text.startswith(tuple(EXTRAS)) for text in project["dependencies"])

"""The book's scripts in node, and with a planted fault."""

import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def run_node(*arguments: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(NODE), *map(str, arguments)], capture_output=True, text=True, **options)


def check_in_node(check: Path, script: Path) -> None:
    """The script passes its check."""
    done = run_node(check, script)
    assert done.returncode == 0, done.stdout


def plant(tmp_path: Path, check: Path, script: Path, before: str, after: str) -> str:
    """What the check says of a copy of the script that it must not let pass, one piece of which was changed."""
    text = script.read_text()
    assert before in text
    planted = tmp_path / script.name
    planted.write_text(text.replace(before, after))
    done = run_node(check, planted)
    assert done.returncode == 1
    return done.stdout

"""The project's checkout, where there is one: an installed package has no notebooks, grids or recorded runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def require_checkout(what: str) -> Path:
    """The root of the checkout.

    Raises:
        FileNotFoundError: the package is installed without one; the message says what needs it.
    """
    if not _is_checkout():
        raise FileNotFoundError(
            f"{what} needs a checkout of the project, with its notebooks and grids. Got an installed package."
        )
    return ROOT


def _is_checkout() -> bool:
    return (ROOT / "workflow" / "Snakefile").is_file()


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def commit(*, written: str = "") -> str:
    """The commit of the checkout, with '-dirty' where it was changed; '' for an installed package.

    FOCAL_COMMIT tells that of a copy without its history.

    Args:
        written: a folder that does not count: what is being recorded is no change of what records it.
    """
    if not _is_checkout():  # git would find a repository around site-packages
        return ""
    try:
        named = _git("describe", "--always", "--abbrev=12")
        aside = ["--", ".", f":!{written}"] if written else []
        changed = _git("status", "--porcelain", "--untracked-files=no", *aside)
        return f"{named}-dirty" if changed else named
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("FOCAL_COMMIT", "")

"""Install pinned packages into an environment: by uv, which takes a third of pip's time; by pip where uv cannot.

    .venv/bin/python workflow/install.py requirements.lock [.venv/bin/python]

The second argument is the Python of the environment, by default the one that runs this, which needs pip and no more. uv
does not read pip's settings. They are handed on, and pip installs where one is set that uv has no word for.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["Untranslated", "install", "translate_settings"]

LOCK = Path(__file__).with_name("install.lock")
# what pip may be told of where packages are, in uv's words; several of one are separated by spaces
_OPTIONS = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}
_VARIABLES = {"cert": "SSL_CERT_FILE", "timeout": "UV_HTTP_TIMEOUT", "default-timeout": "UV_HTTP_TIMEOUT"}
# what changes what is printed or allowed, and not what is installed
_OF_NO_MATTER = {
    *("config-file", "disable-pip-version-check", "no-color", "no-compile", "no-input", "no-python-version-warning"),
    *("progress-bar", "quiet", "require-virtualenv", "root-user-action"),
}


class Untranslated(ValueError):
    """pip has a setting that uv has no word for."""


def translate_settings(listed: str) -> tuple[list[str], dict[str, str]]:
    """Options and environment variables of uv that say what pip's settings do.

    Args:
        listed: what `pip config list` prints, lines such as global.index-url='https://...'.

    Raises:
        Untranslated: a setting that is neither one of those known here nor without effect on what is installed.
    """
    options, variables = [], {}
    for line in filter(None, map(str.strip, listed.splitlines())):
        name, _, quoted = line.partition("=")
        section, _, setting = name.rpartition(".")
        if section not in (":env:", "global", "install", "site", "user"):  # of another command, or of `pip config`
            continue
        value = str(ast.literal_eval(quoted))
        if setting in _OPTIONS:
            options += [word for place in value.split() for word in (_OPTIONS[setting], place)]
        elif setting in _VARIABLES:
            variables[_VARIABLES[setting]] = value
        elif setting == "no-cache-dir":
            options += ["--no-cache"] if value.lower() in ("1", "true", "yes", "on") else []
        elif setting not in _OF_NO_MATTER:
            raise Untranslated(f"uv has no word for pip's {setting}")
    if "--index" in options:  # as pip: the pinned version from whichever index has it
        options += ["--index-strategy", "unsafe-best-match"]
    return options, variables


def install(lock: Path, python: Path) -> None:
    """Install what the lock file pins, and what it needs, into the environment of this Python.

    Raises:
        subprocess.CalledProcessError: neither uv nor pip could; what they said is on stderr.
    """
    pip = [str(python), "-m", "pip"]
    try:
        listed = subprocess.run([*pip, "config", "list"], check=True, capture_output=True, text=True).stdout
        options, variables = translate_settings(listed)
        subprocess.run([*pip, "install", "-qq", "-r", str(LOCK)], check=True)
        uv = [str(python.with_name("uv")), "pip", "install", "--quiet", "--python", str(python), *options]
        subprocess.run([*uv, "-r", str(lock)], check=True, env=variables | os.environ)
    except (Untranslated, subprocess.CalledProcessError, OSError) as error:
        why = error if isinstance(error, Untranslated) else "uv did not install them"
        print(f"{why}: pip does, more slowly.", file=sys.stderr)
        # --no-compile: of some 20,000 modules most are never imported, and those that are are compiled then
        subprocess.run([*pip, "install", "-qq", "--no-compile", "-r", str(lock)], check=True)


def main(arguments: list[str]) -> None:
    if len(arguments) not in (1, 2):
        sys.exit(f"usage: install.py LOCK [PYTHON]. Got {len(arguments)} arguments.")
    install(Path(arguments[0]), Path(arguments[1] if len(arguments) == 2 else sys.executable))


if __name__ == "__main__":
    main(sys.argv[1:])

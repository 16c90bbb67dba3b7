"""Install pinned packages into an environment: by uv, which takes a third of pip's time; by pip where uv cannot.

    .venv/bin/python workflow/install.py requirements.lock

into the environment of the Python that runs it, which needs pip and no more. uv does not read pip's settings: they are
handed on, and pip installs where one is set that uv has no word for. Settings of uv's own, such as another folder to
install into, are left aside. uv itself lies in a folder that is removed afterwards.

Whoever stops uv while it puts packages in their places leaves some that look installed and are not whole. So a file in
the environment tells that packages are being installed, and where it is found all are installed anew.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = Path(__file__).with_name("install.lock")
MARKER = "installing"  # in the environment
SECTIONS = ("global", "install", ":env:")  # of pip's settings, the strongest last
# what pip may be told, in uv's words
_VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "cert": "SSL_CERT_FILE",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}
# what changes what is printed or allowed, and not what is installed
_OF_NO_MATTER = {
    *("config-file", "disable-pip-version-check", "no-color", "no-compile", "no-input", "no-python-version-warning"),
    *("progress-bar", "quiet", "require-virtualenv", "root-user-action"),
}
_KEPT = ("UV_CACHE_DIR", "UV_HTTP_TIMEOUT", "UV_LINK_MODE", "UV_NATIVE_TLS")  # of the user's settings of uv


class Untranslated(ValueError):
    """pip has a setting that uv has no word for."""


def translate_settings(listed: str) -> tuple[list[str], dict[str, str]]:
    """Options and environment variables of uv that say what pip's settings do; addresses, that may hold passwords, are
    no options, which every user of a machine can see.

    Args:
        listed: what `pip config list` prints, lines such as global.index-url='https://...'.

    Raises:
        Untranslated: a setting that is neither one of those known here nor without effect on what is installed.
    """
    lines = [line.strip().partition("=") for line in listed.splitlines()]
    given = [(*name.rpartition(".")[::2], str(ast.literal_eval(quoted))) for name, equals, quoted in lines if equals]
    settings = {name: value for level in SECTIONS for section, name, value in given if section == level and value}
    options, variables = [], {}
    for setting, value in settings.items():
        if setting in _VARIABLES:
            variables[_VARIABLES[setting]] = " ".join(value.split())
        elif setting == "find-links" and "," not in value:
            variables["UV_FIND_LINKS"] = ",".join(value.split())
        elif setting == "no-cache-dir":
            options += ["--no-cache"] if value.lower() in ("1", "true", "yes", "on") else []
        elif setting not in _OF_NO_MATTER:
            raise Untranslated(f"uv has no word for pip's {setting}")
    if "UV_INDEX" in variables:  # as pip: the pinned version from whichever index has it
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return options, variables


def install(lock: Path, python: Path) -> None:
    """Install what the lock file pins, and what it needs, into the environment of this Python.

    Raises:
        FileNotFoundError: no lock file.
        subprocess.CalledProcessError: neither uv nor pip could; what they said is on stderr.
    """
    if not lock.is_file():
        raise FileNotFoundError(f"a file of pinned packages is needed. Got {lock}, which is not there.")
    asked = subprocess.run([python, "-c", "import sys; print(sys.prefix)"], check=True, capture_output=True, text=True)
    marker = Path(asked.stdout.strip(), MARKER)
    again = marker.exists()
    marker.touch()
    try:
        _by_uv(lock, python, again)
        failed = ""
    except Untranslated as error:
        failed = str(error)
    except (subprocess.CalledProcessError, OSError, ValueError, SyntaxError) as error:
        failed = "uv did not install them"
        again = again or (isinstance(error, subprocess.CalledProcessError) and error.returncode < 0)  # killed
    if failed:
        print(f"{failed}: pip does, more slowly.", file=sys.stderr)
        # --no-compile: of some 20,000 modules most are never imported, and those that are are compiled then
        how = ["--no-compile", *(["--force-reinstall"] if again else [])]
        subprocess.run([python, "-m", "pip", "install", "-qq", *how, "-r", lock], check=True)
    marker.unlink(missing_ok=True)


def _by_uv(lock: Path, python: Path, again: bool) -> None:
    pip = [str(python), "-m", "pip"]
    said = subprocess.run(
        [*pip, "config", "list"], check=True, capture_output=True, env=os.environ | {"PIP_QUIET": "0"}
    )
    options, variables = translate_settings(os.fsdecode(said.stdout))
    others = {name: value for name, value in os.environ.items() if not name.startswith("UV_") or name in _KEPT}
    options += ["--reinstall"] if again else []
    with tempfile.TemporaryDirectory() as home:
        of_uv = ["--retries", "0", "--only-binary", ":all:", "--target", home]
        subprocess.run([*pip, "install", "-qq", *of_uv, "-r", str(LOCK)], check=True)
        uv = [str(Path(home, "bin", "uv")), "pip", "install", "--quiet", "--no-config", "--python", str(python)]
        subprocess.run([*uv, *options, "-r", str(lock)], check=True, env=variables | others)


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit(f"usage: install.py LOCK. Got {len(arguments)} arguments.")
    try:
        install(Path(arguments[0]), Path(sys.executable))
    except FileNotFoundError as error:
        sys.exit(str(error))
    except subprocess.CalledProcessError as error:
        sys.exit(
            f"The packages of {arguments[0]} were not installed, for the reason above (status {error.returncode})."
        )
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main(sys.argv[1:])

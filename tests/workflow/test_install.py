"""Pinned packages are installed by uv with the settings of pip, and by pip where uv cannot."""

import os
import subprocess
import sys

import pytest

from workflow.install import LOCK, Untranslated, install, main, translate_settings

LISTED = """
:env:.disable-pip-version-check='1'
:env:.find-links='/wheels /more wheels'
global.cert='/etc/certificates.crt'
global.extra-index-url='https://one.example/simple\\nhttps://two.example/simple'
global.index-url='https://main.example/simple'
freeze.user='true'
"""


def test_settings_in_the_words_of_uv():
    options, variables = translate_settings(LISTED)
    assert options == [
        *("--find-links", "/wheels", "--find-links", "/more", "--find-links", "wheels"),
        *("--index", "https://one.example/simple", "--index", "https://two.example/simple"),
        *("--default-index", "https://main.example/simple", "--index-strategy", "unsafe-best-match"),
    ]
    assert variables == {"SSL_CERT_FILE": "/etc/certificates.crt"}
    assert translate_settings("") == ([], {})
    assert translate_settings("global.no-cache-dir='true'") == (["--no-cache"], {})
    assert translate_settings("global.no-cache-dir='0'") == ([], {})


@pytest.mark.parametrize("line", ["global.no-index='1'", ":env:.constraint='c.txt'", "install.user='true'"])
def test_a_setting_without_a_word(line):
    with pytest.raises(Untranslated, match=r"no word for pip's (no-index|constraint|user)"):
        translate_settings(line)


@pytest.fixture
def environment(tmp_path):
    """A folder with a Python and a uv that write down how they are called; uv fails where a file says so."""

    def make(listed="", uv_fails=False):
        (tmp_path / "listed").write_text(listed)
        for name, does in (("python", f'[ "$4" = list ] && cat {tmp_path}/listed'), ("uv", f"exit {int(uv_fails)}")):
            script = tmp_path / name
            script.write_text(f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/calls\n{does}\nexit 0\n')
            script.chmod(0o755)
        return tmp_path / "python"

    return make, lambda: (tmp_path / "calls").read_text().splitlines()


@pytest.mark.skipif(os.name != "posix", reason="the stand-ins are shell scripts")
def test_by_uv(environment, tmp_path):
    make, calls = environment
    python = make("global.index-url='https://main.example/simple'")
    install(tmp_path / "a.lock", python)
    assert calls() == [
        "python -m pip config list",
        f"python -m pip install -qq -r {LOCK}",
        f"uv pip install --quiet --python {python} --default-index https://main.example/simple -r {tmp_path}/a.lock",
    ]


@pytest.mark.skipif(os.name != "posix", reason="the stand-ins are shell scripts")
@pytest.mark.parametrize(
    ("listed", "uv_fails", "why"),
    [("", True, "uv did not install them"), ("global.no-index='1'", False, "uv has no word for pip's no-index")],
)
def test_by_pip_where_uv_cannot(environment, tmp_path, capfd, listed, uv_fails, why):
    make, calls = environment
    install(tmp_path / "a.lock", make(listed, uv_fails))
    assert calls()[-1] == f"python -m pip install -qq --no-compile -r {tmp_path}/a.lock"
    assert any(call.startswith("uv ") for call in calls()) == uv_fails
    assert capfd.readouterr().err == f"{why}: pip does, more slowly.\n"


def test_pip_cannot_either(tmp_path):
    failing = tmp_path / "python"
    failing.write_text("#!/bin/sh\nexit 1\n")
    failing.chmod(0o755)
    with pytest.raises(subprocess.CalledProcessError):
        install(tmp_path / "a.lock", failing)


def test_usage():
    with pytest.raises(SystemExit, match=r"usage: install.py LOCK \[PYTHON\]. Got 0 arguments"):
        main([])


def test_it_needs_nothing_that_is_not_in_a_new_environment():
    """It runs before anything is installed."""
    command = [sys.executable, "-S", "-I", "-c", f"import runpy; runpy.run_path({str(LOCK.with_name('install.py'))!r})"]
    subprocess.run(command, check=True)

"""Pinned packages are installed by uv with the settings of pip, and by pip where uv cannot."""

import os
import re
import subprocess
import sys

import pytest

from workflow.install import LOCK, MARKER, Untranslated, install, main, translate_settings

POSIX = pytest.mark.skipif(os.name != "posix", reason="the stand-ins are shell scripts")
LISTED = """
:env:.disable-pip-version-check='1'
:env:.find-links='wheels more'
global.cert='/etc/certificates.crt'
global.extra-index-url='https://one.example/simple\\nhttps://two.example/simple'
global.find-links='weaker'
global.index-url='https://main.example/simple'
install.index-url=''
freeze.user='true'
"""


def test_settings_in_the_words_of_uv():
    assert translate_settings(LISTED) == (
        [],
        {
            "UV_FIND_LINKS": "wheels,more",  # the environment's, in place of the file's
            "SSL_CERT_FILE": "/etc/certificates.crt",
            "UV_DEFAULT_INDEX": "https://main.example/simple",
            "UV_INDEX": "https://one.example/simple https://two.example/simple",
            "UV_INDEX_STRATEGY": "unsafe-best-match",
        },
    )
    assert translate_settings("") == ([], {})
    assert translate_settings("global.no-cache-dir='true'") == (["--no-cache"], {})
    assert translate_settings("global.no-cache-dir='0'") == ([], {})


@pytest.mark.parametrize(
    "line",
    ["global.no-index='1'", ":env:.constraint='c.txt'", "install.user='true'", "global.find-links='wheels,a comma'"],
)
def test_a_setting_without_a_word(line):
    with pytest.raises(Untranslated, match=r"no word for pip's (no-index|constraint|user|find-links)"):
        translate_settings(line)


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """A stand-in for a Python and its environment, that writes down how pip and uv are called.

    `make` takes what pip lists, and a shell command that ends uv; `calls` gives what was called.
    """
    monkeypatch.setenv("UV_OVERRIDE", "elsewhere.txt")
    home = tmp_path / "environment"
    home.mkdir()
    (tmp_path / "a.lock").write_text("six==1.17.0\n")

    def make(listed="", uv_ends="exit 0"):
        (tmp_path / "listed").write_text(listed)
        words = f'#!/bin/sh\necho uv "$@" "[$UV_DEFAULT_INDEX$UV_OVERRIDE]" >> {tmp_path}/calls\n{uv_ends}\n'
        (tmp_path / "uv").write_text(words)
        (tmp_path / "uv").chmod(0o755)
        script = f"""#!/bin/sh
[ "$1" = -c ] && echo {home} && exit 0
echo python "$@" >> {tmp_path}/calls
[ "$4" = list ] && [ "$PIP_QUIET" = 0 ] && cat {tmp_path}/listed
while [ $# -gt 1 ]; do [ "$1" = --target ] && mkdir "$2/bin" && cp {tmp_path}/uv "$2/bin"; shift; done
exit 0
"""
        (tmp_path / "python").write_text(script)
        (tmp_path / "python").chmod(0o755)
        return tmp_path / "python"

    def calls():
        lines = (tmp_path / "calls").read_text().splitlines()
        return [re.sub(r"--target \S+", "--target X", line.replace(f"{tmp_path}/", "")) for line in lines]

    return make, calls, home / MARKER


ASKED = [
    "python -m pip config list",
    f"python -m pip install -qq --retries 0 --only-binary :all: --target X -r {LOCK}",
]
BY_UV = "uv pip install --quiet --no-config --python python"


@POSIX
def test_by_uv(environment, tmp_path):
    """With pip's settings, without those of uv that lead elsewhere; nothing is left of it."""
    make, calls, marker = environment
    install(tmp_path / "a.lock", make("global.index-url='https://main.example/simple'"))
    assert calls() == [*ASKED, f"{BY_UV} -r a.lock [https://main.example/simple]"]
    assert not marker.exists()


@POSIX
@pytest.mark.parametrize(
    ("listed", "ends", "why", "anew"),
    [
        ("", "exit 1", "uv did not install them", ""),
        ("", "kill -9 $$", "uv did not install them", "--force-reinstall "),
        ("global.no-index='1'", "exit 0", "uv has no word for pip's no-index", ""),
        ("global.index-url=no text", "exit 0", "uv did not install them", ""),
    ],
)
def test_by_pip_where_uv_cannot(environment, tmp_path, capfd, listed, ends, why, anew):
    make, calls, marker = environment
    install(tmp_path / "a.lock", make(listed, ends))
    assert calls()[-1] == f"python -m pip install -qq --no-compile {anew}-r a.lock"
    assert any(call.startswith("uv ") for call in calls()) == (not listed)
    assert f"{why}: pip does, more slowly.\n" in capfd.readouterr().err
    assert not marker.exists()


@POSIX
def test_what_was_interrupted_is_installed_anew(environment, tmp_path):
    """uv, stopped while it places packages, leaves some that look installed."""
    make, calls, marker = environment
    python = make(uv_ends="kill -TERM $PPID")
    lock, code = tmp_path / "a.lock", "from pathlib import Path; from workflow.install import install; "
    command = [sys.executable, "-c", f"{code}install(Path({str(lock)!r}), Path({str(python)!r}))"]
    assert subprocess.run(command).returncode < 0
    assert marker.exists()
    install(tmp_path / "a.lock", make())
    assert calls()[-1] == f"{BY_UV} --reinstall -r a.lock []"
    assert not marker.exists()


@POSIX
def test_what_failed_is_installed_anew_by_the_next_call(environment, tmp_path, monkeypatch):
    make, calls, marker = environment
    python = make(uv_ends="exit 1")
    whole = python.read_text()
    python.write_text(whole.removesuffix("exit 0\n") + '[ "$1" = a.lock ] && exit 7\nexit 0\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(
        SystemExit, match=r"The packages of a.lock were not installed, for the reason above \(status 7\)"
    ):
        main(["a.lock"])
    assert marker.exists()
    python.write_text(whole)
    main(["a.lock"])
    assert "--force-reinstall" in calls()[-1]
    assert not marker.exists()


def test_what_is_asked_wrongly(tmp_path):
    with pytest.raises(SystemExit, match=r"usage: install.py LOCK. Got 0 arguments"):
        main([])
    with pytest.raises(SystemExit, match=r"a file of pinned packages is needed. Got .*none.lock, which is not there"):
        main([str(tmp_path / "none.lock")])


def test_it_needs_nothing_that_is_not_in_a_new_environment():
    """It runs before anything is installed."""
    command = [sys.executable, "-S", "-I", "-c", f"import runpy; runpy.run_path({str(LOCK.with_name('install.py'))!r})"]
    subprocess.run(command, check=True)

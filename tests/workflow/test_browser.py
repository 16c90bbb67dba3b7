"""What `make browser` needs, and that `make test` leaves its tests to it."""

import subprocess

import pytest

from reproduction.checkout import ROOT
from tests import conftest
from workflow import browser


def test_it_says_what_is_missing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(browser.shutil, "which", lambda name: None)
    monkeypatch.setattr(browser, "BOOK", tmp_path / "index.html")
    monkeypatch.setattr(browser, "HOME", tmp_path)
    monkeypatch.setattr(browser.subprocess, "run", lambda *_, **__: pytest.fail("nothing is to be begun"))
    assert browser.main([]) == 1
    said = capsys.readouterr().err
    assert all(
        what in said
        for what in ("apt install chromium", "apt install default-jre-headless", "make book", "browser.lock")
    )


def test_nothing_is_missing_where_all_is_there(monkeypatch, tmp_path):
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(browser, "BOOK", tmp_path)
    monkeypatch.setattr(browser, "HOME", tmp_path)
    (tmp_path / "ready").touch()
    assert browser.missing() == ["the book (make book)"]
    monkeypatch.setattr(browser, "BOOK", ROOT / "README.md")
    assert browser.missing() == []


def test_what_tests_find_is_its_exit_status(monkeypatch):
    asked = []
    monkeypatch.setattr(browser, "missing", list)
    monkeypatch.setattr(
        browser.subprocess, "run", lambda command, **_: asked.append(command) or subprocess.CompletedProcess(command, 3)
    )
    assert browser.main(["-k", "ledger"]) == 3
    calibrate, tests = asked
    assert calibrate[2:5] == ["focal_lib.cli", "calibrate", str(browser.PREDICTIONS)]
    assert browser.PREDICTIONS.is_file()
    assert tests[-3:] == ["-k", "ledger", str(browser.TESTS)]


def test_make_test_leaves_them_alone():
    assert [ROOT / "tests" / name for name in conftest.collect_ignore] == [browser.TESTS]
    assert (browser.TESTS / "conftest.py").is_file()

"""Pages printed by Chromium."""

import shutil

import pytest

from workflow import chromium


def test_without_chromium_it_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(FileNotFoundError, match="apt install chromium"):
        chromium.print_pdf(tmp_path / "a.html", tmp_path / "a.pdf")


def test_pages_are_counted_and_their_tree_is_not(tmp_path):
    pdf = tmp_path / "a.pdf"
    pdf.write_bytes(b"<</Type /Pages /Kids []>> <</Type /Page>> <</Type/Page\n>>")
    assert chromium.count_pages(pdf) == 2

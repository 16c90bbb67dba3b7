"""The README says what the ledger says, and leads to files."""

import re
import tomllib

import pytest

from reproduction.checkout import ROOT
from reproduction.ledger import tally, verdicts

TEXT = (ROOT / "README.md").read_text()


def test_table_is_the_ledgers():
    instead = {id: found.instead for id, found in verdicts.records().items() if found.instead}
    table = tally.readme_table(verdicts.recorded(), instead)
    assert tally.with_table(TEXT, table) == TEXT, "run: focal claims --record"


def test_links_lead_to_files():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links
    for link in links:
        assert link.startswith("https://arxiv.org") or (ROOT / link).exists(), link


def test_the_way_to_each_command_for_a_model_of_ones_own():
    """In the README, and on a page of the book that it and the first page lead to."""
    page = (ROOT / "book/command_line.md").read_text()
    for command in ("calibrate", "apply", "check", "watch"):
        assert f"focal {command} " in TEXT
        assert f"focal {command} " in page
    assert "(book/command_line.md)" in TEXT
    assert "(#page-command-line)" in (ROOT / "book/index.md").read_text()


def test_what_is_to_be_installed_is_there():
    """The package is on no index: an extra is of a checkout."""
    for text in (TEXT, *(path.read_text() for path in (ROOT / "book").glob("*.md"))):
        assert "focal-lib[" not in text
        for extra in re.findall(r"pip install (?:-e )?'\.\[([\w,]+)\]'", text):
            known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert set(extra.split(",")) <= set(known)


@pytest.mark.parametrize("lock", ["requirements.lock", "benchmarks/requirements.lock", "workflow/browser.lock"])
def test_lock_files_hold_versions_and_hashes_and_no_addresses(lock):
    text = (ROOT / lock).read_text()
    assert "://" not in text
    packages = re.split(r"\n(?=\S)", text.strip())
    assert packages
    for package in packages:
        pin, *hashes = package.split(" \\\n")
        assert re.fullmatch(r"[\w.-]+==[\w.+]+( ; .+)?", pin), pin
        assert hashes, pin
        assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line) for line in hashes), pin

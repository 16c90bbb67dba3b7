"""The README says what the ledger says, and leads to files."""

import re

from focal_lib.checkout import ROOT
from focal_lib.claims import readme, verdicts

TEXT = (ROOT / "README.md").read_text()


def test_table_is_the_ledgers():
    instead = {id: found.instead for id, found in verdicts.records().items() if found.instead}
    table = readme.table(verdicts.recorded(), instead)
    assert readme.with_table(TEXT, table) == TEXT, "run: focal claims --record"


def test_links_lead_to_files():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links
    for link in links:
        assert link.startswith("https://arxiv.org") or (ROOT / link).exists(), link


def test_lock_file_holds_versions_and_no_addresses():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert lines
    assert not [line for line in lines if "://" in line or line.startswith("-")]
    assert all("==" in line for line in lines)

"""The README says what the ledger says."""

from focal_lib.claims import verdicts
from tests.record_verdicts import README, ROOT, readme_with, table


def test_table_is_the_ledgers():
    text = README.read_text()
    assert readme_with(text, table(verdicts.recorded())) == text


def test_links_lead_to_files():
    import re

    for link in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        assert link.startswith("https://arxiv.org") or (ROOT / link).exists(), link


def test_lock_file_holds_versions_and_no_addresses():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert lines
    assert not [line for line in lines if "://" in line or line.startswith("-")]
    assert all("==" in line for line in lines)

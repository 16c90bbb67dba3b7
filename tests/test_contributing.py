"""What CONTRIBUTING says is where it says."""

import re

from reproduction.checkout import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def test_files_and_folders_it_names_are_there():
    named = [path for path in re.findall(r"`([\w./-]+/[\w./-]*)`", TEXT) if not path.startswith("_build/")]
    assert len(named) > 30
    assert TEXT.count("\n| ") <= 16  # the tree says the rest
    assert [path for path in named if not (ROOT / path).exists()] == []

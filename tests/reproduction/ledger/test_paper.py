"""A paper's own claims on its page."""

import re

import pytest

from reproduction.ledger import ledger
from reproduction.ledger.paper import claims_of_paper


def test_each_claim_of_the_paper_is_there_once_and_none_of_ours():
    shown = claims_of_paper("kn24", 10).html
    own = [claim.id for claim in ledger("kn24") if claim.of_paper]
    assert len(own) < len(ledger("kn24"))
    found = re.findall(r'<li id="verdict-([\w-]+)">', shown)
    assert sorted(found) == sorted(id.replace(".", "-").replace("_", "-") for id in own)


def test_long_groups_are_folded_and_say_how_many_of_each_verdict():
    line = claims_of_paper("kn24", 4)
    assert re.findall(r'<details class="chips"( open)?><summary><b>(\w+)', line.html) == [
        (" open", "Out"),
        ("", "Could"),
    ]
    assert '<strong class="verdict uncheckable-here">UNCHECKABLE HERE</strong>&nbsp;9' in line.html
    assert line.text.startswith("Out of regime")


def test_an_unknown_paper_is_refused():
    with pytest.raises(ValueError, match="paper must be one of"):
        claims_of_paper("x24", 5)

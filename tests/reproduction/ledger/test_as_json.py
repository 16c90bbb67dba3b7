"""focal claims --json: as its schema says, and a fault is seen."""

import copy
import json

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError

from focal_lib.cli import main
from reproduction.ledger import Verdict, find, ledger, verdicts
from reproduction.ledger.as_json import SCHEMA, as_json
from reproduction.ledger.evidence import Unchecked
from reproduction.ledger.formal import Faithful
from reproduction.ledger.ledger import PAPERS, RETIRED, Fidelity

RULES = json.loads(SCHEMA.read_text())
VALIDATOR = Draft202012Validator(RULES)
IDS = {claim.id for claim in ledger()}


@pytest.fixture(scope="module")
def whole():
    done = CliRunner().invoke(main, ["claims", "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def test_the_schema_is_one_and_the_ledger_is_as_it_says(whole):
    Draft202012Validator.check_schema(RULES)
    VALIDATOR.validate(whole)
    assert [entry["id"] for entry in whole["claims"]] == [claim.id for claim in ledger()]


def test_the_schema_knows_every_word():
    assert RULES["$defs"]["verdict"]["enum"] == list(map(str, Verdict))
    claim = RULES["$defs"]["claim"]["properties"]
    assert claim["fidelity"]["enum"] == list(map(str, Fidelity))
    assert claim["paper"]["enum"] == list(PAPERS)
    assert claim["formal"]["anyOf"][1]["properties"]["faithful"]["enum"] == list(map(str, Faithful))


@pytest.mark.parametrize(
    ("key", "value"),
    [("verdict", "TRUE"), ("id", "prop5"), ("corrects", ["x"]), ("location", ""), ("formal", {}), ("unchecked", {})],
)
def test_a_planted_fault_is_seen(whole, key, value):
    planted = copy.deepcopy(whole)
    planted["claims"][0][key] = value
    with pytest.raises(ValidationError):
        VALIDATOR.validate(planted)
    del planted["claims"][0][key]
    with pytest.raises(ValidationError, match="required"):
        VALIDATOR.validate(planted)


def test_it_says_what_the_ledger_and_the_record_say(whole):
    entries = {entry["id"]: entry for entry in whole["claims"]}
    on_record = verdicts.records()
    for id, entry in entries.items():
        assert entry["verdict"] == (on_record[id].in_full if id in on_record else None)
        assert all(id in entries[other]["corrected_by"] for other in entry["corrects"])
        assert (entry["formal"] is None) == (find(id).formal is None)
    assert {retired["id"]: ", ".join(retired["now"]) for retired in whole["retired"]} == RETIRED
    assert {id for retired in whole["retired"] for id in retired["now"]} <= IDS


def test_what_cannot_be_checked_says_why_and_by_which_command(whole):
    found = {e["id"]: e["unchecked"] for e in whole["claims"] if e["verdict"] == "UNCHECKABLE HERE"}
    assert len(found) > 10
    assert all(e["unchecked"] is None for e in whole["claims"] if e["id"] not in found)
    for id, unchecked in found.items():
        wanted = find(id).evidence.reason if isinstance(find(id).evidence, Unchecked) else None  # its runs are here
        assert (unchecked and unchecked["reason"]) == wanted
    assert found["l25.chexnet"]["commands"][0].startswith("python -m reproduction.studies.localisation.record --chest ")
    assert found["kk24.ce_temperature"]["commands"] == [
        f"focal grid workflow/grids/{grid}.yaml" for grid in ("kk24-table1", "kk24-tinyimagenet")
    ]
    assert found["kk24.prop2_weight"]["commands"] == []  # of a formula that is lost


def test_a_reason_in_other_words_has_other_commands():
    text = "needs a GPU: `focal grid A.yaml --cores 2`, then `results.read_table`, or `make book`"
    assert Unchecked(text).commands == ["focal grid A.yaml --cores 2", "make book"]
    assert Unchecked("the formula is lost").commands == []


def test_one_claim_is_checked_and_comes_with_its_evidence():
    done = CliRunner().invoke(main, ["claims", "kk24.prop5", "--json"])
    found = json.loads(done.output)
    VALIDATOR.validate(found)
    (entry,) = found["claims"]
    assert entry["now"]["verdict"] == "REFUTED"
    assert entry["now"]["would_change"] == find("kk24.prop5").would_change()
    assert find("kk24.prop5").evidence.describe() in entry["now"]["evidence"]


def test_a_claim_that_is_not_on_record_has_no_verdict(monkeypatch, tmp_path):
    empty = tmp_path / "verdicts.json"
    empty.write_text('{"verdicts": {}, "formal": [], "instead": {}, "evidence": {}}')
    monkeypatch.setattr(verdicts, "FILE", empty)
    found = as_json([find("kk24.prop1")])
    VALIDATOR.validate(found)
    assert found["claims"][0]["verdict"] is None

"""focal claims --rubric: a tree as its schema says, of every claim of the papers, without a verdict."""

import copy
import json

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError

from focal_lib.cli import main
from reproduction.ledger import Verdict, find, ledger, verdicts
from reproduction.ledger.rubric import SCHEMA, SETTLED_BY, rubric, section

RULES = json.loads(SCHEMA.read_text())
VALIDATOR = Draft202012Validator(RULES)


def _write(out, *arguments):
    return CliRunner().invoke(main, ["claims", *arguments, "--rubric", str(out)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("rubric") / "rubric.json"
    done = _write(out)
    assert done.exit_code == 0, done.output
    return out.read_text()


def leaves(node):
    return [leaf for below in node["sub_tasks"] for leaf in leaves(below)] if node["sub_tasks"] else [node]


def test_it_is_as_its_schema_says_and_the_same_each_time(whole):
    Draft202012Validator.check_schema(RULES)
    VALIDATOR.validate(json.loads(whole))
    assert json.dumps(rubric(ledger()), indent=1, ensure_ascii=False) + "\n" == whole
    assert RULES["$defs"]["claim"]["properties"]["evidence"]["enum"] == list(SETTLED_BY)


def test_every_claim_of_the_papers_is_a_leaf_and_counts_by_its_weight(whole):
    tree = json.loads(whole)
    found = leaves(tree)
    assert {leaf["id"] for leaf in found} == {claim.id for claim in ledger() if claim.of_paper}
    assert len(found) == len({leaf["id"] for leaf in found})
    assert tree["weight"] == sum(leaf["weight"] for leaf in found)
    ids = [node["id"] for paper in tree["sub_tasks"] for node in paper["sub_tasks"]]
    assert len(ids) == len(set(ids))


def test_no_verdict_stands_in_it_or_decides_it(whole, monkeypatch):
    assert not [verdict for verdict in Verdict if f'"{verdict}"' in whole]
    against = {Verdict.REPRODUCED: Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED: Verdict.REPRODUCED}
    against |= {Verdict.REFUTED: Verdict.PROVED}
    against |= dict.fromkeys((Verdict.PROVED, Verdict.CERTIFIED, Verdict.NUMERIC), Verdict.REFUTED)
    other = {
        id: record._replace(verdict=str(against.get(record.verdict, record.verdict)))
        for id, record in verdicts.records().items()
    }
    monkeypatch.setattr("reproduction.ledger.rubric.records", lambda: other)
    assert json.dumps(rubric(ledger()), indent=1, ensure_ascii=False) + "\n" == whole


@pytest.mark.parametrize(
    ("id", "place", "evidence"),
    [
        ("kk24.prop5", "Prop. 5", "theory"),
        ("kk24.table1_ece_focal_losses", "Table 1", "networks"),
        ("m20.flsd_broadly_lowest", "Section 6", "printed tables"),
        ("l25.chexnet", "Section 1", "networks"),
    ],
)
def test_a_claim_has_its_section_and_what_settles_it(id, place, evidence):
    (leaf,) = leaves(rubric([find(id)]))
    assert (section(find(id)), leaf["evidence"]) == (place, evidence)
    assert leaf["requirements"].endswith(find(id).statement)


@pytest.mark.parametrize(("key", "value"), [("weight", 0), ("evidence", "belief"), ("verdict", "PROVED")])
def test_a_planted_fault_is_seen(whole, key, value):
    planted = copy.deepcopy(json.loads(whole))
    leaves(planted)[0][key] = value
    with pytest.raises(ValidationError):
        VALIDATOR.validate(planted)


def test_one_paper_alone_and_claims_of_ours(tmp_path):
    done = _write(tmp_path / "l25.json", "--paper", "l25")
    assert done.exit_code == 0, done.output
    assert [paper["id"] for paper in json.loads((tmp_path / "l25.json").read_text())["sub_tasks"]] == ["l25"]
    refused = _write(tmp_path / "ours.json", "kk24.regret")
    assert refused.exit_code == 1
    assert "needs claims that a paper makes" in refused.output

"""What was reviewed is what stands, and each way in which a claim and its proof can come apart is noticed."""

import runpy
import shutil
from dataclasses import replace

import pytest

from reproduction.checkout import ROOT
from reproduction.ledger import code, find, formal, ledger, reviewed
from reproduction.ledger.formal import formal as proved_by
from reproduction.ledger.ledger import _REGISTRY, PRINTED
from reproduction.ledger.reviewed import Difference, compare


@pytest.fixture
def copies(tmp_path, monkeypatch):
    """Copies of the proofs, the printed tables and the record, which a test may change."""
    shutil.copytree(ROOT / "proofs", tmp_path / "proofs")
    shutil.copytree(ROOT / PRINTED, tmp_path / "printed")
    shutil.copy(reviewed.FILE, tmp_path)
    monkeypatch.setattr(formal, "SOURCES", tmp_path / "proofs")
    monkeypatch.setattr(reviewed, "CELLS", tmp_path / "printed")
    monkeypatch.setattr(reviewed, "FILE", tmp_path / "reviewed.json")
    return tmp_path


@pytest.fixture
def reword(monkeypatch):
    """Puts a claim with something changed into the ledger."""
    return lambda id, **changed: monkeypatch.setitem(_REGISTRY, id, replace(find(id), **changed))


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_record_is_of_today():
    assert [found.describe() for found in compare([claim.id for claim in ledger()])] == [], (
        "read both sides, then: focal claims --record --statements"
    )


@pytest.mark.parametrize(
    ("id", "part", "old", "new"),
    [
        ("kk24.many_low", "statement", "at least", "at most"),  # the contrary
        ("kk24.many_low", "short", "never less", "never more"),
        ("kk24.prop3_log", "statement", r"2\log2-1", r"2\log2-1.1"),  # a false constant
        ("kk24.prop2_proper_part_sides", "statement", "lower", "higher"),  # a quotation reversed
        ("kk24.prop5", "fidelity", "quoted", "ours"),
        ("kk24.prop5", "source", "Prop. 5", "Prop. 4"),
    ],
)
def test_another_wording_is_noticed(reword, id, part, old, new):
    before = getattr(find(id), part)
    assert old in before
    now = before.replace(old, new, 1)
    reword(id, **{part: now})
    assert compare([id]) == [Difference(id, part, before, now)]
    assert compare(["kk24.prop1"]) == []


def test_a_weaker_theorem_in_place_of_one_is_noticed(reword):
    reword("kk24.minimiser_range", formal=proved_by("exact", "kk24_minimiser_062"))
    found = {one.part: (one.before, one.now) for one in compare(["kk24.minimiser_range"])}
    weak = "Example kk24_minimiser_062 : exists gamma, 0 < gamma /\\ minimises gamma 0.8 0.62."
    assert found.pop("theorem kk24_minimiser_062") == (None, weak)
    assert found
    assert all(now is None for _, now in found.values())


def test_a_proof_that_only_is_related_is_noticed(reword):
    reword("kk24.prop1", formal=proved_by("related", "kk24_prop1"))
    assert compare(["kk24.prop1"]) == [Difference("kk24.prop1", "formal", "exact", "related")]


def test_a_weakened_theorem_is_noticed_before_and_after_it_is_compiled(copies):
    """Of proofs/theorems.json nothing is read, so that recording it does not hide the change."""
    edit(
        copies / "proofs" / "KK24_Prop1.v", "kk24_prop1 gamma : 0 <= gamma ->", "kk24_prop1 gamma : 0 <= gamma <= 10 ->"
    )
    [found] = compare(["kk24.prop1"])
    assert (found.subject, found.part) == ("kk24.prop1", "theorem kk24_prop1")
    assert "0 <= gamma ->" in found.before
    assert "0 <= gamma <= 10 ->" in found.now
    assert found.describe().count("Theorem kk24_prop1") == 2


def test_a_weakened_theorem_with_its_old_text_in_a_comment_is_noticed(copies):
    path = copies / "proofs" / "KK24_Prop1.v"
    edit(path, "Theorem kk24_prop1 gamma : 0 <= gamma ->", "Theorem kk24_prop1 gamma : 0 <= gamma <= 10 ->")
    before = "Theorem kk24_prop1 gamma : 0 <= gamma -> strictly_convex_on_unit (focal_loss gamma).\nProof."
    path.write_text(f"{path.read_text()}\n(* (* once *)\n{before} *)\n")
    assert [found.part for found in compare(["kk24.prop1"])] == ["theorem kk24_prop1"]


def test_a_second_theorem_of_a_name_is_noticed(copies):
    path = copies / "proofs" / "KK24_Prop2.v"
    path.write_text(path.read_text() + "\nTheorem kk24_prop1 : True.\nProof. exact I. Qed.\n")
    assert [found.part for found in compare(["kk24.prop1"])] == ["theorem kk24_prop1"]


CHECK = '''
LIMIT = 0.75

def helper(x):
    """Says so."""
    return x < LIMIT

def check():
    return helper(0.5)

row = (lambda: helper(0.6))
other = 1
'''


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("0.75", "0.95", (False, False)),
        ("x < LIMIT", "x > LIMIT", (False, False)),
        ("0.5", "0.4", (False, True)),
        ("0.6", "0.4", (True, False)),
        ("other = 1", "other = 2", (True, True)),
        ("Says so.", "Says nothing.", (True, True)),
        ("return helper(0.5)", "# a remark\n    return helper(\n        0.5\n    )", (True, True)),
    ],
)
def test_another_computation_of_a_check_is_noticed(tmp_path, old, new, same):
    """In itself, a function or a constant that it names; not in its layout, or what it does not name."""
    digests = []
    for name, text in (("before", CHECK), ("after", CHECK.replace(old, new, 1))):
        (tmp_path / f"{name}.py").write_text(text)
        module = runpy.run_path(str(tmp_path / f"{name}.py"))
        digests.append((code.digest(module["check"]), code.digest(module["row"])))
    assert tuple(before == after for before, after in zip(*digests, strict=True)) == same


def test_a_theorem_that_is_gone_is_noticed(copies):
    edit(copies / "proofs" / "KK24_Prop1.v", "Theorem kk24_prop1 ", "Theorem kk24_prop1_renamed ")
    assert [found.now for found in compare(["kk24.prop1"])] == ["not in proofs/"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (
            "Focal.v",
            "Definition focal_loss (gamma q : R) : R := - (",
            "Definition focal_loss (gamma q : R) : R := 2 * - (",
        ),
        ("EachN.v", "Hypothesis Hk : 2 <= k.", "Hypothesis Hk : 2 <= k <= 9."),
        ("Focal.v", "Definition focal_loss ", "Axiom easy : False.\n\nDefinition focal_loss "),
        ("KN24_Fig1.v", "Theorem ", "Local Definition log_loss p := 9 * Focal.log_loss p.\n\nTheorem "),
        ("KN24_Fig1.v", "Theorem ", "  #[local] Definition log_loss p := 9 * Focal.log_loss p.\n\nTheorem "),
    ],
)
def test_another_meaning_below_a_theorem_is_noticed_whatever_claim_is_asked_for(copies, file, old, new):
    edit(copies / "proofs" / file, old, new)
    [found] = compare(["m20.gamma_order"])
    assert found.subject == f"proofs/{file}"


@pytest.mark.parametrize(("old", "new"), [("17.52", "17.70"), ("1.78", "1.80")])
def test_another_printed_cell_is_noticed(copies, old, new):
    edit(copies / "printed" / "m20_l25.csv", old, new)
    assert [(found.subject, found.part) for found in compare(["kk24.prop1"])] == [(PRINTED, "m20_l25.csv")]


def test_another_byte_of_a_recorded_table_is_noticed(tmp_path, monkeypatch):
    for name in reviewed.on_record()[reviewed.RECORDS]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(reviewed.RESULTS / name)
    table = tmp_path / "texts" / "table.parquet"
    content = table.read_bytes()
    table.unlink()
    table.write_bytes(content[:-9] + b"x" + content[-8:])
    monkeypatch.setattr(reviewed, "RESULTS", tmp_path)
    assert [(found.subject, found.part) for found in compare(["kk24.prop1"])] == [("results/", "texts/table.parquet")]


def test_a_record_takes_the_claims_asked_for_and_no_others(copies, reword):
    before = find("kk24.many_low").statement
    reword("kk24.many_low", statement="x")
    reword("kk24.prop5", fidelity="ours")
    assert reviewed.record(["kk24.many_low"]) == [Difference("kk24.many_low", "statement", before, "x")]
    assert compare(["kk24.many_low"]) == []
    assert [found.part for found in compare(["kk24.prop5"])] == ["fidelity"]


def test_a_new_claim_and_one_that_is_gone_are_differences(copies, monkeypatch):
    monkeypatch.setitem(_REGISTRY, "kk24.new", replace(find("kk24.prop1"), id="kk24.new", formal=None))
    monkeypatch.delitem(_REGISTRY, "kk24.prop5")
    every = [claim.id for claim in ledger()]
    found = reviewed.record(every)
    assert {(one.subject, one.before is None, one.now is None) for one in found} == {
        ("kk24.new", True, False),
        ("kk24.prop5", False, True),
    }
    assert compare(every) == []


def test_without_the_proofs_the_rest_is_compared(copies, reword):
    shutil.rmtree(copies / "proofs")
    assert compare([claim.id for claim in ledger()]) == []
    reword("kk24.many_low", statement="x")
    assert len(compare(["kk24.many_low"])) == 1

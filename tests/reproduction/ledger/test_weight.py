"""What verdicts rest on: each claim has one weight, and it is what its check reads."""

import contextlib
from dataclasses import replace

import pytest

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.engine.papers import differences_from_papers
from reproduction.ledger import find, ledger, weight
from reproduction.ledger.ledger import PAPERS, PRINTED
from reproduction.ledger.verdicts import recorded
from reproduction.ledger.weight import Basis, Weight, by_basis, of_record, weigh
from reproduction.studies import printed_tables

VERDICTS = recorded()
FOLDERS = sorted({claim.needs.removeprefix("results/") for claim in ledger() if (claim.needs or "").startswith("res")})
READERS = ("_read", "_m20_l25")


def test_every_claim_has_one_weight():
    assert all(weigh(claim, VERDICTS[claim.id]) in set(Weight) for claim in ledger())


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_record_that_claims_read_has_a_weight(folder):
    assert of_record(folder) in (Weight.PAPER_SIZE, Weight.FULL_DATA, Weight.TOY)


def test_no_folder_is_declared_that_has_a_grid_or_that_no_claim_reads():
    for folder in weight._LOOKED_AT:
        assert folder in FOLDERS
        assert not (ROOT / "workflow" / "grids" / f"{folder}.yaml").exists()


def test_a_record_weighs_as_its_plan_says():
    weights = {folder: of_record(folder) for folder in ("cifar10-record", "cifar10-resnet18", "cifar10-long-fresh")}
    assert set(weights.values()) == {Weight.FULL_DATA}
    assert of_record("cifar10-hessian") == of_record("fashion-mnist") == Weight.TOY
    assert of_record("people") == Weight.FULL_DATA
    assert of_record("unknown-inputs") == Weight.TOY
    with pytest.raises(ValueError, match=r"or be one of .*Got no-such-grid"):
        of_record("no-such-grid")


def test_full_data_are_those_of_cifar():
    grids = [
        ROOT / "workflow" / "grids" / f"{folder}.yaml" for folder in FOLDERS if of_record(folder) == Weight.FULL_DATA
    ]
    datasets = {spec.dataset for path in grids if path.exists() for spec in read_grid(path)}
    assert datasets == {"cifar10", "cifar100"}, "the words of Weight.FULL_DATA must follow"


def test_a_papers_size_is_a_grid_without_a_difference(monkeypatch):
    spec = read_grid(ROOT / "workflow/grids/kk24-table1.yaml")[0]
    assert differences_from_papers(spec) == ()
    of_record.cache_clear()
    for changed, found in ((spec, Weight.PAPER_SIZE), (replace(spec, epochs=100), Weight.FULL_DATA)):
        monkeypatch.setattr(weight, "read_grid", lambda path, changed=changed: [changed])
        assert of_record("cifar10-record") == found
        of_record.cache_clear()


@pytest.fixture
def read(monkeypatch):
    """Names of the printed tables that are read."""
    found = []

    def noting(function):
        return lambda *args: found.append(args) or function(*args)

    for name in READERS:
        monkeypatch.setattr(printed_tables, name, noting(getattr(printed_tables, name)))
    return found


def test_claims_on_printed_tables_are_those_that_read_them(read):
    """But one, of the pairs that App. A.10 selects, which the engine has."""
    elsewhere = {"l25.lambda_selected"}
    for claim in ledger():
        if claim.needs == PRINTED and VERDICTS[claim.id] != "UNCHECKABLE HERE" and claim.id not in elsewhere:
            read.clear()
            with contextlib.suppress(FileNotFoundError):
                claim.check()
            assert read, f"{claim.id} reads no printed table"


def test_a_proof_is_no_measurement():
    assert weigh(find("kk24.prop1"), "FORMALLY PROVED") == weigh(find("kk24.prop5"), "REFUTED") == Weight.PROOF
    assert weigh(find("kk24.fig6_error"), "REPRODUCED") == Weight.FORMULAS
    assert weigh(find("m20.linear_norm"), "REPRODUCED") == Weight.TOY
    assert weigh(find("m20.gamma_order"), "UNCHECKABLE HERE") == Weight.NOTHING


def test_a_papers_claims_are_in_one_group_each():
    for paper in PAPERS:
        own = [claim for claim in ledger(paper) if claim.of_paper]
        groups = by_basis(own, VERDICTS)
        assert sorted(claim.id for group in groups.values() for claim in group) == sorted(claim.id for claim in own)
        assert list(groups) == [basis for basis in Basis if basis in groups]
        assert all(groups.values())


@pytest.mark.parametrize(
    ("id", "verdict", "basis"),
    [
        ("kk24.prop5", "REFUTED", Basis.THEORY),
        ("kk24.fig2_line", "REPRODUCED", Basis.THEORY),
        ("m20.gamma_order", "REPRODUCED", Basis.TABLES),
        ("m20.cifar10_before_long", "REPRODUCED", Basis.NETWORKS),
        ("kk24.table1_ece_every_loss_cifar100", "UNDECIDED", Basis.NETWORKS),
        ("m20.cifar10_before", "OUT OF REGIME", Basis.OUT_OF_REGIME),
        ("kn24.theorem1", "UNCHECKABLE HERE", Basis.NOTHING),
    ],
)
def test_a_claim_is_grouped_by_what_its_verdict_rests_on(id, verdict, basis):
    assert list(by_basis([find(id)], {id: verdict})) == [basis]

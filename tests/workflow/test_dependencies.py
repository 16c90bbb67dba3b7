"""Which notebook reruns after which edit."""

from pathlib import Path

import pytest

from reproduction.ledger import ledger
from workflow import dependencies
from workflow.dependencies import claims_checked, keep_digest, notebook_modules, notebook_sources, sources

ROOT = Path(__file__).resolve().parents[2]


def test_imports_are_followed_and_packages_included():
    files = sources(["focal_lib.theory.maps"])
    wanted = {"__init__.py", "theory/__init__.py", "theory/maps.py", "validation.py"}
    assert {f"focal_lib/{name}" for name in wanted} <= set(files)
    assert not [
        file for file in files if Path(file).parts[1] not in ("__init__.py", "arrays.py", "theory", "validation.py")
    ]


def test_a_name_of_a_face_leads_to_its_module(tmp_path):
    page = tmp_path / "page.py"
    page.write_text("from focal_lib import theory\nfrom focal_lib.metrics import ece\ntheory.temperature_bounds(2)\n")
    modules = notebook_modules(page)
    assert {"focal_lib.theory.temperature_bounds", "focal_lib.theory.gain", "focal_lib.metrics.bins"} <= modules
    assert not {"reproduction.studies.simple_models.linear", "focal_lib.metrics.smooth"} & modules


def test_a_package_that_imports_its_own_module_is_no_circle():
    assert "reproduction/engine/data/places.py" in sources(["reproduction.engine.data"])


def test_what_a_module_reads_is_a_source():
    assert "reproduction/studies/printed_tables/kk24.csv" in sources(["reproduction.studies.printed_tables"])
    assert "results/cifar10-resnet8/table.parquet" in sources(["reproduction.studies.shared.recorded"])
    assert "workflow/grids/cifar10-record.yaml" in sources(
        ["reproduction.studies.cifar.claims_kk24"]
    )  # how many seeds it awaits
    assert "reproduction/ledger/verdicts.json" not in sources(["reproduction.studies.shared.recorded"])
    assert "proofs/theorems.json" in sources(["reproduction.ledger.ledger"])  # a verdict may be the kernel's


def test_a_table_whose_name_a_module_puts_together_is_a_source():
    wanted = {f"results/unknown-inputs/{name}.parquet" for name in ("cifar10-unknown", "cifar10-unknown-shift")}
    assert wanted <= set(sources(notebook_modules(ROOT / "notebooks" / "unknown_inputs.py")))
    assert "results/fashion-mnist/table.parquet" in sources(
        notebook_modules(ROOT / "notebooks" / "focal_temperature_scaling.py")
    )
    assert "results/fcl-networks/moons.parquet" in sources(["reproduction.studies.fcl.measures"])


def test_a_page_does_not_depend_on_all_that_a_face_imports():
    files = sources(notebook_modules(ROOT / "notebooks" / "convexity.py"))
    assert "focal_lib/theory/__init__.py" in files
    assert "reproduction/studies/simple_models/linear.py" not in files


def test_a_claim_checked_brings_its_module_and_what_that_imports(tmp_path):
    page = tmp_path / "page.py"
    page.write_text('from reproduction.ledger import find\nfind("kk24.prop1").verdict\n')
    modules = notebook_modules(page)
    assert "reproduction.theorems.kk24.prop1" in modules
    assert "reproduction.theorems.kk24.prop5" not in modules
    assert "reproduction.ledger.evidence" in modules
    assert claims_checked(page) == {"kk24.prop1"}


def test_a_papers_page_depends_on_what_its_claims_say(tmp_path):
    page = tmp_path / "page.py"
    page.write_text('from reproduction.ledger.paper import claims_of_paper\nclaims_of_paper("kn24", 8)\n')
    files = notebook_sources(page)
    assert "reproduction/ledger/verdicts.json" in files
    assert any(name.startswith("reproduction/theorems/kn24/") for name in files)
    assert "reproduction/theorems/l25/thm45.py" not in files


def test_a_claim_shown_brings_the_module_that_says_it_and_the_record_not_its_evidence(tmp_path):
    page = tmp_path / "page.py"
    page.write_text('from reproduction.ledger import show\nshow("kk24.table1_ece")\n')
    files = notebook_sources(page)
    said = dependencies.claim_modules()["kk24.table1_ece"].replace(".", "/") + ".py"
    assert {said, "reproduction/ledger/verdicts.json"} <= set(files)
    assert not [name for name in files if name.startswith("results/")]


def test_the_ledger_page_depends_on_every_claim():
    modules = notebook_modules(ROOT / "notebooks" / "ledger.py")
    files = {p.stem for p in (ROOT / "reproduction/theorems/kk24").glob("[!_]*.py")}
    assert files == {m.rsplit(".", 1)[1] for m in modules if m.startswith("reproduction.theorems.kk24.")}


def test_claims_and_rows_are_read_as_the_ledger_has_them():
    assert dependencies.claim_modules() == {claim.id: claim.check.__module__ for claim in ledger()}


def test_unknown_claim_is_refused(tmp_path):
    page = tmp_path / "page.py"
    page.write_text('show("kk24.prop99")\n')
    with pytest.raises(ValueError, match=r"must be in the ledger. Got kk24.prop99"):
        notebook_sources(page)


def test_a_digest_is_written_again_only_where_contents_differ(tmp_path):
    where = tmp_path / "digests" / "page"
    keep_digest(where, ["README.md", "_toc.yml"])
    first, before = where.read_text(), where.stat().st_mtime_ns
    assert keep_digest(where, ["_toc.yml", "README.md", "README.md"]) == str(where)
    assert where.stat().st_mtime_ns == before
    keep_digest(where, ["README.md"])
    assert where.read_text() != first


def test_the_code_of_a_recorder_does_not_change_with_what_it_records(monkeypatch):
    """It would refuse to go on with its own rows."""
    read = []
    monkeypatch.setattr(dependencies, "_content", lambda name: read.append(name) or b"")
    for recorder in sorted(ROOT.glob("reproduction/studies/*/record.py")):
        dependencies.digest(recorder)
    assert "reproduction/studies/texts/measures.py" in read
    assert not [name for name in read if name.startswith("results/")]

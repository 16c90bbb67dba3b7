"""Which notebook reruns after which edit."""

from pathlib import Path

import pytest

from workflow.dependencies import claims_shown, notebook_modules, sources

ROOT = Path(__file__).resolve().parents[1]


def test_imports_are_followed_and_packages_included():
    files = sources(["focal_lib.maps"])
    assert files == ["focal_lib/__init__.py", "focal_lib/maps.py", "focal_lib/validation.py"]


def test_a_claim_shown_brings_its_module(tmp_path):
    page = tmp_path / "page.py"
    page.write_text('from focal_lib.claims import show\nshow("kk24.prop1")\n')
    modules = notebook_modules(page)
    assert "focal_lib.claims.kk24.prop1" in modules
    assert "focal_lib.claims.kk24.prop5" not in modules
    assert "focal_lib.claims.evidence" in modules


def test_the_ledger_page_depends_on_every_claim():
    modules = notebook_modules(ROOT / "notebooks" / "ledger.py")
    files = {p.stem for p in (ROOT / "focal_lib/claims/kk24").glob("[!_]*.py")}
    assert files == {m.rsplit(".", 1)[1] for m in modules if m.startswith("focal_lib.claims.kk24.")}


def test_theory_does_not_wait_for_training():
    assert "focal_lib.experiment" not in notebook_modules(ROOT / "notebooks" / "02_convexity.py")
    assert "focal_lib.experiment" in notebook_modules(ROOT / "notebooks" / "08_training.py")


def test_unknown_claim_is_refused(tmp_path):
    page = tmp_path / "page.py"
    page.write_text('show("kk24.prop99")\n')
    with pytest.raises(ValueError, match=r"must be in the ledger. Got kk24.prop99"):
        claims_shown(page)

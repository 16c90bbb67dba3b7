"""The RO-Crate of the recorded results: all of them are in it, as they are."""

import json
import shutil

import pytest

from reproduction.checkout import ROOT
from workflow.crate import METADATA, crate

RESULTS = ROOT / "results"


@pytest.fixture
def copy(tmp_path):
    """Two folders of the results: one of runs, with one of them, and one of tables."""
    folder = tmp_path / "results"
    one = next(path.parent for path in sorted(RESULTS.glob("cifar10-hessian/*/spec.json")))
    shutil.copytree(one, folder / "cifar10-hessian" / one.name)
    shutil.copytree(RESULTS / "watch", folder / "watch")
    return folder


def _entities(text):
    return {entity["@id"]: entity for entity in json.loads(text)["@graph"]}


def test_it_is_of_what_is_recorded():
    assert (RESULTS / METADATA).read_text() == crate(), "run: python -m workflow.crate"


def test_every_file_and_folder_is_in_it():
    found = _entities((RESULTS / METADATA).read_text())
    for path in RESULTS.rglob("*"):
        name = path.relative_to(RESULTS).as_posix() + "/" * path.is_dir()
        assert name in found, name
    runs = {entity["result"]["@id"] for entity in found.values() if entity["@type"] == "CreateAction"}
    assert runs == {f"{path.parent.relative_to(RESULTS).as_posix()}/" for path in RESULTS.rglob("spec.json")}


def test_another_content_gives_another_crate_with_another_date(copy):
    first = crate(copy)
    (copy / METADATA).write_text(first.replace('"datePublished": "', '"datePublished": "1999-12-31 '))
    assert "1999" in crate(copy), "nothing changed, nor does the date"
    [logits] = copy.glob("*/*/logits.npz")
    logits.write_bytes(logits.read_bytes() + b"more")
    changed = crate(copy)
    assert "1999" not in changed
    name = logits.relative_to(copy).as_posix()
    assert _entities(changed)[name]["sha256"] != _entities(first)[name]["sha256"]


def test_a_run_that_is_new_is_in_it(copy):
    [run] = (path for path in copy.glob("cifar10-hessian/*"))
    shutil.copytree(run, run.with_name("new"))
    shutil.copytree(run, copy / "cifar10-elsewhere" / "new")  # a run of two grids
    found = _entities(crate(copy))
    for folder in ("cifar10-hessian", "cifar10-elsewhere"):
        assert found[f"#training-{folder}-new"]["object"] == {"@id": "#cifar10"}
        assert found[f"#training-{folder}-new"]["result"] == {"@id": f"{folder}/new/"}
    assert "Krizhevsky" in found["#cifar10"]["description"]


def test_a_file_of_a_kind_that_is_not_known_is_refused(copy):
    (copy / "watch" / "image.png").write_bytes(b"")
    with pytest.raises(KeyError):
        crate(copy)

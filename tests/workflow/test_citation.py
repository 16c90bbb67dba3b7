"""CITATION.cff says what pyproject.toml, the licence and the list of references say."""

import tomllib

import pytest
import yaml
from pybtex.database import parse_file

from reproduction.checkout import ROOT
from workflow.crate import CITATION

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAPERS = ("kk24", "m20", "kn24", "l25")


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / CITATION).read_text())


def _of_reference(entry):
    """Title, year, authors and arXiv number of a reference in CITATION.cff."""
    authors = tuple(one.get("name") or f"{one['family-names']}, {one['given-names']}" for one in entry["authors"])
    return entry["title"], str(entry["year"]), authors, {one["value"] for one in entry.get("identifiers", ())}


def _of_bibtex(entry):
    authors = tuple(map(str, entry.persons["author"]))
    title = entry.fields["title"].replace("{", "").replace("}", "")  # which keep capitals
    return title, entry.fields["year"], authors, {f"arXiv:{entry.fields['eprint']}"}


def test_version_licence_authors_and_keywords_are_the_packages(citation):
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    assert (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1].startswith(PROJECT["version"])
    [author] = citation["authors"]
    assert PROJECT["authors"] == [author]
    assert PROJECT["keywords"] == citation["keywords"]
    assert f"Copyright (c) 2026 {author['name']}\n" in (ROOT / "LICENSE").read_text()
    assert yaml.safe_load((ROOT / "_config.yml").read_text())["author"] == author["name"]


def test_the_papers_are_those_of_the_books_references(citation):
    bibliography = parse_file(str(ROOT / "book" / "references.bib")).entries
    assert [_of_reference(entry) for entry in citation["references"]] == [_of_bibtex(bibliography[k]) for k in PAPERS]

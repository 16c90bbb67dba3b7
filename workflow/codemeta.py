"""codemeta.json, what catalogues of software read: made from pyproject.toml and CITATION.cff, nothing typed twice.

    python -m workflow.codemeta

The package's version, licence and requirements are pyproject.toml's; title, authors, keywords and the papers are
CITATION.cff's.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT

CITATION, CODEMETA = "CITATION.cff", "codemeta.json"


def codemeta(root: Path = ROOT) -> str:
    """The text of codemeta.json for the checkout in `root`."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((root / CITATION).read_text())
    content = {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": citation["title"],
        "identifier": project["name"],
        "description": citation["abstract"],
        "version": project["version"],
        "license": f"https://spdx.org/licenses/{project['license']}",
        "author": [_author(one) for one in citation["authors"]],
        "keywords": citation["keywords"],
        "programmingLanguage": f"Python {project['requires-python']}",
        "softwareRequirements": [_requirement(text) for text in project["dependencies"]],
        "readme": project["readme"],
        "buildInstructions": "CONTRIBUTING.md",
        "citation": [_paper(one) for one in citation["references"]],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _author(entry: Mapping[str, str]) -> dict[str, str]:
    if "name" in entry:  # in CITATION.cff an entity, not a person
        return {"@type": "Organization", "name": entry["name"]}
    return {"@type": "Person", "givenName": entry["given-names"], "familyName": entry["family-names"]}


def _requirement(text: str) -> dict[str, str]:
    wanted = Requirement(text)
    return {"@type": "SoftwareApplication", "name": wanted.name, "version": str(wanted.specifier)}


def _paper(entry: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "@type": "ScholarlyArticle",
        "name": entry["title"],
        "author": [_author(one) for one in entry["authors"] if one != {"name": "others"}],
        "datePublished": str(entry["year"]),
    }
    if "identifiers" in entry:
        found["identifier"] = [one["value"] for one in entry["identifiers"]]
    return found


if __name__ == "__main__":
    write_whole(ROOT / CODEMETA, lambda part: part.write_text(codemeta()))

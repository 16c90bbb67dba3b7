"""results/ro-crate-metadata.json: the recorded runs described as an RO-Crate, from what is in `results`.

    python -m workflow.crate

Every file with its size and checksum, every run with the data set it was trained on, its specification, and the version
of focal_lib and the commit it was made with. The date of publication is that of the last change of what is described.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT
from reproduction.engine.data.sources import find_source
from reproduction.engine.grids import read_notes
from reproduction.engine.spec import Spec
from reproduction.engine.store import SPEC

CITATION, METADATA = "CITATION.cff", "ro-crate-metadata.json"
FORMATS = {
    ".json": "application/json",
    ".md": "text/markdown",
    ".npz": "application/zip",  # of NumPy arrays
    ".parquet": "application/vnd.apache.parquet",
}
FILES = {  # what a file of a name holds
    "spec.json": "specification, versions, commit and machine of the run",
    "history.parquet": "metrics by epoch",
    "logits.npz": "logits and labels of validation and test samples, as NumPy arrays",
    "table.parquet": "a row for each run, way of scaling and metric",
    "README.md": "what is recorded, and how to make it again",
}


def crate(folder: Path = ROOT / "results", root: Path = ROOT) -> str:
    """The text of the crate's metadata.

    Raises:
        KeyError: a file of a kind that is not known here.
        ValueError: a run of a data set without a source.
    """
    made = ROCrate()
    _describe_root(made, folder, root)
    parts = []
    for path in sorted(p for p in folder.iterdir() if p.name != METADATA and not p.name.startswith(".")):
        parts.append(_add_folder(made, path, folder, root) if path.is_dir() else _add_file(made, path, folder))
    _set_parts(made.root_dataset, parts)  # each folder has its own
    made.root_dataset["mentions"] = made.get_by_type("CreateAction")
    graph = made.metadata.generate()
    graph["@graph"] = sorted(graph["@graph"], key=lambda entity: (entity["@id"] != METADATA, entity["@id"] != "./"))
    found = _text(graph)
    old = folder / METADATA
    if old.is_file() and _undated(old.read_text()) == _undated(found):
        return old.read_text()
    return found


def _text(graph: dict[str, Any]) -> str:
    return json.dumps(graph, indent=1, ensure_ascii=False) + "\n"


def _undated(text: str) -> str:
    return re.sub(r'"datePublished": "[^"]*"', "", text)


def _describe_root(made: ROCrate, folder: Path, root: Path) -> None:
    citation = yaml.safe_load((root / CITATION).read_text())
    [author] = citation["authors"]
    licence = f"https://spdx.org/licenses/{citation['license']}"
    made.add(
        ContextEntity(
            made,
            licence,
            {"@type": "CreativeWork", "name": f"{citation['license']} licence", "description": "that of the project"},
        )
    )
    made.add(ContextEntity(made, "#authors", {"@type": "Organization", "name": author["name"]}))
    made.name = f"Recorded runs of '{citation['title']}'"
    made.description = "Logits, metrics and tables of networks trained for the book; no image and no text is in them."
    made.license = {"@id": licence}
    made.root_dataset["author"] = made.root_dataset["publisher"] = {"@id": "#authors"}
    made.root_dataset["datePublished"] = datetime.date.today().isoformat()
    made.root_dataset["keywords"] = citation["keywords"]


def _add_folder(made: ROCrate, path: Path, folder: Path, root: Path) -> Entity:
    grid = root / "workflow" / "grids" / f"{path.name}.yaml"
    notes = read_notes(grid) if grid.is_file() else None
    said = notes.reproduces if notes else "tables of numbers, without runs"
    entity = _add_dataset(made, path, folder, {"name": path.name, "description": said})
    inner = sorted(path.iterdir())
    _set_parts(entity, [(_add_run if one.is_dir() else _add_file)(made, one, folder) for one in inner])
    return entity


def _add_run(made: ROCrate, path: Path, folder: Path) -> Entity:
    record = json.loads((path / SPEC).read_text())
    spec = Spec(**{name: value for name, value in record["spec"].items() if name != "training"})
    data = {"@id": _add_data(made, spec.dataset)}
    described = {"name": spec.name, "description": f"a run of {path.parent.name}", "isBasedOn": data}
    entity = _add_dataset(made, path, folder, described)
    _set_parts(entity, [_add_file(made, inner, folder) for inner in sorted(path.iterdir())])
    _add_action(made, entity, record, data)
    return entity


def _add_action(made: ROCrate, run: Entity, record: dict[str, Any], data: dict[str, str]) -> None:
    """Who made the run: the version and commit of focal_lib, with the machine in words."""
    versions = record["versions"]
    program = f"#focal_lib-{record['commit']}"
    if made.get(program) is None:
        stated = ", ".join(f"{name} {version}" for name, version in versions.items() if name != "focal-lib")
        version = f"{versions['focal-lib']}, commit {record['commit']}"
        # no SoftwareApplication, which must have an address
        described = {"@type": "CreativeWork", "name": "focal_lib", "version": version, "description": f"with {stated}"}
        made.add(ContextEntity(made, program, described))
    machines = ", ".join(record.get("machines") or [record["device"]])
    properties: dict[str, Any] = {
        "@type": "CreateAction",
        "name": f"training of {run['name']}",
        "description": f"on {machines}, {record['threads']} thread{'s' * (record['threads'] != 1)}",
        "instrument": {"@id": program},
        "object": data,
        "result": {"@id": run.id},
        "agent": {"@id": "#authors"},
    }
    made.add(ContextEntity(made, f"#training-{run.id.strip('/').replace('/', '-')}", properties))


def _add_data(made: ROCrate, name: str) -> str:
    source, identifier = find_source(name), f"#{name}"
    if made.get(identifier) is None:
        said = f"Terms: {source.terms}. To cite: {source.cite}."
        properties = {"@type": "Dataset", "name": source.title, "url": source.url, "description": said}
        made.add(ContextEntity(made, identifier, properties))
    return identifier


def _set_parts(entity: Entity, parts: list[Entity]) -> None:
    entity["hasPart"] = parts if len(parts) > 1 else parts[0]


def _add_dataset(made: ROCrate, path: Path, folder: Path, properties: dict[str, Any]) -> Entity:
    return made.add_dataset(dest_path=f"{path.relative_to(folder).as_posix()}/", properties=properties)


def _add_file(made: ROCrate, path: Path, folder: Path) -> Entity:
    content = path.read_bytes()
    properties = {
        "name": path.name,
        "description": FILES.get(path.name, f"a table of {path.parent.name}"),
        "encodingFormat": FORMATS[path.suffix],
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return made.add_file(dest_path=path.relative_to(folder).as_posix(), properties=properties)


if __name__ == "__main__":
    write_whole(ROOT / "results" / METADATA, lambda part: part.write_text(crate()))

"""What references read as in plain text: labels of the book, numbered as by Sphinx, and works of its references.bib."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import jupytext
import yaml
from pybtex.database import BibliographyData, Entry, parse_file
from pybtex.plugin import find_plugin
from pybtex.richtext import Text

_TARGET = re.compile(r"^\((?P<label>[\w-]+)\)=\n(?P<level>#+) (?P<title>.+)$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^```\{(?P<kind>math|exercise)\}.*\n:label: (?P<label>[\w-]+)$", re.MULTILINE)
_NAMES = {"math": "equation ({})", "exercise": "Exercise {}", "figure": "Fig. {}"}


@functools.cache
def labels(root: Path) -> dict[str, str]:
    """What a reference to each label of the book under `root` reads as: 'chapter 6, *Does ...?*', 'equation (3.1)'.

    Nothing where there is no book, as in an installed package.
    """
    found: dict[str, str] = {}
    for path, chapter in _pages(root):
        found |= _labels_of(path, chapter)
    return found


def _pages(root: Path) -> Iterator[tuple[Path, int | None]]:
    """Every page of the table of contents, with its number where its part is numbered."""
    number = 0
    if not (root / "_toc.yml").is_file():
        return
    for part in yaml.safe_load((root / "_toc.yml").read_text())["parts"]:
        for entry in part["chapters"]:
            base = root / entry["file"]
            number += bool(part.get("numbered"))
            yield (
                base.with_suffix(".py" if base.parent.name == "notebooks" else ".md"),
                (number if part.get("numbered") else None),
            )


def _labels_of(path: Path, chapter: int | None) -> dict[str, str]:
    found: dict[str, str] = {}
    counts: Counter[str] = Counter()

    def count(kind: str, label: str) -> None:
        counts[kind] += 1
        found[label] = _NAMES[kind].format(f"{chapter}.{counts[kind]}" if chapter else counts[kind])

    for cell in jupytext.read(path).cells:
        if cell.cell_type == "markdown":
            for match in _TARGET.finditer(cell.source):
                found[match["label"]] = _heading(match["title"], len(match["level"]), chapter)
            for match in _DIRECTIVE.finditer(cell.source):
                count(match["kind"], match["label"])
        elif figure := cell.metadata.get("mystnb", {}).get("figure"):
            count("figure", figure["name"])
    return found


def _heading(title: str, level: int, chapter: int | None) -> str:
    if level > 1:
        return f"the section *{title}*" + (f" of chapter {chapter}" if chapter else "")
    return f"chapter {chapter}, *{title}*" if chapter else f"the page *{title}*"


@functools.cache
def _library(file: Path) -> BibliographyData:
    return parse_file(str(file))


def known_keys(file: Path) -> set[str]:
    """What can be cited; nothing where there is no such file, as in an installed package."""
    return {str(key) for key in _library(file).entries} if file.is_file() else set()


def author_names(file: Path, key: str) -> list[str]:
    """The last names of a work's authors, 'others' left out; none where there is no such file, as in a package."""
    if not file.is_file():
        return []
    names = [str(Text.from_latex(" ".join(one.last_names))) for one in _library(file).entries[key].persons["author"]]
    return [name for name in names if name != "others"]


def _authors(entry: Entry) -> str:
    """'Guo et al.', 'Komisarenko & Kull'."""
    names = [str(Text.from_latex(" ".join(person.last_names))) for person in entry.persons["author"]]
    if len(names) > 2 or names[-1] == "others":
        return f"{names[0]} et al."
    return " & ".join(names)


def cite(file: Path, keys: list[str], *, textual: bool) -> str:
    """'Komisarenko & Kull (2024)', or '(Guo et al., 2017; Lin et al., 2017)'.

    Raises:
        KeyError: no such entry.
    """
    entries = [_library(file).entries[key] for key in keys]
    if textual:
        return " and ".join(f"{_authors(entry)} ({entry.fields['year']})" for entry in entries)
    return "(" + "; ".join(f"{_authors(entry)}, {entry.fields['year']}" for entry in entries) + ")"


def reference_list(file: Path, keys: list[str]) -> str:
    """The cited works as a Markdown list, in the order of their keys."""
    style = find_plugin("pybtex.style.formatting", "plain")()
    backend = find_plugin("pybtex.backends", "markdown")()
    entries = [_library(file).entries[key] for key in sorted(keys)]
    return "\n".join(f"* {formatted.text.render(backend)}" for formatted in style.format_entries(entries))

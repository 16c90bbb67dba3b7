"""Citations as a reader of plain text has them, from the book's references.bib."""

from __future__ import annotations

import functools
from pathlib import Path

from pybtex.database import BibliographyData, Entry, parse_file
from pybtex.plugin import find_plugin
from pybtex.richtext import Text


@functools.cache
def _library(file: Path) -> BibliographyData:
    return parse_file(str(file))


def known_keys(file: Path) -> set[str]:
    """What can be cited; nothing where there is no such file, as in an installed package."""
    return {str(key) for key in _library(file).entries} if file.is_file() else set()


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

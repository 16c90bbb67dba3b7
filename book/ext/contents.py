"""What pages say of each other, from book/chapters.yaml: cards, and what a chapter needs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

_LABEL = re.compile(r"^\(([\w-]+)\)=\n# (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """A page of the book: what chapters.yaml says of it, what its source and its executed form say."""

    number: int | None = None  # of a chapter
    about: str = ""
    needs: Mapping[str, str] = field(default_factory=dict)
    figure: str = ""
    label: str = ""
    title: str = ""
    alt: str = ""


@dataclass(frozen=True)
class Contents:
    """Parts: caption -> its pages; pages: name as in _toc.yml -> Page."""

    parts: Mapping[str, Sequence[str]]
    pages: Mapping[str, Page]


def pages_in_order(toc: Path) -> list[str]:
    """The pages of a table of contents in their order, the root first."""
    found = yaml.safe_load(toc.read_text())
    return [found["root"], *(chapter["file"] for part in found["parts"] for chapter in part["chapters"])]


def read_contents(toc: Path, chapters: Path) -> Contents:
    """The contents without what only the pages themselves say; chapters are the pages of numbered parts.

    Raises:
        ValueError: a page that is named is not in the table of contents.
    """
    found = yaml.safe_load(toc.read_text())["parts"]
    parts = {part["caption"]: [chapter["file"] for chapter in part["chapters"]] for part in found}
    count = itertools.count(1)
    pages = {c["file"]: Page(next(count) if part.get("numbered") else None) for part in found for c in part["chapters"]}
    said: dict[str, dict[str, Any]] = yaml.safe_load(chapters.read_text())
    named = {*said, *(need for page in said.values() for need in page.get("needs", ()))}
    if wrong := sorted(named - set(pages)):
        raise ValueError(f"{chapters} must be of the pages in {toc}. Got {', '.join(wrong)}.")
    return Contents(parts, pages | {name: replace(pages[name], **page) for name, page in said.items()})


def label_and_title(text: str) -> tuple[str, str]:
    """Of a page's text in MyST.

    Raises:
        ValueError: it does not begin with a label and a title.
    """
    found = _LABEL.search(text)
    if found is None:
        raise ValueError(f"a page must begin with '(label)=' and '# Title'. Got {text[:60]!r}.")
    return found[1], found[2]


def _link(page: Page) -> str:
    """'[chapter 3](#ch-binary)', or the title of a page that is no chapter."""
    return f"[{f'chapter {page.number}' if page.number else page.title}](#{page.label})"


def chapter_front(contents: Contents, name: str) -> str:
    """The line under a chapter's title: what of earlier chapters it needs."""
    needs = "; ".join(f"{what} ({_link(contents.pages[other])})" for other, what in contents.pages[name].needs.items())
    return f":::{{div}} chapter-front\n**What you need:** {needs or 'no other chapter'}.\n:::"


def cards(contents: Contents) -> str:
    """A card for every page with words about it, a grid for each part that has one."""
    blocks = []
    for caption, names in contents.parts.items():
        if items := [_card(name, page) for name in names if (page := contents.pages[name]).about]:
            blocks.append("\n".join([f"**{caption}**", "", "::::{grid} 1 2 3 3", ":gutter: 3", "", *items, "::::", ""]))
    return "\n".join(blocks)


def _card(name: str, page: Page) -> str:
    lines = [f":::{{grid-item-card}} {f'{page.number}. ' if page.number else ''}{page.title}"]
    lines += [f":link: {page.label}", ":link-type: ref", ":class-card: chapter-card"]
    if page.figure:
        lines += [f":img-top: /book/thumbnails/{Path(name).name}.png", f":img-alt: {page.alt}"]
    return "\n".join([*lines, "", page.about, "", ":::", ""])

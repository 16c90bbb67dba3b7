"""What pages say of each other, from book/chapters.yaml: cards, reading paths, what a chapter needs, what is next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_CHAPTER = re.compile(r"notebooks/(\d+)_")
_LABEL = re.compile(r"^\(([\w-]+)\)=\n# (.+)$", re.MULTILINE)
PATH_NAMES = {"practice": "For practice", "theory": "For theory"}  # as in chapters.yaml -> as a reader sees them


@dataclass(frozen=True)
class Page:
    """A page of the book: what chapters.yaml says of it, what its source and its executed form say."""

    about: str
    needs: Mapping[str, str] = field(default_factory=dict)
    figure: str = ""
    label: str = ""
    title: str = ""
    alt: str = ""


@dataclass(frozen=True)
class Contents:
    """Parts: caption -> its pages; paths: name -> its pages; pages: name as in _toc.yml -> Page."""

    parts: Mapping[str, Sequence[str]]
    paths: Mapping[str, Sequence[str]]
    pages: Mapping[str, Page]


def pages_in_order(toc: Path) -> list[str]:
    """The pages of a table of contents in their order, the root first."""
    found = yaml.safe_load(toc.read_text())
    return [found["root"], *(chapter["file"] for part in found["parts"] for chapter in part["chapters"])]


def read_contents(toc: Path, chapters: Path) -> Contents:
    """The contents without what only the pages themselves say.

    Raises:
        ValueError: a page of the table of contents is missing, or one is not in it.
    """
    parts = {
        part["caption"]: [c["file"] for c in part["chapters"]] for part in yaml.safe_load(toc.read_text())["parts"]
    }
    said: dict[str, Any] = yaml.safe_load(chapters.read_text())
    pages = {name: Page(**page) for name, page in said["pages"].items()}
    listed = [name for names in parts.values() for name in names]
    named = [
        *pages,
        *(n for path in said["paths"].values() for n in path),
        *(n for p in pages.values() for n in p.needs),
    ]
    if wrong := sorted((set(listed) - set(pages)) | (set(named) - set(listed))):
        raise ValueError(f"{chapters} must be of the pages in {toc}. Got {', '.join(wrong)} in one only.")
    return Contents(parts, said["paths"], {name: pages[name] for name in listed})


def label_and_title(text: str) -> tuple[str, str]:
    """Of a page's text in MyST.

    Raises:
        ValueError: it does not begin with a label and a title.
    """
    found = _LABEL.search(text)
    if found is None:
        raise ValueError(f"a page must begin with '(label)=' and '# Title'. Got {text[:60]!r}.")
    return found[1], found[2]


def _number(name: str) -> str:
    found = _CHAPTER.match(name)
    return str(int(found[1])) if found else ""


def _link(contents: Contents, name: str) -> str:
    """'[chapter 3](#ch-binary)', or the title of a page that is no chapter."""
    page = contents.pages[name]
    text = f"chapter {_number(name)}" if _number(name) else page.title
    return f"[{text}](#{page.label})"


def _titled_link(contents: Contents, name: str) -> str:
    """'[3, *Two classes*](#ch-binary)', or the title of a page that is no chapter."""
    page, number = contents.pages[name], _number(name)
    return f"[{number}, *{page.title}*](#{page.label})" if number else _link(contents, name)


def chapter_front(contents: Contents, name: str) -> str:
    """The line under a chapter's title: what of earlier chapters it needs."""
    needs = "; ".join(f"{what} ({_link(contents, other)})" for other, what in contents.pages[name].needs.items())
    needs = needs or "no other chapter"
    return f":::{{div}} chapter-front\n**What you need:** {needs}.\n:::"


def chapter_end(contents: Contents, name: str) -> str:
    """Where each path goes on from here; '' where none does."""
    steps = []
    for path, names in contents.paths.items():
        following = list(names)[names.index(name) + 1 :] if name in names else []
        if following:
            title = contents.pages[following[0]].title
            link = _link(contents, following[0])
            steps.append(f"{PATH_NAMES[path]}, {link}" + (f": *{title}*" if _number(following[0]) else ""))
    if not steps:
        return ""
    first, *others = (step if step.endswith(("?*", "!*")) else f"{step}." for step in steps)
    return f":::{{div}} chapter-next\n**Next.** {' '.join([first, *others])}\n:::"


def path_list(contents: Contents) -> str:
    """The reading paths, an item each, with the titles of their pages."""
    lines = []
    for path, names in contents.paths.items():
        links = "; ".join(_titled_link(contents, name) for name in names)
        lines.append(f"* **{PATH_NAMES[path]}**: {links}.")
    return "\n".join(lines)


def cards(contents: Contents) -> str:
    """A card for every page, a grid for each part."""
    blocks = []
    for caption, names in contents.parts.items():
        items = [_card(contents, name) for name in names]
        blocks.append("\n".join([f"**{caption}**", "", "::::{grid} 1 2 3 3", ":gutter: 3", "", *items, "::::", ""]))
    return "\n".join(blocks)


def _card(contents: Contents, name: str) -> str:
    page = contents.pages[name]
    lines = [f":::{{grid-item-card}} {_number(name) + '. ' if _number(name) else ''}{page.title}"]
    lines += [f":link: {page.label}", ":link-type: ref", ":class-card: chapter-card"]
    if page.figure:
        lines += [f":img-top: /book/thumbnails/{Path(name).name}.png", f":img-alt: {page.alt}"]
    return "\n".join([*lines, "", page.about, "", ":::", ""])

"""Lay out the book's sources for Sphinx: book/ and the executed notebooks, in one folder.

    python -m book.ext.stage _build/notebooks _build/source

On the way the landing page gets its cards, a chapter what it needs, both links to terms. Only files that differ are
written, so that Sphinx rebuilds only the pages that changed.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from book.ext.contents import (
    Contents,
    Page,
    cards,
    chapter_front,
    label_and_title,
    read_contents,
)
from book.ext.figures import find_figure, lighten_figures, thumbnail
from book.ext.terms import glossary, link_terms
from reproduction.ledger import Claim, ledger
from reproduction.ledger.links import index_entry, verdict_anchor
from reproduction.ledger.verdicts import expect_verdict, recorded

SHOWN_WHOLE = (
    Path("reproduction/ledger/ledger.schema.json"),  # on the page 'How a verdict is reached'
    Path("CITATION.cff"),  # on that of references
)
INDEX = Path("book/index.md")
TERMS = Path("book/terms.md")
_VERDICT = re.compile(r'<li id="(verdict-[\w-]+)">')
_EXPECTED = re.compile(r"^% expect ([A-Z ]+): (.+)$", re.MULTILINE)
CARDS = "% cards"  # a line of the landing page where they come


def stage(notebooks: Path, target: Path) -> None:
    """Make `target` hold the configuration, book/**, notebooks/*.ipynb and what pages show whole, and nothing else."""
    for path in sorted(Path("book").glob("*.md")):
        check_expected(path.read_text(), recorded())
    executed = {p.stem: p for p in notebooks.glob("[!.]*.ipynb") if ".failed" not in p.name}
    wanted: dict[Path, Path | bytes] = {p: p for p in (Path("_config.yml"), Path("_toc.yml"), *SHOWN_WHOLE)}
    wanted |= {p: p for p in Path("book").rglob("*") if p.is_file() and p.parts[1] != "ext"}
    wanted |= {Path("notebooks") / p.name: p for p in executed.values()}
    contents = read_contents(Path("_toc.yml"), Path("book/chapters.yaml"))
    read = {name: nbformat.read(executed[name.split("/")[1]], 4) for name in contents.pages if name[:5] == "noteb"}
    pages = {}
    for name, page in contents.pages.items():
        text = read[name].cells[0].source if name in read else Path(f"{name}.md").read_text()
        pages[name] = _described(page, text, read.get(name))
        if page.figure:
            wanted[Path(f"book/thumbnails/{Path(name).name}.png")] = thumbnail(find_figure(read[name], page.figure).png)
    contents = dataclasses.replace(contents, pages=pages)
    wanted[INDEX] = _index(INDEX.read_text(), contents).encode()
    for name, notebook in read.items():
        wanted[Path(f"{name}.ipynb")] = _chapter(notebook, contents, name).encode()
    _write(wanted, target)


def _described(page: Page, text: str, notebook: NotebookNode | None) -> Page:
    """The page with what its own text says, and its notebook, where it is one."""
    label, title = label_and_title(text)
    alt = find_figure(notebook, page.figure).alt if notebook is not None and page.figure else ""
    return dataclasses.replace(page, label=label, title=title, alt=alt)


def check_expected(text: str, verdicts: Mapping[str, str]) -> None:
    """Lines '% expect REFUTED: kk24.prop5, l25.a3' of a text that is written for these verdicts.

    Raises:
        ValueError: one of them is another.
    """
    for expected, ids in _EXPECTED.findall(text):
        expect_verdict(expected, *ids.split(", "), on_record=verdicts)


def _index(text: str, contents: Contents) -> str:
    if f"\n{CARDS}\n" not in text:
        raise ValueError(f"{INDEX} must have a line {CARDS!r}. Got none.")
    whole = nbformat.v4.new_markdown_cell(text)
    link_terms([whole], glossary(TERMS.read_text()))
    return str(whole.source).replace(f"\n{CARDS}\n", f"\n{cards(contents)}\n")


def add_index_entries(notebook: NotebookNode, claims: Iterable[Claim]) -> None:
    """Above the chips of a cell directives that put these claims into the index, and so into the search."""
    entries = {
        verdict_anchor(claim.id): index_entry(claim.id, claim.source if claim.of_paper else "") for claim in claims
    }

    for cell in notebook.cells:
        shown = ["".join(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", [])]
        if ids := [id for text in shown for id in _VERDICT.findall(text) if id in entries]:
            indexed = {"text/markdown": "".join(entries[id] for id in ids)}
            cell.outputs.insert(0, nbformat.v4.new_output("display_data", indexed))


def _chapter(notebook: NotebookNode, contents: Contents, name: str) -> str:
    """The notebook with a line under its title; its own claims indexed, not those of another chapter that it shows,
    and its figures lighter."""
    add_index_entries(notebook, [claim for claim in ledger() if f"notebooks/{claim.chapter}" == name])
    lighten_figures(notebook)
    if contents.pages[name].number:
        first = notebook.cells[0]
        head, title, rest = first.source.partition(f"# {contents.pages[name].title}\n")
        first.source = f"{head}{title}\n{chapter_front(contents, name)}\n{rest}"
        link_terms(notebook.cells, glossary(TERMS.read_text()))
    return nbformat.writes(notebook)


def _write(wanted: dict[Path, Path | bytes], target: Path) -> None:
    for name, source in wanted.items():
        copy = target / name
        whole = source if isinstance(source, bytes) else source.read_bytes()
        if not copy.exists() or copy.read_bytes() != whole:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(whole)
    for old in [p for p in target.rglob("*") if p.is_file() and p.relative_to(target) not in wanted]:
        old.unlink()


if __name__ == "__main__":
    stage(Path(sys.argv[1]), Path(sys.argv[2]))

"""The chapters of the book: the notebooks of its numbered parts, in their order."""

from book.ext.contents import read_contents
from reproduction.checkout import ROOT

TOC, SAID = ROOT / "_toc.yml", ROOT / "book" / "chapters.yaml"
CONTENTS = read_contents(TOC, SAID)
CHAPTERS = [
    ROOT / f"{name}.py" for name, page in CONTENTS.pages.items() if page.number and name.startswith("notebooks")
]

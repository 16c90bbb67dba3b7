"""Links from the first use of a term in a chapter to its entry on the page of terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from nbformat import NotebookNode

_GLOSSARY = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PROTECTED = re.compile(  # no links in code, formulas, roles, links, headings, tables, quotations, bold words
    r"^(?P<fence>`{3,}|:{3,})\{(?!admonition\} What).*?^(?P=fence)[ \t]*$|^```\n.*?^```$"
    r"|^(?:#|\||[:`]|\([\w-]+\)=)[^\n]*$|\{[\w:]+\}`[^`]*`|`[^`]*`|\$\$.*?\$\$|\$[^$]+\$|!?\[[^\]]*\]\([^)]*\)"
    r"|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)|\*\*[^*]+\*\*|(?<!\*)\*(?=\S)[^*]+\*|<[^>]*>",
    re.DOTALL | re.MULTILINE,
)


def glossary(page: str) -> dict[str, str]:
    """Of the text of the page of terms: each term -> its definition, on one line.

    Raises:
        ValueError: the page has no glossary, or a term without a definition.
    """
    found = _GLOSSARY.search(page)
    if found is None:
        raise ValueError("the page of terms must have a block ```{glossary}. Got none.")
    entries: dict[str, str] = {}
    for block in re.split(r"\n\s*\n", found[1].strip("\n")):
        lines = block.split("\n")
        names = [line.strip() for line in lines if not line.startswith(" ")]
        definition = " ".join(line.strip() for line in lines if line.startswith(" "))
        if not names or not definition:
            raise ValueError(f"an entry must have terms and below them, indented, a definition. Got {block!r}.")
        entries |= dict.fromkeys(names, definition)
    return entries


def link_terms(cells: Iterable[NotebookNode], terms: Mapping[str, str]) -> list[str]:
    """Make the first use of each term in the prose of the cells a link; the terms that were linked.

    Of terms that share a definition the first is linked.
    """
    linked: list[str] = []
    for cell in cells:
        if cell.cell_type == "markdown":
            known = {terms[term] for term in linked}
            left = {term: definition for term, definition in terms.items() if definition not in known}
            cell.source, here = _linked(cell.source, left)
            linked += here
    return linked


def _linked(text: str, terms: Mapping[str, str]) -> tuple[str, list[str]]:
    here: list[str] = []
    by_length = sorted(terms, key=len, reverse=True)  # 'adaptive ECE' before 'ECE'

    def role(match: re.Match[str]) -> str:
        term = next(term for term in by_length if re.fullmatch(_pattern(term), match[0]))
        if terms[term] in {terms[other] for other in here}:
            return match[0]
        here.append(term)
        return f"{{term}}`{match[0]} <{term}>`"

    if not terms:
        return text, here
    wanted = re.compile("|".join(rf"(?<![\w-]){_pattern(term)}(?![\w-])" for term in by_length))
    parts, end = [], 0
    for protected in [*_PROTECTED.finditer(text), None]:
        start = protected.start() if protected else len(text)
        parts.append(wanted.sub(role, text[end:start]))
        parts.append(protected[0] if protected else "")
        end = protected.end() if protected else end
    return "".join(parts), here


def _pattern(term: str) -> str:
    """The term, over a line's end, too, and with a capital letter where it begins a sentence."""
    words = [re.escape(word) for word in term.split()]
    if term[0].islower():
        words[0] = f"[{term[0].upper()}{term[0]}]{words[0][1:]}"
    return r"\s+".join(words)

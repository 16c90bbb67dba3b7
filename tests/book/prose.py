"""What a page says in words, and the numbers in it that somebody typed.

A number in prose is computed (glue), quoted, part of a formula, a name, a reference, or the value of a parameter that
the sentence names. What is left was typed, and is wrong as soon as the table beside it changes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import jupytext

_FENCE = re.compile(r"^\s*(?P<fence>`{3,}|:{3,})(?:\{(?P<kind>[\w-]+)\}|(?P<language>[\w-]+))?[ \t]*(?P<title>.*)$")
_PROSE = {"admonition", "exercise", "solution", "dropdown", "grid", "grid-item-card", "image", "note", "tip"}
_OPTION = re.compile(r"^:(?:label|class|name|width|link|gutter):.*$")
_SHOWN = {"Markdown", "set_caption", "print"}  # calls whose strings a reader sees

_GONE = "§"  # in place of what may hold a number
_PARAMETER = r"(?:\\?(?:gamma|lambda|alpha)|(?<![A-Za-z])(?:[pqnKT]|q_[ijy]|p_0)|radius)"
_VALUE = r"-?\d[\d.,]*(?:/\d+)?"
_ITEM = r"\(?(?:[A-Z]\.)?\d+(?:\.\d+)*\)?(?: ?\([a-d]\))?"
_REFERENCE = (
    r"(?:[Pp]rop(?:osition)?s?|[Tt]heorems?|[Ll]emmas?|[Dd]efinitions?|[Ee]qs?|[Ff]ig(?:ure)?s?|[Tt]ables?|[Ss]ections?|"
    r"[Cc]hapters?|[Aa]pp(?:endix)?|[Ss]teps?|[Vv]ersion|Python|class|seeds?)"
)
_NAMED = (
    r"\barXiv:\d{4}\.\d{5}\b",
    rf"\b{_REFERENCE}\.? {_ITEM}(?:(?:,| and| to| or|, and|,? left|,? right)+ {_ITEM})*",
    r"\b[A-Z]\.\d+(?:\.\d+)?\b",  # A.8 of an appendix
    r"\b[A-Za-z_][\w.]*-?\d+(?:-\d+|-[a-z]+)*\b",  # CIFAR-10, L25, float32
    r"\b20 Newsgroups\b",
    r"\b(?:19|20)\d\d\b(?! [a-z]*(?:images|samples|runs))",  # a year
    rf"{_PARAMETER} ?(?:=|<|>|up to)? ?\$?{_VALUE}(?:(?:, | and | or | to )\$?{_VALUE})*",  # gamma = 1 and 3
    r"\b95 %|\bat 5 %(?! of)|\(5 %",  # levels of intervals and tests
    r"\b1/2\b|(?<![\d.,/])[01](?![\d.,/]*\d)(?! ?(?:%|per cent|points?\b|percentage))",  # exact ends and middle
)
_NUMBER = re.compile(r"(?<![\w{])-?\d(?:[\d,]*\d)?(?:\.\d+)?(?![\w}])")
_TENS = r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
_ONES = r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|hundred)"
_SPELLED = re.compile(rf"\b(?:{_TENS}-)?(?:{_ONES}|{_TENS})(?= (?:percentage points|points\b|per cent))")


def _without_blocks(text: str) -> str:
    """The text without code, formulas and quotations that stand in blocks of their own."""
    kept: list[str] = []
    lines, i = text.split("\n"), 0
    while i < len(lines):
        opening = _FENCE.match(lines[i])
        if opening is None:
            is_code = lines[i].startswith("    ") and not (kept and kept[-1].strip())
            kept += [] if is_code else [lines[i]]
            i += 1
            continue
        closing = re.compile(rf"^\s*{re.escape(opening['fence'][0])}{{{len(opening['fence'])},}}\s*$")
        end = next((j for j in range(i + 1, len(lines)) if closing.match(lines[j])), len(lines))
        if opening["kind"] in _PROSE and not opening["title"].startswith("As printed"):
            title = opening["title"] if opening["kind"] == "admonition" else ""
            inside = _without_blocks("\n".join(_OPTION.sub("", line) for line in lines[i + 1 : end]))
            kept += [title, inside, ""]
        i = end + 1
    return "\n".join(kept)


def _decimals(formula: re.Match[str]) -> str:
    """Of a formula what it rounds, and decimals that are not a parameter's value; they are results."""
    rounded = re.findall(r"\\approx\s*(-?\d[\d.]*)", formula[0])
    value = rf"-?\d[\d.,]*\s*\\le(?=\s*{_PARAMETER})|{_PARAMETER}\s*(?:=|<|>|\\ge|\\le)\s*{_VALUE}"
    rest = re.sub(value, "", formula[0])
    return " ".join(dict.fromkeys([*rounded, *re.findall(r"(?<![\w.])\d+\.\d+", rest)])) or _GONE


def typed_numbers(text: str) -> list[str]:
    """The numbers typed in a text in MyST, each with the words around it."""
    text = _without_blocks(text)
    text = re.sub(r"\{[\w:]+\}`[^`]*`|`[^`]*`|\]\([^)]*\)|\(#[\w-]+\)|<[^>]*>", _GONE, text)
    text = re.sub(r"(?<![\w§])'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)", _GONE, text)
    text = re.sub(r"\$\$.*?\$\$|\$[^$]+\$", _decimals, text, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text)
    for named in _NAMED:
        text = re.sub(named, _GONE, text)
    found = sorted([*_NUMBER.finditer(text), *_SPELLED.finditer(text)], key=lambda match: match.start())
    return [text[max(0, match.start() - 40) : match.end() + 25].strip() for match in found]


def _shown_strings(source: str) -> Iterator[str]:
    """The strings of calls that show text, with what is computed left out."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) in _SHOWN:
            for given in call.args:
                yield from _strings(given)


def _strings(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(p.value) if isinstance(p, ast.Constant) else _GONE for p in node.values)
    elif isinstance(node, ast.Constant):
        yield from [node.value] if isinstance(node.value, str) else []
    else:
        for inner in ast.iter_child_nodes(node):
            yield from _strings(inner)


def passages(path: Path) -> Iterator[str]:
    """The prose of a page: text, captions, alternative texts, and what its code shows."""
    if path.suffix == ".md":
        yield path.read_text()
        return
    for cell in jupytext.read(path).cells:
        if cell.cell_type == "markdown":
            yield cell.source
            continue
        settings = cell.metadata.get("mystnb", {})
        if "figure" in settings:
            yield settings["figure"]["caption"]
            yield settings["image"]["alt"]
        yield from _shown_strings(cell.source)

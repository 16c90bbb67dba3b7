"""Executed notebooks for readers without Sphinx: numbers, references and boxes of MyST as plain Markdown.

The book's own build needs the roles; whoever opens an executed notebook in JupyterLab, or as HTML, needs what they
stand for. What is not known, a label of another project or all of them without a checkout, is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import nbformat
from myst_nb.core.variables import format_plain_text
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from traitlets.config import Config

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT
from reproduction.pages.blocks import fold
from reproduction.pages.references import cite, known_keys, labels, reference_list

_REFERENCES = ROOT / "book" / "references.bib"
_FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,})(?:\{(?P<kind>[\w-]+)\})?[ \t]*(?P<title>.*)$")
_ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?P<body>[^`]+)`")
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\(#(?P<label>[\w-]+)\)")
_LOCAL = re.compile(
    r"""<a\s+href=(["'])(?!\#|https?:)[^"']*\1[^>]*>(?P<text>.*?)</a>"""
)  # leads nowhere outside the book
_TARGET = re.compile(r"^\([\w-]+\)=$")
_BEGINS = re.compile(r"(?:\A|\n\s*\n|[a-z)$`*][.?!]\s+)\Z")  # ends where a sentence may begin
_MATHJAX = (  # as in the book, in its SVG form, which needs no font files: two megabytes a page
    r'<script>MathJax = {tex: {inlineMath: [["$", "$"], ["\\(", "\\)"]], displayMath: [["$$", "$$"]]}, '
    r'svg: {fontCache: "global"}};</script>'
)
_ONLINE = ("mathjax_url", "require_js_url", "jquery_url", "mermaid_js_url", "jupyter_widgets_base_url")
_HIDDEN = {"hide-input", "remove-input", "hide-cell", "remove-cell"}


class _Known(NamedTuple):
    glued: Mapping[str, str]
    labels: Mapping[str, str]
    cited: Container[str] = frozenset()


def resolve(executed: Path, out: Path) -> None:
    """Write the resolved form of an executed notebook, whole or not at all; `out` may be the same file."""
    notebook = resolved(nbformat.read(executed, as_version=4))
    write_whole(out, lambda part: nbformat.write(notebook, part))


def resolved(notebook: NotebookNode) -> NotebookNode:
    """The notebook with resolved text, captions under its figures, the cited works at its end."""
    known = _Known(_glued(notebook), labels(ROOT), known_keys(_REFERENCES))
    cited = sorted({key for cell in notebook.cells for key in _citations(cell) if key in known.cited})
    notebook.metadata.pop("papermill", None)  # where on its maker's machine the files lay
    cells = []
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        if cell.cell_type == "markdown":
            cell.source = _blocks(cell.source.split("\n"), known)
        else:
            _resolve_outputs(cell, known)
        cells += [cell, *_caption(cell, known)]
    if cited:
        cells.append(_markdown("## References\n\n" + reference_list(_REFERENCES, cited)))
    notebook.cells = cells
    return notebook


def plain_markdown(text: str, glued: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """MyST as Markdown that JupyterLab shows as it is meant.

    Args:
        glued: key -> text/plain of the value kept under it.
        labels: label -> what a reference to it reads as.
    """
    return _blocks(text.split("\n"), _Known(glued, labels, known_keys(_REFERENCES)))


def _blocks(lines: list[str], known: _Known) -> str:
    done: list[str] = []
    text: list[str] = []  # between two fences
    i = 0
    while i < len(lines):
        opening = _FENCE.match(lines[i])
        if opening is None:
            text += [] if _TARGET.match(lines[i]) else [lines[i]]
            i += 1
            continue
        end = _closing(lines, i + 1, opening["fence"])
        inside = lines[i + 1 : end]
        done += _inline(text, known)
        done += [_directive(opening, inside, known)] if opening["kind"] else lines[i : end + 1]
        text = []
        i = end + 1
    return "\n".join(done + _inline(text, known))


def _closing(lines: list[str], start: int, fence: str) -> int:
    """Where the fence ends: the first line of at least as many of its marks, or the end."""
    closing = re.compile(rf"^{fence[0]}{{{len(fence)},}}\s*$")
    return next((i for i in range(start, len(lines)) if closing.match(lines[i])), len(lines))


def _directive(opening: re.Match[str], inside: list[str], known: _Known) -> str:
    options = {}
    while inside and (option := re.match(r"^:(\w+):[ \t]*(.*)$", inside[0])):
        options[option[1]] = option[2]
        inside = inside[1:]
    if opening["kind"] == "math":
        number = re.search(r"\((.*)\)", known.labels.get(options.get("label", ""), ""))
        tag = f" \\tag{{{number[1]}}}" if number else ""
        return "\n".join(["$$", *inside, f"{tag}$$".strip()])
    body = _blocks(inside, known).strip()
    title = "".join(_inline([opening["title"]], known))
    if opening["kind"] == "exercise":
        return f"**{known.labels.get(options.get('label', ''), 'Exercise')}.** {body}"
    if opening["kind"] == "solution":
        return fold("Solution", body)
    if opening["kind"] == "dropdown" or "dropdown" in options.get("class", ""):
        return fold(title, body)
    if not title:
        return body
    return "\n".join(f"> {line}".rstrip() for line in [f"**{title}**", "", *body.split("\n")])


def _inline(lines: list[str], known: _Known) -> list[str]:
    text = _ROLE.sub(lambda match: _role(match, known), "\n".join(lines))
    text = _LINK.sub(lambda match: match["text"] or _named(match, match["label"], known), text)
    return [_LOCAL.sub(r"\g<text>", text)] if lines else []


def _role(match: re.Match[str], known: _Known) -> str:
    role, body = match["role"], match["body"]
    if role == "glue:text":
        key, _, spec = body.partition(":")
        return format_plain_text(known.glued[key], spec or "s") if key in known.glued else match[0]
    if role in ("cite:t", "cite:p") and all(key in known.cited for key in _keys(body)):
        return cite(_REFERENCES, _keys(body), textual=role == "cite:t")
    if role == "math":
        return f"${body}$"
    if named := re.match(r"(.+?)\s*<[^>]*>$", body, re.DOTALL):
        return named[1]
    return body if role == "term" else _named(match, body, known)


def _named(match: re.Match[str], label: str, known: _Known) -> str:
    """What the reference reads as, 'chapter 6, *Does ...?*', with a capital letter where a sentence begins with it."""
    text = known.labels.get(label, match[0])
    begins = _BEGINS.search(match.string, 0, match.start())
    return text[:1].upper() + text[1:] if begins else text


def _keys(body: str) -> list[str]:
    return [key.strip() for key in body.split(",")]


def _citations(cell: NotebookNode) -> list[str]:
    text = cell.source if cell.cell_type == "markdown" else ""
    return [key for match in _ROLE.finditer(text) if match["role"].startswith("cite:") for key in _keys(match["body"])]


def _glued(notebook: NotebookNode) -> dict[str, str]:
    """key -> text/plain, of the values kept by `note`."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if name := output.get("metadata", {}).get("scrapbook", {}).get("name"):
                plain = [value for mime, value in output["data"].items() if mime.endswith("text/plain")]
                found[name] = plain[0] if plain else ""
    return found


def _resolve_outputs(cell: NotebookNode, known: _Known) -> None:
    cell.outputs = [output for output in cell.outputs if "scrapbook" not in output.get("metadata", {})]
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/markdown" in data:
            data["text/markdown"] = _blocks("".join(data["text/markdown"]).split("\n"), known)
        if "text/html" in data:
            data["text/html"] = _LOCAL.sub(r"\g<text>", "".join(data["text/html"]))
    if _HIDDEN & set(cell.metadata.get("tags", [])):
        cell.metadata["jupyter"] = {"source_hidden": True}


def _caption(cell: NotebookNode, known: _Known) -> list[NotebookNode]:
    """The caption of a figure, in a cell of its own; its alt text goes where nbconvert looks for it."""
    settings = cell.metadata.pop("mystnb", {})
    if "figure" not in settings:
        return []
    cell.metadata["alt"] = settings["image"]["alt"]
    name = known.labels.get(settings["figure"]["name"], "Figure")
    caption = "".join(_inline([settings["figure"]["caption"]], known))
    return [_markdown(f"**{name}.** {caption}")]


def _markdown(text: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(text)


def as_html(notebook: Path, out: Path) -> None:
    """Write a resolved notebook as one page that opens without a network; hidden code is left out."""
    inputs = {"hide-input", "remove-input", "injected-parameters"}
    removed = {"remove_input_tags": inputs, "remove_cell_tags": {"remove-cell"}, "enabled": True}
    exporter = HTMLExporter(template_name="classic", config=Config({"TagRemovePreprocessor": removed}))
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    for script in _ONLINE:
        setattr(exporter, script, "")
    text, _ = exporter.from_notebook_node(nbformat.read(notebook, as_version=4))
    head, rest = text.split("</head>", 1)
    script = (files("sphinx-mathjax-offline") / "static" / "mathjax" / "tex-svg.js").read_text(encoding="utf-8")
    page = f"{head}{_MATHJAX}\n<script>{script}</script>\n</head>{rest}"
    write_whole(out, lambda part: part.write_text(page, encoding="utf-8"))

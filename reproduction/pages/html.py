"""A resolved notebook as one HTML page that opens without a network.

Formulas are set by MathJax, the very script of the book (sphinx-mathjax-offline), put into the page in its SVG form,
which needs no font files: two megabytes a page, and every formula looks as in the book. MathML from a converter would
be smaller, but a formula that it does not know would be wrong without anyone noticing.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from traitlets.config import Config

from focal_lib.atomic_write import write_whole

_DELIMITERS = (
    r'MathJax = {tex: {inlineMath: [["$", "$"], ["\\(", "\\)"]], displayMath: [["$$", "$$"]]}, '
    r'svg: {fontCache: "global"}};'
)
_ONLINE = ("mathjax_url", "require_js_url", "jquery_url", "mermaid_js_url", "jupyter_widgets_base_url")


def as_html(notebook: Path, out: Path) -> None:
    """Write the page; cells whose code the book hides show what they give only.

    Args:
        notebook: executed and resolved, see `reproduction.pages.resolve`.
    """
    removed = {"remove_input_tags": {"hide-input", "remove-input", "injected-parameters"}, "enabled": True}
    exporter = HTMLExporter(template_name="classic", config=Config({"TagRemovePreprocessor": removed}))
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    for script in _ONLINE:
        setattr(exporter, script, "")
    text, _ = exporter.from_notebook_node(nbformat.read(notebook, as_version=4))
    head, rest = text.split("</head>", 1)
    write_whole(out, lambda part: part.write_text(f"{head}{_mathjax()}</head>{rest}", encoding="utf-8"))


def _mathjax() -> str:
    script = files("sphinx-mathjax-offline") / "static" / "mathjax" / "tex-svg.js"
    return f"<script>{_DELIMITERS}</script>\n<script>{script.read_text(encoding='utf-8')}</script>\n"

"""What a page's text says is checked where the page is run as the text was written: with its default parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import jupytext
from IPython.display import Markdown, display

from reproduction.pages.execute import find_source

NOTICE = """:::{{admonition}} Other parameters than the text's
:class: warning
The text describes the run with the default parameters. This one has {}: its figures and tables are its own, and what
the text says was not checked against them.
:::"""


def written_for(name: str, given: Mapping[str, Any]) -> Callable[[bool, str], None]:
    """The check of what the page `name` says; with other parameters than its own a notice, and nothing is checked.

    Args:
        given: values by name, the parameters' among them: the page's globals().

    Returns:
        expect(holds, says): raises ValueError, with what the text says, if that does not hold.

    Raises:
        ValueError: no such page.
    """
    other = {key: given[key] for key, default in _defaults(name).items() if given[key] != default}
    if other:
        display(Markdown(NOTICE.format(", ".join(f"`{key} = {value!r}`" for key, value in other.items()))))

    def expect(holds: bool, says: str) -> None:
        if not other and not holds:
            raise ValueError(f"the text of {name} must be what its numbers say. Got a run where this is not so: {says}")

    return expect


def _defaults(name: str) -> dict[str, Any]:
    cells = [cell for cell in jupytext.read(find_source(name)).cells if "parameters" in cell.metadata.get("tags", ())]
    lines = [line for cell in cells for line in ast.parse(cell.source).body if isinstance(line, ast.AnnAssign)]
    return {ast.unparse(line.target): ast.literal_eval(ast.unparse(line.value or line.target)) for line in lines}

"""What stands beside a formula stays with it, and no word is lost."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree

from book.ext.punctuation import CLASS, keep_percent, keep_together


def sentence(text):
    """A paragraph; between dollars stand formulas."""
    parts = [nodes.math("", part) if i % 2 else nodes.Text(part) for i, part in enumerate(text.split("$"))]
    return nodes.paragraph("", "", *[part for part in parts if part.astext()])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("It is ($g$), as printed.", ["(g),"]),
        ("With $q$.", ["q."]),
        ("'above $T$' and '$n > 2$'", ["T'", "'n > 2'"]),
        ("For $a$ and $b$ alone", []),
        ("f($a$) of $a$s", ["a)"]),
        ("($a$)($b$)", ["(a)", "(b)"]),
    ],
)
def test_beside_formulas(text, kept):
    page = sentence(text)
    keep_together(page)
    assert page.astext() == text.replace("$", "")
    assert [one.astext() for one in page.findall(nodes.inline) if CLASS in one["classes"]] == kept


def test_formulas_of_their_own_line_are_left():
    page = publish_doctree(".. math:: a\n\nText.\n")
    before = page.pformat()
    keep_together(page)
    assert page.pformat() == before


def test_a_number_keeps_its_percent_sign():
    page = publish_doctree("Of 95 % and 5 %, not a % b; ``95 %``.")
    page[0].append(nodes.inline("", "7", classes=["pasted-text"]))
    page[0].append(nodes.Text("\n% of all"))
    keep_percent(page)
    assert page[0].astext() == "Of 95\u00a0% and 5\u00a0%, not a % b; 95 %.7\u00a0% of all"

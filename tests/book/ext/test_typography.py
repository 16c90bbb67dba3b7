"""Hyphens before numbers become minus signs, others stay; what stands beside a formula stays with it."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree

from book.ext.typography import CLASS, keep_percent, keep_together, set_signs, with_minus, with_minus_in_cells


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-0.5", "−0.5"),
        ("falls by -0.5 (-1.2 to -.3), [-3, -1,000]", "falls by −0.5 (−1.2 to −.3), [−3, −1,000]"),
        ("-0.134 [-0.154, -0.115] *", "−0.134 [−0.154, −0.115] *"),
        ("FLSD-53 and CIFAR-100 from 2-3 to 1e-5", "FLSD-53 and CIFAR-100 from 2-3 to 1e-5"),
        ("a list - 5 of them, well-known, --minutes 5", "a list - 5 of them, well-known, --minutes 5"),
        ("-0.00", "−0.00"),  # of which an interval says that it leaves out 0
        ("-0.0005, -0.10, -7.7e-05, -10", "−0.0005, −0.10, −7.7e-05, −10"),
    ],
)
def test_text(text, said):
    assert with_minus(text) == said


def test_what_follows_a_name_without_a_space_is_no_number():
    assert with_minus("-53 and -53", begins=False) == "-53 and −53"


def test_cells():
    html = "<td class='a'>-0.5 ± 0.1</td><td>-5 of FLSD-53</td><td>2024-05-01</td><td>-0.1 to -0.0</td>"
    assert with_minus_in_cells(html) == (
        "<td class='a'>−0.5 ± 0.1</td><td>-5 of FLSD-53</td><td>2024-05-01</td><td>−0.1 to −0.0</td>"
    )


def test_pages():
    page = publish_doctree("It is -1 by ``-1`` and :math:`-1`, *focal*\\-53.\n\n.. raw:: html\n\n   <td>-1</td>\n")
    page[0].append(nodes.inline("", "-2", classes=["pasted-text"]))
    set_signs(page)
    assert page[0].astext() == "It is −1 by -1 and -1, focal-53.−2"
    assert page[1].astext() == "<td>−1</td>"


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

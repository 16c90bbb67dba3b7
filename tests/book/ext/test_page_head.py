"""The description of a page."""

import pytest
from docutils.core import publish_doctree

from book.ext.page_head import LONGEST, describe

SENTENCE = "A network is overconfident where it is surer of its answers than it is often right."


def _read(text):
    """As Sphinx reads a page: its title is that of a section."""
    return publish_doctree(text, settings_overrides={"doctitle_xform": False})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"Title\n=====\n\nShort.\n\n{SENTENCE}\n", SENTENCE),  # the first that says something
        (f"Title\n=====\n\n.. note::\n\n   Aside: {SENTENCE}\n\n{SENTENCE}\n", SENTENCE),  # not an aside
        (f"Title\n=====\n\n{SENTENCE[:-1]} with :math:`\\gamma > 0`.\n", f"{SENTENCE[:-1]} with gamma > 0."),
        ("Title\n=====\n\nShort.\n", ""),
        ("Text only, without a title, of which there is no page.\n", ""),
    ],
)
def test_the_first_paragraph_describes_a_page(text, said):
    assert describe(_read(text)) == said


def test_a_long_one_ends_at_a_word():
    said = describe(_read(f"Title\n=====\n\n{SENTENCE} {SENTENCE} {SENTENCE}\n"))
    assert len(said) <= LONGEST
    assert said.endswith("…")
    assert f"{SENTENCE} {SENTENCE} {SENTENCE}".startswith(said[:-1] + " ")

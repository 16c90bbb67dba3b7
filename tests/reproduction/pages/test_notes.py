"""Numbers kept for the prose come back under their keys."""

import re

import numpy as np
import pytest
from myst_nb import glue  # noqa: F401  (what `note` calls must be there)

from reproduction.checkout import ROOT
from reproduction.pages import notes


def test_names_become_keys_of_the_page(monkeypatch):
    kept = {}
    monkeypatch.setattr(notes, "glue", lambda key, value, display: kept.update({key: (value, display)}))
    notes.note("bounds", {"t-half": 0.7}, gamma_c=5.6)
    assert kept == {"bounds-t-half": (0.7, False), "bounds-gamma-c": (5.6, False)}


def test_numbers_of_numpy_are_plain(monkeypatch):
    """The text formats them, as in `page-mean:.2f`."""
    kept = {}
    monkeypatch.setattr(notes, "glue", lambda key, value, display: kept.update({key: value}))
    notes.note("page", mean=np.float64(0.5), runs=np.int64(3))
    assert {key: type(value) for key, value in kept.items()} == {"page-mean": float, "page-runs": int}


def test_numbers_of_other_pages_are_quoted_with_a_format():
    """Without one MyST takes the page itself for the key."""
    pages = [*ROOT.glob("book/*.md"), *ROOT.glob("notebooks/*.py")]
    quoted = [text for page in pages for text in re.findall(r"\{glue:text\}`([^`]*::[^`]*)`", page.read_text())]
    assert quoted
    assert [text for text in quoted if not re.search(r"::[^:]+:[^:]*[a-z%]$", text)] == []


@pytest.mark.parametrize(("value", "said"), [(0.153, 0.16), (0.15, 0.15), (0.1, 0.1), (0.0, 0.0), (2.999, 3.0)])
def test_what_is_said_to_be_at_most_is_no_less(value, said):
    assert notes.at_most(value) == pytest.approx(said, abs=1e-12)
    assert notes.at_most(100 * value, 0) >= 100 * value - 1e-9

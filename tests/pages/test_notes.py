"""Numbers kept for the prose come back under their keys."""

import numpy as np
from myst_nb import glue  # noqa: F401  (what `note` calls must be there)

from focal_lib.pages import notes


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

"""Numbers kept for the prose come back under their keys."""

from myst_nb import glue  # noqa: F401  (what `note` calls must be there)

from focal_lib.pages import notes


def test_names_become_keys_of_the_page(monkeypatch):
    kept = {}
    monkeypatch.setattr(notes, "glue", lambda key, value, display: kept.update({key: (value, display)}))
    notes.note("bounds", {"t-half": 0.7}, gamma_c=5.6)
    assert kept == {"bounds-t-half": (0.7, False), "bounds-gamma-c": (5.6, False)}

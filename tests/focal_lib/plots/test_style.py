"""Curves told apart by more than colour."""

import pytest

from focal_lib.plots.colours import CROSS_ENTROPY, SERIES, apart, gamma_colour
from focal_lib.plots.style import DASHES, LIKE, MARKERS, curve_styles


def test_curves_differ_in_dash_and_in_marker():
    names = [f"focal {gamma}" for gamma in range(len(DASHES))]
    styles = curve_styles(names, markers=True)
    assert list(styles) == names
    assert len({str(style["linestyle"]) for style in styles.values()}) == len(DASHES)
    assert len({style["marker"] for style in styles.values()}) == len(MARKERS) == len(DASHES)
    assert "marker" not in curve_styles(["a"])["a"]


def test_more_curves_than_dashes_are_refused():
    with pytest.raises(ValueError, match=rf"at most {len(DASHES)} curves\. Got {len(DASHES) + 1}: a0, a1"):
        curve_styles(f"a{i}" for i in range(len(DASHES) + 1))


def test_cross_entropy_alone_is_full_and_black():
    styles = curve_styles(["train", "focal 1", "cross-entropy", "test"])
    assert styles["cross-entropy"] == {"color": CROSS_ENTROPY, "linestyle": "-"}
    assert [name for name, style in styles.items() if style["linestyle"] == "-"] == ["cross-entropy"]
    assert [styles[name]["color"] for name in ("train", "test")] == list(SERIES[:2])


def test_a_label_twice_is_one_curve():
    assert len(curve_styles(["a", "b", "a"])) == 2


@pytest.mark.parametrize("gamma", [2, 3, 4, 5])
def test_what_is_of_no_loss_looks_like_none_beside_it(gamma):
    colour = curve_styles([f"focal {gamma}", "the map"])["the map"]["color"]
    assert colour in SERIES
    assert apart(colour, gamma_colour(gamma)) >= LIKE


def test_curves_of_one_loss_differ_in_how_their_markers_are_filled():
    styles = curve_styles(["focal 3", "FCL", "focal 3, scaled", "focal 3, mapped"], markers=True)
    fills = [(style.get("fillstyle"), style.get("markerfacecolor")) for style in styles.values()]
    assert fills == [(None, None), (None, None), (None, "white"), ("bottom", None)]

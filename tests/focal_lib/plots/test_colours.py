"""A loss has one colour, in every kind of figure; colours are seen on the light page and on the dark one."""

import itertools
import math
import re
from importlib.resources import files

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from focal_lib.loss_records import LOSS_RECORDS
from focal_lib.metrics.bins import Bins
from focal_lib.plots.colours import ACCENTS, CROSS_ENTROPY, LOSSES, SERIES, apart, colour_of, gamma_colour
from focal_lib.plots.style import use_style
from reproduction.checkout import ROOT
from reproduction.pages.plots import curves, epochs
from reproduction.studies.calibrators import figures as valley

GAMMAS = (-0.5, 0, 0.5, 1, 2, 3, 4, 5, 7, 10, 20)  # of the book's curves
ALL = {f"gamma {gamma}": gamma_colour(gamma) for gamma in GAMMAS} | LOSSES
DARK = "#121212"
X = np.linspace(0, 1, 4)
ERROR = np.full(4, 0.1)


def _linear(colour):
    value = np.asarray(to_rgb(colour))
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _contrast(one, other):
    """WCAG 2.2."""
    low, high = sorted(float(_linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def on_dark(colour):
    """As the style sheet shows it there: invert(1) hue-rotate(180deg), then the blend mode screen (W3C's formulas)."""
    turned = 2 * np.array([[0.213, 0.715, 0.072]] * 3) - np.eye(3)
    shown = np.clip(turned @ (1 - np.asarray(to_rgb(colour))), 0, 1)
    ground = np.asarray(to_rgb(DARK))
    return tuple(shown + ground - shown * ground)


def test_the_style_sheet_does_with_figures_what_is_measured_here():
    style = (ROOT / "book" / "_static" / "book.css").read_text()
    [dark] = re.findall(r'html\[data-theme="dark"\] [^{}]*img[^{}]*\{([^}]*)\}', style)
    assert "filter: invert(1) hue-rotate(180deg);" in dark
    assert "mix-blend-mode: screen;" in dark
    theme = files("sphinx_book_theme") / "theme/sphinx_book_theme/static/styles/sphinx-book-theme.css"
    [variables] = re.findall(r"html\[data-theme=dark\]\{([^}]*--pst-color-background:[^}]*)\}", theme.read_text())
    assert f"--pst-color-background:{DARK}" in variables


def test_figures_that_move_have_the_same_two_colours():
    style = (ROOT / "book" / "_static" / "book.css").read_text()
    light, dark = re.findall(r"\.explore \{[^{}]*--explore-one: (#\w+); --explore-two: (#\w+);", style)
    assert light == tuple(colour.lower() for colour in ACCENTS)
    assert dark == tuple(to_hex(on_dark(colour)) for colour in ACCENTS)


@pytest.mark.parametrize("name", [*ALL, *SERIES])
def test_lines_have_a_contrast_of_three_on_both_pages(name):
    colour = ALL.get(name, name)
    assert _contrast(colour, "white") >= 3
    assert _contrast(on_dark(colour), DARK) >= 3


def test_text_has_more_than_enough_on_both_pages():
    use_style()
    for name in ("text.color", "axes.labelcolor", "xtick.color", "ytick.color"):
        assert _contrast(mpl.rcParams[name], "white") >= 7
        assert _contrast(on_dark(mpl.rcParams[name]), DARK) >= 7


def test_a_larger_gamma_is_lighter_and_colours_can_be_told_apart():
    above = [gamma_colour(gamma) for gamma in GAMMAS if gamma >= 0]
    assert above[0] == CROSS_ENTROPY
    seen = [_contrast(colour, "white") for colour in above]
    assert seen == sorted(seen, reverse=True)
    near = {pair: apart(ALL[pair[0]], ALL[pair[1]]) for pair in itertools.combinations(ALL, 2)}
    assert min(near.values()) > 0.04, min(near, key=near.get)  # twice what is just seen


def test_distance_is_that_of_oklab():
    assert apart("black", "white") == pytest.approx(1, abs=1e-6)
    assert apart("red", "white") == pytest.approx(math.hypot(1 - 0.627955, 0.224863, 0.125846), abs=1e-5)  # Ottosson
    assert apart("#0072B2", "#0072B2") == 0


def test_every_loss_of_the_book_has_a_colour():
    assert set(LOSSES) == set(LOSS_RECORDS) - {"focal", "proper-focal"}


@pytest.mark.parametrize(
    ("label", "colour"),
    [
        ("cross-entropy", CROSS_ENTROPY),
        (r"$\gamma = 0$", CROSS_ENTROPY),
        ("focal 3", gamma_colour(3)),
        (r"its proper part, $\gamma = 0.5$", gamma_colour(0.5)),
        ("gamma = -0.5", gamma_colour(-0.5)),
        ("proper-focal 2", gamma_colour(2)),
        ("fcl 3 0.5", LOSSES["fcl"]),
        ("FCL minus focal 3", LOSSES["fcl"]),
        ("FCL with L1", LOSSES["fcl-l1"]),
        ("flsd-532", LOSSES["flsd-532"]),
        ("FLSD-53", LOSSES["flsd-53"]),
        ("dual focal", LOSSES["dual-focal"]),
        ("dual-focal 5", LOSSES["dual-focal"]),
        ("label smoothing 0.05", LOSSES["label-smoothing"]),
        (r"our line, $\gamma \leq 7$", None),
        ("train", None),
    ],
)
def test_labels_name_their_loss(label, colour):
    assert colour_of(label) == colour


def test_gamma_must_be_above_minus_one():
    with pytest.raises(ValueError, match=r"gamma must be > -1\. Got -1"):
        gamma_colour(-1)


def _figures(labels):
    """Each kind of figure that has curves, points or bands of losses."""
    points = dict.fromkeys(labels, (X, X, ERROR))
    bands = dict.fromkeys(labels, (X, X, X - 1, X + 1))
    yield curves.line_figure(X, dict.fromkeys(labels, X), "x", "y")
    yield curves.point_figure(points, "x", "y")
    yield curves.panel_figure({"a": points, "b": points}, "x", "y")
    yield curves.dot_figure(dict.fromkeys(labels, (X, X[:, None])), {}, "x", "y")
    yield epochs.epoch_panels({"a": bands})
    yield epochs.histogram_panels({"a": dict.fromkeys(labels, X)}, "x", lowest=0.1)
    yield valley.valley_figure(X, X, np.outer(X, X), 9, dict.fromkeys(labels, X), {})


def _colours(fig, label):
    found = [a for ax in fig.axes for a in [*ax.lines, *ax.containers, *ax.patches] if a.get_label() == label]
    for artist in found:
        main = artist[0] if isinstance(artist, tuple) else artist
        yield to_hex(main.get_edgecolor() if hasattr(main, "get_edgecolor") else main.get_color())


@pytest.mark.parametrize("label", ["cross-entropy", "focal 3", "FCL", "FLSD-53", "Brier", "MMCE", "label smoothing"])
def test_a_loss_has_its_colour_in_every_kind_of_figure_whoever_stands_beside_it(label):
    for labels in ([label, "train", "focal 1"], ["focal 1", "test", label]):
        for fig in _figures(labels):
            assert set(_colours(fig, label)) == {to_hex(colour_of(label))}


def test_rows_of_intervals_and_reliability_have_it_too():
    (ax,) = curves.interval_figure(["FCL", "train"], [1, 2], [0, 1], [2, 3], "x").axes
    assert [to_hex(bar[0].get_color()) for bar in ax.containers] == [to_hex(LOSSES["fcl"]), to_hex(SERIES[0])]
    many = Bins(np.array([50, 50]), np.array([0.2, 0.8]), np.array([0.1, 0.7]))
    strip = epochs.reliability_strip({"FCL": {"epoch 1": many}, "focal 3": {"epoch 1": many}})
    points = [line for ax in strip.axes for line in ax.lines if line.get_marker() == "o"]
    assert [to_hex(line.get_color()) for line in points] == [to_hex(LOSSES["fcl"]), gamma_colour(3)]

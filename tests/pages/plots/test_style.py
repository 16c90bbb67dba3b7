"""Lines told apart by more than colour."""

from focal_lib.pages.plots.style import LINES, line_styles, loss_styles


def test_styles_differ_in_colour_and_in_dash():
    assert len({style["color"] for style in LINES}) == len(LINES)
    assert len({str(style["linestyle"]) for style in LINES}) == len(LINES)


def test_styles_are_as_many_as_asked_for_and_copies():
    styles = line_styles(len(LINES) + 2, markers=True)
    assert len(styles) == len(LINES) + 2
    styles[0]["color"] = "red"
    assert line_styles(1)[0]["color"] != "red"
    assert "marker" not in line_styles(1)[0]


def test_cross_entropy_is_black_and_the_others_keep_their_colours():
    one, two = loss_styles(["cross-entropy", "focal 1", "focal 2"]), loss_styles(["focal 1", "focal 2"])
    assert one[0]["color"] == "#000000"
    assert one[1:] == two

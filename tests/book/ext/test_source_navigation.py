"""The sidebar of pages of source code."""

from book.ext.source_navigation import make_once


def test_it_is_made_once_for_each_depth_and_arguments():
    asked, made = [], {}

    def contents(page, to_root):
        return make_once(lambda **kwargs: asked.append(page) or f"{to_root} {kwargs}", to_root, made)

    first = contents("losses", "../../intro.html")(collapse=True, maxdepth=2)
    assert contents("metrics", "../../intro.html")(maxdepth=2, collapse=True) == first
    assert contents("losses/focal", "../../../intro.html")(collapse=True, maxdepth=2) != first
    assert contents("theory", "../../intro.html")(collapse=False, maxdepth=2) != first
    assert asked == ["losses", "losses/focal", "theory"]

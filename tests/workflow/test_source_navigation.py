"""The sidebar of pages of source code."""

from workflow.source_navigation import make_once


def test_it_is_made_once_for_each_depth_and_arguments():
    asked, made = [], {}

    def contents(page):
        return make_once(lambda **kwargs: asked.append((page, kwargs)) or f"{page} {kwargs}", page, made)

    first = contents("_modules/focal_lib/losses")(collapse=True, maxdepth=2)
    assert contents("_modules/focal_lib/metrics")(maxdepth=2, collapse=True) == first
    assert contents("_modules/focal_lib/losses/focal")(collapse=True, maxdepth=2) != first  # its links lead further up
    assert contents("_modules/focal_lib/losses")(collapse=False, maxdepth=2) != first
    assert [page for page, _ in asked] == [
        "_modules/focal_lib/losses",
        "_modules/focal_lib/losses/focal",
        "_modules/focal_lib/losses",
    ]

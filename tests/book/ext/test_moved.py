"""Old addresses lead to pages that are there, and to no page that is not."""

import pytest
import yaml

from book.ext.contents import pages_in_order
from book.ext.moved import write_moved
from reproduction.checkout import ROOT


def test_every_old_address_leads_to_a_page_of_the_book():
    pages = pages_in_order(ROOT / "_toc.yml")
    for old, new in yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]["moved_pages"].items():
        assert old not in pages
        assert f"{old.rpartition('/')[0]}/{new}" in pages


def test_a_fragment_is_kept(tmp_path):
    (tmp_path / "new.html").write_text("here")
    for _ in range(2):  # a second build is no fault
        write_moved(tmp_path, {"03_old": "new"})
    text = (tmp_path / "03_old.html").read_text()
    assert '"new.html" + location.search + location.hash' in text
    assert '<a href="new.html">' in text


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must lead to pages of the book\. Got new for old"):
        write_moved(tmp_path, {"old": "new"})
    for name in ("new", "old"):
        (tmp_path / f"{name}.html").write_text("here")
    with pytest.raises(ValueError, match=r"must be addresses without a page\. Got old"):
        write_moved(tmp_path, {"old": "new"})

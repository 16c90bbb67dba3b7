"""The book has every kind of fold; that they open is looked at when a page is visited."""

import re

from tests.browser.built import PAGES

_FOLD = re.compile(r'class="(?:(?:solution|tip) dropdown|admonition hide|[\w -]*sd-dropdown)')


def test_the_book_has_every_kind_of_fold():
    found = {found[7:] for page in PAGES for found in _FOLD.findall(page.read_text())}
    assert found >= {"solution dropdown", "tip dropdown", "admonition hide"}
    assert any("sd-dropdown" in kind for kind in found)

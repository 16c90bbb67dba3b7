"""A link to a term carries its definition, the current one, too, where only the page of terms changed."""

import re
import subprocess
import sys

import pytest

INDEX = "# Home\n\n```{toctree}\nbook/terms\nother\n```\n"
OTHER = "# Other\n\nAn {term}`ECE`, a [page](book/terms.md).\n"


def page_of(definition):
    return f"# Terms\n\n```{{glossary}}\nECE\n  {definition}\n```\n\nSee {{term}}`ECE`.\n"


def links(project):
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", project, project / "html"], check=True)
    html = (project / "html" / "other.html").read_text()
    return re.findall(r'<a class="reference internal" href="book/terms.html(#term-ECE)?"(?: title="([^"]*)")?>', html)


@pytest.mark.slow
def test_the_title_of_a_link_is_the_definition(tmp_path):
    (tmp_path / "conf.py").write_text('extensions = ["myst_parser", "book.ext.term_titles"]\n')
    (tmp_path / "book").mkdir()
    (tmp_path / "index.md").write_text(INDEX)
    (tmp_path / "other.md").write_text(OTHER)
    (tmp_path / "book" / "terms.md").write_text(page_of("The mean gap."))
    assert ("#term-ECE", "The mean gap.") in links(tmp_path)
    (tmp_path / "book" / "terms.md").write_text(page_of("Another gap."))
    found = links(tmp_path)
    assert ("#term-ECE", "Another gap.") in found
    assert all(title == "" for anchor, title in found if not anchor)

"""The article: its numbers come from the records, its metadata agree with the citation, it has five pages."""

import re

import pytest
import yaml
from pybtex.database import parse_file

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_contrasts
from reproduction.ledger import tally, verdicts
from reproduction.ledger.ledger import find, ledger
from reproduction.studies.law.plan import EXPECTED
from tests.reproduction.studies.shared.test_recorded import WITHOUT_RUNS
from workflow import article
from workflow.chromium import count_pages, find_chromium, print_pdf
from workflow.crate import CITATION

TEMPLATE = (ROOT / "article" / "article.md").read_text()
NO_CONTRASTS = {
    "advice",
    "calarena",
    "intervals",
    "law",
    "losses",
    "options",
    "speed",
    "watch",
}  # simulations, cells, limits
META = yaml.safe_load((ROOT / "article" / "metadata.yaml").read_text())
NAMES = (  # with digits that are no results
    *(r"(?:KK|KN|M|L)2[045]", r"Table \d\b", r"Python 3\.11 to 3\.13"),
    *(r"(?:at|of) (?:95|5|80) %", r"</?[bp]\b[^>]*>", r"\$D < 2G\$"),
)


def _typed_numbers(template):
    prose = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|`[^`]*`", " ", template, flags=re.DOTALL)
    prose = re.sub(r"^##.*$", " ", prose, flags=re.MULTILINE)
    for name in NAMES:
        prose = re.sub(name, " ", prose)
    return re.findall(r"\S*\d\S*", prose)


def test_no_number_is_typed():
    assert _typed_numbers(TEMPLATE) == []
    assert _typed_numbers(TEMPLATE + "\nIt is 0.49 points better in 7 of 10.") == ["0.49", "7", "10."]


@pytest.fixture(scope="module")
def text():
    return article.article_text()


@pytest.mark.slow
def test_verdicts_and_counts_are_the_ledgers(text, monkeypatch):
    recorded = verdicts.recorded()
    failed = [c for c in ledger() if c.of_paper and recorded[c.id] in ("REFUTED", "NOT REPRODUCED", "NOT CONFIRMED")]
    assert failed
    [table] = re.findall(r"\| claim \| statement \| verdict \|\n\|[-|]+\n((?:\|.*\n)+)", text)
    assert [row.split(" | ")[0] for row in table.splitlines()] == [f"| {claim.source}" for claim in failed]
    table_of_weights = tally.readme_table(recorded, {}).split("\n\n")[0]
    assert table_of_weights in text
    wrong = recorded | {"kk24.prop2": "REFUTED"}
    monkeypatch.setattr(article, "recorded", lambda: wrong)
    other = article.article_text()
    assert "for two classes and" in text
    assert table_of_weights not in other
    assert f"bijection is {article._shown('REFUTED')}" in re.sub(r"\s+", " ", other)
    assert f"bijection is {article._shown(recorded['kk24.prop2'])}" in re.sub(r"\s+", " ", text)


def test_metadata_agree_with_the_citation_and_the_references():
    citation = yaml.safe_load((ROOT / CITATION).read_text())
    assert [author["name"] for author in META["authors"]] == [author["name"] for author in citation["authors"]]
    assert set(citation["keywords"]) <= set(META["keywords"].split(", "))
    replicated = {name: value for one in META["replication"] for name, value in one.items()}
    library = ROOT / "article" / META["bibliography"]
    original = parse_file(str(library)).entries[replicated["bib"]]
    assert META["title"] == f"[Re] {original.fields['title']}"
    assert original.fields["title"] in replicated["cite"]
    assert replicated["url"].endswith(original.fields["eprint"])
    assert not re.search(r"\d", META["abstract"])


@pytest.mark.slow
@pytest.mark.skipif(find_chromium() is None, reason="needs Chromium")
def test_it_has_five_pages_whose_formulas_are_set(tmp_path):
    page, out = tmp_path / "article.html", tmp_path / "article.pdf"
    page.write_text(article.article_html())
    print_pdf(page, out)
    assert count_pages(out) == article.PAGES
    assert b"+MathJax_Math-Italic" in out.read_bytes(), "formulas are not set"


@pytest.mark.slow
def test_every_record_with_written_contrasts_is_counted():
    """Leaving out those that went against a claim would flatter the papers."""
    grids = (ROOT / "workflow" / "grids" / f"{path.name}.yaml" for path in (ROOT / "results").iterdir())
    with_runs = {path.stem for path in grids if path.is_file() and read_contrasts(path)}
    with_runs |= {"fashion-mnist-architectures"}  # whose contrasts are not in its grid
    assert set(article.written_contrasts()) == WITHOUT_RUNS - NO_CONTRASTS | with_runs


@pytest.mark.slow
def test_a_verdict_is_that_of_the_interval_beside_it(text):
    gain, text = article._gain(), re.sub(r"\s+", " ", text)
    interval = find("kk24.table1_ece_focal_losses").evidence.found.interval
    assert (interval.estimate, interval.low, interval.high) == (gain["difference"], gain["low"], gain["high"])
    shown = article._shown(verdicts.recorded()["kk24.table1_ece_focal_losses"])
    assert f"interval {gain['low']:+.2f} to {gain['high']:+.2f}: {shown}, as {gain['reason']}." in text
    assert '"kk24.table1_ece_focal_losses"' in TEMPLATE
    assert '"kk24.table1_ece_every_loss"' not in TEMPLATE


@pytest.mark.slow
def test_shares_of_the_rule_are_those_that_its_claims_judge():
    for name in ("half", "sign"):
        share = find(f"kk24.helps_{name}").evidence.measured + EXPECTED[name]
        assert article._law()[name] == f"{100 * share:.0f}"

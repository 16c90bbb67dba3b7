"""What every study keeps to: families of contrasts with one that is primary, records of one commit, claims on them."""

from pathlib import Path

import pandas as pd
import pytest

from reproduction.checkout import ROOT
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import find
from reproduction.ledger.regime import InRegime
from reproduction.studies.fcl import plan as fcl
from reproduction.studies.human_labels import contrasts as of_raters
from reproduction.studies.human_labels import plan as human_labels
from reproduction.studies.landscape import plan as landscape
from reproduction.studies.localisation import contrasts as of_heat_maps
from reproduction.studies.localisation import plan as localisation
from reproduction.studies.ood import plan as ood
from reproduction.studies.texts import contrasts as of_texts
from reproduction.studies.texts import plan as texts

FAMILIES = [
    fcl.written_contrasts(),
    human_labels.written_contrasts("linear"),
    human_labels.written_contrasts("linear", majority=False),
    landscape.eigenvalue_contrasts() + landscape.calibration_contrasts() + landscape.cause_contrasts(),
    *map(localisation.written_contrasts, localisation.SETTINGS),
    *map(texts.written_contrasts, texts.SETTINGS),
    *(ood.digit_contrasts(), ood.RECORDED_DIGITS, ood.FRESH_DIGITS, ood.CIFAR, ood.shift_contrasts(), ood.CIFAR_SHIFTS),
]


@pytest.mark.parametrize("contrasts", FAMILIES, ids=lambda contrasts: contrasts[0].table)
def test_each_table_has_one_primary_contrast_and_names_of_its_own(contrasts):
    for table in {contrast.table for contrast in contrasts}:
        family = [contrast for contrast in contrasts if contrast.table == table]
        assert [contrast.primary for contrast in family] == [True] + [False] * (len(family) - 1)
        assert len({contrast.name for contrast in family}) == len(family)
        assert all(contrast.ours != contrast.theirs for contrast in family)


RECORDS = ["fcl-networks/images", "fcl-networks/epochs", "fcl-networks/moons", "texts/table", "where-it-looks/table"]


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_of_one_commit(name):
    commits = pd.read_parquet(ROOT / Path("results", f"{name}.parquet"), columns=["commit"])["commit"].unique()
    assert len(commits) == 1
    assert not commits[0].endswith("-dirty")


@pytest.mark.parametrize(
    ("module", "reader", "id", "needs"),
    [
        (of_raters, "read_table", "kk24.raters_after_map", "results/human-labels"),
        (of_texts, "read_table", "m20.text_before", "results/texts"),
        (of_heat_maps, "read_table", "l25.fig1_precise", "results/where-it-looks"),
    ],
)
def test_without_the_record_nothing_is_judged(monkeypatch, module, reader, id, needs):
    def missing(_):
        raise FileNotFoundError("no table")

    monkeypatch.setattr(module, reader, missing)
    found = find(id).check()
    assert found.verdict == Verdict.UNCHECKABLE
    assert found.lacks_runs
    assert needs in found.would_change()


@pytest.mark.parametrize(
    "id",
    [
        "kk24.temperature_under_shift",
        "kk24.raters_after_map",
        "kk24.raters_validated",
        "l25.log_gap_here",
        "l25.thm45_overfitted_here",
        "m20.text_accuracy",
    ],
)
def test_without_logits_the_test_set_is_said_to_be_one(id):
    """As book/verdicts.md says: all seeds are asked about the same images or texts."""
    evidence = find(id).check()
    parts = (evidence.found if isinstance(evidence, InRegime) else evidence).parts
    assert len(parts) > 1
    assert all(part.over.endswith("seeds alone, one test set") for part in parts)


@pytest.mark.parametrize("id", ["m20.text_last_focal", "m20.text_mmce", "m20.text_accuracy", "m20.text_temperatures"])
def test_text_claims_say_how_many_seeds_had_been_seen(id):
    """As book/verdicts.md says: where seeds were added when the first had been seen, the claim says so."""
    said = find(id).check().describe()
    assert "5 of these seeds had been seen when the others were planned" in said
    assert said.count("had been seen when the others were planned") in (1, 3)

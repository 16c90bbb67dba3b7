"""focal compare: what it prints, writes and refuses."""

import json
import shutil

import pandas as pd
import pytest
from click.testing import CliRunner

from reproduction.checkout import ROOT
from reproduction.cli.compare import compare
from reproduction.engine.imported import Imported, write_imported
from reproduction.studies.shared.recorded import load_recorded

RECORD = "cifar10-record"


@pytest.fixture
def mine(tmp_path):
    """A folder with the record's runs of focal loss with gamma 3 and 5, three seeds."""
    for run in load_recorded(RECORD):
        if run.spec.label in ("focal 3", "focal 5") and run.spec.seed < 3:
            shutil.copytree(ROOT / "results" / RECORD / run.spec.digest, tmp_path / "mine" / run.spec.digest)
    return tmp_path / "mine"


def call(*given):
    result = CliRunner().invoke(compare, list(map(str, given)))
    return result.exit_code, result.output


def test_a_comparison_is_printed_and_written(mine, tmp_path):
    out, as_json = tmp_path / "table.csv", tmp_path / "table.json"
    options = ("--loss", "focal 3", "--metric", "error", "--out", out, "--json", as_json)
    code, output = call(mine, "--with", RECORD, *options)
    assert code == 0, output
    first, caution, _, row, over = output.splitlines()
    assert first == "mine: airbench-cnn on cifar10; focal 3, seeds 0 1 2"
    assert caution == "The best there was chosen by the same numbers, which flatters it a little."
    assert row.startswith("focal 3 - cross-entropy (best)  error, as trained  10.")
    assert " higher: 10." in row
    assert over == "Intervals, each for itself, are over 3 seeds and 10,000 test images, paired."
    (written,) = pd.read_csv(out).to_dict("records")
    (same,) = json.loads(as_json.read_text())
    assert {name: same[name] for name in written} == {
        name: pytest.approx(value) if isinstance(value, float) else value for name, value in written.items()
    }
    assert written["answer"] in row
    assert f"{written['difference']:+.2f}  {written['low']:+.2f} to {written['high']:+.2f}" in row


def test_each_loss_has_its_rows_and_the_record_its_own(mine):
    code, output = call(mine, "--with", RECORD, "--metric", "error", "--against", "brier", "--against", "focal 3")
    assert code == 0, output
    rows = [line.partition("  ")[0] for line in output.splitlines() if " - " in line]
    assert rows == [f"focal {gamma} - {other}" for gamma in (3, 5) for other in ("brier", "focal 3")]
    assert "Intervals, each for itself, are over 2 seeds and 10,000 test images, paired; 3 seeds" in output


def test_runs_trained_otherwise_are_refused_and_shown_anyway(tmp_path):
    folder = ROOT / "results" / "cifar10-resnet8"
    code, output = call(folder, "--with", RECORD, "--metric", "error", "--out", tmp_path / "table.csv")
    assert code == 1
    assert output.splitlines() == [
        "Error: runs must be trained as those of cifar10-record. Got",
        "  training samples 4,000 here, 45,000 there",
        "  recipe cifar-cpu here, cifar-one-cycle there",
        "  epochs 30 here, 16 there",
        "--anyway shows their numbers.",
    ]
    assert not (tmp_path / "table.csv").exists()
    code, output = call(folder, "--with", RECORD, "--metric", "error", "--anyway")
    assert code == 0
    assert "Not trained alike, so there is no verdict:\n  training samples 4,000 here" in output
    assert "Networks differ: ResNet-8 here, AirBench CNN there; a difference may be theirs." in output
    assert "p, Holm" not in output
    assert "higher:" not in output


def test_printed_cells_stand_beside_own_logits(tmp_path):
    for run in load_recorded(RECORD):
        if run.spec.label == "focal 3" and run.spec.seed == 0:
            told = Imported("cifar10", "resnet50", "mine", 0, n_train=45_000, recipe="m20-cifar", epochs=100)
            write_imported(told, {"validation": run.validation, "test": run.test}, tmp_path / "theirs", "x.npz")
    code, output = call(tmp_path / "theirs", "--with", "printed", "--metric", "ece")
    assert code == 0, output
    assert "The papers trained otherwise:\n  epochs 100 here, 350 there" in output
    assert [line.split()[0] for line in output.splitlines() if line.startswith(("mine ", "MMCE"))] == ["mine", "MMCE"]
    code, output = call(ROOT / "results" / RECORD, "--with", "printed")
    assert (code, output) == (1, "Error: a printed table must have that network. Got airbench-cnn on cifar10.\n")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--with", "cifar11"), "record must be one of "),
        (("--with", RECORD, "--loss", "focal 4"), "--loss must be one of focal 3, focal 5. Got 'focal 4'."),
        (("--with", RECORD, "--metric", "acc"), "metric must be one of error"),
        (("--with", "printed", "--metric", "acc"), "metric must be one of error"),
        (("--with", RECORD, "--out", "table.parquet"), ".csv"),
        (("--with", RECORD, "--out", "none/table.csv"), "There is no "),
        (("--with", "printed", "--out", "table.csv"), "--out, --json and --against are for a record. Got printed."),
    ],
)
def test_what_it_does_not_know_is_one_line(mine, given, message):
    code, output = call(mine, *given)
    assert code == 1
    assert message in output
    assert output.count("\n") == 1

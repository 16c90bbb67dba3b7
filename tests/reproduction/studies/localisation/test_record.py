"""The record of networks with heat maps goes on where it stopped, and holds rows of one code."""

import itertools
import re
import shlex

import pandas as pd
import pytest

from reproduction.checkout import ROOT
from reproduction.ledger import find
from reproduction.studies.localisation import record as where_it_looks
from reproduction.studies.localisation.plan import CHEST, ONE, SEVERAL
from reproduction.studies.localisation.record import FIRST


@pytest.fixture
def asked(monkeypatch):
    found = []

    def measured(plans):
        found.extend(plans)
        (plan,) = plans
        return pd.DataFrame([{"dataset": plan.setting, "loss": plan.label, "seed": plan.seed, "value": 1.0}])

    monkeypatch.setattr(where_it_looks, "measure_plans", measured)
    monkeypatch.setattr(where_it_looks, "seconds_an_image", lambda plan: 3.6)
    return found


def test_each_network_is_trained_once(tmp_path, asked, capsys):
    out = tmp_path / "record" / "table.parquet"
    where_it_looks.main(5, out, seeds=1)
    assert asked == where_it_looks.plans(FIRST)
    where_it_looks.main(5, out, seeds=2)
    assert asked == where_it_looks.plans(FIRST) + where_it_looks.plans(FIRST + 1)
    where_it_looks.main(0, out, seeds=2)
    assert capsys.readouterr().err == ""  # nothing is left to do
    where_it_looks.main(0, out, seeds=3)  # no time: what there is stays
    assert capsys.readouterr().err.startswith(f"out of minutes before cross-entropy, seed {FIRST + 2}")
    table = pd.read_parquet(out)
    assert len(asked) == len(set(asked)) == len(table) == 16
    assert {"cpu_seconds", "commit", "code"} <= set(table)


def test_chest_xrays_say_their_cost_before_they_start(tmp_path, asked, capsys):
    out, given = tmp_path / "chest.parquet", {"settings": (CHEST,), "n_train": 1000, "epochs": 100}
    where_it_looks.main(0, out, seeds=1, **given)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("4 networks, 300,000 images to train on, epochs x those of one: about 300 hours")
    assert asked == []  # said before, and of no time nothing is trained
    where_it_looks.main(out=out, seeds=1, **given)
    capsys.readouterr()
    where_it_looks.main(out=out, seeds=1, **given)
    assert capsys.readouterr().out == ""  # nothing is left
    where_it_looks.main(5, tmp_path / "garments.parquet", seeds=1)
    assert capsys.readouterr().out == ""


def test_a_dry_run_says_what_is_left_and_what_it_would_cost(tmp_path, asked, capsys):
    out = tmp_path / "record" / "table.parquet"
    where_it_looks.main(out=out, seeds=2, n_train=1000, epochs=6, dry_run=True)
    assert capsys.readouterr().out.startswith("16 networks, 72,000 images to train on")
    assert asked == []
    assert not out.parent.exists()
    where_it_looks.main(out=out, seeds=1, n_train=1000, epochs=6)
    where_it_looks.main(out=out, seeds=2, n_train=1000, epochs=6, dry_run=True)
    assert capsys.readouterr().out.startswith("8 networks, 36,000 images to train on")
    where_it_looks.main(out=out, seeds=1, n_train=1000, epochs=6, dry_run=True)
    assert capsys.readouterr().out == "Nothing is left to train.\n"
    assert where_it_looks.read_options(["--chest", "--dry-run"])["dry_run"] is True


def test_seconds_of_an_image_are_of_the_second_epoch(monkeypatch):
    spent, clock = [], itertools.accumulate([0, 5.0, 0, 6.6])  # loading 3.4 seconds, an epoch of 8 images 1.6
    monkeypatch.setattr(where_it_looks, "train", lambda plan, images: spent.append((plan, images[0].images.shape)))
    monkeypatch.setattr(where_it_looks.time, "process_time", lambda: next(clock))
    assert where_it_looks.seconds_an_image(where_it_looks.plans(1, (CHEST,))[0]) == pytest.approx(0.2)
    assert [(plan.setting, shape, plan.epochs) for plan, shape in spent] == [
        (CHEST, (8, 96, 96, 1), 1),
        (CHEST, (8, 96, 96, 1), 2),
    ]


@pytest.mark.parametrize("setting", [ONE, SEVERAL, CHEST])
def test_the_cost_needs_no_file(setting, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path))
    where_it_looks.main(out=tmp_path / "table.parquet", seeds=1, settings=(setting,), n_train=1000, dry_run=True)
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(
        r"4 networks, [\d,]+ images to train on, .*: about [\d.,e-]+ hours of .* trial of 8 images", line
    )


def test_a_dry_run_is_not_stopped_by_rows_of_another_code(tmp_path, asked, capsys):
    out = tmp_path / "table.parquet"
    where_it_looks.main(out=out, seeds=1)
    pd.read_parquet(out).assign(code="other").to_parquet(out)
    where_it_looks.main(out=out, seeds=1, dry_run=True)
    assert capsys.readouterr().out.startswith("8 networks")


def test_rows_of_another_code_stop_it(tmp_path, asked):
    out = tmp_path / "table.parquet"
    where_it_looks.main(5, out, seeds=1)
    pd.read_parquet(out).assign(code="other").to_parquet(out)
    with pytest.raises(SystemExit, match="must hold rows of one code"):
        where_it_looks.main(5, out, seeds=2)


def test_plans_of_a_seed():
    found = where_it_looks.plans(3)
    assert {(p.setting, p.label) for p in found} == {
        (setting, loss) for setting in (ONE, SEVERAL) for loss in ("cross-entropy", "focal 3", "fcl 3 0.5", "untrained")
    }
    assert {p.seed for p in found} == {3}
    assert {p.network for p in where_it_looks.plans(1, (CHEST,), network="densenet121")} == {"densenet121"}


def commands(text):
    """The options of each command of this module in a text."""
    found = re.findall(r"studies\.localisation\.record (--chest --[^`]*?parquet)", text.replace("\\\n", " "))
    return [shlex.split(options) for options in found]


@pytest.fixture(params=["page", "claim", "module"])
def printed(request):
    (words,) = commands(
        {
            "page": (ROOT / "book" / "figures_and_tables.md").read_text(),
            "claim": find("l25.chexnet").check().describe(),
            "module": where_it_looks.__doc__,
        }[request.param]
    )
    return words


def test_the_printed_command_trains_every_loss_to_its_end(tmp_path, asked, monkeypatch, printed):
    """However long one takes, at the paper's size."""
    hours = itertools.count(step=3600.0)
    monkeypatch.setattr(where_it_looks.time, "process_time", lambda: next(hours))
    options = where_it_looks.read_options(printed)
    where_it_looks.main(**options | {"out": tmp_path / "chest.parquet"})
    labels = ["cross-entropy", "focal 3", "fcl 3 0.5"]
    assert [p.label for p in asked] == [*labels, "untrained"]
    assert {(p.setting, p.network, p.n_train, p.n_test, p.epochs) for p in asked[:3]} == {
        (CHEST, "densenet121", 86_524, 25_596, 100)
    }
    asked.clear()
    where_it_looks.main(**options | {"out": tmp_path / "planted.parquet", "minutes": 20})
    assert [p.label for p in asked] == []  # as it was with a default of 20 minutes: it stops, too early

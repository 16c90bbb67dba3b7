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
from reproduction.studies.shared import going_on


@pytest.fixture
def asked(monkeypatch):
    found = []

    def measured(plans):
        found.extend(plans)
        (plan,) = plans
        return pd.DataFrame([{"dataset": plan.setting, "loss": plan.label, "seed": plan.seed, "value": 1.0}])

    monkeypatch.setattr(where_it_looks, "measure_plans", measured)
    return found


def test_each_network_is_trained_once(tmp_path, asked):
    out = tmp_path / "record" / "table.parquet"
    where_it_looks.main(5, out, seeds=1)
    assert asked == where_it_looks.plans(FIRST)
    where_it_looks.main(5, out, seeds=2)
    assert asked == where_it_looks.plans(FIRST) + where_it_looks.plans(FIRST + 1)
    where_it_looks.main(0, out, seeds=3)  # no time: what there is stays
    table = pd.read_parquet(out)
    assert len(asked) == len(set(asked)) == len(table) == 16
    assert {"cpu_seconds", "commit", "code"} <= set(table)


@pytest.mark.parametrize("dry", [True, False])
def test_images_are_counted_before_they_are_trained_on(tmp_path, asked, capsys, dry):
    given = {"settings": (CHEST,), "n_train": 1000, "epochs": 100}
    where_it_looks.main(0 if not dry else 5, tmp_path / "chest.parquet", seeds=1, dry_run=dry, **given)
    assert capsys.readouterr().out == "4 networks, 300,000 images to train on, epochs x those of one\n"
    assert asked == []
    assert where_it_looks.read_options(["--chest", "--dry-run"])["dry_run"] is True


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
            "claim": find("l25.chexnet").check().would_change(),
            "module": where_it_looks.__doc__,
        }[request.param]
    )
    return words


def test_the_printed_command_trains_every_loss_to_its_end(tmp_path, asked, monkeypatch, printed):
    """However long one takes, at the paper's size."""
    hours = itertools.count(step=3600.0)
    monkeypatch.setattr(going_on.time, "process_time", lambda: next(hours))
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

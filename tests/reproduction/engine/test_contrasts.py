"""Contrasts of a grid file: what they say, that they name no run, and what is refused."""

import re

import pytest

from focal_lib.metrics.by_name import METRICS
from reproduction.checkout import ROOT
from reproduction.engine.contrasts import Setting
from reproduction.engine.grids import read_contrasts, read_grid, read_notes

GRID = "seed: [0, 1]\nloss: [{loss: focal, gamma: [0, 1, 3]}, {loss: flsd-53}]\n"
PRIMARY = (
    "name: focal losses, metric: adaptive-ece, loss: [focal 1, flsd-53], method: focal-temperature, "
    "objective: adaptive-ece, minus: {method: temperature}, claimed: lower"
)
OTHER = "name: error, metric: error, loss: focal 3, minus: {loss: cross-entropy}, claimed: higher"


def written(primary=PRIMARY, *others):
    listed = ", ".join(f"{{{other}}}" for other in others)
    return f"contrasts:\n  KK24 Table 1:\n    primary: {{{primary}}}\n    others: [{listed}]\n"


def test_both_sides_and_the_claim(grid):
    first, second = read_contrasts(grid(GRID + written(PRIMARY, OTHER)))
    assert (first.table, first.name, first.primary, first.claimed) == ("KK24 Table 1", "focal losses", True, -1)
    assert first.ours == Setting(("focal 1", "flsd-53"), "focal-temperature", "adaptive-ece")
    assert first.theirs == Setting(("focal 1", "flsd-53"), "temperature", "adaptive-ece")
    assert (second.primary, second.claimed, second.metric) == (False, 1, "error")
    assert (second.ours, second.theirs) == (Setting(("focal 3",)), Setting(("cross-entropy",)))
    assert str(second) == "error of focal 3 as trained, minus cross-entropy as trained"


def test_as_trained_against_a_scaling(grid):
    text = PRIMARY.replace("{method: temperature}", "{method: none}")
    assert read_contrasts(grid(GRID + written(text)))[0].theirs == Setting(("focal 1", "flsd-53"))


def test_runs_and_their_names_stay_the_same(grid):
    plain = read_grid(grid(GRID))
    assert read_contrasts(grid(GRID)) == ()
    assert [spec.digest for spec in read_grid(grid(GRID + written()))] == [spec.digest for spec in plain]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("contrasts: 3", "contrasts must be a mapping. Got 3"),
        ("contrasts: {KK24: [1]}", r"contrasts of KK24 must be a mapping. Got \[1\]"),
        ("contrasts: {KK24: {others: []}}", "contrasts of KK24 must be a primary one and a list of others"),
        ("contrasts: {KK24: {primary: {}, others: 0}}", "contrasts of KK24 must be a primary one and a list of others"),
        (written(PRIMARY, PRIMARY), "names of contrasts must be different in KK24 Table 1. Got focal losses twice"),
        (written(PRIMARY + ", level: 0.9"), "may have method, objective. Got name, .*, level"),
        (written("name: x, metric: ece"), "must have claimed, loss, metric, minus, name"),
        (written(PRIMARY.replace("flsd-53", "focal 7")), "losses of focal losses must be of this grid.*focal 7"),
        (written(PRIMARY.replace("flsd-53", "focal 1")), "losses of focal losses must be of this grid, each once"),
        (written(PRIMARY.replace("claimed: lower", "claimed: better")), "must be one of lower, higher. Got 'better'"),
        (written(PRIMARY.replace("metric: adaptive-ece", "metric: ace")), "metric of focal losses must be one of"),
        (written(PRIMARY.replace("metric: adaptive-ece", "metric: [ece]")), r"Got \['ece'\]"),
        (
            written(PRIMARY.replace("{method: temperature}", "{loss: flsd-53, seed: 1}")),
            "minus of focal losses must be",
        ),
        (written(PRIMARY.replace("{method: temperature}", "{method: focal-temperature}")), "must be something else"),
        (
            written(OTHER.replace("{loss: cross-entropy}", "{method: temperature}")),
            "scaling of error must be none, .*Got temperature by no objective",
        ),
        (
            written(PRIMARY.replace("{method: temperature}", "{method: temprature}")),
            "scaling of focal losses must be none, temperature by nll, .*Got temprature by adaptive-ece",
        ),
        (written(PRIMARY.replace("method: focal-temperature", "method: vector")), "Got vector by adaptive-ece"),
        (
            written(PRIMARY.replace("objective: adaptive-ece", "objective: ecce")),
            "Got focal-temperature by ecce",
        ),
        (
            written(PRIMARY.replace("{method: temperature}", "{method: temperature, objective: smooth-ece}")),
            "Got temperature by smooth-ece",
        ),
        (written(OTHER.replace("name: error", "name: ")), "a contrast of KK24 Table 1 must have a name. Got None"),
        (written(OTHER.replace("name: error", "name: ' '")), "must have a name. Got ' '"),
        (
            written(PRIMARY, OTHER, OTHER.replace("name: error", "name: again")),
            "must compare different things. Got error and again alike",
        ),
        (written(OTHER + ", objective: ecce"), "Got none by ecce"),
    ],
)
def test_what_is_no_contrast_is_refused(grid, text, message):
    """By `read_grid`, too: before any run of the grid is made."""
    path = grid(GRID + text)
    for read in (read_contrasts, read_grid):
        with pytest.raises(ValueError, match=f"grid.yaml: .*{message}"):
            read(path)


def test_a_primary_contrast_is_of_one_network(grid):
    two = f"model: [small-cnn, mlp]\n{GRID}"
    known = "dataset and model of KK24 Table 1 must be of this grid: fashion-mnist, small-cnn; fashion-mnist, mlp"
    with pytest.raises(ValueError, match=f"{known}. Got '', ''"):
        read_contrasts(grid(two + written()))
    for where in ("dataset: fashion-mnist", "dataset: fashion-mnist\n    model: resnet8"):
        with pytest.raises(ValueError, match=known):
            read_contrasts(grid(two + written().replace("    primary", f"    {where}\n    primary")))
    named = written(PRIMARY, OTHER).replace("    primary", "    dataset: fashion-mnist\n    model: mlp\n    primary")
    found = read_contrasts(grid(two + named))
    assert [(contrast.dataset, contrast.model) for contrast in found] == [("fashion-mnist", "mlp")] * 2
    assert [(contrast.dataset, contrast.model) for contrast in read_contrasts(grid(GRID + written()))] == [("", "")]


def test_losses_are_those_of_the_network(grid):
    other = "dataset: [{dataset: fashion-mnist, gamma: [0, 1]}, {dataset: cifar10, gamma: 3}]\nloss: focal\n"
    named = written(OTHER.replace("focal 3", "focal 1")).replace(
        "    primary", "    dataset: DATASET\n    model: small-cnn\n    primary"
    )
    assert len(read_contrasts(grid(other + named.replace("DATASET", "fashion-mnist")))) == 1
    with pytest.raises(ValueError, match=r"losses of error must be of this grid, each once: focal 3. Got 'focal 1'"):
        read_contrasts(grid(other + named.replace("DATASET", "cifar10")))


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/grids").glob("*.yaml")), ids=lambda p: p.stem)
def test_several_seeds_for_a_table_have_contrasts(path):
    """One seed tells nothing from chance: the tables that M20 and L25 print of single runs need none."""
    for_a_table = "Table" in read_notes(path).reproduces
    before_any = path.stem == "cifar10-resnet8"
    assert read_contrasts(path) or not for_a_table or before_any or len({spec.seed for spec in read_grid(path)}) == 1


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/grids").glob("*.yaml")), ids=lambda p: p.stem)
def test_contrasts_of_the_project(path):
    """Where a grid has any, one is primary in each table, and `read_contrasts` finds what the file says."""
    contrasts = read_contrasts(path)
    assert {contrast.name for contrast in contrasts} == set(re.findall(r"\{name: ([^,]+),", path.read_text()))
    for table in {contrast.table for contrast in contrasts}:
        assert [contrast.primary for contrast in contrasts if contrast.table == table].count(True) == 1
    assert {contrast.metric for contrast in contrasts} <= set(METRICS)

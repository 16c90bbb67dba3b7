"""Grids: YAML files of specifications."""

import re

import pytest

from focal_lib.checkout import ROOT
from focal_lib.training.grids import make_spec, read_grid, read_grid_from
from focal_lib.training.models import MODELS


@pytest.fixture
def grid(tmp_path):
    def write(text):
        (tmp_path / "grid.yaml").write_text(text)
        return tmp_path / "grid.yaml"

    return write


def test_every_combination(grid):
    specs = read_grid(grid("gamma: [0, 2]\nseed: [0, 1, 2]\nepochs: 3\n"))
    assert [(s.gamma, s.seed) for s in specs] == [(g, s) for g in (0.0, 2.0) for s in (0, 1, 2)]
    specs = read_grid(grid("seed: [0, 1]\nloss: [{loss: focal, gamma: [0, 2]}, {loss: flsd-53}]\n"))
    assert [(s.seed, s.label) for s in specs] == [
        (s, n) for s in (0, 1) for n in ("cross-entropy", "focal 2", "flsd-53")
    ]


def test_numbers_as_people_write_them(grid):
    assert [s.learning_rate for s in read_grid(grid("learning_rate: [1e-3, 1E-2]\n"))] == [0.001, 0.01]


def test_a_run_stands_once(grid):
    assert len(read_grid(grid("gamma: [0, 0.0]\nloss: [focal, cross-entropy]"))) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gama: [0, 2]", r"grid.yaml: parameters must be among dataset, model.*Got gama"),
        ("seed: 0\nseed: 1", "grid.yaml: must be YAML. Got the key seed twice"),
        ("[1, 2]", r"grid.yaml: must hold fields of a run.*Got \[1, 2\]"),
        ("", "grid.yaml: must hold fields of a run.*Got None"),
        ("loss: fcl", "grid.yaml: fcl needs gamma"),
    ],
)
def test_bad_grids_are_named(grid, text, message):
    with pytest.raises(ValueError, match=message):
        read_grid(grid(text))


def test_one_run_of_a_grid(grid):
    path = grid("gamma: [0, 2, 3]")
    specs = read_grid(path)
    assert read_grid_from(path, specs[1].digest) == [specs[1], specs[0], specs[2]]
    with pytest.raises(ValueError, match=r"digest must be that of a run in grid.yaml. Got 'nix'"):
        read_grid_from(path, "nix")


def test_fields_by_name():
    assert make_spec({"gamma": 3}).label == "focal 3"
    with pytest.raises(ValueError, match=r"parameters must be among dataset, .*Got gama"):
        make_spec({"gama": 3})


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/grids").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_grid_of_the_project_is_a_grid(path):
    specs = read_grid(path)
    assert len({spec.digest for spec in specs}) == len(specs) > 0
    assert {spec.model for spec in specs} <= set(MODELS)
    stated = re.search(r"(\d+) runs", path.read_text())
    assert stated is None or int(stated.group(1)) == len(specs)

"""Grids: YAML files of specifications."""

import re
import time

import pytest

from reproduction.checkout import ROOT
from reproduction.engine.grids import GridNotes, make_spec, read_contrasts, read_grid, read_grid_from, read_notes
from reproduction.engine.models import MODELS
from reproduction.engine.papers import FCL_OF_L25
from reproduction.engine.spec import chosen_fields
from reproduction.pages.execute import describe_parameters
from reproduction.pages.tables import in_words
from reproduction.studies.printed_tables import printed_tables

GRIDS = ROOT / "workflow" / "grids"
PAPERS = sorted(path for path in GRIDS.glob("*.yaml") if re.match(r"(kk24|m20|l25|kn24)-", path.name))


def test_every_combination(grid):
    specs = read_grid(grid("gamma: [0, 2]\nseed: [0, 1, 2]\nepochs: 3\n"))
    assert [(s.gamma, s.seed) for s in specs] == [(g, s) for g in (0.0, 2.0) for s in (0, 1, 2)]
    specs = read_grid(grid("seed: [0, 1]\nloss: [{loss: focal, gamma: [0, 2]}, {loss: flsd-53}]\n"))
    assert [(s.seed, s.label) for s in specs] == [
        (s, n) for s in (0, 1) for n in ("cross-entropy", "focal 2", "flsd-53")
    ]


def test_numbers_as_people_write_them(grid):
    assert [s.learning_rate for s in read_grid(grid("learning_rate: [2e-3, 1E-2]\n"))] == [0.002, 0.01]


def test_a_run_stands_once(grid):
    assert len(read_grid(grid("gamma: [0, 0.0]\nloss: [focal, cross-entropy]"))) == 1


ALIASES = "seed:\n- &a [0, 0, 0, 0, 0, 0, 0, 0, 0]\n" + "".join(
    f"- &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
PRODUCT = "".join(f"{name}: {list(range(1, 60))}\n" for name in ("n_train", "n_validation", "epochs", "batch_size"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gama: [0, 2]", r"grid.yaml: parameters must be among dataset, model.*Got gama"),
        ("seed: 0\nseed: 1", "grid.yaml: must be YAML. Got the key seed twice"),
        ("[1, 2]", r"grid.yaml: must hold fields of a run.*Got \[1, 2\]"),
        ("", "grid.yaml: must hold fields of a run.*Got None"),
        ("loss: fcl", "grid.yaml: fcl needs gamma"),
        ("gamma: []", r"grid.yaml: gamma must have a value. Got \[\]"),
        ("loss: [{loss: focal, gamma: []}, {loss: flsd-53}]", r"grid.yaml: gamma must have a value. Got \[\]"),
        (
            "loss: [{loss: focal, gamma: [1, 2, 3]}, {loss: dual-focal, gamma: 5}]\ngamma: 7",
            "grid.yaml: a field must be set once. Got gamma twice, the second time in gamma",
        ),
        ("gamma: 7\nloss: [{loss: flsd-53}, {gamma: [1, 2], seed: 1}]", "Got gamma twice, the second time in loss"),
        ("loss: [{loss: [{loss: mmce, lam: 1}], lam: [2, 4]}]", "Got lam twice, the second time in lam"),
        ("seed: [{seed: 1, n_train: 9}]\nn_train: [{n_train: 9, seed: 2}]", "Got n_train, seed twice"),
        ("seed: &s [*s]", "must be YAML. Got an alias within what it stands for"),
        ("a: &s {loss: *s}", "Got an alias within what it stands for"),
        (f"seed: {'[' * 3000}{']' * 3000}", "must be YAML. Got maximum recursion"),
        (ALIASES, "must be YAML. Got more than 20,000 values"),
        (PRODUCT, "a grid must have at most 100,000 runs. Got 205,379 and more by epochs"),
        ("\n".join(f"k{i}: 1" for i in range(30_000)), "Got more than 20,000 values"),
        ("\n".join(f"k{i}: 1" for i in range(9_000)), "parameters must be among .* Got k0, k1, k10, k100, k1000, "),
        (f"# {'x' * 2**20}\nseed: 1", "must be YAML of at most 1,048,576 letters"),
    ],
)
def test_bad_grids_are_named(grid, text, message):
    started = time.process_time()
    with pytest.raises(ValueError, match=message) as refused:
        read_grid(grid(text))
    assert len(str(refused.value)) < 1000
    assert time.process_time() - started < 20


def test_aliases_stand_for_what_they_name(grid):
    specs = read_grid(grid("loss: [{loss: focal, gamma: &g [1, 2]}, {loss: dual-focal, gamma: *g}]"))
    assert [spec.gamma for spec in specs] == [1, 2, 1, 2]


def test_one_run_of_a_grid(grid):
    path = grid("gamma: [0, 2, 3]")
    specs = read_grid(path)
    assert read_grid_from(path, specs[1].digest) == [specs[1], specs[0], *specs[2:]]
    with pytest.raises(ValueError, match=r"digest must be that of a run in grid.yaml. Got 'nix'"):
        read_grid_from(path, "nix")


def test_fields_by_name():
    assert make_spec({"gamma": 3}).label == "focal 3"
    with pytest.raises(ValueError, match=r"parameters must be among dataset, .*Got gama"):
        make_spec({"gama": 3})


def test_notes_of_a_grid(grid):
    assert read_notes(grid("gamma: 1")) == GridNotes()
    path = grid("reproduces: T 1\ndiffers: [a]\nmissing: [b, c]\ngamma: 1")
    assert read_notes(path) == GridNotes("T 1", ("a",), ("b", "c"))
    assert len(read_grid(path)) == 1
    for text, message in (("differs: a", "differs must be a list of texts. Got 'a'"), ("reproduces: 3", "Got 3")):
        with pytest.raises(ValueError, match=message):
            read_grid(grid(text))


def test_every_table_of_the_papers_has_a_grid():
    """With what it differs in, and what is missing."""
    reproduced = "; ".join(read_notes(path).reproduces for path in PAPERS)
    for place in ("KK24 Table 1, CIFAR-10 and CIFAR-100; Fig. 8", "KK24 Table 1, Tiny-ImageNet", "KN24 Figs. 2 and 3"):
        assert place in reproduced
    for place in ("KN24 Fig. 4", "L25 Table 8", "M20 Tables 1 to 13, CIFAR", "M20 Tables 1 to 5 and 7 to 13, 20 News"):
        assert place in reproduced
    for place in ("L25 Table 2 (error) and Tables 4 to 7", "L25 Figs. 3, 6 and 8", "M20 Figs. 1 to 4"):
        assert place in reproduced
    assert any("Table 9" in line for path in PAPERS for line in read_notes(path).missing)
    assert all(read_notes(path).differs for path in PAPERS)


PRINTED_AS = {
    "GP-CNN with GloVe vectors": "Global Pooling CNN",
    "Tree-LSTM with GloVe vectors": "Tree-LSTM",
    "Wide ResNet 26-10": "Wide-ResNet-26-10",
    "ResNet-50 for Tiny-ImageNet": "ResNet-50",
    "20 Newsgroups in M20's split": "20 Newsgroups",
    "sst": "SST Binary",
    "focal-scheduled-531": "focal 5-3-1",
    "focal-scheduled-532": "focal 5-3-2",
    "mmce-m20": "mmce",
}


def as_printed(spec):
    """Data set, network and loss as the tables of M20 and L25 name them; no parameter but a fixed gamma."""
    names = in_words(spec.dataset), in_words(spec.model), spec.label if spec.is_focal else spec.loss
    return tuple(PRINTED_AS.get(name, name) for name in names)


@pytest.mark.parametrize("paper", ["M20", "L25"])
def test_every_cell_of_their_tables_has_runs(paper):
    """But for FinSen, which no grid can train; 'CIFAR-10/SVHN' is asked of networks of CIFAR-10."""
    cells = printed_tables().query("paper == @paper and dataset != 'FinSen'")
    printed = {(data.split("/")[0], *rest) for data, *rest in cells[["dataset", "network", "loss"]].to_numpy()}
    trained = {as_printed(spec) for path in PAPERS if path.stem.startswith(paper.lower()) for spec in read_grid(path)}
    assert printed - trained == set()
    assert len(printed) > 30
    assert any("FinSen" in line for path in PAPERS for line in read_notes(path).missing)


def undeclared(recipe, differs, of_kn24=False):
    """What the recipe does of which no paper's text tells, and no line says."""
    needed = {
        "bfloat16 in all layers but the last": recipe.precision == "bf16",
        "on a GPU bfloat16 in all layers but the last": recipe.precision == "auto",
        "Nesterov momentum": recipe.nesterov,
        "a last batch dropped": recipe.last_batch == "drop",
        "losses summed over a batch, gradients clipped at norm 2": recipe.reduction == "sum",
        "losses averaged over a batch and gradients not clipped": (
            recipe.optimiser == "sgd" and not recipe.clip_norm and not of_kn24
        ),
    }
    return {text for text, does in needed.items() if does and not any(text in line for line in differs)}


VISITS = {  # those that wait for a GPU of minutes, and how many runs and seeds each has
    "cifar10-long-losses": (24, 3),
    "cifar10-resnet18-long": (9, 3),
    "cifar100-resnet18": (9, 3),
    "cifar100-resnet18-long": (9, 3),
    "cifar10-resnet50": (2, 1),
    "cifar100-curvature": (18, 3),
}
SMALL = (
    *("cifar10-record", "cifar10-clipped", "cifar10-long", "cifar10-long-fresh", "cifar10-resnet18"),
    *("cifar100-record", *VISITS),
)


@pytest.mark.parametrize("name", [*(path.stem for path in PAPERS), *SMALL])
def test_a_grid_says_what_its_recipe_does_beyond_the_papers_texts(name):
    """The precision of 'auto' depends on the machine, so that it is no difference of a specification."""
    path = GRIDS / f"{name}.yaml"
    differs = read_notes(path).differs
    recipes = {spec.training for spec in read_grid(path)}
    assert [undeclared(recipe, differs, name.startswith("kn24")) for recipe in recipes] == [set()] * len(recipes)
    assert any(undeclared(recipe, [line for line in differs if "bfloat16" not in line]) for recipe in recipes)


@pytest.mark.parametrize("path", PAPERS, ids=lambda p: p.stem)
def test_fcl_has_the_values_of_l25(path):
    specs = [spec for spec in read_grid(path) if spec.loss.startswith("fcl")]
    assert specs or not path.name.startswith("l25")
    for spec in specs:
        if path.stem != "l25-figures":  # sections 5.5.1 and 5.5.2 have others
            assert (spec.gamma, spec.lam) == FCL_OF_L25[spec.dataset, spec.model]


def test_kk24_trains_what_its_section_5_names():
    specs = read_grid(GRIDS / "kk24-table1.yaml")
    named = ["cross-entropy", *(f"focal {gamma}" for gamma in (1, 2, 3, 5, 7)), "flsd-53", "adafocal"]
    assert list(dict.fromkeys(spec.label for spec in specs)) == named
    assert {spec.seed for spec in specs} == set(range(5))


@pytest.mark.parametrize("path", sorted(GRIDS.glob("*.yaml")), ids=lambda p: p.stem)
def test_every_grid_of_the_project_is_a_grid(path):
    specs = read_grid(path)
    assert len({spec.digest for spec in specs}) == len(specs) > 0
    assert {spec.model for spec in specs} <= set(MODELS)
    stated = re.search(r"(\d+) runs", path.read_text())
    assert stated is None or int(stated.group(1)) == len(specs)


@pytest.mark.parametrize(("name", "size"), VISITS.items())
def test_a_grid_of_one_visit_is_done_seed_by_seed_and_has_its_contrasts(name, size):
    """Where a visit ends early, whole seeds are there; and the page on how they are trained names it."""
    seeds = [spec.seed for spec in read_grid(GRIDS / f"{name}.yaml")]
    assert (len(seeds), len(set(seeds))) == size
    assert seeds == sorted(seeds)
    assert read_contrasts(GRIDS / f"{name}.yaml")
    assert f"`{name}`" in (ROOT / "results" / "README.md").read_text()


def test_longer_runs_are_compared_as_the_short_ones():
    written = {path.stem: read_contrasts(path) for path in GRIDS.glob("cifar*.yaml")}
    long = [contrast for contrast in written["cifar10-long-losses"] if contrast.table != "The law"]
    dual = "dual-focal 5"  # not among the losses there
    assert long == [contrast for contrast in written["cifar10-record"] if dual not in contrast.losses]
    assert written["cifar10-resnet18-long"] == written["cifar100-resnet18"] == written["cifar100-resnet18-long"]
    assert set(written["cifar10-resnet18"]) < set(long)
    others = [spec for path in GRIDS.glob("*.yaml") if path.stem != "cifar10-long-losses" for spec in read_grid(path)]
    fresh = {spec.digest for spec in read_grid(GRIDS / "cifar10-long-losses.yaml")}
    assert not fresh & {spec.digest for spec in others}


def test_resnet50_has_two_cells_of_m20s_tables():
    tables = {spec.digest for spec in read_grid(GRIDS / "m20-tables.yaml")}
    assert {spec.digest for spec in read_grid(GRIDS / "cifar10-resnet50.yaml")} < tables


def test_weights_are_made_again_of_four_runs_a_data_set():
    again = {spec.digest for spec in read_grid(GRIDS / "weights.yaml")}
    for name in ("cifar10-record", "cifar100-record"):
        assert len(again & {spec.digest for spec in read_grid(GRIDS / f"{name}.yaml")}) == 4
    assert len(again) == 8


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gamma: &a {gamma: *a}", "must be YAML. Got an alias within what it stands for"),
        ("gamma: !!int foo", "must be YAML. Got invalid literal for int"),
        ("gamma: " + 5000 * "9", "must be YAML. Got Exceeds the limit"),
    ],
)
def test_what_no_grid_can_be_is_told_with_its_file(tmp_path, text, told):
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"odd.yaml: {told}"):
        read_grid(path)


def test_every_field_of_a_run_is_a_parameter_of_its_page():
    """`focal run --page` gives them all."""
    declared = {name for name, _ in describe_parameters(ROOT / "notebooks" / "experiment.py")}
    assert declared == {own.name for own in chosen_fields()} | {"runs"}

"""The registry of methods: names, objectives, and what is built."""

import re

import numpy as np
import pytest

from focal_lib.calibration import methods
from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS, WIDE_GAMMAS, FocalTemperatureScaling
from focal_lib.calibration.methods import (
    ALL,
    AS_GIVEN,
    DEFAULT,
    METHODS,
    Method,
    build,
    build_with_prior,
    counting_samples,
    installed,
    not_of,
    parse,
)


def test_the_default_comparison():
    assert DEFAULT == (
        ("temperature", "nll"),
        ("focal-temperature", "nll"),
        ("ensemble-temperature", "nll"),
        ("platt", "nll"),
        ("vector", "nll"),
        ("structured-matrix", "nll"),
    )
    by_ece = build("focal-temperature", "adaptive-ece")
    assert isinstance(by_ece, FocalTemperatureScaling)
    assert by_ece.gammas == WIDE_GAMMAS
    assert build_with_prior(DEFAULT[0]).prior_sd == 0.5
    assert build_with_prior(DEFAULT[1]).get_params() == build(*DEFAULT[1]).get_params()


@pytest.mark.parametrize("pair", [(name, objective) for name, kind in METHODS.items() for objective in kind.options])
def test_what_is_built_is_of_its_kind_and_objective(pair):
    calibrator = build(*pair)
    assert type(calibrator) is METHODS[pair[0]].calibrator
    assert calibrator.get_params().get("objective", pair[1]) == pair[1]


def test_options_replace_those_of_the_registry():
    assert build("focal-temperature", "adaptive-ece", gammas=PAPER_GAMMAS).gammas == PAPER_GAMMAS
    assert build("vector", l2=0.5).l2 == 0.5
    assert build("dirichlet", C=0.01).C == 0.01


@pytest.mark.parametrize("name", METHODS)
def test_a_name_builds_the_class_with_its_own_defaults(name):
    assert build(name).get_params() == METHODS[name].calibrator().get_params()


def test_names_on_the_command_line():
    assert parse() == parse("") == parse(" ") == DEFAULT
    assert parse("all") == parse(" ALL ") == installed()
    assert {method.name for method in ALL} == set(METHODS)
    assert parse("isotonic, matrix") == (("temperature", "nll"), ("isotonic", "brier"), ("matrix", "nll"))
    wanted = (("temperature", "nll"), ("focal-temperature", "adaptive-ece"), ("vector", "nll"))
    assert parse("temperature,focal-temperature:adaptive-ece,vector") == wanted
    assert parse(["focal-temperature:adaptive-ece", ("vector", "nll")]) == wanted
    assert parse("Isotonic,MATRIX") == parse("isotonic,matrix")
    assert parse("temperature:ece,temperature") == (("temperature", "nll"), ("temperature", "ece"))
    assert parse(method.label.replace(" by ", ":") for method in ALL) == ALL


def test_all_leaves_out_what_is_not_installed(monkeypatch):
    monkeypatch.setattr(methods.importlib.util, "find_spec", lambda name: name == "betacal" or None)
    assert {method.name for method in ALL} - {method.name for method in parse("All")} == {
        "venn-abers",
        "structured-matrix",
    }


def test_names_that_there_are_not():
    for name, meant in (
        ("sigmoid", "did you mean platt?"),
        ("vector-scaling", "did you mean vector?"),
        ("Isotonic_Regression", "did you mean isotonic?"),
        ("histogram binning", "did you mean histogram?"),
        ("temprature", "did you mean temperature"),
    ):
        with pytest.raises(ValueError, match=rf"methods must be among temperature, .* Got .*: {re.escape(meant)}"):
            parse(f"temperature,{name}")
    with pytest.raises(ValueError, match=r"Got quantile\.$"):
        parse("quantile")
    with pytest.raises(TypeError, match=r"Got int64: logits and labels are one argument, \(logits, labels\)"):
        parse(np.arange(3))
    with pytest.raises(ValueError, match=r"objective of temperature must be one of nll, ece, adaptive-ece\. Got mce"):
        parse("temperature:mce")
    with pytest.raises(ValueError, match=r"objective of vector must be one of nll\. Got ece"):
        build("vector", "ece")


def test_labels_say_the_objective_where_it_is_not_the_first():
    methods = *DEFAULT[:2], Method("focal-temperature", "adaptive-ece"), Method("vector", "nll")
    labels = [method.label for method in methods]
    assert labels == ["temperature", "focal-temperature", "focal-temperature by adaptive-ece", "vector"]
    assert AS_GIVEN.label == "as given"
    assert Method("temperature", "ece").label == "temperature by ece"


def test_methods_that_count_samples_need_whole_weights():
    found = counting_samples(ALL, np.array([1.0, 0.5]))
    assert {method.name for method in found} == {"venn-abers", "structured-matrix"}
    assert counting_samples(ALL, np.array([1.0, 2.0])) == counting_samples(ALL, None) == []


def test_methods_for_two_classes():
    assert [method.name for method in not_of(ALL, 1000, 3)] == ["platt"]
    assert not_of(ALL, 1000, 2) == []


@pytest.mark.parametrize(
    ("samples", "classes", "fitted"),
    [
        (1000, 2, ["temperature", "focal-temperature", "ensemble-temperature", "platt"]),
        (1000, 10, ["temperature", "focal-temperature", "ensemble-temperature", "vector", "structured-matrix"]),
        (2000, 300, ["temperature", "focal-temperature", "ensemble-temperature", "vector"]),
        (1000, 300, ["temperature", "focal-temperature"]),
        (1000, 32_000, ["temperature"]),
    ],
)
def test_methods_of_the_default_by_samples_and_classes(samples, classes, fitted):
    others = not_of(DEFAULT, samples, classes, default=True)
    assert [method.name for method in DEFAULT if method not in others] == fitted

"""Values as people write them."""

import pytest

from reproduction.parameters import Range, parse_parameters, parse_value, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("1e-3", 0.001),
        ("1E5", 1e5),
        ("1.5e+30", 1.5e30),
        (".5", 0.5),
        ("010", 10),
        ("50_000", 50_000),
        ("true", True),
        ("True", True),
        ("none", None),
        ("null", None),
        ("no", "no"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("flsd-53", "flsd-53"),
        ("'3'", "3"),
        ("", ""),
        ("[1, 1e-3]", [1, 0.001]),
    ],
)
def test_values(text, value):
    found = parse_value(text)
    assert found == value
    assert type(found) is type(value)


def test_grids_hold_the_same_values():
    content = read_yaml("learning_rate: [1e-3, 3]\nloss: {no: off}  # and a comment\nseed:\n")
    assert content == {"learning_rate": [0.001, 3], "loss": {"no": "off"}, "seed": None}


def test_a_name_is_given_once():
    assert parse_parameters([("gamma", "3"), ("loss", "focal")]) == {"gamma": 3, "loss": "focal"}
    with pytest.raises(ValueError, match=r"must be given once. Got seed twice: 1 and 2"):
        parse_parameters([("seed", "1"), ("gamma", "3"), ("seed", "2")])
    with pytest.raises(ValueError, match="the key seed twice"):
        read_yaml("seed: 1\ngamma: 3\nseed: 2\n")
    with pytest.raises(ValueError, match="the key 0 twice"):
        read_yaml("{0: 1, 0: 2}")


def test_what_cannot_be_read_is_named():
    with pytest.raises(ValueError, match=r"^gamma: must be YAML. Got .*expected ',' or '\]'"):
        parse_parameters([("gamma", "[1, 2")])


def test_nothing_is_built_from_a_tag():
    with pytest.raises(ValueError, match="could not determine a constructor"):
        parse_value("!!python/object/apply:os.getcwd []")


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("> 0", [1e-9, 5], [0, -1]),
        (" at least 2", [2, 3], [1.9]),
        ("< 1", [0.9], [1]),
        ("at most -1", [-1, -2], [0]),
        ("in [0, 1)", [0, 0.5], [1, -0.1]),
        ("in (-0.5, 1e3]", [1000], [-0.5, 1001]),
    ],
)
def test_ranges(text, inside, outside):
    found = Range.parse(text)
    assert all(number in found for number in inside)
    assert not any(number in found for number in outside)


@pytest.mark.parametrize("text", ["of the bootstrap", "in (-radius, radius)", "(-5, 5) in the paper", ">", "", "> r"])
def test_what_is_no_range(text):
    assert Range.parse(text) is None

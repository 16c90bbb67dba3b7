"""Values as people write them: `-p NAME VALUE` on the command line, and YAML files of them.

YAML 1.1, which PyYAML reads, takes 1e-3 for a string, 010 for eight, no for false and 1:30 for ninety.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml


def parse_value(text: str) -> Any:
    """'3' -> 3, '1e-3' -> 0.001, 'true' -> True, 'none' -> None, '[1, 2]' -> [1, 2], else the text itself.

    Raises:
        ValueError: brackets or quotes that do not close.
    """
    return read_yaml(text) if text.strip() else text


def parse_parameters(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """(('gamma', '3'),) -> {'gamma': 3}.

    Raises:
        ValueError: a name given twice, or a value that cannot be read.
    """
    found: dict[str, Any] = {}
    for name, text in pairs:
        if name in found:
            raise ValueError(f"each parameter must be given once. Got {name} twice: {found[name]} and {text}.")
        try:
            found[name] = parse_value(text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return found


_NO_YAML = (yaml.YAMLError, AttributeError, KeyError, ValueError, RecursionError)  # of tags that do not fit, and loops


def read_yaml(text: str) -> Any:
    """The content of a YAML text, numbers as people write them.

    Raises:
        ValueError: no YAML, or a key that stands twice in one mapping.
    """
    try:
        return yaml.load(text, _Loader)
    except _NO_YAML as error:
        raise ValueError(f"must be YAML. Got {' '.join(str(error).split())}.") from None


_ENDS = re.compile(r"in (?P<left>[\[(])(?P<low>[^,]+), (?P<high>[^\])]+)(?P<right>[\])])")
_BOUND = re.compile(r"(?P<word>>|<|at least|at most) (?P<bound>\S+)")  # papermill reads no comment with a '='


@dataclass(frozen=True)
class Range:
    """Which numbers a parameter may be, as comments write it: '> 0', 'at least 2', 'in [0, 1)'."""

    low: float = -math.inf
    high: float = math.inf
    with_low: bool = False
    with_high: bool = False

    @classmethod
    def parse(cls, text: str) -> Range | None:
        """None where the text says something else."""
        text = text.strip()
        try:
            if match := _ENDS.fullmatch(text):
                low, high = float(match["low"]), float(match["high"])
                return cls(low, high, match["left"] == "[", match["right"] == "]")
            if match := _BOUND.fullmatch(text):
                bound, closed = float(match["bound"]), match["word"].startswith("at")
                if match["word"] in (">", "at least"):
                    return cls(low=bound, with_low=closed)
                return cls(high=bound, with_high=closed)
        except ValueError:  # ends that are no numbers
            pass
        return None

    def __contains__(self, number: float) -> bool:
        above = number > self.low or (self.with_low and number == self.low)
        return above and (number < self.high or (self.with_high and number == self.high))


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the scalars of YAML 1.2, and Python's None, True and False; a key stands once."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's own name, filled below

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if twice := [key for i, key in enumerate(keys) if key in keys[:i]]:
            raise yaml.YAMLError(f"the key {twice[0]} twice in one mapping")
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        return int(str(self.construct_scalar(node)).replace("_", ""))

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        return float(str(self.construct_scalar(node)).replace("_", ""))


for _tag, _pattern, _first in (
    ("null", r"~|null|none|", ["~", "n", "N", ""]),
    ("bool", r"true|false", list("tTfF")),
    ("int", r"[-+]?[0-9][0-9_]*", list("-+0123456789")),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9]*)?)(?:e[-+]?[0-9]+)?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})$", re.IGNORECASE), _first)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)

"""Values as people write them: `-p NAME VALUE` on the command line, and YAML files of them.

YAML 1.1, which PyYAML reads, takes 1e-3 for a string, 010 for eight, no for false and 1:30 for ninety.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable
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


_LONGEST, _MOST_VALUES, _SHOWN = 2**20, 20_000, 400
_NO_YAML = (yaml.YAMLError, AttributeError, KeyError, ValueError, RecursionError)  # of tags that do not fit, and loops


def read_yaml(text: str) -> Any:
    """The content of a YAML text, numbers as people write them.

    Raises:
        ValueError: no YAML, more than 1 MB or 20,000 values, or a key that stands twice in one mapping.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"must be YAML of at most {_LONGEST:,} letters. Got {len(text):,}.")
    try:
        return yaml.load(text, _Loader)
    except _NO_YAML as error:
        raise ValueError(f"must be YAML. Got {' '.join(str(error).split())[:_SHOWN]}.") from None


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
    values = 0

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for node_of_key, _ in node.value:
            key = self.construct_object(node_of_key, deep=True)
            if not isinstance(key, Hashable):
                break  # PyYAML says so
            if key in seen:
                raise yaml.YAMLError(f"the key {key} twice in one mapping")
            seen.add(key)
        return super().construct_mapping(node, deep)

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Count the values that a node stands for: a few lines of aliases may be millions of them, or have no end."""
        before, is_alias = self.values, self.check_event(yaml.AliasEvent)
        node: Any = super().compose_node(parent, index)
        if is_alias and not hasattr(node, "values"):
            raise yaml.YAMLError("an alias within what it stands for")
        self.values += node.values if is_alias else 1
        if self.values > _MOST_VALUES:
            raise yaml.YAMLError(f"more than {_MOST_VALUES:,} values")
        if not is_alias:
            node.values = self.values - before
        return node

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

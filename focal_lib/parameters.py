"""Values as people write them: `-p NAME VALUE` on the command line, and YAML files of them.

YAML 1.1, which PyYAML reads, takes 1e-3 for a string, 010 for eight, no for false and 1:30 for ninety.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml

__all__ = ["parse_parameters", "parse_value", "read_yaml"]


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


def read_yaml(text: str) -> Any:
    """The content of a YAML text, numbers as people write them.

    Raises:
        ValueError: no YAML, or a key that stands twice in one mapping.
    """
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, AttributeError, KeyError, RecursionError) as error:  # tags that do not fit, loops
        raise ValueError(f"must be YAML. Got {' '.join(str(error).split())}.") from None


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

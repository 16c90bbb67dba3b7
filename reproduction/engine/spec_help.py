"""The parameters of a run in words, for --help."""

from __future__ import annotations

from dataclasses import fields

from reproduction.engine.recipes import PRECISIONS, RECIPES
from reproduction.engine.spec import LOSSES, Spec


def describe_parameters() -> list[tuple[str, str]]:
    """Each parameter with what it means, what it may be and its default: a field of Spec each."""
    from reproduction.engine.data import DATASETS  # slow to import, as networks are
    from reproduction.engine.models import MODELS

    choices = {"dataset": DATASETS, "model": MODELS, "recipe": RECIPES, "precision": ("recipe", *PRECISIONS)}
    choices["loss"] = [f"{name} ({', '.join(uses)})" if uses else name for name, uses in LOSSES.items()]
    kinds = {"int": "whole number", "float": "number"}
    found = []
    for field in fields(Spec):
        if field.name in choices:
            allowed = f"One of {', '.join(choices[field.name])}."
        else:
            least, most = field.metadata["minimum"], field.metadata["maximum"]
            allowed = f"A {kinds[str(field.type)]} >= {least}{'' if most is None else f', at most {most}'}."
        default = "none, but 0 for focal" if field.name == "gamma" else field.default
        default = "none" if field.name == "lam" else default
        found.append((field.name, f"{field.metadata['meaning']}. {allowed} Default: {default}."))
    return found

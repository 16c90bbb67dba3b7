"""Contrasts: what a grid's runs are to be compared by, written down in its file before they are made.

    contrasts:
      KK24 Table 1:
        primary:
          {name: focal losses, metric: adaptive-ece, loss: [focal 1, flsd-53], method: focal-temperature,
           objective: adaptive-ece, minus: {method: temperature}, claimed: lower}
        others: []

One is the primary contrast of its table and is tested for itself; the others are corrected together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

# (method, objective) that tables of runs have rows of: as trained; the scalings that the papers tabulate, fitted on the
# validation logits. M20 chooses T by ECE of equal width, L25 by ECE, both in steps of 0.1; KK24 by that of equal mass,
# in steps of 0.01 (section 5.1).
SCALINGS: tuple[tuple[str, str], ...] = (
    ("none", ""),
    ("temperature", "nll"),
    ("temperature", "ece"),
    ("temperature", "adaptive-ece"),
    ("focal-temperature", "nll"),
    ("focal-temperature", "adaptive-ece"),
)
CLAIMED = {"lower": -1, "higher": 1}
_SETTING = ("loss", "method", "objective")


@dataclass(frozen=True)
class Setting:
    """Runs with one loss, or the mean over several for each seed, as trained or after a scaling by an objective."""

    losses: tuple[str, ...]
    method: str = "none"
    objective: str = ""

    def __str__(self) -> str:
        scaled = "as trained" if self.method == "none" else f"after {self.method} by {self.objective}"
        return f"{', '.join(self.losses)} {scaled}"


@dataclass(frozen=True)
class Contrast:
    """A metric of `ours` minus that of `theirs`, paired by seed, with the sign that a paper claims for it."""

    table: str
    name: str
    metric: str
    ours: Setting
    theirs: Setting
    claimed: int  # -1: lower, 1: higher
    primary: bool = False
    dataset: str = ""  # of a grid with several data sets or networks; '' where it has one
    model: str = ""

    @property
    def losses(self) -> set[str]:
        """Those of both sides, of which runs are needed."""
        return {*self.ours.losses, *self.theirs.losses}

    def __str__(self) -> str:
        return f"{self.metric} of {self.ours}, minus {self.theirs}"


def parse_contrasts(content: Any, losses: Mapping[tuple[str, str], Collection[str]]) -> tuple[Contrast, ...]:
    """The contrasts of a grid file, of each table the primary one first.

    Args:
        content: table -> `primary`, a contrast, and `others`, a list of them; in a grid with several data sets or
            networks also `dataset` and `model`, of which the table is.
        losses: data set and network -> labels of the grid's runs.

    Raises:
        ValueError: another form, a name that stands twice in a table, a data set and network or a loss that the grid
            does not train, an unknown metric, method or objective, a scaling without objective, two sides or two
            contrasts of a table that are the same.
    """
    found: list[Contrast] = []
    for table, family in _mapping(content, "contrasts").items():
        family = dict(_mapping(family, f"contrasts of {table}"))
        dataset, model, labels = _network(str(table), family, losses)
        if set(family) != {"primary", "others"} or not isinstance(family["others"], list):
            raise ValueError(f"contrasts of {table} must be a primary one and a list of others. Got {family!r}.")
        own = [_contrast(str(table), family["primary"], labels, primary=True)]
        own += [_contrast(str(table), given, labels) for given in family["others"]]
        seen: dict[Contrast, str] = {}  # each would count in Holm's correction
        for contrast in own:
            if contrast.name in seen.values():
                raise ValueError(f"names of contrasts must be different in {table}. Got {contrast.name} twice.")
            other = seen.setdefault(replace(contrast, name="", primary=False, claimed=1), contrast.name)
            if other != contrast.name:
                raise ValueError(
                    f"contrasts of {table} must compare different things. Got {other} and {contrast.name} alike."
                )
        found += [replace(contrast, dataset=dataset, model=model) for contrast in own]
    return tuple(found)


def _network(
    table: str, family: dict[str, Any], losses: Mapping[tuple[str, str], Collection[str]]
) -> tuple[str, str, Collection[str]]:
    """The data set and network that a table names, taken out of it, and what is trained there."""
    dataset, model = (str(family.pop(name, "")) for name in ("dataset", "model"))
    if not dataset and not model and len(losses) == 1:
        return "", "", next(iter(losses.values()))
    if (dataset, model) not in losses:  # else a primary contrast would be several
        known = "; ".join(", ".join(pair) for pair in losses)
        raise ValueError(f"dataset and model of {table} must be of this grid: {known}. Got {dataset!r}, {model!r}.")
    return dataset, model, losses[dataset, model]


def _contrast(table: str, content: Any, losses: Collection[str], primary: bool = False) -> Contrast:
    from focal_lib.metrics.by_name import METRICS  # slow to import, and most grids are planned without

    given = _mapping(content, f"a contrast of {table}")
    needed = {"name", "metric", "loss", "minus", "claimed"}
    if not needed <= set(given) <= needed | set(_SETTING):
        raise ValueError(
            f"a contrast of {table} must have {', '.join(sorted(needed))} and may have method, objective. "
            f"Got {', '.join(map(str, given))}."
        )
    name = given["name"]
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"a contrast of {table} must have a name. Got {name!r}.")
    minus = _mapping(given["minus"], f"minus of {name}")
    if not set(minus) <= set(_SETTING):
        raise ValueError(f"minus of {name} must be among {', '.join(_SETTING)}. Got {', '.join(map(str, minus))}.")
    for what, known in (("metric", METRICS), ("claimed", CLAIMED)):
        if str(given[what]) not in known:
            raise ValueError(f"{what} of {name} must be one of {', '.join(known)}. Got {given[what]!r}.")
    own = {key: given[key] for key in _SETTING if key in given}
    ours, theirs = _setting(name, own, losses), _setting(name, own | minus, losses)
    if ours == theirs:
        raise ValueError(f"minus of {name} must be something else. Got {theirs} on both sides.")
    return Contrast(table, name, given["metric"], ours, theirs, CLAIMED[given["claimed"]], primary)


def _setting(name: str, given: Mapping[str, Any], losses: Collection[str]) -> Setting:
    chosen = tuple(map(str, given["loss"] if isinstance(given["loss"], list) else [given["loss"]]))
    if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(losses):
        known = ", ".join(losses)
        raise ValueError(f"losses of {name} must be of this grid, each once: {known}. Got {given['loss']!r}.")
    method, objective = str(given.get("method") or "none"), str(given.get("objective") or "")  # YAML's null is 'none'
    if method == "none" and objective in {by for _, by in SCALINGS}:  # an objective is that of the other side
        return Setting(chosen)
    if (method, objective) not in SCALINGS:
        known = ", ".join(f"{own} by {by}" for own, by in SCALINGS if by)
        raise ValueError(f"scaling of {name} must be none, {known}. Got {method} by {objective or 'no objective'}.")
    return Setting(chosen, method, objective)


def _mapping(content: Any, what: str) -> dict[Any, Any]:
    if not isinstance(content, dict) or not content:
        raise ValueError(f"{what} must be a mapping. Got {content!r}.")
    return content

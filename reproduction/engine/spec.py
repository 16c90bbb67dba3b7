"""What a run is: its frozen specification."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import Field, dataclass, field, fields, replace
from numbers import Real
from typing import Any

from focal_lib.loss_records import LOSS_RECORDS, LossRecord
from reproduction.engine import plugins
from reproduction.engine.papers import advise
from reproduction.engine.recipes import PRECISIONS, RECIPES, Recipe

# loss -> the parameters it uses, of gamma and lam (the weight of the added term, or the smoothing)
LOSSES = {name: record.parameters for name, record in LOSS_RECORDS.items()}

_OWN = ("epochs", "batch_size", "learning_rate")  # what a run may have instead of its recipe's
_SPELLED_OUT = {"book-fast": ("epochs",)}  # in the names of runs, though the recipe has it: as the first runs have

LARGEST_SEED = 2**64 - 1  # that PyTorch's generators take

_NOT_GIVEN = float("nan")  # this object, not its value: a gamma of 0 may be meant


def _setting(
    default: Any, meaning: str, minimum: float | None = None, maximum: int | None = None, later: bool = False
) -> Any:
    """A field with what it means and, of a number, the least and the most it may be.

    later: it came after runs were recorded, and is no part of their names while it has its default.
    """
    return field(default=default, metadata={"meaning": meaning, "minimum": minimum, "maximum": maximum, "later": later})


def _code(of: str) -> Any:
    return field(default="", metadata={"meaning": f"digest of the source of your own {of}", "later": True, "of": of})


@dataclass(frozen=True)
class Spec:
    """All that decides the numbers of a run. A field of the recipe can be overridden; 0 leaves it as it is.

    A loss, network or recipe of your own is named 'module:Name', see `plugins`.

    Raises:
        ValueError: a value of another type or out of range, an unknown loss or recipe, a parameter that the loss
            lacks or does not have.
    """

    dataset: str = _setting("fashion-mnist", "data set, or a folder in FOCAL_DATA")
    model: str = _setting("small-cnn", "network")
    loss: str = _setting("focal", "loss; cross-entropy is focal with gamma 0")
    gamma: float = _setting(_NOT_GIVEN, "of the focal losses", 0)
    lam: float = _setting(_NOT_GIVEN, "weight of the added term (fcl, mmce, hessian-trace), or the smoothing", 0)
    seed: int = _setting(0, "of the split, the weights and the order of the batches", 0, LARGEST_SEED)
    recipe: str = _setting("book-fast", "how to train")
    n_train: int = _setting(2000, "training samples", 1)
    n_validation: int = _setting(5000, "validation samples, kept from training", 1)
    epochs: int = _setting(0, "passes over the training samples; 0: as in the recipe", 0)
    batch_size: int = _setting(0, "samples a step; 0: as in the recipe", 0)
    learning_rate: float = _setting(0.0, "at the start; 0: as in the recipe", 0)
    evaluate_every: int = _setting(5, "epochs between rows of the history, and between checkpoints", 1)
    precision: str = _setting("recipe", "float32, or bf16 within the network; recipe: as in the recipe", later=True)
    keep_every: int = _setting(0, "epochs between test logits that are kept; 0: those of the end alone", 0, later=True)
    threads: int = _setting(
        1,
        "of the processor, to train with: another number is another run, as sums of floats differ",
        1,
        1024,
        later=True,
    )
    loss_code: str = _code("loss")  # these three are found, not chosen
    model_code: str = _code("model")
    recipe_code: str = _code("recipe")

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not _NOT_GIVEN:  # 3 and 3.0 are one run
                object.__setattr__(self, f.name, _checked(f, value))
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", self.dataset):
            raise ValueError(f"dataset must be a name of letters, digits, '-', '_' and '.'. Got {self.dataset!r}.")
        cross_entropy = self.loss == "cross-entropy"
        if cross_entropy:  # one run, one name
            object.__setattr__(self, "loss", "focal")
        for of in ("loss", "model", "recipe"):
            name = getattr(self, of)
            code = plugins.code_of(name, getattr(self, f"{of}_code")) if plugins.is_own(name) else ""
            object.__setattr__(self, f"{of}_code", code)
        if self.loss not in LOSSES and not self.loss_code:
            known = f"cross-entropy, {', '.join(LOSSES)}"
            raise ValueError(f"loss must be one of {known}, or module:Name of your own. Got {self.loss!r}.")
        if self.precision not in ("recipe", *PRECISIONS):
            raise ValueError(f"precision must be recipe, {' or '.join(PRECISIONS)}. Got {self.precision!r}.")
        self._leave_to_recipe()
        uses = () if cross_entropy else self.loss_record.parameters
        self._check_parameters(uses, "cross-entropy" if cross_entropy else self.loss)
        if self.loss_record.of_epochs and self.training.epochs < 4:
            raise ValueError(
                f"{self.loss} changes gamma after 2/7 and 5/7 of the epochs: epochs must be at least 4. "
                f"Got {self.training.epochs}."
            )

    def _leave_to_recipe(self) -> None:
        """What is as in the recipe anyway is not this run's own: one run, one name."""
        recipe = self._own_recipe
        for name in _OWN:
            if getattr(self, name) == getattr(recipe, name):
                object.__setattr__(self, name, type(getattr(self, name))())
        if self.precision == recipe.precision:
            object.__setattr__(self, "precision", "recipe")

    def _check_parameters(self, uses: tuple[str, ...], name: str) -> None:
        defaults = plugins.loss_defaults(self.loss, self.loss_code) if self.loss_code else {}
        for parameter in ("gamma", "lam"):
            value = getattr(self, parameter)
            if value is _NOT_GIVEN:
                default = defaults.get(parameter)
                if parameter in uses and self.loss != "focal" and default is None:
                    advice = advise(self.loss, self.dataset, self.model)
                    raise ValueError(self.loss_record.say_missing(parameter, advice))
                object.__setattr__(self, parameter, float(default or 0.0))
            elif value and parameter not in uses:
                raise ValueError(f"{name} has no {parameter}: leave it out. Got {value:g}.")

    @property
    def loss_record(self) -> LossRecord:
        """What is known of the loss."""
        return plugins.loss_record(self.loss, self.loss_code) if self.loss_code else LOSS_RECORDS[self.loss]

    @property
    def _own_recipe(self) -> Recipe:
        return plugins.find_recipe(self.recipe, self.recipe_code)

    @property
    def training(self) -> Recipe:
        """The recipe with this run's own epochs, batch size, learning rate and precision."""
        recipe = self._own_recipe
        own = {n: getattr(self, n) for n in _OWN if getattr(self, n)}
        if self.precision != "recipe":
            own["precision"] = self.precision
        if "epochs" in own:  # the drops keep their place in the run
            drops = (round(drop * self.epochs / recipe.epochs) for drop in recipe.drops)
            own["drops"] = tuple(drop for drop in drops if drop > 0)  # after none: the rate has its start
        return replace(recipe, **own)

    @property
    def as_dict(self) -> dict[str, Any]:
        """The specification with its recipe spelled out, as JSON holds it. The recipe's source decides no number."""
        recipe = {name: value for name, value in _named(self.training).items() if name != "source"}
        recipe["drops"] = list(recipe["drops"])
        spelled_out = {name: recipe[name] for name in _SPELLED_OUT.get(self.recipe, ())}
        return _named(self) | spelled_out | {"training": recipe}

    @property
    def digest(self) -> str:
        """Hash of the record, which names its folder."""
        return hashlib.sha256(json.dumps(self.as_dict, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def is_focal(self) -> bool:
        """Whether the loss is focal loss of one gamma, as cross-entropy is; others may have gamma 0, too."""
        return self.loss == "focal"

    @property
    def is_cross_entropy(self) -> bool:
        """Whether the loss is cross-entropy, focal loss with gamma 0."""
        return self.is_focal and self.gamma == 0

    @property
    def label(self) -> str:
        """For tables and legends, as 'cross-entropy', 'focal 3', 'fcl 2 0.5'."""
        return self.loss_record.label(self.gamma, self.lam)

    @property
    def name(self) -> str:
        """For messages, as 'focal 3, seed 0'."""
        return f"{self.label}, seed {self.seed}"

    @property
    def command(self) -> str:
        """The command that makes it, as 'focal run -p gamma 3 -p seed 1'."""
        uses = () if self.is_cross_entropy else self.loss_record.parameters
        given = {f.name: getattr(self, f.name) for f in chosen_fields() if f.name in uses or _differs(self, f)}
        texts = ((n, str(v).removesuffix(".0") if isinstance(v, float) else str(v)) for n, v in given.items())
        return " ".join(["focal run", *(f"-p {name} {text}" for name, text in texts)])


def chosen_fields() -> list[Field[Any]]:
    """The fields that people set."""
    return [own for own in fields(Spec) if "of" not in own.metadata]


def describe_parameters() -> list[tuple[str, str]]:
    """Each field of a specification, for --help: what it means, what it may be and its default."""
    from reproduction.engine.data import DATASETS  # slow to import, as networks are
    from reproduction.engine.models import MODELS

    choices = {"dataset": DATASETS, "model": MODELS, "recipe": RECIPES, "precision": ("recipe", *PRECISIONS)}
    choices["loss"] = [f"{name} ({', '.join(uses)})" if uses else name for name, uses in LOSSES.items()]
    found = []
    for own in chosen_fields():
        if own.name in choices:
            more = ", or module:Name of your own" if own.name in ("loss", "model", "recipe") else ""
            allowed = f"One of {', '.join(choices[own.name])}{more}."
        else:
            kind, most = "whole number" if own.type == "int" else "number", own.metadata["maximum"]
            allowed = f"A {kind} >= {own.metadata['minimum']}{'' if most is None else f', at most {most}'}."
        default = {"gamma": "none, but 0 for focal", "lam": "none"}.get(own.name, own.default)
        found.append((own.name, f"{own.metadata['meaning']}. {allowed} Default: {default}."))
    return found


def _named(what: Spec | Recipe) -> dict[str, Any]:
    """The fields that a run is named by."""
    values = {f: getattr(what, f.name) for f in fields(what)}
    return {f.name: value for f, value in values.items() if not (f.metadata.get("later") and value == f.default)}


def _differs(spec: Spec, own: Field[Any]) -> bool:
    return own.default is not _NOT_GIVEN and getattr(spec, own.name) != own.default


def _checked(own: Field[Any], value: Any) -> str | int | float:
    name = own.name
    if own.type == "str":
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a name. Got {value!r}.")
        return value
    minimum, maximum = own.metadata["minimum"], own.metadata["maximum"]
    whole = own.type == "int"
    try:
        is_number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        is_number = False
    if not is_number or value < minimum or (whole and value % 1 != 0):
        raise ValueError(f"{name} must be a {'whole number' if whole else 'number'} >= {minimum}. Got {value!r}.")
    number = int(value) if whole else float(value) + 0.0  # of -0.0 too: one run, one name
    if maximum is not None and number > maximum:
        raise ValueError(f"{name} must be at most {maximum}. Got {number}.")
    return number

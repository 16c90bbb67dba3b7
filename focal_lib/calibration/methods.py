"""Calibration methods by name, with their objectives and default options."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.ensemble_temperature import EnsembleTemperatureScaling
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.one_vs_rest import (
    BetaCalibration,
    HistogramBinning,
    IsotonicCalibration,
    VennAbersCalibration,
)
from focal_lib.calibration.calibrators.platt import PlattScaling
from focal_lib.calibration.calibrators.seen_classes import DirichletCalibration, StructuredMatrixScaling
from focal_lib.calibration.calibrators.temperature import MappedCalibrator, TemperatureScaling


class Method(NamedTuple):
    """A method and the objective it is fitted by; equal to the plain pair ('temperature', 'nll')."""

    name: str
    objective: str

    @property
    def label(self) -> str:
        """Name for legends and sentences, with the objective unless it is the method's default."""
        kind = METHODS.get(self.name)
        return self.name if kind is None or self.objective == kind.first else f"{self.name} by {self.objective}"


@dataclass(frozen=True)
class Kind:
    """A calibrator's class, and its options for each objective it can be fitted by; the first is the default.

    Attributes:
        needs: the module of focal-lib[methods] that fits it; '' for none.
        counts_samples: whether sample weights must be whole numbers, since that module takes none.
        only_two: whether it is for two classes only.
        fitted_by: the package whose code finds the parameters.
    """

    calibrator: type[Calibrator]
    options: Mapping[str, Mapping[str, Any]]
    needs: str = ""
    counts_samples: bool = False
    only_two: bool = False
    fitted_by: str = "focal-lib"

    @property
    def first(self) -> str:
        return next(iter(self.options))


METHODS: dict[str, Kind] = {
    "temperature": Kind(
        TemperatureScaling,
        {name: {"objective": name} for name in ("nll", "ece", "adaptive-ece")},
    ),
    "focal-temperature": Kind(
        FocalTemperatureScaling,
        {name: {"objective": name} for name in ("nll", "ece", "adaptive-ece")},
    ),
    "ensemble-temperature": Kind(EnsembleTemperatureScaling, {"nll": {}}),
    "platt": Kind(PlattScaling, {"nll": {}}, only_two=True),
    "vector": Kind(VectorScaling, {"nll": {}}),
    "matrix": Kind(MatrixScaling, {"nll": {}}),
    "histogram": Kind(HistogramBinning, {"brier": {}}),  # a mean, and a rising step function, of least squares
    "isotonic": Kind(IsotonicCalibration, {"brier": {}}, fitted_by="scikit-learn"),
    "beta": Kind(BetaCalibration, {"nll": {}}, needs="betacal", fitted_by="betacal"),
    "dirichlet": Kind(DirichletCalibration, {"nll": {}}),
    "venn-abers": Kind(
        VennAbersCalibration, {"brier": {}}, needs="venn_abers", counts_samples=True, fitted_by="venn-abers"
    ),
    "structured-matrix": Kind(
        StructuredMatrixScaling, {"nll": {}}, needs="probmetrics", counts_samples=True, fitted_by="probmetrics"
    ),
}

AS_GIVEN = Method("as given", "")  # the logits before calibration
TEMPERATURE = Method("temperature", "nll")  # what other methods are compared with
PRIOR_SD = 0.5  # of log T, where a temperature is to be advised
DEFAULT = tuple(
    Method(name, "nll")
    for name in ("temperature", "focal-temperature", "ensemble-temperature", "platt", "vector", "structured-matrix")
)
# of the methods of the default: classes of a matrix, samples a class of what has parameters for each, logits
_MATRIX_BY_DEFAULT, _SAMPLES_A_CLASS, _FOCAL_BY_DEFAULT = 200, 5, 2_000_000
ALL = (*DEFAULT, *(Method(name, METHODS[name].first) for name in METHODS if name not in dict(DEFAULT)))


def installed() -> tuple[Method, ...]:
    """The methods in ALL whose libraries are installed."""
    needs = {method: METHODS[method.name].needs for method in ALL}
    return tuple(method for method, module in needs.items() if not module or _is_there(module))


def build(name: str, objective: str = "", **options: Any) -> Calibrator:
    """Build an unfitted calibrator.

    Args:
        objective: '' for the method's first.
        options: arguments of the calibrator's class that replace the defaults here.

    Raises:
        ValueError: an unknown name, or an objective that the method does not have.
    """
    if name not in METHODS:
        raise ValueError(f"methods must be among {', '.join(METHODS)}. Got {name}{_did_you_mean(name)}")
    kind = METHODS[name]
    objective = objective or kind.first
    if objective not in kind.options:
        raise ValueError(f"the objective of {name} must be one of {', '.join(kind.options)}. Got {objective}.")
    return kind.calibrator(**{**kind.options[objective], **options})


def build_with_prior(method: Method) -> Calibrator:
    """As build, but temperature scaling by the NLL has its prior: what `calibrate` fits, and advises."""
    return build(*method, prior_sd=PRIOR_SD) if method == TEMPERATURE else build(*method)


_ALSO_CALLED = {"ts": "temperature", "focal": "focal-temperature", "fts": "focal-temperature", "binning": "histogram"}
_ALSO_CALLED |= dict.fromkeys(("none", "uncalibrated"), "as-given, which is always compared")
_ALSO_CALLED |= dict.fromkeys(("sigmoid", "logistic"), "platt") | {"ets": "ensemble-temperature"}


def _did_you_mean(name: str) -> str:
    """': did you mean vector?' for a synonym or a similar name of a method, else '.'."""
    plain = name.strip().lower().replace("_", "-").replace(" ", "-")
    for ending in ("-scaling", "-calibration", "-regression", "-binning"):
        plain = plain.removesuffix(ending)
    found = [_ALSO_CALLED[plain]] if plain in _ALSO_CALLED else get_close_matches(plain, METHODS, n=2, cutoff=0.6)
    return f": did you mean {' or '.join(found)}?" if found else "."


def parse(methods: str | Iterable[str | tuple[str, str]] = "") -> tuple[Method, ...]:
    """Methods from 'temperature,focal-temperature:adaptive-ece', or from a list of such names or of pairs.

    Temperature scaling by NLL, the reference of the others, always comes first.

    Args:
        methods: '' for DEFAULT, 'all' for all that are installed. Case does not matter.

    Raises:
        ValueError: an unknown name or objective.
    """
    if isinstance(methods, str):
        if methods.strip().lower() == "all":
            return installed()
        methods = [part for part in methods.split(",") if part.strip()]
    found = [_method(part) for part in methods]
    return tuple(dict.fromkeys((TEMPERATURE, *(found or DEFAULT))))


def _method(given: str | tuple[str, str]) -> Method:
    if not isinstance(given, str) and not (isinstance(given, tuple | list) and len(given) == 2):
        raise TypeError(
            "methods must be names, or pairs of a name and an objective. "
            f"Got {type(given).__name__}: logits and labels are one argument, (logits, labels)."
        )
    parts = given.partition(":")[::2] if isinstance(given, str) else given
    name, objective = (part.strip().lower() for part in parts)
    build(name, objective)  # refuses what there is not
    return Method(name, objective or METHODS[name].first)


def to_keep(name: str, tried: Iterable[Method]) -> Method | None:
    """The method of that name among those tried, AS_GIVEN for 'as-given', None for ''.

    Raises:
        ValueError: an unknown name or objective, or a method that is not among those tried.
    """
    if not name.strip():
        return None
    if name.strip().lower() == "as-given":
        return AS_GIVEN
    found, tried = _method(name), list(tried)
    if found not in tried:
        names = ", ".join(f"{m.name}:{m.objective}" for m in tried)
        raise ValueError(f"what to keep must be as-given or one of the methods tried, {names}. Got {name.strip()}.")
    return found


def alike_for_all_columns(calibrators: Mapping[Method, Calibrator], *, named: bool) -> dict[Method, Calibrator]:
    """The methods that treat all columns alike, as data of options need: temperature and focal temperature scaling.

    Args:
        named: whether the user named the methods; if not, the others are dropped without an error.

    Raises:
        ValueError: a named method has parameters for each class.
    """
    found = {method: own for method, own in calibrators.items() if isinstance(own, MappedCalibrator)}
    if named and (others := [method.label for method in calibrators if method not in found]):
        raise ValueError(
            "methods for options must be temperature or focal-temperature: others have parameters for each column, and "
            f"a column is another option in every sample. Got {', '.join(others)}."
        )
    return dict(found)


def counting_samples(methods: Iterable[Method], weights: np.ndarray | None) -> list[Method]:
    """The methods that need whole weights, if some of the weights (n,) are not whole."""
    if weights is None or (weights == np.round(weights)).all():
        return []
    return [method for method in methods if method.name in METHODS and METHODS[method.name].counts_samples]


def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def not_of(methods: Iterable[Method], samples: int, classes: int, *, default: bool = False) -> list[Method]:
    """The methods for two classes only, if there are more.

    Args:
        default: also those that are not fitted unless they are named. Vector and structured matrix scaling of two
            classes, which have Platt's, or of fewer than five samples a class; structured matrix scaling without its
            package, or of more than 200 classes; focal temperature scaling of more than 2,000,000 logits.
    """
    left_out = {name for name, kind in METHODS.items() if kind.only_two and classes > 2}
    if default and (classes == 2 or samples < _SAMPLES_A_CLASS * classes):
        left_out |= {"vector", "structured-matrix"} | ({"ensemble-temperature"} if classes > 2 else set())
    if default and (classes > _MATRIX_BY_DEFAULT or not all(map(_is_there, ("torch", "probmetrics")))):
        left_out |= {"structured-matrix"}
    if default and samples * classes > _FOCAL_BY_DEFAULT:
        left_out |= {"focal-temperature"}
    return [method for method in methods if method.name in left_out]


def refuse_counting_samples(methods: Iterable[Method], weights: np.ndarray | None) -> None:
    """Raise ValueError, with the remedy, for methods that cannot be fitted with these weights."""
    if found := counting_samples(methods, weights):
        names = ", ".join(method.label for method in found)
        raise ValueError(
            f"weights must be whole numbers for {names}, whose library counts samples. Got some that are not. Nothing "
            f"was fitted: leave out {names}, or the weights."
        )

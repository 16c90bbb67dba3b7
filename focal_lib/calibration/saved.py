"""A fitted calibrator as a small JSON file: parameters, fit, classes, version and checksum; never a pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from focal_lib.atomic_write import write_whole
from focal_lib.calibration.calibrators.as_given import AsGiven
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.methods import METHODS

__all__ = ["FORMAT", "load_calibrator", "save_calibrator"]

KINDS: dict[str, type[Calibrator]] = {name: kind.calibrator for name, kind in METHODS.items()}
KINDS |= {"as-given": AsGiven}
# in 1 the objective that is 'adaptive-ece' now was called 'ece'; up to 2 the weights of vector scaling were a matrix
FORMAT = 3


def save_calibrator(calibrator: Calibrator, path: str | Path) -> None:
    """Write a fitted calibrator, whole or not at all.

    Raises:
        ValueError: a kind that is not known, or one that is not fitted.
    """
    names = {kind: name for name, kind in KINDS.items()}
    if type(calibrator) not in names:
        raise ValueError(f"calibrator must be one of {', '.join(KINDS)}. Got {type(calibrator).__name__}.")
    fitted = {name: _plain(value) for name, value in vars(calibrator).items() if name.endswith("_")}
    if not fitted:
        raise ValueError(f"calibrator must be fitted. Got {type(calibrator).__name__} before fit.")
    content = {"format": FORMAT, "focal_lib": version("focal-lib"), "method": names[type(calibrator)]}
    content |= {"parameters": {n: _plain(v) for n, v in calibrator.get_params().items()}, "fitted": fitted}
    text = json.dumps(content | {"checksum": _checksum(content)}, indent=1) + "\n"
    write_whole(Path(path), lambda part: part.write_text(text))


def load_calibrator(path: str | Path) -> Calibrator:
    """A calibrator that was saved, with this format of file or one before.

    Raises:
        ValueError: another file, another version of the format, or one that was changed since.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_text())
        checksum = content.pop("checksum")
    except (AttributeError, KeyError, TypeError, RecursionError, UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError(f"{path.name} must be a calibrator written by focal_lib. It is not.") from None
    if content.get("format") not in (1, 2, FORMAT):
        raise ValueError(f"{path.name} must have format {FORMAT}. Got {content.get('format')}: fit and save it again.")
    if checksum != _checksum(content):
        raise ValueError(f"{path.name} must match its checksum. It was changed or cut.")
    if (name := str(content.get("method"))) not in KINDS:
        raise ValueError(f"{path.name} must hold one of {', '.join(KINDS)}. Got {name}, of another version.")
    try:
        parameters, fitted = dict(content["parameters"]), dict(content["fitted"])
        if content["format"] == 1 and parameters.get("objective") == "ece":
            parameters["objective"] = "adaptive-ece"
        if content["format"] <= 2 and name == "vector":
            fitted["weight_"] = np.diag(fitted["weight_"])
        found = KINDS[name](**parameters)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{path.name} must have the parameters and the fit of {name}, as this version has.") from None
    for attribute, value in fitted.items():
        setattr(found, attribute, np.array(value) if isinstance(value, list | np.ndarray) else value)
    return found


def _plain(value: Any) -> Any:
    """As JSON holds it: floats are written so that they read back the same."""
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str):
        return np.asarray(value).tolist()
    return value.item() if isinstance(value, np.generic) else value


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

"""A fitted calibrator as a small JSON file (parameters, fit, classes, version, checksum; no pickle), or as ONNX."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from focal_lib.atomic_write import check_target, finish_set, write_whole
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.focal_probabilities import FocalProbabilities
from focal_lib.calibration.calibrators.linear import VectorScaling
from focal_lib.calibration.calibrators.temperature import AsGiven, MappedCalibrator
from focal_lib.calibration.logit_sets import LAYOUTS, Given
from focal_lib.calibration.memory import require_memory
from focal_lib.calibration.methods import METHODS
from focal_lib.validation import check_gamma, check_number, check_package

KINDS: dict[str, type[Calibrator]] = {name: kind.calibrator for name, kind in METHODS.items()}
KINDS |= {"as-given": AsGiven, "focal-probabilities": FocalProbabilities}
# in 1 the objective that is 'adaptive-ece' now was called 'ece'; up to 2 the weights of vector scaling were a matrix
FORMAT = 3
_PARSED = 15  # bytes in Python of one byte of JSON


def save_calibrator(calibrator: Calibrator, path: str | Path) -> None:
    """Write a fitted calibrator as JSON, atomically.

    Raises:
        ValueError: a class that has no method name here, or a calibrator that is not fitted.

    Examples:
        >>> from focal_lib.calibration import TemperatureScaling
        >>> save_calibrator(TemperatureScaling().fit([[0.0, 2.1972]] * 4, [1, 1, 1, 0]), "calibrator.json")
        >>> load_calibrator("calibrator.json")
        TemperatureScaling()
    """
    names = {kind: name for name, kind in KINDS.items()}
    if type(calibrator) not in names:
        raise ValueError(f"calibrator must be one of {', '.join(KINDS)}. Got {type(calibrator).__name__}.")
    fitted = {name: _plain(value) for name, value in vars(calibrator).items() if name.endswith("_")}
    if not fitted:
        raise ValueError(f"calibrator must be fitted. Got {type(calibrator).__name__} before fit.")
    content = {"format": FORMAT, "focal_lib": version("focal-lib"), "method": names[type(calibrator)]}
    content |= {"parameters": {n: _plain(v) for n, v in calibrator.get_params().items()}, "fitted": fitted}
    text = _lines(content | {"checksum": json_checksum(content)}) + "\n"
    write_whole(Path(path), lambda part: part.write_text(text))


def load_calibrator(path: str | Path) -> Calibrator:
    """Read a calibrator that `save_calibrator` wrote, in this format or an earlier one.

    Raises:
        ValueError: not such a file, an unknown format, or a wrong checksum.

    Examples:
        >>> from focal_lib.calibration import TemperatureScaling
        >>> save_calibrator(TemperatureScaling().fit([[0.0, 2.1972]] * 4, [1, 1, 1, 0]), "calibrator.json")
        >>> round(load_calibrator("calibrator.json").temperature_, 3)
        2.0
    """
    path = Path(path)
    finish_set(path.parent)
    try:
        content = json.loads(_read(path), parse_constant=_no_number)
        checksum = content.pop("checksum")
        fits = checksum == json_checksum(content)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):  # no JSON, no UTF-8, no calibrator
        raise ValueError(f"{path.name} must be a calibrator written by focal_lib. It is not.") from None
    if content.get("format") not in (1, 2, FORMAT):
        raise ValueError(f"{path.name} must have format {FORMAT}. Got {content.get('format')}: fit and save it again.")
    if not fits:
        raise ValueError(f"{path.name} must match its checksum. It was changed or cut.")
    if (name := str(content.get("method"))) not in KINDS:
        raise ValueError(f"{path.name} must hold one of {', '.join(KINDS)}. Got {name}, of another version.")
    try:
        return _fitted(KINDS[name], content)
    except (AttributeError, KeyError, IndexError, TypeError, ArithmeticError, RuntimeError, ValueError) as error:
        raise ValueError(
            f"{path.name} must have the parameters and the fit of {name}, as this version has. {error}"
        ) from None


def _read(path: Path) -> str:
    """Read a file or a pipe; a device may have no end."""
    mode, size = path.stat().st_mode, path.stat().st_size
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise ValueError("no file")
    require_memory(_PARSED * size, f"{path.name} ({size / 1e6:,.0f} MB)")
    return path.read_text(encoding="utf-8")


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is no number of JSON")


def _fitted(kind: type[Calibrator], content: dict[str, Any]) -> Calibrator:
    parameters, fitted = dict(content["parameters"]), dict(content["fitted"])
    parameters = {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}
    if content["format"] == 1 and parameters.get("objective") == "ece":
        parameters["objective"] = "adaptive-ece"
    if content["format"] <= 2 and kind is VectorScaling:
        if (weight := np.array(fitted["weight_"])).ndim != 2:
            raise ValueError(f"weight_ must be a matrix. Got shape {weight.shape}.")
        fitted["weight_"] = np.diag(weight).copy()
    found = kind(**parameters)
    for name, value in fitted.items():
        default = getattr(kind, name, None)
        if not name.endswith("_") or name.startswith("_") or not isinstance(default, str | None):
            raise ValueError(f"{name} is nothing that a fit leaves.")
        if isinstance(value, str) and default is None:
            raise ValueError(f"{name} must be numbers. Got text.")
        setattr(found, name, np.array(value) if isinstance(value, list) else value)
    _check(found)
    return found


def _check(found: Calibrator) -> None:
    """Check that the numbers are finite and of the right shapes, by a prediction."""
    k = found.n_classes_
    if type(k) is not int or k < 2 or np.shape(found.classes_) != (k,):
        raise ValueError(f"classes_ must be n_classes_ >= 2 labels. Got {k!r} and shape {np.shape(found.classes_)}.")
    if found.class_names_ is not None and np.shape(found.class_names_) != (k,):
        raise ValueError(f"class_names_ must be {k} names. Got shape {np.shape(found.class_names_)}.")
    if (columns := found.score_columns_) is not None and len(set(columns.tolist())) < len(columns):
        raise ValueError(f"score_columns_ must differ. Got {columns.tolist()}.")
    if not isinstance(found.layout_, str) or found.layout_ not in LAYOUTS:
        raise ValueError(f"layout_ must be one of {', '.join(LAYOUTS)}. Got {found.layout_!r}.")
    if not isinstance(found.given_, str) or found.given_ not in get_args(Given):
        raise ValueError(f"given_ must be one of {', '.join(get_args(Given))}. Got {found.given_!r}.")
    if found.floor_ is not None:
        check_number(found.floor_, "floor_", above=0)
    for name, value in vars(found).items():
        if name.endswith("_") and np.asarray(value).dtype.kind == "f" and not np.isfinite(value).all():
            raise ValueError(f"{name} must be finite.")
    if isinstance(found, MappedCalibrator):
        check_number(found.temperature_, "temperature_", above=0)
        check_gamma(found.gamma_, above=-1.0)
    seen = np.asarray(getattr(found, "seen_", ()), dtype=np.int64)
    if len(seen) and (seen.min() < 0 or seen.max() >= k):
        raise ValueError(f"seen_ must be classes, 0 ... {k - 1}. Got {seen.min()} to {seen.max()}.")
    ramp = np.linspace(-1, 1, k)
    with np.errstate(all="ignore"):
        probs = np.exp(found._log_probs(np.stack([np.zeros(k), ramp, -ramp])))
    if probs.shape != (3, k):
        raise ValueError(f"its probabilities must be of {k} classes. Got {probs.shape[-1]}.")
    if not np.allclose(probs.sum(-1), 1, atol=1e-6):  # also of NaN
        raise ValueError("its probabilities do not sum to 1.")


def _plain(value: Any) -> Any:
    """As JSON types; floats are written so that they read back the same."""
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str):
        return np.asarray(value).tolist()
    return value.item() if isinstance(value, np.generic) else value


def _lines(value: Any, indent: str = "") -> str:
    """JSON with one line for each name and for each row of a matrix."""
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {_lines(entry, inner)}" for name, entry in value.items()]
    elif isinstance(value, list) and any(isinstance(entry, list | dict) for entry in value):
        parts = [_lines(entry, inner) for entry in value]
    else:
        return json.dumps(value)
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{end}"


def json_checksum(content: dict[str, Any]) -> str:
    """SHA-256 of the content as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


if TYPE_CHECKING:
    from torch import nn


def write_onnx(module: nn.Module, classes: int, path: Path) -> None:
    """Write the module as ONNX: input 'logits' float32 (n, classes), any n; output 'probs'.

    Raises:
        ValueError: the name does not end in .onnx; the exporter would choose another format.
        ModuleNotFoundError: torch, onnx or onnxscript is not installed.

    Examples:
        >>> from focal_lib.calibration import TemperatureScaling
        >>> module = TemperatureScaling().fit([[0.0, 2.1972]] * 4, [1, 1, 1, 0]).to_module()
        >>> write_onnx(module, 2, Path("calibrator.onnx"))  # doctest: +SKIP
    """
    check_target(path, ending=".onnx")
    for needed in ("torch", "onnx", "onnxscript"):
        check_package(needed, "to write ONNX", "torch" if needed == "torch" else "onnx")
    import torch  # needed only for writing

    any_n = {"logits": {0: torch.export.Dim("n")}}
    program = torch.onnx.export(
        module.eval(),
        (torch.zeros(2, classes),),
        dynamo=True,
        dynamic_shapes=any_n,
        input_names=["logits"],
        output_names=["probs"],
        verbose=False,
    )
    if program is None:
        raise RuntimeError("torch's ONNX exporter gave nothing")
    write_whole(path, lambda part: program.save(str(part)))

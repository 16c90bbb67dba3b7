"""Speed and agreement against other libraries: python -m benchmarks.libraries [--size small] [--out FILE]

Each library's own call on the input that its documentation shows, float32 tensors or float64 arrays. Metrics of ours
get the same, fits of ours float64 arrays. The two alternate, so drift of the machine meets both. Nothing here asserts
a time; both results stand beside each ratio.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import pandas as pd
import torch
from scipy.special import log_softmax, softmax
from tqdm import tqdm

from benchmarks import record
from benchmarks.__main__ import synthetic_logits
from benchmarks.neighbours import Neighbours
from focal_lib.calibration import TemperatureScaling
from focal_lib.metrics import adaptive_ece, brier, classwise_ece, ece, mce, nll, smooth_ece

SIZES = {"small": (5_000, 100), "large": (1_000_000, 10)}
BINS = 15
MISSING = "not installed: make bench installs it"
_SECONDS, _MOST = 6.0, 15  # time and repeats of one comparison; one repeat where a pair takes longer

Call = Callable[[], Any]


class Data:
    """Logits and labels with what the libraries want of them; made once, outside the timed calls."""

    def __init__(self, logits: np.ndarray, labels: np.ndarray, truth: float | None = None) -> None:
        self.logits, self.labels, self.truth = logits, labels, truth
        self.n, self.classes = logits.shape

    @classmethod
    def uniform_gap(cls, n: int, classes: int, at_one: float = 0.0) -> Data:
        """Confidence uniform in (0.5, 0.8), accuracy 0.1 lower throughout; a share at 1 and always right.

        The smoothed residual has one sign, so its integral, the smooth ECE, is the mean gap at any bandwidth.
        """
        rng = np.random.default_rng(1)
        ones = rng.random(n) < at_one
        confidence = np.where(ones, 1.0, rng.uniform(0.5, 0.8, n))
        return cls._of_confidence(confidence, ones | (rng.random(n) < confidence - 0.1), classes)

    @classmethod
    def all_at_one(cls, n: int, classes: int) -> Data:
        """Every confidence 1, nine in ten correct: the smooth ECE is 0.1 at any bandwidth."""
        return cls._of_confidence(np.ones(n), np.arange(n) % 10 != 0, classes)

    @classmethod
    def _of_confidence(cls, confidence: np.ndarray, correct: np.ndarray, classes: int) -> Data:
        """Rows with this top probability, the rest shared evenly; every gap of one sign, so the truth is the mean."""
        top = np.arange(len(confidence)) % classes
        probs = np.repeat((1 - confidence[:, None]) / (classes - 1), classes, axis=1)
        probs[np.arange(len(top)), top] = confidence
        truth = abs(float((confidence - correct).mean()))
        with np.errstate(divide="ignore"):
            data = cls(np.log(probs), np.where(correct, top, (top + 1) % classes), truth)
        data.probs = probs
        return data

    @functools.cached_property
    def probs(self) -> np.ndarray:
        return softmax(self.logits, axis=1)

    @functools.cached_property
    def tensors(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits and probabilities in float32, labels."""
        logits, probs = (torch.from_numpy(v.astype(np.float32)) for v in (self.logits, self.probs))
        return logits, probs, torch.from_numpy(self.labels)

    def nll(self, temperature: float) -> float:
        """Mean NLL at T, in float64, the same arithmetic for every library's T."""
        return float(-log_softmax(self.logits / temperature, axis=1)[np.arange(self.n), self.labels].mean())


@dataclass(frozen=True)
class Match:
    """A library's call against ours. `prepare` imports it and gives the call to time, which returns the number."""

    what: str
    library: str  # as pip knows it
    form: str  # which of its calls
    prepare: Callable[[Data], Call]
    ours: Callable[[Data], Any]
    allowed: str  # why the two may differ


@dataclass
class Line:
    """A printed line; the last fields stay empty where the library is missing or raised."""

    what: str
    n: int
    classes: int
    library: str
    form: str
    version: str = ""
    theirs_ms: float = math.nan
    ours_ms: float = math.nan
    ratio: float = math.nan  # median of theirs / median of ours
    theirs_cores: float = math.nan  # CPU time / wall time
    ours_cores: float = math.nan
    theirs: float = math.nan
    ours: float = math.nan
    difference: float = math.nan  # of a metric; of temperatures T / T - 1
    nll_gap: float = math.nan  # NLL(theirs) - NLL(ours) of a temperature: below 0 theirs is nearer the optimum
    truth: float = math.nan
    others: float = math.nan  # cores that other processes had while the lines of this size were measured
    note: str = ""  # why they may differ, or what went wrong


# --- temperature scaling ----------------------------------------------------------------


def _sklearn_temperature(data: Data) -> Call:
    from sklearn.calibration import _TemperatureScaling  # what method="temperature" uses

    return lambda: 1 / _TemperatureScaling().fit(data.logits, data.labels).beta_


def _netcal_temperature(data: Data) -> Call:
    from netcal.scaling import TemperatureScaling as Theirs

    probs = data.probs
    return lambda: 1 / Theirs().fit(probs, data.labels).temperature[0]  # its 'temperature' multiplies the logits


def _probmetrics_temperature(data: Data, dtype: torch.dtype, **options: Any) -> Call:
    from probmetrics.calibrators import TemperatureScalingCalibrator
    from probmetrics.distributions import CategoricalLogits

    logits, labels = torch.from_numpy(data.logits).to(dtype), data.tensors[2]
    return lambda: 1 / TemperatureScalingCalibrator(**options).fit_torch(CategoricalLogits(logits), labels).invtemp_


def _probmetrics_numpy(data: Data) -> Call:
    from probmetrics.calibrators import TemperatureScalingCalibrator

    probs = data.probs
    return lambda: 1 / TemperatureScalingCalibrator().fit(probs, data.labels).invtemp_


def _uncertainty_temperature(data: Data, batch: int | None) -> Call:
    from torch.utils.data import DataLoader, TensorDataset
    from torch_uncertainty.post_processing import TemperatureScaler

    logits, _, labels = data.tensors

    def call() -> float:
        # a list of one batch is iterated like a loader and skips the collating of single rows
        loader = DataLoader(TensorDataset(logits, labels), batch_size=batch) if batch else [(logits, labels)]
        scaler = TemperatureScaler(model=torch.nn.Identity())
        scaler.fit(loader, progress=False)
        return scaler.temperature[0].item()

    return call


def temperature_matches() -> Iterator[Match]:
    def match(library: str, form: str, prepare: Callable[[Data], Call], allowed: str) -> Match:
        return Match("temperature", library, form, prepare, _our_temperature, allowed)

    theirs, part = _probmetrics_temperature, functools.partial
    yield match("scikit-learn", "_TemperatureScaling", _sklearn_temperature, "Brent on the NLL: its flat bottom")
    yield match("netcal", "TemperatureScaling", _netcal_temperature, "BFGS, finite differences")
    yield match("probmetrics", "float32 logits", part(theirs, dtype=torch.float32), "float32, 30 bisections: 3e-8 in T")
    yield match("probmetrics", "float64 logits", part(theirs, dtype=torch.float64), "30 bisections: 3e-8 in T")
    yield match("probmetrics", "float64 probabilities", _probmetrics_numpy, "30 bisections: 3e-8 in T")
    lbfgs = part(theirs, dtype=torch.float32, opt="lbfgs_line_search")
    yield match("probmetrics", "float32 logits, L-BFGS", lbfgs, "float32, gradient 1e-7 or loss 1e-9")
    loader = part(_uncertainty_temperature, batch=1024)
    yield match("torch-uncertainty", "DataLoader of 1,024", loader, "float32, L-BFGS, no line search")
    at_once = part(_uncertainty_temperature, batch=None)
    yield match("torch-uncertainty", "one batch", at_once, "float32, L-BFGS, no line search")


def _our_temperature(data: Data) -> float:
    return TemperatureScaling("nll").fit(data.logits, data.labels).temperature_


# --- binned errors and scores -----------------------------------------------------------


def _torchmetrics(data: Data, norm: Literal["l1", "max"] = "l1", validate: bool = True) -> Call:
    from torchmetrics.functional.classification import multiclass_calibration_error

    _, probs, labels = data.tensors
    return lambda: multiclass_calibration_error(probs, labels, data.classes, BINS, norm, validate_args=validate)


def _torchmetrics_module(data: Data) -> Call:
    from torchmetrics.classification import MulticlassCalibrationError

    _, probs, labels = data.tensors
    return lambda: MulticlassCalibrationError(data.classes, BINS)(probs, labels)


def _netcal(data: Data, name: str, **options: Any) -> Call:
    from netcal import metrics as theirs

    probs = data.probs
    return lambda: getattr(theirs, name)(BINS, **options).measure(probs, data.labels)


def _uncertainty(data: Data, name: str, *names: str, **options: Any) -> Call:
    """A metric of torch-uncertainty by name; `names` are the options that take the number of classes."""
    from torch_uncertainty import metrics as theirs

    _, probs, labels = data.tensors
    options |= dict.fromkeys(names, data.classes)
    return lambda: getattr(theirs, name)(**options)(probs, labels)


def _probmetrics(data: Data, name: str) -> Call:
    from probmetrics.metrics import Metrics

    _, probs, labels = data.tensors
    return lambda: Metrics.from_names([name]).compute_all_from_labels_probs(labels, probs)[name]


def _sklearn_nll(data: Data) -> Call:
    from sklearn.metrics import log_loss

    probs, classes = data.probs, np.arange(data.classes)
    return lambda: log_loss(data.labels, probs, labels=classes)


def _sklearn_brier(data: Data) -> Call:
    from sklearn.metrics import brier_score_loss

    probs, classes = data.probs, np.arange(data.classes)
    return lambda: brier_score_loss(data.labels, probs, labels=classes, scale_by_half=False)


def _relplot(data: Data) -> Call:
    import relplot

    probs = data.probs
    return lambda: relplot.smECE(*relplot.multiclass_logits_to_confidences(probs, data.labels, probs=True))


def _matches(what: str, ours: Callable[..., float], *theirs: tuple[Any, ...]) -> Iterator[Match]:
    """One for each (library, form, why they may differ, prepare, options of prepare); ours on the same data."""

    def on_arrays(data: Data) -> float:
        return ours(data.probs, data.labels)

    def on_tensors(data: Data) -> float:
        _, probs, labels = data.tensors
        return ours(probs, labels)

    for library, form, allowed, prepare, theirs_options in theirs:
        call = functools.partial(prepare, **theirs_options)
        same = on_tensors if library in ("torchmetrics", "torch-uncertainty", "probmetrics") else on_arrays
        yield Match(what, library, form, call, same, allowed)


def metric_matches() -> Iterator[Match]:
    """Each metric where another library has the same definition."""
    tm, nc, tu, pm, sk = "torchmetrics", "netcal", "torch-uncertainty", "probmetrics", "scikit-learn"
    half = "float32, bins [lo, hi)"
    multi = {"task": "multiclass", "num_bins": BINS}

    def uncertainty(name: str, *names: str, **options: Any) -> tuple[Callable[[Data], Call], dict[str, Any]]:
        return lambda data, **rest: _uncertainty(data, name, *names, **rest), options

    yield from _matches(
        "ECE",
        ece,
        (tm, "function", half, _torchmetrics, {}),
        (tm, "function, unchecked", half, _torchmetrics, {"validate": False}),
        (tm, "module", half, _torchmetrics_module, {}),
        (nc, "ECE", "bins [lo, hi)", _netcal, {"name": "ECE"}),
        (tu, "CalibrationError", half, *uncertainty("CalibrationError", "num_classes", **multi)),
        (pm, f"ece-{BINS}", half + ", probabilities clipped at 1e-7", _probmetrics, {"name": f"ece-{BINS}"}),
    )
    yield from _matches(
        "MCE",
        mce,
        (tm, "function", half, _torchmetrics, {"norm": "max"}),
        (nc, "MCE", "bins [lo, hi)", _netcal, {"name": "MCE"}),
        (pm, f"mce-{BINS}", half + ", probabilities clipped at 1e-7", _probmetrics, {"name": f"mce-{BINS}"}),
    )
    classwise = uncertainty("ClasswiseCalibrationError", "num_classes", num_bins=BINS)
    yield from _matches("classwise ECE", classwise_ece, (tu, "ClasswiseCalibrationError", half, *classwise))
    adaptive = uncertainty("CalibrationError", "num_classes", adaptive=True, **multi)
    quantiles = "bins between quantiles"
    yield from _matches(
        "adaptive ECE",
        adaptive_ece,
        (tu, "adaptive=True", "float32 sums", *adaptive),
        (nc, "equal_intervals=False", quantiles, _netcal, {"name": "ECE", "equal_intervals": False}),
    )
    yield from _matches(
        "NLL",
        nll,
        (sk, "log_loss", "clipped at eps", _sklearn_nll, {}),
        (tu, "CategoricalNLL", "float32", *uncertainty("CategoricalNLL")),
        (pm, "logloss", "float32, log-softmax of log p", _probmetrics, {"name": "logloss"}),
    )
    yield from _matches(
        "Brier",
        brier,
        (sk, "brier_score_loss", "rounding", _sklearn_brier, {}),
        (tu, "BrierScore", "float32", *uncertainty("BrierScore", "num_classes")),
        (pm, "brier", "float32", _probmetrics, {"name": "brier"}),
    )


def smooth_matches(what: str, note: str) -> Iterator[Match]:
    def uncertainty(data: Data) -> Call:
        return _uncertainty(data, "SmoothCalibrationError", kernel_type="reflected")

    yield from _matches(
        what,
        smooth_ece,
        ("relplot", "smECE", note, _relplot, {}),
        ("probmetrics", "smece (relplot)", note, _probmetrics, {"name": "smece"}),
        ("torch-uncertainty", "reflected", "float32, " + note, uncertainty, {}),
    )


# --- measuring --------------------------------------------------------------------------


def _once(call: Call) -> tuple[float, float]:
    """Wall and CPU seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(match: Match, data: Data) -> Line:
    """The line of a match; what a library raises becomes its note."""
    line = Line(match.what, data.n, data.classes, match.library, match.form)
    try:
        line.version = metadata.version(match.library)
        return _timed(line, match.prepare(data), lambda: match.ours(data), match, data)
    except ModuleNotFoundError as error:  # the library, or something that it needs
        line.note = f"{MISSING} ({error.name})"
    except Exception as error:  # a comparison goes on past a library that fails
        line.note = record.in_short(error)
    return line


def _timed(line: Line, theirs: Call, ours: Call, match: Match, data: Data) -> Line:
    started = time.perf_counter()
    line.theirs, line.ours = float(theirs()), float(ours())  # untimed: the first call imports and warms up
    repeats = int(np.clip(_SECONDS / (time.perf_counter() - started), 1, _MOST))
    pairs = [(_once(theirs), _once(ours)) for _ in range(repeats)]
    (wall_t, cpu_t), (wall_o, cpu_o) = (zip(*side, strict=True) for side in zip(*pairs, strict=True))
    line.theirs_ms, line.ours_ms = 1e3 * statistics.median(wall_t), 1e3 * statistics.median(wall_o)
    line.theirs_cores, line.ours_cores = sum(cpu_t) / sum(wall_t), sum(cpu_o) / sum(wall_o)
    line.ratio, line.note = line.theirs_ms / line.ours_ms, match.allowed
    line.difference = line.theirs - line.ours
    if match.what == "temperature":
        line.difference = line.theirs / line.ours - 1
        line.nll_gap = data.nll(line.theirs) - data.nll(line.ours)
    if data.truth is not None:
        line.truth = data.truth
    return line


def matches(size: str) -> Iterator[tuple[Match, Data]]:
    """Every comparison of a size, with its data."""
    n, classes = SIZES[size]
    logits, labels = synthetic_logits(n, classes)
    whole = Data(logits, labels)
    yield from ((match, whole) for match in temperature_matches())
    near = Data(logits / 2, labels)  # the labels' own temperature: gaps of both signs, so that the bins matter
    yield from ((match, near) for match in metric_matches())
    for what, data, note in (
        ("smooth ECE", Data.uniform_gap(n, classes), "grids, bandwidth to 1e-3"),
        ("smooth ECE, all at 1", Data.all_at_one(n, classes), "grids, bandwidth to 1e-3"),
        ("smooth ECE, half at 1", Data.uniform_gap(n, classes, 0.5), "relplot's reflection halves the mass at 1"),
    ):
        yield from ((match, data) for match in smooth_matches(what, note))


def as_text(frame: pd.DataFrame) -> str:
    """The table as printed."""
    shown = frame.drop(columns=["n", "classes", "version", "others"]).dropna(axis=1, how="all")
    formats = {
        "{:,.2f}": ("theirs_ms", "ours_ms", "ratio"),
        "{:.1f}": ("theirs_cores", "ours_cores"),
        "{:.6f}": ("theirs", "ours", "truth"),
        "{:+.0e}": ("difference", "nll_gap"),
    }
    formatters = {column: form.format for form, columns in formats.items() for column in columns if column in shown}
    return shown.to_string(index=False, na_rep="", formatters=formatters)


@click.command()
@click.option("--size", type=click.Choice([*SIZES, "all"]), default="all", show_default=True)
@record.out_option(*record.ENDINGS)
@click.option("--threads", type=click.IntRange(1), help="Of torch; 1 where others use the machine. Default: its own.")
def main(size: str, out: Path | None, threads: int | None) -> None:
    """Ratios theirs / ours, medians of alternating calls, with both results."""
    if threads is not None:
        torch.set_num_threads(threads)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)  # torch-uncertainty tells of every fit without a network
    lines = []
    for name in SIZES if size == "all" else (size,):
        neighbours = Neighbours()
        some = [measure(match, data) for match, data in tqdm(matches(name), desc=name, disable=None, leave=False)]
        others = neighbours.cores()
        some = [dataclasses.replace(line, others=others) for line in some]
        n, classes = SIZES[name]
        print(f"{n:,} x {classes} logits, torch with {torch.get_num_threads()} threads; cores = CPU time / wall time")
        print(f"other processes had {others:.2f} cores meanwhile")
        print(as_text(pd.DataFrame([dataclasses.asdict(line) for line in some])), flush=True)
        lines += some
    if out is not None:
        record.write(pd.DataFrame([dataclasses.asdict(line) for line in lines]).assign(**record.about()), out)


if __name__ == "__main__":
    main()

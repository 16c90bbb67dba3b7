"""What finished networks say of inputs they were not trained for: whether these can be told apart, and how it shifts.

Rows are those of `measure`, so that contrasts are evaluated on them: dataset, model, loss, seed; method, objective;
metric, value. Scalings are fitted by NLL on the clean validation data of each run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.special import softmax

from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.detection import DETECTION_SCORES, auroc, fpr_at_tpr
from focal_lib.metrics.intervals import paired_t_interval
from focal_lib.metrics.scores import top_label
from focal_lib.metrics.significance import t_p_value
from reproduction.engine import data
from reproduction.engine.fit import pixel_scale
from reproduction.engine.precision import make_float32_exact
from reproduction.engine.run import checked_weights, network
from reproduction.engine.spec import Spec
from reproduction.engine.store import Result, array_checksum
from reproduction.engine.trainer import pick_device, to_tensors
from reproduction.studies.shared.scalings import FITS, Fit, fit_scaling

AT_ONCE = 100  # images: with more a CPU waits for its memory, and the logits are the same


def logits_on(
    specs: Iterable[Spec], images: Mapping[str, np.ndarray], root: str | Path | None = None, device: str = "auto"
) -> Iterator[tuple[Spec, dict[str, np.ndarray]]]:
    """Of each run, logits float32 (n, K) of each of these sets of images, by its weights and its own pixel scale.

    A data set that several runs share is read once. On a GPU the network runs in float32, whatever it was trained in.

    Args:
        images: uint8 (n, H, W, C), as large as those of the data set.

    Raises:
        ValueError: images of another type, size or number of channels; a run that is not of images.
        RunMissing, RunDamaged: see `trained`.
    """
    where, loaded = pick_device(device), dict[str, data.Dataset]()
    make_float32_exact()
    for spec in specs:
        weights = checked_weights(spec, root)
        if spec.dataset not in loaded:
            loaded = {spec.dataset: data.load(spec.dataset)}  # one at a time: they are large
        own = loaded[spec.dataset]
        _check(own, images)
        mean, std = pixel_scale(data.split(own, spec.n_train, spec.n_validation, spec.seed)[0])
        model, found = network(spec, own, weights, where), {}
        with torch.inference_mode():
            for name, given in images.items():
                parts = [given[at : at + AT_ONCE] for at in range(0, len(given), AT_ONCE)]
                tensors = (to_tensors(data.Split(p, np.zeros(len(p), np.int64)), where, mean, std)[0] for p in parts)
                found[name] = torch.cat([model(tensor).float().cpu() for tensor in tensors]).numpy()
        yield spec, found


def _check(own: data.Dataset, images: Mapping[str, np.ndarray]) -> None:
    if own.kind != "images":
        raise ValueError(f"runs must be of images. Got {own.name}, {own.kind}.")
    size = own.train.inputs.shape[1:]
    for name, given in images.items():
        if given.dtype != np.uint8 or given.ndim != 4 or given.shape[1:] != size or not len(given):
            expected = f"uint8 of shape (n, {', '.join(map(str, size))}), as {own.name}"
            raise ValueError(f"images of {name} must be {expected}. Got {given.dtype} {given.shape}.")


SCALED = tuple(fit for fit in FITS if fit.objective in ("", "nll"))
SHIFT_METRICS = ("error", "nll", "adaptive-ece")

_ROWS: dict[tuple[Any, ...], list[dict[str, Any]]] = {}  # a page and the claims it shows ask for the same


def unknown_images(name: str) -> np.ndarray:
    """The test images of a data set; of `mnist-5k`, which has no published split, all."""
    found = data.load(name)
    parts = (found.train, found.test) if name == "mnist-5k" else (found.test,)
    return np.concatenate([part.inputs for part in parts])


def measure_detection(results: Iterable[Result], unknown: str, root: str | Path | None = None) -> pd.DataFrame:
    """AUROC and FPR at 95 % TPR, in per cent, of telling a run's test inputs from the images of another data set.

    A row a run, scaling, and score: metric 'auroc max-probability', 'fpr95 energy' and so on; column `unknown` too.
    After focal temperature scaling there is no energy: the map gives probabilities, and no logits.

    Raises:
        RunMissing, RunDamaged: weights that are needed. FileNotFoundError, ValueError: the other data set.
    """
    known = {_key(result, "detection", unknown): result for result in results}
    new = {key: result for key, result in known.items() if key not in _ROWS}
    if new:
        images = {unknown: unknown_images(unknown)}
        answers = logits_on([result.spec for result in new.values()], images, root)
        for (key, result), (_, logits) in zip(new.items(), answers, strict=True):
            _ROWS[key] = _detect(result, unknown, logits[unknown])
    return pd.DataFrame([row for key in known for row in _ROWS[key]])


def _detect(result: Result, unknown: str, new: np.ndarray) -> list[dict[str, Any]]:
    rows = []
    for fit in SCALED:
        known, other = (_score(fit, z) for z in _scaled(result, fit, result.test.logits, new))
        where = _columns(result) | {"unknown": unknown, "method": fit.method, "objective": fit.objective}
        rows += [where | {"metric": name, "value": value} for name, value in _tell_apart(known, other).items()]
    return rows


def _score(fit: Fit, scaled: np.ndarray) -> dict[str, np.ndarray]:
    """How known each input looks, (n,) by each score; after the map there are no logits, and no energy."""
    left_out = {"energy"} if fit.method == "focal-temperature" else set()
    return {name: score(scaled) for name, score in DETECTION_SCORES.items() if name not in left_out}


def _tell_apart(known: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> dict[str, float]:
    """'auroc energy', 'fpr95 energy' and so on, in per cent."""
    found = {}
    for name in known:
        found[f"auroc {name}"] = 100 * auroc(known[name], other[name])
        found[f"fpr95 {name}"] = 100 * fpr_at_tpr(known[name], other[name])
    return found


def measure_shift(
    results: Iterable[Result],
    corruptions: Sequence[str],
    *,
    images: int = 5_000,
    severities: Sequence[int] = (1, 2, 3, 4, 5),
    root: str | Path | None = None,
) -> pd.DataFrame:
    """Metrics of the first test images as they are, severity 0, and corrupted, as trained and after each scaling.

    A row a run, corruption, severity, scaling and metric: error, NLL, adaptive ECE as tables show them, and 'gap', the
    mean confidence minus the accuracy, in points. Severity 0 stands under every corruption. At the others there are
    also AUROC and FPR at 95 % TPR of telling the corrupted images from the clean ones, as in `measure_detection`.

    Raises:
        RunMissing, RunDamaged: weights that are needed.
        ValueError: an unknown corruption or severity; fewer test images than asked for; runs of several data sets.
    """
    asked = ("shift", *corruptions, images, *severities)
    all_runs = {_key(result, *asked): result for result in results}
    new = {key: result for key, result in all_runs.items() if key not in _ROWS}
    if new:
        (name,) = {result.spec.dataset for result in new.values()}  # ValueError for several
        test = data.load(name).test
        if not 1 <= images <= len(test):
            raise ValueError(f"images must be 1 to {len(test)}. Got {images}.")
        clean = test.take(np.arange(images))
        sets = {f"{c} {s}": data.corrupt(clean.inputs, c, s) for c in corruptions for s in severities}
        answers = logits_on([result.spec for result in new.values()], {"": clean.inputs} | sets, root)
        for (key, result), (_, logits) in zip(new.items(), answers, strict=True):
            _ROWS[key] = _shifted(result, clean.labels, logits, corruptions, severities)
    return pd.DataFrame([row for key in all_runs for row in _ROWS[key]])


def _shifted(
    result: Result,
    labels: np.ndarray,
    logits: dict[str, np.ndarray],
    corruptions: Sequence[str],
    severities: Sequence[int],
) -> list[dict[str, Any]]:
    names = list(logits)
    rows = []
    for fit in SCALED:
        scaled = _scaled(result, fit, *logits.values())
        judged = {name: _judge(softmax(z, -1), labels) for name, z in zip(names, scaled, strict=True)}
        scores = {name: _score(fit, z) for name, z in zip(names, scaled, strict=True)}
        for name in names[1:]:  # the first are clean
            judged[name] |= _tell_apart(scores[""], scores[name])
        for corruption in corruptions:
            for severity in (0, *severities):
                where = {"corruption": corruption, "severity": severity}
                where |= {"method": fit.method, "objective": fit.objective}
                found = judged[f"{corruption} {severity}" if severity else ""]
                rows += [_columns(result) | where | {"metric": n, "value": value} for n, value in found.items()]
    return rows


def _judge(probs: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    confidence, correct = top_label(probs, labels)
    return {name: METRICS[name].shown(probs, labels) for name in SHIFT_METRICS} | {
        "gap": 100 * float(confidence.mean() - correct.mean())
    }


def mean_over_shifts(table: pd.DataFrame) -> pd.DataFrame:
    """Of each metric over corruptions and their severities, clean images left out; for `evaluate_contrasts`."""
    kept = table[table["severity"] > 0]
    columns = [name for name in table if name not in ("corruption", "severity", "value", "kind", "cpu_seconds")]
    return kept.groupby(columns, sort=False)["value"].mean().reset_index()


def compare_by_shift(table: pd.DataFrame, metric: str, ours: str, theirs: str) -> pd.DataFrame:
    """A metric after one scaling minus after another, paired over seeds, of each loss, corruption and severity.

    Returns:
        loss, corruption, severity, ours, theirs (means); difference, low, high: 95 % t interval, each for itself; p.

    Raises:
        ValueError: runs of one seed alone.
    """
    kept = table[table["metric"] == metric]
    rows = []
    for (loss, corruption, severity), cell in kept.groupby(["loss", "corruption", "severity"], sort=False):
        wide = cell.pivot(index="seed", columns="method", values="value")
        i = paired_t_interval(wide[ours], wide[theirs])
        means = wide[ours].mean(), wide[theirs].mean()
        rows.append((loss, corruption, severity, *means, i.estimate, i.low, i.high, t_p_value(i)))
    columns = ["loss", "corruption", "severity", "ours", "theirs", "difference", "low", "high", "p"]
    return pd.DataFrame(rows, columns=columns)


def _scaled(result: Result, fit: Fit, *logits: np.ndarray) -> list[np.ndarray]:
    """Logits float64 (n, K) after a scaling; after the map log-probabilities."""
    wide = [z.astype(np.float64) for z in logits]
    if fit.method == "none":
        return wide
    fitted, _ = fit_scaling(result, fit)
    if fit.method == "temperature":
        return [z / fitted.temperature_ for z in wide]
    return [fitted.predict_log_proba(z) for z in wide]


def _columns(result: Result) -> dict[str, Any]:
    spec = result.spec
    return {"dataset": spec.dataset, "model": spec.model, "loss": spec.label, "gamma": spec.gamma, "seed": spec.seed}


def _key(result: Result, *asked: Any) -> tuple[Any, ...]:
    arrays = {"validation": result.validation.logits, "test": result.test.logits}
    return result.spec.digest, array_checksum(arrays), *asked

r"""Scores and labels of every layout, as logits (m, K) with labels (m,).

============== ===================================== ==================== ============================================
layout         scores                                labels               becomes
============== ===================================== ==================== ============================================
classes        (n, K)                                (n,)                 itself
binary         (n,), (n, 1), or any shape            the same shape, 0/1  logits (0, s); probs: (log 1-p, log p)
multi-label    (n, L)                                (n, L), 0/1          n L samples of two classes; groups: rows
segmentation   (N, K, H, W), torch's order; any rank (N, H, W)            a sample for each pixel; groups: images
tokens         (B, T, K), classes last; any rank     (B, T)               a sample for each token; groups: sequences
options        (n, K), NaN or -inf where none is     (n,)                 itself, MISSING where none is
============== ===================================== ==================== ============================================

A decision value or logit s of one class has p = sigmoid(s) = softmax(0, s), so dividing s by T is temperature scaling.
Labels of a multi-label problem share one calibrator: each is a sample of the same problem of two classes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.calibration.logit_sets import (
    LAYOUTS,
    MISSING,
    Given,
    Layout,
    LogitSet,
    SelectedSamples,
    check_given,
    convert,
)
from focal_lib.calibration.memory import require_memory
from focal_lib.tool.inputs.parts import Part, as_array, check_weights, numbers_of_classes
from focal_lib.validation import check_labels, check_number

IGNORED = 255  # the label of pixels that are nothing, where there are no more classes than that
PADDING = -100  # torch's label of what does not count, which no class can have
PIXELS = 1000  # of each image
_WORK = 6  # times the memory of ragged options: they are copied, converted, calibrated
Notes = tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """How scores are to be read.

    Attributes:
        layout: None to infer it from the shapes.
        ignore_index: label to leave out; None for -100 and, up to 255 classes, 255, in segmentation and tokens.
        pixels: number of pixels drawn at random from each image; 0 for all.
        seed: seed of that draw.
    """

    given: Given = "logits"
    layout: Layout | None = None
    ignore_index: int | None = None
    pixels: int = PIXELS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.layout is not None and self.layout not in LAYOUTS:
            raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}. Got {self.layout!r}.")
        check_number(self.pixels, "pixels", minimum=0)


def lay_out(name: str, part: Part, reading: Reading) -> LogitSet:
    """Convert one set to logits with labels, with checks.

    Args:
        name: name of the set; 'all' for a single one.
        part: groups and slices are numbers, one for each entry of the first axis; weights, too, or in labels' shape.

    Raises:
        ValueError: scores that are not of the kind given, labels that are one-hot or count from 1, shapes that do not
            fit; the message gives the remedy.
    """
    what = "" if name == "all" else f"{name} "
    labels = numbers_of_classes(as_array(part.labels), part.class_names, f"{what}labels")
    ragged = _is_ragged(part.scores)
    scores = ragged_as_array(part.scores) if ragged else as_array(part.scores)
    _refuse_swapped(scores, labels, what)
    if scores.dtype.kind not in "fiu" or scores.ndim == 0 or 0 in scores.shape:
        given = type(part.scores).__name__ if scores.dtype == object else f"{scores.dtype} {scores.shape}"
        hint = ": give its logits, or predictions, alone" if scores.dtype == object and not scores.shape else ""
        raise ValueError(f"{what}logits must be numbers, of samples that there are. Got {given}{hint}.")
    if labels.ndim == 0:
        raise ValueError(f"{what}labels must be one for each sample. Got one number.")
    layout = reading.layout or part.layout or ("options" if ragged else find_layout(scores, labels, what))
    found = _LAID_OUT[layout](scores, labels, reading, what)
    return _with_columns(found, part, labels.shape, what)


def _refuse_swapped(scores: np.ndarray, labels: np.ndarray, what: str) -> None:
    """Refuse labels that are not whole numbers; if the scores are, the two were swapped."""
    if labels.dtype.kind != "f" or scores.dtype.kind not in "fiub" or scores.ndim > labels.ndim:
        return
    if (labels != np.round(labels)).any() and (scores == np.round(scores)).all():
        raise ValueError(
            f"{what}labels must be whole numbers. Got {labels.dtype} {labels.shape}, and whole numbers "
            f"{scores.shape} as scores: are the two swapped?"
        )


def find_layout(scores: np.ndarray, labels: np.ndarray, what: str = "") -> Layout:
    """Infer the layout from the shapes; default 'classes', with a note.

    Raises:
        ValueError: shapes that fit two layouts.
    """
    if scores.ndim == 1 or scores.shape == (len(labels), 1):
        return "binary"
    if scores.shape == labels.shape:
        one_hot = scores.ndim == 2 and np.isin(labels, (0, 1)).all() and (labels.sum(-1) == 1).all()
        return "classes" if one_hot else "multi-label" if scores.ndim == 2 else "binary"
    if labels.ndim >= 2 and scores.ndim == labels.ndim + 1:
        first, last = _class_axis_first(scores, labels), scores.shape[:-1] == labels.shape
        if first and last and scores.shape[1] > 1:
            raise ValueError(
                f"{what}scores {scores.shape} may have the classes second or last: say layout segmentation or tokens."
            )
        if first or last:
            return "binary" if scores.shape[1 if first else -1] == 1 else "segmentation" if first else "tokens"
    return "classes"


def _class_axis_first(scores: np.ndarray, labels: np.ndarray) -> bool:
    return scores.shape[:1] + scores.shape[2:] == labels.shape


def _is_ragged(scores: Any) -> bool:
    """A list of rows of different lengths."""
    rows = isinstance(scores, list | tuple) and all(hasattr(row, "__len__") for row in scores)
    return rows and len({len(row) for row in scores}) > 1


def ragged_as_array(rows: Any) -> np.ndarray:
    """Rows of different lengths as an array (n, K), with NaN for missing options."""
    shape = len(rows), max(map(len, rows))
    require_memory(_WORK * 8 * math.prod(shape), f"options as wide as those of the longest sample, {shape},")
    found = np.full(shape, np.nan)
    for sample, row in enumerate(rows):
        found[sample, : len(row)] = as_array(row)
    return found


# --- each layout ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """Logits (m, K) and labels (m,), with the index of each in the first axis and in labels.ravel()."""

    layout: Layout
    logits: np.ndarray | SelectedSamples
    labels: np.ndarray
    sample: np.ndarray
    entry: np.ndarray
    notes: Notes = ()
    grouped: bool = False
    sliced_by: int = 0  # entries of the second axis that are slices of their own


def _of_an_ensemble(scores: np.ndarray, labels: np.ndarray) -> str:
    """What to do with the scores of an ensemble's members; '' where they are none."""
    if scores.ndim != 3 or labels.ndim != 1 or len(labels) not in scores.shape[:2]:
        return ""
    axis = 1 if scores.shape[0] == len(labels) else 0
    members = "scores" if axis == 0 else "np.moveaxis(scores, 1, 0)"
    return (
        f" Are they of an ensemble of {scores.shape[axis]}? Then give the mean of the members' probabilities, or its "
        f"logarithm, focal_lib.calibration.as_logits({members})."
    )


def _classes(scores: np.ndarray, labels: np.ndarray, reading: Reading, what: str) -> _Found:
    if scores.ndim != 2:
        raise ValueError(
            f"{what}logits must be numbers of shape (n, K) with labels (n,), or (n,), (n, L), (N, K, H, W), "
            f"(B, T, K) with labels (n,), (n, L), (N, H, W), (B, T). Got {scores.shape} and labels {labels.shape}."
            f"{_of_an_ensemble(scores, labels)}"
        )
    n, k = scores.shape
    if labels.shape == (k,) != (n,):
        raise ValueError(
            f"{what}logits must have a row for each sample. Got {scores.shape} and {len(labels)} labels: are they "
            "transposed? Then give logits.T."
        )
    if k < 2:
        raise ValueError(f"{what}logits must have samples, and K >= 2 columns. Got {scores.shape}.")
    kept = np.arange(n)
    notes: Notes = ()
    if labels.shape == (n,):
        kept, notes = _kept(labels, reading, "samples")
        labels = labels[kept]
    labels = _plain_labels(labels, len(kept), k, f"{what}labels")
    if isinstance(scores, np.memmap):
        check_given(scores, np.zeros(n, dtype=np.int64), reading.given, f"{what}logits")
        return _Found("classes", SelectedSamples(scores, kept, reading.given), labels, kept, kept, notes)
    scores = scores if len(kept) == n else scores[kept]
    check_given(scores, labels, reading.given, f"{what}logits")
    return _Found("classes", convert(scores, reading.given), labels, kept, kept, notes)


def _kept(labels: np.ndarray, reading: Reading, kind: str) -> tuple[np.ndarray, Notes]:
    """Places in labels.ravel() of those that are not to be ignored, and a note on the others."""
    flat, ignored = labels.ravel(), reading.ignore_index
    kept = np.arange(flat.size) if ignored is None else np.flatnonzero(flat != ignored)
    return kept, _left_out(flat.size - len(kept), flat.size, kind, ignored)


def _plain_labels(labels: np.ndarray, n: int, classes: int, name: str) -> np.ndarray:
    if labels.shape == (n, classes) and np.isin(labels, (0, 1)).all() and (labels.sum(-1) == 1).all():
        raise ValueError(
            f"{name} are one-hot: give the class numbers, labels.argmax(-1); if each column is a label of its own, "
            "say layout multi-label."
        )
    if labels.ndim == 2 and labels.shape == (n, 1):
        raise ValueError(f"{name} must have shape (n,): give labels[:, 0]. Got {labels.shape}.")
    if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
        if (far := np.abs(labels.astype(np.float64))).max(initial=0) >= 2**53:
            raise ValueError(f"{name} must lie in 0 ... {classes - 1}. Got {labels.flat[far.argmax()]:g}.")
        labels = labels.astype(np.int64)  # what csv files make of integers
    if labels.dtype.kind in "iu" and labels.size and labels.min() >= 1 and labels.max() == classes:
        raise ValueError(f"{name} count from 1 to {classes}: give labels - 1, as classes count from 0.")
    if labels.shape == (n,) and labels.dtype.kind == "i" and (negative := np.unique(labels[labels < 0])).size == 1:
        raise ValueError(
            f"{name} must lie in 0 ... {classes - 1}. Got {negative[0]}, first in sample {int((labels < 0).argmax())}: "
            f"where that means none, --ignore-index {negative[0]} leaves these samples out."
        )
    check_labels(labels, n, classes, name=name)
    return labels.astype(np.int64)


def _binary(scores: np.ndarray, labels: np.ndarray, reading: Reading, what: str) -> _Found:
    """Of any shape; of an image with many pixels some."""
    if scores.shape != labels.shape and scores.ndim == labels.ndim + 1:
        axis = 1 if _class_axis_first(scores, labels) else -1
        scores = scores.squeeze(axis) if scores.shape[axis] == 1 else scores
    if scores.shape[1:] in ((), (1,)):
        scores, labels = scores.reshape(-1), labels.reshape(-1) if labels.shape[1:] == (1,) else labels
    if scores.shape != labels.shape:
        raise ValueError(f"{what}labels must have the shape of the scores, {scores.shape}. Got {labels.shape}.")
    if scores.ndim == 1:
        entry, notes = _kept(labels, reading, "samples")
        sample, values = entry, scores[entry]
    else:
        chosen, notes = _choose(labels, 2, reading, "pixels")
        sample, entry = _places(chosen, labels)
        per_image = scores.reshape(len(scores), -1)
        values = np.concatenate([image[index] for image, index in zip(per_image, chosen, strict=True)])
    truth = _zeros_and_ones(labels.ravel()[entry], f"{what}labels")
    logits = binary_logits(values, reading.given, f"{what}scores")
    return _Found("binary", logits, truth, sample, entry, notes, grouped=scores.ndim > 1)


def binary_logits(scores: np.ndarray, given: Given, name: str) -> np.ndarray:
    """Logits (n, 2) of scores (n,) of the positive class.

    Raises:
        ValueError: scores that are not finite, or not of the kind `given`.
    """
    if given not in ("logits", "log-probs", "probs"):
        raise ValueError(f"given must be one of logits, log-probs, probs. Got {given!r}.")
    wide = scores.astype(np.float64)
    if not (finite := np.isfinite(wide)).all():
        first = int((~finite).argmax())
        raise ValueError(f"{name} must be finite. Got NaN or infinite numbers, first in place {first}.")
    low, high = wide.min(), wide.max()
    if given == "probs" and (low < 0 or high > 1):
        raise ValueError(
            f"{name} were given as probabilities of the positive class: they must lie in [0, 1]. Got values from "
            f"{low:.4g} to {high:.4g}{': are they percentages? Then divide by 100' if 0 <= low < high <= 100 else ''}."
        )
    if given == "log-probs" and high > 0:
        raise ValueError(f"{name} were given as log-probabilities: they must be at most 0. Got {high:.4g}.")
    if given == "logits":
        kind = np.float32 if scores.dtype.kind == "f" and scores.dtype.itemsize <= 4 else np.float64
        return np.stack([np.zeros(len(wide), dtype=kind), wide.astype(kind)], -1)
    p = wide if given == "probs" else np.exp(wide)
    return convert(np.stack([1 - p, p], -1), "probs")


def _zeros_and_ones(labels: np.ndarray, name: str) -> np.ndarray:
    if found := sorted(set(np.unique(labels).tolist()) - {0, 1}):
        remedy = ": give (labels + 1) // 2" if found == [-1] and not (labels == 0).any() else ""
        remedy = ": give labels - 1" if found == [2] and not (labels == 0).any() else remedy
        if not remedy and len(found) == 1 and found[0] < 0:
            remedy = f"; where {found[0]} means none, --ignore-index {found[0]} leaves these samples out"
        raise ValueError(f"{name} of one score each must be 0 or 1, 1 for the positive class{remedy}. Got {found[0]}.")
    return labels.astype(np.int64)


def _multi_label(scores: np.ndarray, labels: np.ndarray, reading: Reading, what: str) -> _Found:
    if scores.ndim != 2 or scores.shape != labels.shape:
        raise ValueError(
            f"{what}scores and labels of multi-label data must both have shape (n, L). Got {scores.shape} and "
            f"{labels.shape}."
        )
    n, width = scores.shape
    kept, notes = _kept(labels, reading, "labels")
    logits = binary_logits(np.asarray(scores).ravel()[kept], reading.given, f"{what}scores")
    truth = _zeros_and_ones(labels.ravel()[kept], f"{what}labels")
    shared = (
        f"{n:,} samples with {width} labels each: every label is a sample of one problem of two classes, with one "
        "calibrator for all labels. Labels of a sample stay together in splits."
    )
    sample = kept // width
    return _Found("multi-label", logits, truth, sample, kept, (shared, *notes), grouped=True, sliced_by=width)


def _positions(layout: Layout, scores: np.ndarray, labels: np.ndarray, reading: Reading, what: str) -> _Found:
    """Pixels, with the classes on the second axis, as torch's cross entropy has them; or tokens, with them last."""
    images, kind, shapes = False, "tokens", "(B, T, K), with labels (B, T)"
    if layout == "segmentation":
        images, kind, shapes = True, "pixels", "(N, K, H, W), with labels (N, H, W)"
    fits = _class_axis_first(scores, labels) if images else scores.shape[:-1] == labels.shape
    if scores.ndim < 3 or not fits:
        raise ValueError(f"{what}scores of {layout} must have shape {shapes}. Got {scores.shape} and {labels.shape}.")
    k = scores.shape[1 if images else -1]
    chosen, notes = _choose(labels, k, reading, kind)
    rows = (own.reshape(k, -1).T if images else own.reshape(-1, k) for own in scores)
    logits = np.ascontiguousarray(np.concatenate([own[index] for own, index in zip(rows, chosen, strict=True)]))
    sample, entry = _places(chosen, labels)
    found = _classes(logits, labels.ravel()[entry], Reading(reading.given), what)
    return _Found(layout, found.logits, found.labels, sample, entry, notes, grouped=True)


def _choose(labels: np.ndarray, k: int, reading: Reading, kind: str) -> tuple[list[np.ndarray], Notes]:
    """For each entry of the first axis, the positions that count, at most `pixels` of them."""
    ignored = [reading.ignore_index] if reading.ignore_index is not None else [PADDING] + [IGNORED] * (k <= IGNORED)
    random, flat = np.random.default_rng(reading.seed), labels.reshape(len(labels), -1)
    most = reading.pixels or flat.shape[1]
    counting = [np.flatnonzero(~np.isin(row, ignored)) for row in flat]
    chosen = [np.sort(random.choice(i, most, replace=False)) if len(i) > most else i for i in counting]
    count, taken = sum(map(len, counting)), sum(map(len, chosen))
    if count == 0:
        raise ValueError(f"labels must be other than {ignored[0]}, the label of what is left out, somewhere.")
    notes = _left_out(labels.size - count, labels.size, kind, " or ".join(map(str, ignored)))
    if taken < count:
        whole = "images" if kind == "pixels" else "sequences"
        notes += (
            f"Of {count:,} {kind} {taken:,} were drawn at random, at most {most:,} of each of {len(labels):,} {whole} "
            f"(seed {reading.seed}).",
        )
    return chosen, notes


def _left_out(count: int, total: int, kind: str, label: Any) -> Notes:
    return (f"{count:,} of {total:,} {kind} have the label {label} and were left out.",) if count else ()


def _places(chosen: list[np.ndarray], labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the chosen positions, the entry of the first axis, and that of labels.ravel()."""
    size = labels[0].size
    sample = np.repeat(np.arange(len(labels)), [len(index) for index in chosen])
    return sample, sample * size + np.concatenate(chosen)


def _options(scores: np.ndarray, labels: np.ndarray, reading: Reading, what: str) -> _Found:
    """NaN and -inf where there is no option."""
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ValueError(f"{what}scores of options must have shape (n, K), K >= 2. Got {scores.shape}.")
    logits = option_logits(scores, reading.given, f"{what}logits")
    there = logits > MISSING / 2
    labels = _plain_labels(labels, len(scores), scores.shape[1], f"{what}labels")
    if (wrong := ~there[np.arange(len(labels)), labels]).any():
        sample = int(wrong.argmax())
        raise ValueError(f"{what}labels must be options that there are. Got {labels[sample]} in sample {sample}.")
    counts, every = there.sum(-1), np.arange(len(labels))
    note = (
        f"{len(labels):,} samples with {counts.min()} to {counts.max()} options each: what stands in a column differs "
        "from sample to sample, so only methods that treat all columns alike can be fitted."
    )
    return _Found("options", logits, labels, every, every, (note,))


def option_logits(scores: np.ndarray, given: Given, name: str) -> np.ndarray:
    """Logits (n, K), MISSING where scores are NaN or -inf.

    Raises:
        ValueError: fewer than two options in a sample, or scores that are not of the kind `given`.
    """
    missing = np.isnan(scores) | np.isneginf(scores)
    if (few := (~missing).sum(-1) < 2).any():
        raise ValueError(f"{name} must have at least two options in every sample. Got fewer in {int(few.argmax())}.")
    kind = np.float32 if scores.dtype.kind == "f" and scores.dtype.itemsize <= 4 else np.float64
    filled = np.where(missing, 0 if given == "probs" else MISSING, scores.astype(kind))
    check_given(filled, np.zeros(len(filled), dtype=np.int64), given, name)
    return np.where(missing, np.asarray(MISSING, dtype=kind), convert(filled, given))


_LAID_OUT: dict[Layout, Callable[[np.ndarray, np.ndarray, Reading, str], _Found]] = {
    "classes": _classes,
    "binary": _binary,
    "multi-label": _multi_label,
    "segmentation": functools.partial(_positions, "segmentation"),
    "tokens": functools.partial(_positions, "tokens"),
    "options": _options,
}


# --- what goes with each sample -------------------------------------------------------------


def _with_columns(found: _Found, part: Part, shape: tuple[int, ...], what: str) -> LogitSet:
    n, names, slice_names = shape[0], part.class_names, None
    columns: dict[str, Any] = {}
    for name, values in (("groups", part.groups), ("slices", part.slices)):
        if values is not None and values.shape != (n,):
            raise ValueError(f"{what}{name} must have shape (n,) = ({n},). Got {values.shape}.")
        if values is not None:
            columns[name] = values[found.sample]
    if part.weights is not None:
        weights = check_weights(part.weights, ((n,), shape), f"{what}weights")
        columns["weights"] = weights[found.sample] if weights.shape == (n,) else weights.ravel()[found.entry]
    if found.grouped:
        columns.setdefault("groups", found.sample)
    wanted = found.sliced_by or found.logits.shape[1]
    if names is not None and len(names) != wanted:
        raise ValueError(f"{what}class_names must be {wanted}. Got {len(names)}.")
    if found.sliced_by:
        if "slices" not in columns:
            columns["slices"] = found.entry % found.sliced_by
            slice_names = names or tuple(f"label {index}" for index in range(found.sliced_by))
        names = None
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{what}class_names must differ. Got {twice!r} twice.")
    return LogitSet(
        found.logits,
        found.labels,
        score_columns=part.score_columns,
        class_names=names,
        slice_names=slice_names,
        layout=found.layout,
        notes=found.notes,
        **columns,
    )

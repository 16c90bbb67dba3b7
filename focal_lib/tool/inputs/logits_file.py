"""Read logits with labels from a file or from memory, the input of `focal calibrate`.

npz: `logits` and `labels`, or both with prefixes `validation_` and `test_`; each with optional `groups`, `slices`,
`weights`. For probabilities or log-probabilities the array is named `probs` or `log_probs` instead of `logits`.
npy: logits, with the labels in another npy. csv, parquet: a column of labels, and one column for each class, in order,
or those that `scores` names. jsonl: with `scores` a table, else questions of lm-evaluation-harness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from focal_lib.calibration.logit_sets import MISSING, Given, Layout, LogitSet, Sets
from focal_lib.tool.inputs.archives import read_npy
from focal_lib.tool.inputs.layouts import PIXELS, Reading, lay_out
from focal_lib.tool.inputs.lm_eval_file import part_of_samples
from focal_lib.tool.inputs.npz_file import parts_of_npz
from focal_lib.tool.inputs.parts import Column, Part, as_array, in_words, numbers_of_values
from focal_lib.tool.inputs.table_file import part_of_table
from focal_lib.tool.inputs.table_formats import TABLES

_REMEDIES = {
    (".pt", ".pth", ".pkl", ".pickle", ".bin", ".ckpt", ".joblib", ".safetensors", ".h5", ".hdf5", ".mat"): (
        ": load it in Python and save np.savez('logits.npz', logits=..., labels=...), of NumPy arrays"
    ),
    (".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz"): ": unpack it first",
    (".tsv", ".tab", ".txt"): ": save it as csv, with commas",
    (".xls", ".xlsx", ".ods"): ": save it as csv, with commas and decimal points",
    (".json", ".feather", ".arrow"): ": save it as csv or parquet, a column for each class and one of labels",
}

_OfTable = tuple[str | None, str | Sequence[str] | None]  # the column of labels, and those of scores


class Holds(TypedDict, total=False):
    """Arguments of read_logits that describe the data; calibrate and check accept them, too."""

    given: Given
    labels: str | Path | None
    test: Any
    test_labels: str | Path | None
    label_column: str | None
    scores: str | Sequence[str] | None
    groups: Any
    slices: Any
    weights: Any
    class_names: Sequence[str] | None
    layout: Layout | None
    ignore_index: int | None
    pixels: int


def read_logits(
    data: Any,
    given: Given = "logits",
    labels: str | Path | None = None,
    *,
    test: Any = None,
    test_labels: str | Path | None = None,
    label_column: str | None = None,
    scores: str | Sequence[str] | None = None,
    groups: Any = None,
    slices: Any = None,
    weights: Any = None,
    class_names: Sequence[str] | None = None,
    layout: Layout | None = None,
    ignore_index: int | None = None,
    pixels: int = PIXELS,
    seed: int = 0,
) -> Sets:
    """Read logits with labels as {'validation': LogitSet, 'test': LogitSet}, or as {'all': LogitSet} of a single set.

    Args:
        data: path of an npz, npy, csv or parquet file, or of samples_*.jsonl of lm-evaluation-harness; a pair (scores,
            labels) of arrays or tensors in one of the layouts of focal_lib.tool.inputs.layouts, such as (n, K) and
            (n,); two such pairs, for validation and test; a LogitSet; or a result of read_logits, returned as it is.
        given: kind of the scores: logits (or decision values), log-probs or probs. It is checked, not guessed.
        labels: file of the labels, for npy.
        test: test set, as another file or pair, if data is the validation set.
        test_labels: file of the test set's labels, for npy.
        label_column: of a csv, parquet or jsonl file, default 'label'; for multi-label several, separated by commas.
        scores: names of the columns of scores of such a file, as a sequence or separated by commas; other columns are
            left alone. One column holds the scores of the positive class. Default: all that have no other purpose.
        groups: group of each sample, for dependent samples; splits keep groups together. For a file, the name of a
            column or array, or the path of an npy; else an array (n,), or a pair for two sets.
        slices: slice of each sample, to report errors for each slice; given as groups are.
        weights: sample weights, (n,) or in the shape of labels; given as groups are.
        class_names: names of the columns, if labels are names; tables and DataFrames have their own.
        layout: None to infer it from the shapes; 'multi-label' for labels that look one-hot; 'options' for logits with
            -inf or NaN for missing options.
        ignore_index: label to leave out; default, in segmentation and tokens, -100 and, up to 255 classes, 255.
        pixels: number of pixels drawn at random from each image; 0 for all.
        seed: seed of that draw.

    Raises:
        ValueError: an unknown format; missing, damaged or ambiguous arrays or columns; invalid numbers, labels or
            shapes. The message gives the remedy.
        TypeError: data of another type.

    Examples:
        >>> data = read_logits(([[0.1, 0.9], [0.8, 0.2]], [1, 0]), given="probs")
        >>> data["all"].logits.round(3).tolist(), data["all"].labels.tolist()
        ([[-2.303, -0.105], [-0.223, -1.609]], [1, 0])
    """
    reading = Reading(given, layout, ignore_index, pixels, seed)
    columns: dict[Column, Any] = {"groups": groups, "slices": slices, "weights": weights}
    if isinstance(data, LogitSet):
        data = {"all": data}
    if isinstance(data, dict) and data and all(isinstance(part, LogitSet) for part in data.values()) and test is None:
        if own := [name for name, values in columns.items() if values is not None]:
            raise ValueError(f"{own[0]} are part of a LogitSet: make it with them. Got both.")
        return dict(_pairs(data))
    if isinstance(data, str | Path):
        files: dict[str, tuple[Any, Any]] = {"validation": (data, labels)}
        if test is not None:
            files["test"] = test, test_labels
        elif test_labels is not None:
            raise ValueError(f"--test-labels goes with --test. Got {Path(test_labels).name} alone.")
        parts = _of_files(files, given, (label_column, scores), columns)
    else:
        if labels is not None or test_labels is not None or label_column is not None:
            named = Path(labels or test_labels or "").name or f"the column {label_column}"
            raise ValueError(f"labels of a file are for a file of logits. Got {named} and logits in memory.")
        if scores is not None:
            raise ValueError("scores names columns of a file: of a DataFrame give those columns alone. Got both.")
        parts = _of_memory(data, test, columns)
    if class_names is not None:
        names = tuple(map(str, class_names))
        parts = {name: replace(part, class_names=_in_order(names, part)) for name, part in parts.items()}
    return _assembled(parts, reading)


def _in_order(names: tuple[str, ...], part: Part) -> tuple[str, ...]:
    """The given names; refused if the columns have the same names in another order."""
    own = part.class_names
    if own is not None and own != names and sorted(own) == sorted(names):
        raise ValueError(f"class_names must be in the order of the columns, {in_words(own)}. Got {in_words(names)}.")
    return names


def options_in_words(holds: Holds) -> dict[str, str]:
    """The arguments that describe the data, as text for a report; arrays are 'in memory'."""
    found = {}
    for name, value in holds.items():
        if value is None or name == "given" or (name == "pixels" and value == PIXELS):
            continue
        if isinstance(value, Path):
            found[name] = value.name
        elif isinstance(value, str | int):
            found[name] = str(value)
        else:
            found[name] = ", ".join(map(str, value)) if isinstance(value, tuple | list) else "in memory"
    return found


def _assembled(parts: dict[str, Part], reading: Reading) -> Sets:
    """The sets as LogitSets, with the same numbers for groups and slices and the same number of options."""
    slice_names = None
    for own in ("groups", "slices"):
        values = [getattr(part, own) for part in parts.values()]
        if all(value is None for value in values):
            continue
        if any(value is None for value in values):
            raise ValueError(f"{own} must be there for validation and test, or for neither. Got one without.")
        codes, found = numbers_of_values(values, own)
        for name, code in zip(parts, codes, strict=True):
            parts[name] = replace(parts[name], groups=code) if own == "groups" else replace(parts[name], slices=code)
        slice_names = found if own == "slices" else slice_names
    sets = {name: lay_out(name, part, reading) for name, part in parts.items()}
    if "test" in sets and parts["test"].groups is None:  # those that a layout makes are of each set alone
        first, second = sets["validation"].groups, sets["test"].groups
        if first is not None and second is not None:
            sets["test"] = replace(sets["test"], groups=second + int(first.max()) + 1)
    if slice_names is not None:
        sets = {name: replace(own, slice_names=slice_names) for name, own in sets.items()}
    widest = max(own.classes for own in sets.values())
    return {name: _padded(own, widest) if own.layout == "options" else own for name, own in sets.items()}


def _padded(own: LogitSet, width: int) -> LogitSet:
    logits = np.asarray(own.logits[:])
    return replace(own, logits=np.pad(logits, ((0, 0), (0, width - own.classes)), constant_values=MISSING))


# --- from files -----------------------------------------------------------------------------


def _of_files(
    files: Mapping[str, tuple[Any, Any]], given: Given, of_table: _OfTable, columns: Mapping[Column, Any]
) -> dict[str, Part]:
    """From pairs of a file and that of its labels, by the name of the set."""
    for path, _ in files.values():
        if not isinstance(path, str | Path):
            raise ValueError(f"test must be a file where the data are one. Got {type(path).__name__}.")
    found = {name: _of_file(Path(path), given, own, of_table, columns) for name, (path, own) in files.items()}
    if len(found) == 1:
        return found["validation"]
    for name, parts in found.items():
        if "all" not in parts:
            file = Path(files[name][0]).name
            raise ValueError(f"{file} holds validation and test sets: --test goes with files of one set.")
    return {name: parts["all"] for name, parts in found.items()}


def _of_file(
    path: Path, given: Given, labels: str | Path | None, of_table: _OfTable, columns: Mapping[Column, Any]
) -> dict[str, Part]:
    kind, (label_column, scores) = path.suffix.lower(), of_table
    if labels is not None and kind != ".npy":
        raise ValueError(
            f"--labels goes with an npy file, as others hold theirs. Got {Path(labels).name} and {path.name}."
        )
    for flag, value in (("--label-column", label_column), ("--scores", scores)):
        if value is not None and kind not in TABLES:
            raise ValueError(f"{flag} goes with csv and parquet files, and jsonl. Got {value!r} and {path.name}.")
    for name, value in columns.items():
        if value is not None and not isinstance(value, str | Path):
            raise ValueError(f"{name} of a file must be the name of a column or array. Got {type(value).__name__}.")
    named = {name: None if value is None else str(value) for name, value in columns.items()}
    if kind == ".npz":
        return parts_of_npz(path, named, given)
    if kind == ".npy":
        return {"all": _of_npy(path, labels, named)}
    if kind in (".csv", ".parquet") or (kind == ".jsonl" and scores):
        return {"all": part_of_table(path, label_column, named, scores)}
    if kind == ".jsonl":
        if label_column is not None:
            raise ValueError(f"--label-column of {path.name} goes with --scores, which names the columns of scores.")
        return {"all": part_of_samples(path, named)}
    remedy = next((words for kinds, words in _REMEDIES.items() if kind in kinds), "")
    raise ValueError(f"a file of logits must be .npz, .npy, .csv, .parquet or .jsonl. Got {path.name}{remedy}.")


def _of_npy(path: Path, labels: str | Path | None, columns: Mapping[Column, str | None]) -> Part:
    if labels is None:
        raise ValueError(f"{path.name} holds logits alone: name the file of the labels with --labels.")
    if Path(labels).suffix.lower() != ".npy":
        raise ValueError(f"the file of the labels must be .npy. Got {Path(labels).name}.")
    found: dict[str, Any] = {}
    for name, other in columns.items():
        if other is not None and Path(other).suffix.lower() != ".npy":
            raise ValueError(f"beside an npy file, {name} must be the path of another. Got {other}.")
        found[name] = None if other is None else read_npy(Path(other))
    return Part(read_npy(path, mapped=True), read_npy(Path(labels)), **found)


# --- from memory ----------------------------------------------------------------------------


def _of_memory(data: Any, test: Any, columns: Mapping[Column, Any]) -> dict[str, Part]:
    if test is not None:
        if not _is_pair(data) or not _is_pair(test):
            raise ValueError("test must be (scores, labels), where data are (scores, labels) for validation.")
        data = {"validation": data, "test": test}
    pairs, found = _pairs(data), {}
    for index, (name, pair) in enumerate(pairs.items()):
        own = {column: _of_set(values, index, len(pairs), column) for column, values in columns.items()}
        found[name] = _part(pair, own)
    return found


def _pairs(data: Any) -> dict[str, Any]:
    """Sets by their names: 'all', or 'validation' and 'test'."""
    if isinstance(data, dict) and set(data) in ({"all"}, {"validation", "test"}):
        return data
    if not _is_pair(data):
        raise TypeError(
            "data must be the path of a file, (logits, labels), two such pairs, or what read_logits gave. "
            f"Got {type(data).__name__}."
        )
    two = all(isinstance(part, tuple) and len(part) == 2 for part in data)
    return {"validation": data[0], "test": data[1]} if two else {"all": data}


def _is_pair(data: Any) -> bool:
    return isinstance(data, tuple | list) and len(data) == 2


def _of_set(values: Any, index: int, count: int, name: str) -> Any:
    if values is None or count == 1:
        return values
    if not _is_pair(values):
        raise ValueError(f"{name} of two sets must be a pair, for validation and test. Got {type(values).__name__}.")
    return values[index]


def _part(pair: Any, columns: dict[Column, Any]) -> Part:
    if isinstance(pair, LogitSet):
        raise TypeError("a LogitSet goes with others alone, {'validation': ..., 'test': ...}.")
    scores, labels = pair
    names = tuple(map(str, scores.columns)) if isinstance(scores, pd.DataFrame) else None
    if isinstance(labels, pd.DataFrame) and names is not None:  # multi-label
        labels = labels.to_numpy()
    return Part(scores, as_array(labels), class_names=names, score_columns=names, **columns)

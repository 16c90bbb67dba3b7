"""csv and parquet tables with probabilities in place of scores; other columns are unchanged."""

from __future__ import annotations

import functools
from pathlib import Path

from focal_lib.atomic_write import write_whole
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.logit_sets import Given
from focal_lib.tool.apply.new_scores import apply_to_scores
from focal_lib.tool.apply.npy_stream import write_npy
from focal_lib.tool.inputs.column_names import in_words
from focal_lib.tool.inputs.table_file import LABEL, check_classes, numbers_of_columns, read_table
from focal_lib.validation import check_package

TABLES = (".csv", ".parquet")


def score_columns(calibrator: Calibrator, names: list[str]) -> list[str]:
    """The columns of scores, found by their names in fit and in that order.

    If the calibrator was not fitted on a table: all columns but 'label', if their number is right.

    Raises:
        ValueError: a column of fit is missing or duplicated; ambiguous columns.
    """
    known = calibrator.score_columns_
    if known is None:
        return _as_many(calibrator, [name for name in names if name != LABEL])
    found = [str(name) for name in known]
    if missing := [name for name in found if name not in names]:
        raise ValueError(
            f"the table must have the columns of scores that the calibrator was fitted on, {in_words(found)}. Got "
            f"{in_words(names)}; no {missing[0]!r}."
        )
    if twice := [name for name in found if names.count(name) > 1]:
        raise ValueError(f"the table must have each column once. Got {twice[0]!r} more than once.")
    return found


def _as_many(calibrator: Calibrator, names: list[str]) -> list[str]:
    layout, k = calibrator.layout_, calibrator.n_classes_
    fits = {"binary": len(names) == 1, "multi-label": False, "options": len(names) >= 2}
    if not fits.get(layout, len(names) == k):
        wanted = {"binary": "one column", "multi-label": "no table, but npy", "options": "two columns or more"}
        raise ValueError(
            "of a calibrator that was not fitted on a table the scores must be all columns but 'label', "
            f"{wanted.get(layout, f'{k} columns')}. Got {in_words(names)}."
        )
    return names


def _other_columns(calibrator: Calibrator, names: list[str]) -> list[str]:
    scores = {*score_columns(calibrator, names)}
    return [name for name in names if name not in scores]


def apply_to_table(calibrator: Calibrator, path: Path, out: Path, given: Given | None = None) -> int:
    """Write the table `path` with probabilities in place of scores, as csv or parquet; or only these, as npy.

    Args:
        out: '-' for standard output, npy.
        given: kind of the scores; None for the kind in fit.

    Returns:
        The number of samples.

    Raises:
        ValueError: another file, other columns, or scores that are not of the kind `given`.
        ImportError: parquet, and pyarrow is not installed.
    """
    if (ending := out.suffix.lower()) == ".parquet":
        check_package("pyarrow", f"writing {out.name}", "parquet")
    frame = read_table(path, functools.partial(_other_columns, calibrator))
    if any(name is not None for name in frame.index.names):  # parquet of pandas
        frame = frame.reset_index()
    columns = score_columns(calibrator, list(frame.columns))
    if calibrator.score_columns_ is None:
        check_classes(path, frame[columns])
    scores = numbers_of_columns(path, frame[columns])
    probs = apply_to_scores(calibrator, scores[:, 0] if len(columns) == 1 else scores, given)
    if ending not in TABLES:
        write_npy(out, probs.shape, [probs], scores.dtype)
        return len(frame)
    table = frame.assign(**dict(zip(columns, probs.reshape(len(frame), len(columns)).T, strict=True)))
    write_whole(out, lambda part: table.to_csv(part, index=False) if ending == ".csv" else table.to_parquet(part))
    return len(frame)

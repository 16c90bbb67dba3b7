"""Names of columns that are no class', in any case: of what goes with a sample, and of its number."""

from __future__ import annotations

from typing import get_args

from focal_lib.calibration.inputs.parts import Column

__all__ = ["is_index_name", "what_goes_with_samples"]

_PER_SAMPLE: dict[str, Column] = {
    **dict.fromkeys(("w", "wt", "weight", "sample_weight", "sample_weights"), "weights"),
    **dict.fromkeys(("group", "group_id", "patient", "patient_id", "fold", "split"), "groups"),
    **dict.fromkeys(("slice", "site"), "slices"),
    **{own: own for own in get_args(Column)},
}
_INDEX = {"id", "ids", "index", "idx", "sample", "sample_id", "row", "unnamed: 0", "__index_level_0__", ""}


def what_goes_with_samples(name: str) -> Column | None:
    """What a column of the name holds for each sample; None where it may be a class'."""
    return _PER_SAMPLE.get(name.strip().lower())


def is_index_name(name: str) -> bool:
    """Whether a column of the name counts or names the samples."""
    return name.strip().lower() in _INDEX

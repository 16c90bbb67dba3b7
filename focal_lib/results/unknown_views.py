"""What chapter 19 shows of its tables: means over corruptions, contrasts on several sets of images, counts in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import t_interval
from focal_lib.results.recorded import read_unknown
from focal_lib.results.written_contrasts import evaluate_contrasts
from focal_lib.training.contrasts import Contrast

__all__ = ["CIFAR_SHOWN", "evaluate_by_unknown", "over_severity", "say_significant"]

CIFAR_SHOWN = ("cifar100", "cifar10-c-gaussian-noise-5")  # those that the contrasts of CIFAR are about


def over_severity(
    table: pd.DataFrame, loss: str, method: str, metric: str, corruptions: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Severities, the mean of a metric over corruptions, and half of its t interval over seeds, (m,) each.

    Args:
        table: what `measure_shift` gives.

    Raises:
        ValueError: no such rows, or of one seed alone.
    """
    kept = table[(table["loss"] == loss) & (table["method"] == method) & (table["metric"] == metric)]
    kept = kept[kept["corruption"].isin(corruptions)]
    if kept.empty:
        raise ValueError(f"table must have {metric} of {loss}, {method}, under {', '.join(corruptions)}. Got no rows.")
    wide = kept.pivot_table(index="seed", columns="severity", values="value", aggfunc="mean")
    intervals = [t_interval(wide[severity]) for severity in wide]
    return wide.columns.to_numpy(), wide.mean().to_numpy(), np.array([(i.high - i.low) / 2 for i in intervals])


def evaluate_by_unknown(grid: str, contrasts: Iterable[Contrast], unknown: Sequence[str]) -> pd.DataFrame:
    """`evaluate_contrasts` of a recorded grid for each set of images, whose name ends the name of a contrast's table.

    Returns:
        What `evaluate_contrasts` does, names with what was shown before them; Holm within each table.

    Raises:
        FileNotFoundError, ValueError: as `read_unknown` and `evaluate_contrasts`.
    """
    asked, parts = list(contrasts), []
    for name in unknown:
        own = [contrast for contrast in asked if contrast.table.endswith(name)]
        found = evaluate_contrasts(read_unknown(grid, name), own)
        parts.append(found.assign(name=f"{name}: " + found["name"]))
    return pd.concat(parts, ignore_index=True)


def say_significant(found: pd.DataFrame) -> str:
    """'none of 8 is significant', or how many are, and of how many the sign is the claimed one.

    Args:
        found: what `evaluate_contrasts` gives.
    """
    clear = found[found["significant"]]
    if clear.empty:
        return f"none of {len(found)} is significant"
    claimed = int((np.sign(clear["difference"]) == clear["claimed"]).sum())
    if len(clear) == 1:
        return f"1 of {len(found)} is significant, {'with' if claimed else 'against'} the sign asked for"
    share = "all" if claimed == len(clear) else f"{claimed} of them" if claimed else "none"
    return f"{len(clear)} of {len(found)} are significant, {share} with the sign asked for"

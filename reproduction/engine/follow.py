"""Rows of the history for who watches a run in TensorBoard or MLflow, as they come; nothing of a run depends on it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from reproduction.engine.spec import Spec

log = logging.getLogger(__name__)

Rows = Sequence[Mapping[str, Any]]
Follower = Callable[[Spec, Path, Rows], None]  # called with a run, its folder and the rows of an epoch


class TensorBoard:
    """A folder `tensorboard` in that of the run: tensorboard --logdir _build/runs."""

    def __init__(self) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._open: Callable[..., Any] = SummaryWriter
        self._writers: dict[Path, Any] = {}

    def __call__(self, spec: Spec, folder: Path, rows: Rows) -> None:
        writer = self._writers.get(folder)
        if writer is None:  # of steps that a killed process had told, too, the last count
            writer = self._writers[folder] = self._open(str(folder / "tensorboard"), purge_step=rows[0]["epoch"])
        for epoch, name, value in _numbers(rows):
            writer.add_scalar(name, value, epoch)
        writer.flush()


class MLflow:
    """A run of MLflow for each of ours, in the experiment 'focal', where MLFLOW_TRACKING_URI says."""

    def __init__(self) -> None:
        from mlflow import MlflowClient

        self._client, self._runs = MlflowClient(), dict[str, str]()

    def __call__(self, spec: Spec, folder: Path, rows: Rows) -> None:
        run = self._runs.get(spec.digest) or self._find(spec)
        for epoch, name, value in _numbers(rows):
            self._client.log_metric(run, name.replace("/", "_"), value, step=epoch)
        if rows[-1]["epoch"] == spec.training.epochs:
            self._client.set_terminated(run)

    def _find(self, spec: Spec) -> str:
        """That of a run which was stopped, else a new one."""
        found = self._client.get_experiment_by_name("focal")
        experiment = found.experiment_id if found else self._client.create_experiment("focal")
        stopped = f"tags.digest = '{spec.digest}' and attributes.status = 'RUNNING'"
        if known := self._client.search_runs([experiment], stopped):
            own = known[0]
        else:
            own = self._client.create_run(experiment, tags={"digest": spec.digest}, run_name=spec.name)
            for name, value in spec.as_dict.items():
                self._client.log_param(own.info.run_id, name, value)
        self._runs[spec.digest] = str(own.info.run_id)
        return self._runs[spec.digest]


_FOLLOWERS: dict[str, Callable[[], Follower]] = {"tensorboard": TensorBoard, "mlflow": MLflow}
FOLLOWERS = tuple(_FOLLOWERS)


def find_followers(names: Sequence[str]) -> list[Follower]:
    """Those of these names.

    Raises:
        ValueError: another name, or its package is not installed.
    """
    found = []
    for name in dict.fromkeys(names):
        if name not in _FOLLOWERS:
            raise ValueError(f"who follows a run must be {' or '.join(_FOLLOWERS)}. Got {name!r}.")
        try:
            found.append(_FOLLOWERS[name]())
        except ImportError as error:
            raise ValueError(f"--follow {name} needs its package: pip install {name}. Got {error}.") from None
    return found


def tell(followers: Sequence[Follower], spec: Spec, folder: Path, rows: Rows) -> None:
    """Give them the rows. What one of them raises is told, and stops no training."""
    for follower in followers if rows else ():
        try:
            follower(spec, folder, rows)
        except Exception as error:
            log.warning("%s: %s does not follow: %s", spec.name, type(follower).__name__, error)


def _numbers(rows: Rows) -> list[tuple[int, str, float]]:
    """(epoch, 'test/nll', value) of each number."""
    found = []
    for row in rows:
        for name in row.keys() - {"epoch", "split"}:
            with suppress(TypeError, ValueError):
                found.append((int(row["epoch"]), f"{row['split']}/{name}", float(row[name])))
    return sorted(found)

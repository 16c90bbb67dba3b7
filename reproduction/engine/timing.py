"""Steps timed before a grid begins: in a process of their own, whose memory and GPU are free again for the runs.

python -m reproduction.engine.timing GRID DEVICE DIGEST ...
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from reproduction.engine.grids import read_grid
from reproduction.engine.spec import Spec
from reproduction.engine.speed import Kind, Speed, kind_of, measure_speeds

LIMIT = 15.0  # seconds that a grid waits for it


def measure_apart(path: str | Path, specs: Sequence[Spec], device: str) -> dict[Kind, Speed | str]:
    """As `measure_speeds` of these runs of a grid file, for at most LIMIT seconds; no error ends the grid.

    Args:
        device: 'cpu', 'cuda', 'cuda:1'.
    """
    command = [sys.executable, "-m", "reproduction.engine.timing", str(path), device, *(spec.digest for spec in specs)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        found = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        reason = f"to time a step takes more than {LIMIT:g} s here; --dry-run waits for it"
    except ValueError:  # it printed nothing, or not all
        reason = (done.stderr.strip().splitlines() or [f"the timing of a step ended with {done.returncode}"])[-1]
    else:
        return {Kind(*kind): speed if isinstance(speed, str) else Speed(*speed) for kind, speed in found}
    return {kind_of(spec, device.startswith("cuda")): reason for spec in specs}


def _main(path: str, device: str, *digests: str) -> None:
    specs = [spec for spec in read_grid(path) if spec.digest in digests]

    import torch

    print(json.dumps(list(measure_speeds(specs, torch.device(device)).items())))


if __name__ == "__main__":
    _main(*sys.argv[1:])

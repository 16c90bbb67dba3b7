"""The `focal` command; each of its commands has a file of its own.

focal notebook 04_temperature_bounds -p radius 10 --out page.ipynb
focal run -p loss focal -p gamma 3
focal grid workflow/grids/fashion-mnist.yaml --status
focal calibrate logits.npz --out report
focal apply report/calibrator.json new.npy --out probs.npy
focal watch outcomes.csv --state watch.json
focal export report/calibrator.json --out calibrator.onnx
focal claims prop5
focal claims --verify
"""

from __future__ import annotations

import click

from focal_lib.cli.apply import apply
from focal_lib.cli.calibrate import calibrate
from focal_lib.cli.check import check
from focal_lib.cli.claims import claims
from focal_lib.cli.export import export
from focal_lib.cli.grid import grid
from focal_lib.cli.notebook import notebook
from focal_lib.cli.run import run
from focal_lib.cli.watch import watch

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="focal-lib")
def main() -> None:
    """Focal loss and calibration: run the book's notebooks, train networks, check claims."""


for _command in (apply, calibrate, check, claims, export, grid, notebook, run, watch):
    main.add_command(_command)

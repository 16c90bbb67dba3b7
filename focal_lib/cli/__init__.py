"""The `focal` command; each of its commands has a file of its own.

focal calibrate logits.npz --out report
focal apply report/calibrator.json new.npy --out probs.npy
focal check logits.npz --max-ece 0.02
focal watch outcomes.csv --state watch.json
focal export report/calibrator.json --out calibrator.onnx
focal notebook 04_temperature_bounds -p radius 10 --out page.ipynb
focal run -p loss focal -p gamma 3
focal grid workflow/grids/fashion-mnist.yaml --status
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
    """Focal loss and calibration: calibrate a model, check it, watch it; run the book, train networks, check claims.

    \b
    A model of yours, from its logits or probabilities and labels:
      focal calibrate logits.npz --out report      fit, compare, advise; a report
      focal apply report/calibrator.json new.npy --out probs.npy
      focal check logits.npz --max-ece 0.02        for continuous integration
      focal watch outcomes.csv --state watch.json  raises an alarm on drift
    """


for _command in (apply, calibrate, check, claims, export, grid, notebook, run, watch):
    main.add_command(_command)

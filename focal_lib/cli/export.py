"""The `focal export` command.

focal export report/calibrator.json --out calibrator.onnx
"""

from __future__ import annotations

from pathlib import Path

import click

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.errors import FileCommand
from focal_lib.cli.parameters import NEW_FILE


@click.command(cls=FileCommand)
@click.argument("calibrator", type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=NEW_FILE, help="The model, onnx.")
def export(calibrator: Path, out: Path) -> None:
    """The calibrator as an ONNX model: input logits (n, K) float32, output probs.

    In Python, load_calibrator(path).to_module() is the same as a torch module.
    """
    from focal_lib.calibration.saved import load_calibrator, write_onnx

    check_folder(out.parent)
    check_target(out, calibrator, ending=".onnx")
    fit = load_calibrator(calibrator)
    write_onnx(fit.to_module(), fit.n_classes_, out)
    of_scores = (
        "; of a score s of one class its columns are 0 and s" if fit.layout_ in ("binary", "multi-label") else ""
    )
    of_scores += "" if fit.given_ == "logits" else "; of probabilities give the logarithms"
    click.echo(f"{type(fit).__name__}, {fit.n_classes_} classes{of_scores} -> {click.format_filename(out)}")

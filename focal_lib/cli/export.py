"""The `focal export` command.

focal export report/calibrator.json --out calibrator.onnx
focal export --gamma 2 --class-weights 0.25 --out calibrator.json
"""

from __future__ import annotations

from pathlib import Path

import click

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.errors import FileCommand
from focal_lib.cli.parameters import NEW_FILE, FiniteNumber


@click.command(cls=FileCommand)
@click.argument("calibrator", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--gamma", type=FiniteNumber(0), help="Of the focal loss that trained the model, in place of a calibrator."
)
@click.option("--class-weights", help="Of that loss, one a class, as 1,1,5; or alpha, for two classes.")
@click.option("--out", required=True, type=NEW_FILE, help="The model, onnx; with --gamma also json.")
def export(calibrator: Path | None, gamma: float | None, class_weights: str | None, out: Path) -> None:
    """The calibrator as an ONNX model: input logits (n, K) float32, output probs.

    With --gamma and --class-weights (1,1 for two equal ones) it is the way back to probabilities after training with
    focal loss, which needs no data; with --gamma 0 a prior shift, whose weights are the old priors by the new. In
    Python, load_calibrator(path).to_module() is the same as a torch module.
    """
    from focal_lib.calibration.calibrators.base import Calibrator
    from focal_lib.calibration.calibrators.focal_probabilities import FocalProbabilities
    from focal_lib.calibration.saved import load_calibrator, save_calibrator, write_onnx

    if (calibrator is None) == (gamma is None) or (gamma is None) != (class_weights is None):
        raise click.UsageError("give a calibrator, or --gamma and --class-weights of the loss.")
    check_folder(out.parent)
    fit: Calibrator
    if calibrator is None:
        check_target(out, ending=out.suffix if out.suffix == ".json" else ".onnx")
        numbers = _numbers(class_weights or "")
        fit = FocalProbabilities(gamma or 0.0, numbers if len(numbers) > 1 else numbers[0]).fit()
    else:
        check_target(out, calibrator, ending=".onnx")
        fit = load_calibrator(calibrator)
    if out.suffix == ".json":
        save_calibrator(fit, out)
    else:
        write_onnx(fit.to_module(), fit.n_classes_, out)
    of_scores = (
        "; of a score s of one class its columns are 0 and s" if fit.layout_ in ("binary", "multi-label") else ""
    )
    of_scores += "" if fit.given_ == "logits" else "; of probabilities give the logarithms"
    click.echo(f"{type(fit).__name__}, {fit.n_classes_} classes{of_scores} -> {click.format_filename(out)}")


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--class-weights must be numbers with commas between. Got {text!r}.") from None

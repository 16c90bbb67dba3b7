"""The `focal` command; each of its commands has a file of its own.

focal calibrate logits.npz --out report
focal apply report/calibrator.json new.npy --out probs.npy
focal check logits.npz --max-ece 0.02
focal watch outcomes.csv --state watch.json
focal export report/calibrator.json --out calibrator.onnx

Other packages add commands of theirs by entry points of the group `focal_lib.commands`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points

import click

_OWN = ("apply", "calibrate", "check", "export", "watch")


class _Commands(click.Group):
    """Commands that are imported when they are asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted([*_OWN, *entry_points(group="focal_lib.commands").names])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in _OWN:
            command: click.Command = getattr(import_module(f"focal_lib.cli.{name}"), name)
            return command
        for added in entry_points(group="focal_lib.commands", name=name):
            loaded: click.Command = added.load()
            return loaded
        return None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="focal-lib")
def main() -> None:
    """Focal loss and calibration: calibrate a model, check it, watch it.

    \b
    A model of yours, from its logits or probabilities and labels:
      focal calibrate logits.npz --out report      fit, compare, advise; a report
      focal apply report/calibrator.json new.npy --out probs.npy
      focal check logits.npz --max-ece 0.02        for continuous integration
      focal watch outcomes.csv --state watch.json  raises an alarm on drift
    """

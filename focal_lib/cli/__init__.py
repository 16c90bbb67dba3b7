"""The `focal` command; each subcommand has its own file.

focal calibrate logits.npz --out report
focal apply report/calibrator.json new.npy --out probs.npy
focal check logits.npz --max-ece 0.02
focal watch outcomes.csv --state watch.db
focal export report/calibrator.json --out calibrator.onnx
focal gamma validation.npz
focal demo

Other packages add commands by entry points of the group `focal_lib.commands`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from focal_lib.cli.errors import discard_output, in_a_line

_OWN = ("apply", "calibrate", "check", "demo", "export", "gamma", "watch")
_GROUP = "focal_lib.commands"


class _Commands(click.Group):
    """Commands imported on first use; missing dependencies of other packages' commands are reported in one line."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted([*_OWN, *entry_points(group=_GROUP).names])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in _OWN:
            command: click.Command = getattr(import_module(f"focal_lib.cli.{name}"), name)
            return command
        for added in entry_points(group=_GROUP, name=name):
            try:
                loaded: click.Command = added.load()
            except ModuleNotFoundError as error:
                if (needs := _needs(added, error)) is None:
                    raise
                return _Lacking(name, needs)
            return loaded
        return None

    def main(self, *args: Any, **more: Any) -> Any:
        """A standard output that cannot be written to, as on a full disk, is a line of any command, --help too."""
        try:
            try:
                return super().main(*args, **more)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
        except OSError as error:
            discard_output()
            click.echo(f"Error: {in_a_line(error)}", err=True)
            raise SystemExit(1) from None

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except ModuleNotFoundError as error:
            for added in entry_points(group=_GROUP, name=context.invoked_subcommand or ""):
                if (needs := _needs(added, error)) is not None:
                    raise click.ClickException(needs) from error
            raise


class _Lacking(click.Command):
    """Placeholder for a command that cannot be imported: it is listed and reports the missing package."""

    def __init__(self, name: str, needs: str) -> None:
        super().__init__(name, short_help=needs.partition(": ")[2])
        self.needs = needs

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> click.Context:
        raise click.ClickException(self.needs)


def _needs(added: EntryPoint, error: ModuleNotFoundError) -> str | None:
    """What to install for a command of another package; None if that package lacks a module of its own, a bug."""
    package = added.module.partition(".")[0]
    if added.dist is None or (error.name or package).partition(".")[0] in (package, "focal_lib"):
        return None
    project = added.dist.metadata["Name"]
    extra = f"[{package}]" if package in (added.dist.metadata.get_all("Provides-Extra") or ()) else ""
    return f"focal {added.name} needs the {package}'s packages: pip install '{project}{extra}'"


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="focal-lib")
def main() -> None:
    """Focal loss and calibration: calibrate a model, check it, watch it.

    \b
    A model of yours, from its logits or probabilities and labels:
      focal calibrate logits.npz --out report      fit, compare, advise; a report
      focal apply report/calibrator.json new.npy --out probs.npy
      focal check logits.npz --max-ece 0.02        for continuous integration
      focal watch outcomes.csv --state watch.db    raises an alarm on drift
      focal gamma validation.npz                   which gamma would calibrate it, before training
      focal demo                                   files to try these on
    """

"""The `focal` command.

focal notebook 04_temperature_bounds -p radius 10 --out page.ipynb
focal claims kk24.prop5
"""

from __future__ import annotations

from pathlib import Path

import click
import yaml

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="focal-lib")
def main() -> None:
    """Focal loss and calibration: run the book's notebooks, look claims up."""


@main.command()
@click.argument("name")
@click.option("-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="A parameter, in YAML.")
@click.option("--out", type=click.Path(path_type=Path), help="Executed notebook. Default: NAME.ipynb here.")
def notebook(name: str, parameters: tuple[tuple[str, str], ...], out: Path | None) -> None:
    """Run the notebook NAME headless with papermill, its parameter names checked first."""
    from focal_lib.notebook import execute, find_source

    try:
        source = find_source(name)
        out = out or Path(f"{source.stem}.ipynb")
        seconds = execute(source, out, {key: yaml.safe_load(value) for key, value in parameters})
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{source.stem}: done in {seconds:.1f} s -> {out}")


@main.command()
@click.argument("claim_id", required=False)
def claims(claim_id: str | None) -> None:
    """Check every claim of the ledger, or explain the one with CLAIM_ID."""
    from focal_lib.claims import find, ledger

    if claim_id is None:
        for claim in ledger():
            click.echo(f"{claim.verdict:18} {claim.id:36} {claim.source}")
        return
    try:
        click.echo(find(claim_id)._repr_markdown_())
    except ValueError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()

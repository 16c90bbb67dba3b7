"""The `focal notebook` command.

focal notebook temperature_bounds -p radius 10 --out page.ipynb
"""

from __future__ import annotations

from pathlib import Path

import click

from focal_lib.atomic_write import check_target
from focal_lib.cli.parameters import NAMED_PATH, CommandWithParameters, parameters_option


class _NotebookHelp(CommandWithParameters):
    def rows(self, context: click.Context) -> list[tuple[str, str]]:
        from reproduction.pages.execute import describe_parameters, find_source

        name = context.params.get("name")
        try:
            return describe_parameters(find_source(name)) if name else []
        except (ValueError, FileNotFoundError) as error:
            raise click.ClickException(str(error)) from None


def _show_help(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(context.get_help())
        context.exit()
    if context.params.get("name") is None:
        raise click.UsageError("Missing argument 'NAME'.", context)


@click.command(cls=_NotebookHelp, add_help_option=False)
@click.argument("name", required=False, is_eager=True, metavar="NAME")  # known when --help is asked for
@parameters_option("a number, text, true or false; of NAME --help")
@click.option("--out", type=NAMED_PATH, help="Executed notebook. Default: NAME.ipynb here.")
@click.option("--html", type=NAMED_PATH, help="Also one HTML page, which opens without a network.")
@click.option("--for-book", is_flag=True, help="Leave numbers and references to Sphinx, as the book's build needs.")
@click.option(
    "-h", "--help", is_flag=True, expose_value=False, callback=_show_help, help="This; after NAME, its parameters, too."
)
def notebook(
    name: str, parameters: tuple[tuple[str, str], ...], out: Path | None, html: Path | None, for_book: bool
) -> None:
    """Run the notebook NAME headless with papermill, its parameter names checked first.

    Paths among the parameters are relative to the project's folder. What it leaves is for JupyterLab: numbers and
    references of the text are filled in.
    """
    from reproduction.checkout import require_checkout

    try:
        if Path(name).suffix != ".py":
            require_checkout("a notebook by its name")  # before the packages of the book are looked for
    except FileNotFoundError as error:
        raise click.ClickException(str(error)) from None

    from reproduction.pages.execute import execute, find_source
    from reproduction.pages.resolve import as_html, resolve
    from reproduction.parameters import parse_parameters

    try:
        if for_book and html is not None:
            raise ValueError("--html shows the numbers, which --for-book leaves to Sphinx. Got both.")
        source = find_source(name)
        out = out or Path(f"{source.stem}.ipynb")
        check_target(out, source, ending=".ipynb")
        if html is not None:
            if html.resolve() == out.resolve():
                raise ValueError(f"--html must be another file than the notebook. Got {html} for both.")
            check_target(html, source, ending=".html")
        seconds = execute(source, out, parse_parameters(parameters))
        if not for_book:
            resolve(out, out)
        if html is not None:
            as_html(out, html)
    except (ValueError, RuntimeError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{source.stem}: done in {seconds:.1f} s -> {out}" + (f", {html}" if html else ""))

"""The `focal import` command.

focal import logits.npz --as 'dataset=cifar10 model=resnet50 loss=focal gamma=3 seed=0' --root mine
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import click

from focal_lib.atomic_write import check_folder
from focal_lib.cli.data_options import GIVEN
from focal_lib.cli.parameters import ROOT_FOLDER

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("import")
@click.argument("path", type=_FILE)
@click.option("--as", "told", required=True, metavar="'NAME=VALUE ...'", help="What was trained; the names are above.")
@click.option("--root", type=ROOT_FOLDER, required=True, help="Folder of runs to put it into.")
@click.option("--test", type=_FILE, help="File of the test set, where PATH is for validation alone.")
@click.option("--given", type=GIVEN, default="logits", show_default=True, help="What the file holds.")
def import_logits(path: Path, told: str, root: Path, test: Path | None, given: str) -> None:
    """Make a run of a folder from logits that were trained elsewhere, for `focal compare`.

    PATH is a file that focal calibrate reads, of validation and test: npz with validation_logits, validation_labels,
    test_logits and test_labels, the test set whole and in its published order.

    \b
    --as must tell dataset, model, loss, seed, and may tell
      gamma, lam                  of the loss; a loss of your own has any name
      n_train, recipe, epochs     how it was trained; recipe as in focal run --help, or a name of your own
      precision, threads          float32 or bf16; threads of a CPU
    What is not told counts as unlike the record. The same logits again change what is told of them.
    """
    from focal_lib.tool.inputs.logits_file import read_logits
    from reproduction.engine.imported import Imported, check_splits, labels_at_hand, parse_told, write_imported

    try:
        run = parse_told(told)
        check_folder(root, made=True)
        sets = read_logits(path, given=given, test=test)  # type: ignore[arg-type]
        published = labels_at_hand(run.dataset)
        folder = write_imported(run, check_splits(sets, run.dataset, published), root, path.name)
    except (ValueError, TypeError, OSError, MemoryError) as error:
        raise click.ClickException(str(error)) from None
    untold = [f.name for f in fields(Imported) if f.name not in ("gamma", "lam") and getattr(run, f.name) is None]
    click.echo(f"{run.name} -> {folder.name}" + (f"; not told: {', '.join(untold)}" if untold else ""))
    if published is None:
        click.echo(f"Test labels were not compared with those of {run.dataset}: it is not in FOCAL_DATA.")

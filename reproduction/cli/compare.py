"""The `focal compare` command.

focal compare mine --with cifar10-record
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from focal_lib.atomic_write import check_folder, check_target, write_whole
from focal_lib.cli.parameters import NEW_FILE

if TYPE_CHECKING:
    import pandas as pd

    from reproduction.studies.shared.beside_record import Comparison
    from reproduction.studies.shared.trained_alike import Trained

PRINTED = "printed"  # in the place of a record: the papers' tables alone


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path))
@click.option("--with", "record", required=True, metavar="NAME", help="A record, or printed: the papers' tables alone.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Default: nll and ece. May be repeated.")
@click.option("--loss", "losses", multiple=True, metavar="NAME", help="Of FOLDER, these alone. May be repeated.")
@click.option("--against", multiple=True, metavar="NAME", help="Losses of the record, in place of the two above.")
@click.option("--anyway", is_flag=True, help="Show numbers where runs were trained otherwise, without a verdict.")
@click.option("--out", type=NEW_FILE, help="Write the contrasts as csv, too.")
@click.option("--json", "as_json", type=NEW_FILE, help="Write them as JSON, too.")
def compare(
    folder: Path,
    record: str,
    metrics: tuple[str, ...],
    losses: tuple[str, ...],
    against: tuple[str, ...],
    anyway: bool,
    out: Path | None,
    as_json: Path | None,
) -> None:
    """Hold the runs in FOLDER, of focal run, focal grid or focal import, against recorded ones, and printed tables.

    Each loss is compared with the record's cross-entropy and with its best loss, as trained and after a temperature:
    paired by seed where the images are the same, over seeds and test images, corrected by Holm.

    \b
      focal compare mine --with cifar10-record
      focal compare mine --with cifar10-record --loss "focal 3" --against flsd-53 --metric adaptive-ece

    Refused where data, sizes, recipe, epochs, precision or threads differ. Records are the folders of results/.
    """
    from reproduction.studies.shared.beside_record import compare_with_papers, compare_with_record
    from reproduction.studies.shared.trained_alike import load_folder

    try:
        if record == PRINTED and (out or as_json or against):
            raise ValueError(f"--out, --json and --against are for a record. Got {PRINTED}.")
        for path, ending in ((out, ".csv"), (as_json, ".json")):
            if path is not None:
                check_target(path, ending=ending)
                check_folder(path.absolute().parent)
        runs, asked = _chosen(load_folder(folder), losses), list(dict.fromkeys(metrics)) or ["nll", "ece"]
        found = None if record == PRINTED else compare_with_record(runs, record, asked, against, anyway=anyway)
        tables, unlike = compare_with_papers(runs, asked)
        if found is None and not tables:
            raise ValueError(f"a printed table must have that network. Got {runs[0].model} on {runs[0].dataset}.")
        click.echo(_describe(folder.name, runs))
        if found is not None:
            click.echo(_as_text(record, found))
            if out is not None:
                write_whole(out, lambda part: found.rows.to_csv(part, index=False))
            if as_json is not None:
                write_whole(as_json, lambda part: found.rows.to_json(part, orient="records", indent=1))
        if tables:
            click.echo(_beside_papers(tables, unlike))
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None


def _chosen(runs: list[Trained], losses: Sequence[str]) -> list[Trained]:
    there = list(dict.fromkeys(run.loss for run in runs))
    if unknown := [loss for loss in losses if loss not in there]:
        raise ValueError(f"--loss must be one of {', '.join(there)}. Got {unknown[0]!r}.")
    return [run for run in runs if not losses or run.loss in losses]


def _listed(what: str, lines: Sequence[str]) -> str:
    return "\n".join([what, *(f"  {line}" for line in lines)])


def _describe(name: str, runs: Sequence[Trained]) -> str:
    """'mine: resnet8 on cifar10; focal 3, seeds 0 to 3'."""
    seeds: dict[str, list[str]] = {}
    for run in runs:
        seeds.setdefault(run.loss, []).append(str(run.seed))
    said = "; ".join(f"{loss}, seed{'s' * (len(own) > 1)} {' '.join(own)}" for loss, own in seeds.items())
    return f"{name}: {runs[0].model} on {runs[0].dataset}; {said}"


def _as_text(record: str, found: Comparison) -> str:
    from reproduction.pages.tables import in_words
    from reproduction.studies.shared.written_contrasts import digits_of

    lines = list(found.notes)
    if found.differences:
        lines = [_listed("Not trained alike, so there is no verdict:", found.differences), *lines]
    rows = []
    for row in found.rows.to_dict("records"):
        number, signed = (f"{{:{sign}.{digits_of(row['metric'])}f}}".format for sign in ("", "+"))
        method, _, objective = row["scaling"].partition(" by ")
        when = "as trained" if method == "none" else f"T by {in_words(objective)}"
        shown = {
            "": f"{row['loss']} - {row['against']}{' (best)' * row['best']}",
            "metric": f"{in_words(row['metric'])}, {when}",
        }
        shown |= {"here": number(row["here"]), record: number(row["there"]), "difference": signed(row["difference"])}
        known = row["low"] == row["low"]  # not nan
        shown["95 % interval"] = f"{signed(row['low'])} to {signed(row['high'])}" if known else ""
        if not found.differences:
            shown["p, Holm"] = f"{row['p_adjusted']:.2g}" if known else ""
            shown["would show"] = number(row["smallest"]) if row["smallest"] == row["smallest"] else ""
            shown["answer"] = row["answer"]
        rows.append(shown)
    over = dict.fromkeys(found.rows.loc[found.rows["low"].notna(), "over"])
    lines += [*_aligned(rows), *([f"Intervals, each for itself, are over {'; '.join(over)}."] if over else [])]
    return "\n".join(lines)


def _aligned(rows: Sequence[dict[str, str]]) -> list[str]:
    """Columns, the first two and the last to the left."""
    table = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    left = {0, 1, *([len(widths) - 1] if "answer" in rows[0] else [])}
    return [
        "  ".join(
            cell.ljust(n) if i in left else cell.rjust(n) for i, (cell, n) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]


def _beside_papers(tables: dict[str, pd.DataFrame], unlike: Sequence[str]) -> str:
    from reproduction.pages.tables import in_words
    from reproduction.studies.shared.written_contrasts import digits_of

    parts = [_listed("The papers trained otherwise:", unlike)] if unlike else []
    for metric, table in tables.items():
        text = (
            table.rename(index=in_words)
            .rename_axis(index=None)
            .to_string(na_rep="", float_format=f"%.{digits_of(metric)}f")
        )
        parts.append(f"{in_words(metric)} as printed, for this data set and network; here: our mean\n{text}")
    return "\n".join(parts)

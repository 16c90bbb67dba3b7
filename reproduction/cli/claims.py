"""The `focal claims` command.

focal claims                    every claim, with its verdict on record
focal claims prop5              those with that in their id or statement
focal claims kk24.prop5         one of them, checked now, with its evidence
focal claims kk24.prop5 --json  the same as data; without an id, the whole ledger
focal claims --verify           everything compared with the record, then checked anew
focal claims --rubric rubric.json   what the papers claim, for graders of reproductions
focal claims kn24.lemma1 --formula "CE - gamma*H"   judged by a formula that our copy of the paper has lost
"""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from focal_lib.atomic_write import write_whole
from focal_lib.cli.parameters import NAMED_PATH

if TYPE_CHECKING:
    from reproduction.ledger.ledger import Claim
    from reproduction.ledger.verdicts import Check


@click.command()
@click.argument("text", required=False)
@click.option("--json", "as_data", is_flag=True, help="As JSON; its schema is reproduction/ledger/ledger.schema.json.")
@click.option("--verify", is_flag=True, help="Compare statements with those on record, then verdicts, checked again.")
@click.option("--record", is_flag=True, help="Record statements, then verdicts, checked again, in the README, too.")
@click.option("--statements", is_flag=True, help="Of --verify and --record: statements alone, which takes seconds.")
@click.option("--paper", help="Only the claims of one paper: kk24, m20, kn24 or l25.")
@click.option("--boxes", type=NAMED_PATH, help="Write the boxes of a claim's certificate, as JSON.")
@click.option(
    "--rubric", type=NAMED_PATH, help="Write the papers' claims as a rubric without verdicts, in PaperBench's form."
)
@click.option("--formula", help="Judge a claim whose formula our copy of the paper has lost by this one.")
def claims(
    text: str | None,
    as_data: bool,
    verify: bool,
    record: bool,
    statements: bool,
    paper: str | None,
    boxes: Path | None,
    rubric: Path | None,
    formula: str | None,
) -> None:
    """The ledger: every claim with its verdict on record, or those with TEXT in their id or statement.

    One alone is checked now and explained with its evidence.
    With --verify what claims say, their theorems and the printed tables are compared with what was last reviewed, then
    every verdict is computed anew; the exit status is 1 if anything differs.
    With --record both are written down, with what is not on record yet, for the project's authors: read both sides.
    """
    from reproduction.ledger.ledger import ledger, search

    given = {"--json": as_data, "--verify": verify, "--record": record, "--boxes": boxes is not None}
    given |= {"--rubric": rubric is not None, "--formula": formula is not None}
    if sum(given.values()) > 1:
        both = ", ".join(name for name, is_given in given.items() if is_given)
        raise click.UsageError(f"only one of {', '.join(given)} can be done at a time. Got {both}.")
    if statements and not (verify or record):
        raise click.UsageError("--statements must come with --verify or --record. Got neither.")
    try:
        wanted = search(text, paper) if text else ledger(paper)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    alone = wanted[0] if text and len(wanted) == 1 else None
    if boxes is not None:
        _write_boxes(alone, boxes)
    elif rubric is not None:
        _write_rubric(wanted, rubric)
    elif formula is not None:
        _judge(alone.id if alone else str(text), formula)
    elif record:
        _record([claim.id for claim in wanted], statements)
    elif verify:
        _verify([claim.id for claim in wanted], statements)
    elif as_data:
        from reproduction.ledger.as_json import as_json

        click.echo(json.dumps(as_json(wanted, check=alone is not None), indent=1, ensure_ascii=False))
    elif alone:
        click.echo(alone.describe())
        click.echo(f"\n{alone.place} ({alone.chapter}); code {alone.location}; checked in {alone.seconds:.1f} s.")
    else:
        _list(wanted)


def _list(wanted: list[Claim]) -> None:
    from reproduction.ledger import verdicts

    labels = {id: record.label for id, record in verdicts.records().items()}
    rows = [(labels.get(own.id, "not on record"), own.id, str(own.fidelity), own.source) for own in wanted]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def _checked(ids: list[str]) -> list[Check]:
    """The claims checked now, with a bar."""
    from reproduction.engine.store import RunDamaged
    from reproduction.ledger import verdicts

    found = []
    with click.progressbar(length=len(ids), label="checking", file=sys.stderr) as bar:
        try:
            for check in verdicts.check_all(ids):
                bar.update(1)
                found.append(check)
        except RunDamaged as error:
            raise click.ClickException(str(error)) from None
    for check in found:
        if check.changed:
            recorded = check.before.describe() if check.before else "not on record"
            if recorded != check.now.describe():
                click.echo(f"{check.id}: {recorded} -> {check.now.describe()}")
            if check.before and check.before.evidence != check.now.evidence:
                click.echo(f"{check.id}: evidence {check.before.evidence} -> {check.now.evidence}")
            before = (check.before or verdicts.Record("")).words.splitlines()
            for line in difflib.ndiff(before, check.now.words.splitlines()):
                if line[0] in "+-":
                    click.echo(f"{check.id}: words {line}")
    return found


def _verify(ids: list[str], statements_alone: bool) -> None:
    from reproduction.ledger import reviewed
    from reproduction.ledger.formal import say_checked, stale, statements

    differences = reviewed.compare(ids)
    for difference in differences:
        click.echo(difference.describe())
    click.echo(f"{len(differences)} differences from what was reviewed of {len(ids)} claims and what they rest on.")
    checks = [] if statements_alone else _checked(ids)
    missing, changed = (sum(getattr(check, name) for check in checks) for name in ("missing", "changed"))
    note = f" {missing} need runs, recorded in results/ of the project, and were not compared." if missing else ""
    if checks:
        click.echo(f"{len(ids) - changed - missing} of {len(ids)} verdicts as recorded.{note}")
    if stale() and statements():
        click.echo(f"Formal proofs are {say_checked()}.")
    if changed or differences:
        raise SystemExit(1)


def _record(ids: list[str], statements_alone: bool) -> None:
    from reproduction.ledger import reviewed, tally, verdicts
    from reproduction.ledger.ledger import ledger

    known = verdicts.records()
    ids += [claim.id for claim in ledger() if claim.id not in known and claim.id not in ids]
    try:
        changes = reviewed.record(ids)
        for change in changes:
            click.echo(change.describe())
        click.echo(f"{len(changes)} differences -> {reviewed.FILE.name}")
        if statements_alone:
            return
        verdicts.record(_checked(ids), tally.rewrite_readme)
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{len(ids)} verdicts -> {verdicts.FILE.name}, README.md")


def _write_boxes(claim: Claim | None, out: Path) -> None:
    from reproduction.ledger.evidence import certificates

    found = certificates(claim.evidence) if claim else []
    if not found:
        raise click.ClickException(
            "--boxes needs the id of a claim with a certificate, such as kk24.prop3_sharp_above."
        )
    _write_json([certificate.as_json() for certificate in found], out)
    click.echo(f"{sum(len(b) for c in found for b in c.boxes.values()):,} boxes -> {out}")


def _write_rubric(wanted: list[Claim], out: Path) -> None:
    from reproduction.ledger.rubric import rubric

    of_papers = [claim for claim in wanted if claim.of_paper]
    if not of_papers:
        raise click.ClickException("--rubric needs claims that a paper makes. Got those of ours alone.")
    _write_json(rubric(of_papers), out)
    click.echo(f"{len(of_papers)} claims -> {out}")


def _write_json(content: object, out: Path) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    try:
        write_whole(out, lambda part: part.write_text(text))
    except OSError as error:
        raise click.ClickException(str(error)) from None


def _judge(id: str, formula: str) -> None:
    from reproduction.ledger.lost_formulas import judge

    try:
        evidence = judge(id, formula)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{evidence.verdict}, if the formula is {formula}\n\n{evidence.describe()}")

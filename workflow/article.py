"""The article on what reproduced and what did not, in the form of ReScience C: article/, filled from the ledger.

    python -m workflow.article         # make article

Writes _build/article/article.html and, printed by Chromium, article.pdf. No number and no verdict in it is typed: the
text is a template, and what fills it is read from the record of verdicts, the recorded runs and the grids.
"""

from __future__ import annotations

import functools
import html
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from reproduction.checkout import ROOT, commit
from reproduction.engine.data.sources import find_source
from reproduction.engine.grids import read_contrasts, read_notes
from reproduction.engine.recipes import RECIPES
from reproduction.ledger.ledger import find, ledger
from reproduction.ledger.tally import GROUPS, tally, tally_table
from reproduction.ledger.verdicts import recorded, records
from reproduction.ledger.weight import Weight
from reproduction.pages.references import cite, reference_list
from reproduction.pages.tables import in_words
from reproduction.studies.calibrators.architectures import ARCHITECTURE_CONTRASTS, contrasts_by_network
from reproduction.studies.calibrators.calibrators_compared import FIRST_CONTRASTS
from reproduction.studies.cifar.claims_kk24 import gain_of_focal_losses
from reproduction.studies.cifar.claims_m20_l25 import CLIPPED, FRESH, HUNDRED_CLASSES, LARGER
from reproduction.studies.fcl import plan
from reproduction.studies.fcl.measures import read_fcl
from reproduction.studies.human_labels.contrasts import evaluate_written
from reproduction.studies.landscape.contrasts import evaluate_by_network, read_landscape
from reproduction.studies.landscape.plan import (
    NETWORKS,
    calibration_contrasts,
    cause_contrasts,
    eigenvalue_contrasts,
)
from reproduction.studies.law.judged import CELL, below_twice, over_cells, read_law, sign_predicted
from reproduction.studies.law.plan import EXPECTED
from reproduction.studies.localisation import contrasts
from reproduction.studies.localisation.plan import ONE, SEVERAL
from reproduction.studies.ood.contrasts import evaluate_by_unknown
from reproduction.studies.ood.measures import mean_over_shifts
from reproduction.studies.ood.plan import (
    CIFAR,
    CIFAR_SHIFTS,
    CIFAR_SHOWN,
    FRESH_DIGITS,
    RECORDED_DIGITS,
)
from reproduction.studies.people.contrasts import evaluate, measure_ratio
from reproduction.studies.people.plan import UNSEEN
from reproduction.studies.shared.experiments import list_experiments
from reproduction.studies.shared.over_seeds import format_as_kk24
from reproduction.studies.shared.recorded import (
    read_planned,
    read_shift,
    read_small_comparison,
    read_table,
    read_unknown,
    read_whole_seeds,
    read_written,
)
from reproduction.studies.shared.written_contrasts import (
    evaluate_contrasts,
    keep_evaluable,
    primary_contrast,
)
from reproduction.studies.texts.contrasts import evaluate_written_texts
from workflow.chromium import count_pages, print_pdf

HOME = ROOT / "article"
OUT = ROOT / "_build" / "article"
PAGES = 5
MAIN = "cifar10-record"  # the recorded runs of Table 4
REFERENCES = ROOT / "book" / "references.bib"
_MATHJAX = Path(str(files("sphinx-mathjax-offline"))) / "static" / "mathjax" / "tex-chtml.js"  # as in the book
_MATH = re.compile(r"\$[^$]+\$")  # a bar in it would end a table's cell
CITED = ("kk24", "m20", "kn24", "l25", "guo17", "lin17", "peterson19")


def article_text() -> str:
    """The article in Markdown, filled.

    Raises:
        jinja2.UndefinedError: the template asks for what is not there.
        ValueError: for a claim that is not in the ledger.
    """
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string((HOME / "article.md").read_text()).render(_content())


def _content() -> dict[str, Any]:
    verdicts, kept = recorded(), records()
    of_papers = [claim for claim in ledger() if claim.of_paper]
    of_kk24 = tally([claim for claim in of_papers if claim.paper == "kk24"], verdicts)
    found = tally(of_papers, verdicts)
    counted = {group: sum(counts[group] for counts in found.values()) for group in ("undecided", "out of regime")}
    return {
        "papers": len(of_papers),
        "ours": len(ledger()) - len(of_papers),
        "counted": counted | {"not checkable here": found[Weight.NOTHING]["statements"]},
        "kk24": {
            "statements": sum(counts["statements"] for counts in of_kk24.values()),
            "proof": of_kk24[Weight.PROOF]["statements"],
            "large": of_kk24[Weight.PAPER_SIZE]["statements"],
        },
        "formal": sum(verdict == "FORMALLY PROVED" for verdict in verdicts.values()),
        "tally_table": tally_table(ledger(), verdicts),
        "headlines": _headlines(verdicts, {id: one.instead for id, one in kept.items()}),
        "failed": _failed(verdicts),
        "verdict": lambda id: _shown(verdicts[find(id).id]),
        "instead": lambda id: kept[find(id).id].instead,
        "name": lambda dataset: find_source(dataset).title,
        "cite": lambda *keys: cite(REFERENCES, list(keys), textual=False),
        "cites": lambda *keys: cite(REFERENCES, list(keys), textual=True),
        "references": f'<div class="references">\n\n{reference_list(REFERENCES, list(CITED))}\n\n</div>',
        "table": _table(),
        "main": _main_runs(),
        "gain": _gain(),
        "larger": _larger(),
        "longer": _longer(),
        "law": _law(),
        "people": _people(),
        "contrasts": _contrasts(),
        "commit": commit(),
        **_grids(),
    }


def _shown(verdict: str) -> str:
    return f'<span class="verdict">{verdict}</span>'


def _headlines(verdicts: dict[str, str], instead: dict[str, str]) -> str:
    lines = ["| claim | says | verdict | instead |", "|---|---|---|---|"]
    for claim in ledger():
        if claim.in_readme:
            source = claim.source.split(",")[0]
            lines.append(f"| {source} | {claim.short} | {_shown(verdicts[claim.id])} | {instead[claim.id]} |")
    return "\n".join(lines)


def _failed(verdicts: dict[str, str]) -> str:
    """The papers' statements that are refuted or not reproduced."""
    lines = ["| claim | statement | verdict |", "|---|---|---|"]
    for claim in ledger():
        if claim.of_paper and verdicts[claim.id] in GROUPS["refuted or not reproduced"]:
            statement = _MATH.sub(lambda found: found[0].replace("|", r"\vert "), claim.statement)
            lines.append(f"| {claim.source} | {statement} | {_shown(verdicts[claim.id])} |")
    return "\n".join(lines)


def _main_losses() -> tuple[str, ...]:
    """KK24's, which have the same seeds."""
    return ("cross-entropy", *primary_contrast(MAIN)[0].ours.losses)


def _main_table() -> pd.DataFrame:
    table = read_whole_seeds(MAIN)
    return table[table["loss"].isin(_main_losses())]


def _main_runs() -> dict[str, Any]:
    table = _main_table()
    return {
        "spec": read_planned(MAIN)[0],
        "runs": len(table[["loss", "seed"]].drop_duplicates()),
        "paper_epochs": RECIPES["kk24-cifar"].epochs,
        "losses": table["loss"].nunique(),
        "others": len({spec.label for spec in read_planned(MAIN)} - set(_main_losses())),
        "seeds": table["seed"].nunique(),
        "differs": read_notes(f"workflow/grids/{MAIN}.yaml").differs,
    }


def _table() -> str:
    """In the form of KK24 Table 1, in HTML: two lines of column heads."""
    return format_as_kk24(_main_table()).rename_axis(index=None).to_html(classes="numbers", border=0)


def _gain() -> dict[str, Any]:
    contrast, written = primary_contrast(MAIN)
    row = evaluate_contrasts(_main_table(), [contrast]).iloc[0]
    return {name: row[name] for name in ("difference", "low", "high")} | {
        "losses": len(contrast.ours.losses),
        "written": written,
        "reason": gain_of_focal_losses().reason,
    }


def _larger() -> dict[str, Any]:
    """The same contrast in a larger network."""
    row = evaluate_contrasts(read_table(LARGER), [primary_contrast(LARGER)[0]]).iloc[0]
    return {"gain": row["difference"], "seeds": int(row["seeds"]), "model": in_words(read_planned(LARGER)[0].model)}


def _longer() -> dict[str, Any]:
    """ECE of equal width as trained with gamma 3 minus with cross-entropy, after a longer training."""
    row = evaluate_contrasts(read_table(FRESH), [primary_contrast(FRESH, "M20 Tables 1 and 7")[0]]).iloc[0]
    epochs = read_planned(FRESH)[0].training.epochs
    return {"epochs": epochs, "seeds": int(row["seeds"])} | {name: row[name] for name in ("difference", "low", "high")}


def _law() -> dict[str, Any]:
    """How often the rule, and what is predicted by it, is right, in per cent: means over kinds of networks."""
    runs = read_law()
    shares = {"half": over_cells(runs, below_twice).estimate, "sign": over_cells(runs, sign_predicted).estimate}
    found = {name: f"{100 * share:.0f}" for name, share in (shares | {"wanted": EXPECTED["half"]}).items()}
    return found | {"runs": len(runs), "kinds": len(runs[CELL].drop_duplicates())}


def _people() -> dict[str, str]:
    """The temperature that suits people over that for labels, of cross-entropy: least and largest of the sets."""
    ratios = [interval.estimate for record in UNSEEN if (interval := measure_ratio(record).interval)]
    return {"low": f"{min(ratios):.2f}", "high": f"{max(ratios):.2f}"}


@functools.cache
def written_contrasts() -> dict[str, dict[str, pd.DataFrame]]:
    """Folder of results -> experiment -> its contrasts that were written down before, evaluated."""
    cifar = "cifar10-unknown"
    digits = {name: read_unknown(name, "mnist-5k") for name in ("fashion-mnist-unknown", "fashion-mnist-fresh")}
    curvature = [
        {name: eigenvalue_contrasts(gammas) for name, gammas in NETWORKS.items()},
        dict.fromkeys(NETWORKS, calibration_contrasts()),
        dict.fromkeys(NETWORKS, cause_contrasts()),
    ]
    of_fcl = plan.written_contrasts()
    main = read_whole_seeds(MAIN)
    of_main = evaluate_contrasts(main, keep_evaluable(read_contrasts(f"workflow/grids/{MAIN}.yaml"), main))
    of_clipped = evaluate_contrasts(read_table(CLIPPED), read_written(CLIPPED))
    of_larger = evaluate_contrasts(read_table(LARGER), read_contrasts(f"workflow/grids/{LARGER}.yaml"))
    of_hundred = evaluate_contrasts(read_table(HUNDRED_CLASSES), read_written(HUNDRED_CLASSES))
    architectures = contrasts_by_network(read_table("fashion-mnist-architectures"), ARCHITECTURE_CONTRASTS)
    return {
        MAIN: {"losses and scalings on CIFAR-10": of_main},
        CLIPPED: {"gamma 3 by the steps of the published code": of_clipped},
        LARGER: {"losses and scalings on CIFAR-10, ResNet-18": of_larger},
        FRESH: {"gamma 3 after a longer training": evaluate_contrasts(read_table(FRESH), read_written(FRESH))},
        HUNDRED_CLASSES: {"losses and scalings on CIFAR-100": of_hundred},
        "human-labels": {"models trained on the labels of raters": evaluate_written()},
        "unknown-inputs": {
            "unknown digits, FCL and FLSD-53": evaluate_contrasts(digits["fashion-mnist-unknown"], RECORDED_DIGITS),
            "unknown digits, fresh seeds": evaluate_contrasts(digits["fashion-mnist-fresh"], FRESH_DIGITS),
            "CIFAR-100 and noise shown to networks on CIFAR-10": evaluate_by_unknown(cifar, CIFAR, CIFAR_SHOWN),
            "corruptions of CIFAR-10": evaluate_contrasts(mean_over_shifts(read_shift(cifar)), CIFAR_SHIFTS),
        },
        "landscape": {
            "curvature": pd.concat([evaluate_by_network(read_landscape(), written) for written in curvature])
        },
        "people": {"CIFAR-10 networks and people's votes": pd.concat([evaluate(record) for record in UNSEEN])},
        "fcl-networks": {"FCL over gamma and lambda": evaluate_contrasts(read_fcl("images"), of_fcl)},
        "where-it-looks": {
            "heat maps, one garment": contrasts.evaluate_written(ONE),
            "heat maps, several garments": contrasts.evaluate_written(SEVERAL),
        },
        "texts": {"text classifiers": evaluate_written_texts()},
        "fashion-mnist-architectures": {"other architectures": architectures},
        "open-questions": {"calibrators": evaluate_contrasts(read_small_comparison(), FIRST_CONTRASTS)},
    }


def _contrasts() -> str:
    """A row for each experiment with contrasts of its own; those without a claimed direction are left out."""
    lines = ["| experiment | contrasts | as claimed | the other way | neither |", "|---|---:|---:|---:|---:|"]
    for name, every in (pair for found in written_contrasts().values() for pair in found.items()):
        found = every[every["claimed"] != 0]
        as_claimed = found["significant"] & (found["difference"] * found["claimed"] > 0)
        other = found["significant"] & ~as_claimed
        counts = (len(found), as_claimed.sum(), other.sum(), (~found["significant"]).sum())
        lines.append(f"| {name} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


def _grids() -> dict[str, Any]:
    found = list_experiments()
    waiting = [one for one in found if one.status == "not run"]
    return {
        "grids": {"all": len(found), "not_run": len(waiting), "images": f"{sum(one.images for one in waiting):,}"},
    }


def article_html() -> str:
    """The article as one HTML page, with title, authors and abstract of metadata.yaml."""
    meta = yaml.safe_load((HOME / "metadata.yaml").read_text())
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    reader.use(dollarmath_plugin, renderer=lambda formula, _: html.escape(rf"\({formula}\)"))
    body = reader.render(article_text())
    names = html.escape(", ".join(author["name"] for author in meta["authors"]))
    title, abstract = html.escape(meta["title"]), html.escape(meta["abstract"].strip())
    script = f'<script defer src="{_MATHJAX.as_uri()}"></script>'
    head = f'<meta charset="utf-8"><title>{title}</title><style>{(HOME / "article.css").read_text()}</style>{script}'
    top = f"<header><h1>{title}</h1><p>{names}</p></header><p class='abstract'><b>Abstract.</b> {abstract}</p>"
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{top}{body}</body></html>\n'


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    page, out = OUT / "article.html", OUT / "article.pdf"
    page.write_text(article_html())
    try:
        print_pdf(page, out)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    pages = count_pages(out)
    if pages > PAGES:
        print(f"The article must have at most {PAGES} pages. Got {pages}.", file=sys.stderr)
        return 1
    print(f"The article is at {out.relative_to(ROOT)}, {pages} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())

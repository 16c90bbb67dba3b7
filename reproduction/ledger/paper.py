"""The claims of one paper as its page shows them: chips in groups, by what their verdicts rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from reproduction.ledger.display import Line, badge, chips
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import Claim, ledger
from reproduction.ledger.verdicts import Record, records
from reproduction.ledger.weight import by_basis


def claims_of_paper(paper: str, fold_above: int) -> Line:
    """Every claim that the paper itself makes, with its verdict on record; what this book adds is left out.

    Args:
        paper: 'kk24'.
        fold_above: a group of more claims than this is folded, with its counts in sight.

    Raises:
        ValueError: an unknown paper.
    """
    on_record = records()
    own = [claim for claim in ledger(paper) if claim.of_paper]
    shown, texts = [], []
    for basis, group in by_basis(own, {id: record.in_full for id, record in on_record.items()}).items():
        title, line = f"{basis} ({len(group)})", chips(group)
        counts = " ".join(f"{badge(verdict)}&nbsp;{n}" for verdict, n in _counts(group, on_record))
        opened = "" if len(group) > fold_above else " open"
        summary = f"<summary><b>{title}</b> <span>{counts}</span></summary>"
        shown.append(f'<details class="chips"{opened}>{summary}{line.html}</details>')
        texts.append(f"{title}\n{line.text}")
    return Line("\n".join(shown), "\n\n".join(texts))


def _counts(claims: Iterable[Claim], on_record: dict[str, Record]) -> list[tuple[str, int]]:
    """Verdicts in their order and how many claims have each."""
    counts = Counter(on_record[claim.id].in_full for claim in claims)
    return [(str(verdict), counts[verdict]) for verdict in Verdict if counts[verdict]]

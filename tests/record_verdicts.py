"""Record the verdicts as they are now, in the tests and in the README.

python -m tests.record_verdicts      then read the difference
"""

import json
import re
from pathlib import Path

from focal_lib.claims import ledger
from focal_lib.claims.ledger import Claim

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "data" / "verdicts.json"
README = ROOT / "README.md"
START, END = "<!-- verdicts: python -m tests.record_verdicts -->", "<!-- end -->"

# One row a proposition: what it says in a line, its claim, what holds instead.
ROWS = (
    ("Prop. 1", "focal loss is convex, gamma >= 0", "kk24.prop1", ""),
    ("Prop. 2", "two classes: a proper loss after a bijection", "kk24.prop2", ""),
    (
        "Prop. 3",
        "the binary map lies between two temperatures",
        "kk24.prop3",
        "its printed proof fails; sharp bounds given",
    ),
    ("Prop. 4", "many classes: a proper loss after a bijection", "kk24.prop4", ""),
    ("Prop. 5", "the map never lowers the top probability", "kk24.prop5", "true above a threshold, and for 2 classes"),
    ("Fig. 2", "closest temperature, error below 0.001", "kk24.fig2_error", "0.0012"),
    ("Fig. 6", "three classes: 1/T = 0.64 gamma + 0.91", "kk24.fig6_line", ""),
    ("sec. 3.3", "four classes: 1/T = 0.47 gamma + 0.85", "kk24.four_line", "0.49 gamma + 0.96"),
)


def table(claims: dict[str, Claim]) -> str:
    """The README's table: proposition, chapter, verdict."""
    lines = ["| KK24 | says | chapter | verdict | instead |", "|---|---|---|---|---|"]
    for name, says, id, instead in ROWS:
        chapter = claims[id].chapter
        lines.append(
            f"| {name} | {says} | [{int(chapter[:2])}](notebooks/{chapter}.py) | **{claims[id].verdict}** | {instead} |"
        )
    return "\n".join(lines)


def readme_with(text: str, block: str) -> str:
    """README text with the table between its marks replaced."""
    return re.sub(f"{re.escape(START)}.*?{re.escape(END)}", lambda _: f"{START}\n{block}\n{END}", text, flags=re.S)


if __name__ == "__main__":
    claims = {claim.id: claim for claim in ledger()}
    # What rests on training runs is measured at each build, so it is not recorded.
    verdicts = {id: str(claim.verdict) for id, claim in claims.items() if claim.needs is None}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(verdicts, indent=1) + "\n")
    README.write_text(readme_with(README.read_text(), table(claims)))

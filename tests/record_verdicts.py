"""Record the verdicts as they are now, in focal_lib/claims/verdicts.json and in the README.

python -m tests.record_verdicts      then read the difference
"""

import re
from pathlib import Path

from focal_lib.claims import ledger, verdicts

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
START, END = "<!-- verdicts: python -m tests.record_verdicts -->", "<!-- end -->"

# One row a proposition: source, what it says in a line, its claim, what holds instead.
ROWS = (
    ("KK24 Prop. 1", "focal loss is convex, gamma >= 0", "kk24.prop1", ""),
    ("KK24 Prop. 2", "two classes: a proper loss after a bijection", "kk24.prop2", ""),
    (
        "KK24 Prop. 3",
        "the binary map lies between two temperatures",
        "kk24.prop3",
        "its printed proof fails; sharp bounds given",
    ),
    ("KK24 Prop. 4", "many classes: a proper loss after a bijection", "kk24.prop4", ""),
    (
        "KK24 Prop. 5",
        "the map never lowers the top probability",
        "kk24.prop5",
        "true for 2 and 3 classes; for n classes from a sharp gamma on",
    ),
    ("KK24 Fig. 2", "closest temperature, error below 0.001", "kk24.fig2_error", "0.0012"),
    ("KK24 Fig. 6", "three classes: 1/T = 0.64 gamma + 0.91", "kk24.fig6_line", ""),
    ("KK24 sec. 3.3", "four classes: 1/T = 0.47 gamma + 0.85", "kk24.four_line", "0.49 gamma + 0.96"),
    (
        "KK24 Table 1",
        "focal temperature scaling improves ECE for every loss",
        "kk24.table1_ece_every_loss",
        "half a point on average for focal losses, not settled by 3 seeds",
    ),
    ("M20 Prop. 1", "the gradient is cross-entropy's times g", "m20.prop1", ""),
    ("M20 Prop. 2", "the gamma for a threshold, by Lambert W", "m20.prop2", "thresholds below 1/2"),
    ("M20 App. H", "focal loss >= cross-entropy - gamma entropy", "m20.app_h", "for every gamma >= 0"),
    ("M20 App. H", "focal solutions always have higher entropy", "m20.entropy_always", "true for two classes"),
    (
        "M20 sec. 6",
        "FLSD-53 has a lower ECE than all baselines",
        "m20.flsd_outperforms_all",
        "in 7 of 10 printed rows as trained, in 9 after T",
    ),
    ("KN24 Fig. 1", "for gamma < 1 the gradient diverges", "kn24.fig1_gradient_diverges", "the second derivative does"),
    ("KN24", "smaller curvature in the logit", "kn24.curvature_logit", "for confident samples"),
    ("KN24 Fig. 4", "a penalty on the Hessian's trace lowers ECE", "kn24.fig4", "but not after temperature scaling"),
    ("L25 Thm. 4.1", "closer top probability", "l25.thm41", "closer in Euclidean distance"),
    ("L25 Thm. A.2", "keeps the order of the classes", "l25.thm42", ""),
    ("L25 sec. 4.3", "strictly proper", "l25.a8", "biased, by O(1/lambda)"),
    ("L25 Thm. 4.5", "smaller post-processing gap", "l25.thm45", "only at its own minimiser"),
    ("L25 Table 4", "FCL consistently has the lowest ECE", "l25.fcl_consistently_lower", "in 9 of 12 printed rows"),
)


def table(verdicts: dict[str, str]) -> str:
    """The README's table: proposition, chapter, verdict."""
    chapters = {claim.id: claim.chapter for claim in ledger()}
    lines = ["| claim | says | chapter | verdict | instead |", "|---|---|---|---|---|"]
    for name, says, id, instead in ROWS:
        chapter = chapters[id]
        lines.append(
            f"| {name} | {says} | [{int(chapter[:2])}](notebooks/{chapter}.py) | **{verdicts[id]}** | {instead} |"
        )
    return "\n".join(lines)


def readme_with(text: str, block: str) -> str:
    """README text with the table between its marks replaced."""
    return re.sub(f"{re.escape(START)}.*?{re.escape(END)}", lambda _: f"{START}\n{block}\n{END}", text, flags=re.S)


if __name__ == "__main__":
    verdicts.write()
    README.write_text(readme_with(README.read_text(), table(verdicts.recorded())))

"""L25 on text classification: its rows on news as printed, and small text classifiers on film reviews."""

from __future__ import annotations

from functools import partial

from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import PRINTED, Rows, claim
from reproduction.studies.printed_tables.from_tables import rank_in_row
from reproduction.studies.shared.regimes import trained_as
from reproduction.studies.texts.contrasts import NEEDS, contrasts_everywhere, size_with
from reproduction.studies.texts.plan import FCL, MOST

CHAPTER = "text"
NETWORK = "Global Pooling CNN"
PAIR = rf"$\gamma = {FCL[0]:g}$, $\lambda = {FCL[1]:g}$, A.10's for AG News"


add_reading = Rows(CHAPTER, "our reading", needs=NEEDS, regime=partial(trained_as, "l25-text", MOST))

# Against the baseline and against the focal loss that it extends.
add_reading(
    "l25.text_fcl_before",
    "Film reviews: FCL has lower ECE than others as trained",
    "L25 section 5.1.1, on texts",
    "'Overall, FCL consistently achieves lower pre-T calibration error compared to other methods'. (Taken as: a lower ECE, equal width, than "
    f"cross-entropy and than FLSD-53; {size_with('FCL minus FLSD-53')}; {PAIR}.)",
    lambda: contrasts_everywhere("FCL minus cross-entropy", "FCL minus FLSD-53", sign=-1, said="printed"),
)

# After a temperature by that ECE on validation data.
add_reading(
    "l25.text_fcl_after",
    "Film reviews: FCL has lower ECE than FLSD-53 after scaling",
    "L25 section 5.1.1, on texts",
    "'Outperforming other methods like' 'Focal Loss in both pre- and post-temperature scaling scenarios'. (Taken as: after a temperature by ECE "
    f"FCL has a lower ECE, equal width, than FLSD-53; {size_with('FCL minus FLSD-53, after')}; {PAIR}.)",
    lambda: contrasts_everywhere("FCL minus FLSD-53, after", sign=-1, said="printed"),
)

# Another kind of text than the paper's.
add_reading(
    "l25.text_errors",
    "Film reviews: FCL has a lower error than cross-entropy",
    "L25 section 5.2.1, on texts",
    "'FCL consistently achieves the lowest classification error in most cases across all datasets and models', 'especially in CIFAR-100 and "
    f"News datasets'. (Taken as: a lower test error than cross-entropy; {size_with('FCL minus cross-entropy, error')}, and no news; {PAIR}.)",
    lambda: contrasts_everywhere("FCL minus cross-entropy, error", sign=-1, said="printed"),
)

# In the one setting that has it.
add_reading(
    "l25.text_label_smoothing",
    "Film reviews: label smoothing has lower ECE than cross-entropy",
    "L25 Table 4, on texts",
    "Label smoothing (0.05) has a lower ECE than cross-entropy before temperature scaling, as Table 4 prints for 20 Newsgroups and AG News; "
    f"for FinSen it prints the opposite, 4.41 against .98. (Here: equal width; {size_with('label smoothing minus cross-entropy')}.)",
    lambda: contrasts_everywhere("label smoothing minus cross-entropy", sign=-1, said="printed"),
)


@claim(
    "l25.text_rows",
    short="News: FCL has the lowest printed ECE after scaling, and on AG News before",
    source="L25 Table 4, the rows on news",
    statement="Of the seven losses FCL has the lowest ECE on AG News before temperature scaling and is third on 20 Newsgroups, where label smoothing "
    "is first, and on FinSen; after it FCL is first on all three.",
    chapter=CHAPTER,
    fidelity="ours",
    needs=PRINTED,
)
def text_rows() -> Evidence:
    """Ranks in the printed table."""
    groups, ag, finsen = (("20 Newsgroups", NETWORK), ("AG News", NETWORK), ("FinSen", NETWORK))
    return All(
        (
            rank_in_row("L25", "Table 4", "pre", ag, "fcl", 1),
            rank_in_row("L25", "Table 4", "pre", groups, "fcl", 3),
            rank_in_row("L25", "Table 4", "pre", groups, "label-smoothing", 1),
            rank_in_row("L25", "Table 4", "post", groups, "fcl", 1),
            rank_in_row("L25", "Table 4", "post", ag, "fcl", 1),
            rank_in_row("L25", "Table 4", "pre", finsen, "fcl", 3),
            rank_in_row("L25", "Table 4", "post", finsen, "fcl", 1),
        )
    )

"""L25 section 5, App. A.10, A.15: conclusions about the tables, against the tables."""

from __future__ import annotations

from reproduction.engine.papers import FCL_OF_L25
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import PRINTED, Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import printed_tables, study
from reproduction.studies.printed_tables.from_tables import (
    losses_at_lowest,
    lower_mean,
    most_rows_above_temperature,
    most_rows_lowered,
    rank_in_row,
    rows_changed_no_more,
    rows_lower,
    rows_near_temperature,
    rows_won,
    rows_won_in_words,
    size_of_change,
)

CHAPTER = "published_tables"
TABLES = ("Table 4", "Table 5", "Table 6", "Table 7")
STAGES = ("pre", "post")
add_quoted = Rows(CHAPTER, "quoted", needs=PRINTED)
add_reading = Rows(CHAPTER, "our reading", needs=PRINTED)
add_ours = Rows(CHAPTER, "ours", needs=PRINTED)


add_reading(
    "l25.fcl_overall_lower",
    "FCL has the lowest ECE of seven losses overall, as printed",
    "L25 section 5.1.1, Tables 4 to 7",
    r"'Overall, FCL consistently achieves lower pre-T calibration error compared to other methods.' (Taken as: before temperature "
    r"scaling it has the lowest ECE, smooth, adaptive and classwise ECE of seven losses in most rows of the printed tables. "
    r"*Consistently* alone would ask for all rows; *overall* stands beside it.)",
    lambda: All.of(*(rows_won("L25", table, "pre", "fcl") for table in TABLES)),
    in_readme=True,
    instead=lambda _: rows_won_in_words("L25", "Table 4", "fcl"),
)
add_reading(
    "l25.fcl_among_lowest",
    "FCL is among the lowest of seven losses after scaling, as printed",
    "L25 section 5.1.1, Tables 4 to 7",
    "'Post-T calibration error for FCL are also among the lowest.' (Taken as: lowest or second lowest of seven losses "
    "in most rows of the printed tables, ties included.)",
    lambda: All.of(*(rows_won("L25", table, "post", "fcl", among=2) for table in TABLES)),
)
add_ours(
    "l25.fcl_mostly_lower",
    "FCL has the lowest ECE in most rows of Table 4",
    "L25 Table 4, row by row",
    "Of the seven losses FCL has the lowest ECE in 9 of 12 rows of Table 4 before temperature scaling, Tiny-ImageNet "
    "not among them, and in 10 of 12 after.",
    lambda: All.of(rows_won("L25", "Table 4", "pre", "fcl", 9), rows_won("L25", "Table 4", "post", "fcl", 10)),
)


@add_ours(
    "l25.fcl_rows",
    "As printed, FCL has the lowest other calibration errors in most rows",
    "L25 Tables 5 to 7, row by row",
    r"Of the seven losses FCL has the lowest smooth ECE, adaptive ECE and classwise ECE in 9, 8 and 9 of 12 rows of Tables 5, 6 and 7 "
    r"before temperature scaling, and in 11, 10 and 11 after, ties included; alone in 9, 8 and 8 before, and in 10, 9 and 7 after. The row of Table 5 "
    r"that repeats another (l25.table5_row_twice) is among them.",
)
def fcl_rows() -> Evidence:
    """Counted in the printed tables, with ties and without."""
    counts = {"Table 5": ((9, 9), (11, 10)), "Table 6": ((8, 8), (10, 9)), "Table 7": ((9, 8), (11, 7))}
    return All.of(
        *(
            rows_won("L25", table, stage, "fcl", count, alone=alone)
            for table, stages in counts.items()
            for stage, both in zip(STAGES, stages, strict=True)
            for alone, count in zip((False, True), both, strict=True)
        )
    )


@add_reading(
    "l25.outperforms",
    "FCL beats Brier, MMCE, label smoothing and focal loss on average",
    "L25 section 5.1.1",
    r"'Outperforming other methods like Brier Loss, MMCE, and Label Smoothing, Focal Loss in both pre- and post-temperature scaling "
    r"scenarios.' (Taken as: FCL has a lower ECE than each of the four, averaged over the rows of the printed Table 4, before and after.)",
)
def outperforms() -> Evidence:
    """Means over the rows of the printed table."""
    others = ("brier", "mmce", "label-smoothing", "flsd-53")
    return All.of(*(lower_mean("L25", "Table 4", stage, "fcl", other) for stage in STAGES for other in others))


@add_ours(
    "l25.tiny_imagenet",
    "On Tiny-ImageNet FCL ranks in the middle of seven losses as trained",
    "L25 section 5.1.1, on Tiny-ImageNet",
    "On Tiny-ImageNet, where the paper says that FCL 'demonstrates strong performance', 'with significant "
    "improvements in calibration', FCL as trained is fourth of seven in ECE, smooth, adaptive and classwise ECE; "
    "after temperature scaling it is first, in classwise ECE in a tie of four, and in adaptive ECE second.",
)
def tiny_imagenet() -> Evidence:
    """Ranks in the row of the printed tables, and how many share the lowest classwise ECE."""
    row = ("Tiny-ImageNet", "ResNet-50")
    before = [rank_in_row("L25", table, "pre", row, "fcl", 4) for table in TABLES]
    after = [rank_in_row("L25", table, "post", row, "fcl", 2 if table == "Table 6" else 1) for table in TABLES]
    tied = losses_at_lowest("L25", TABLES[-1], "post", row)
    shared = Measurement("losses with the lowest classwise ECE, FCL among them", "4", len(tied), 4, said="claimed")
    among = Measurement.of_sign("FCL among these, 1 if so", float("fcl" in tied), 1)
    return All.of(*before, *after, shared, among)


@add_reading(
    "l25.resnet110_four",
    "ResNet-110 on CIFAR-10: FCL has the lowest ECE and error",
    "L25 section 5.1.2, Fig. 9",
    r"For ResNet-110 on CIFAR-10, of 'Cross Entropy, FLSD-53, Dual Focal, and Focal Calibration', 'Focal Calibration Loss achieves the best "
    r"calibration among the methods, with the lowest ECE and a relatively low MCE', and 'the lowest test error'. (The figure and its MCE are not in "
    r"our copy; taken by the printed tables of ECE and errors, and their column 'Weight Decay' as cross-entropy.)",
)
def resnet110_four() -> Evidence:
    """Rank among four losses in the row of Table 4 and of the table of errors."""
    row, losses = ("CIFAR-10", "ResNet-110"), ("cross-entropy", "flsd-53", "dual-focal", "fcl")
    return All.of(*(rank_in_row("L25", table, "pre", row, "fcl", 1, losses) for table in ("Table 4", "error")))


@add_reading(
    "l25.errors_lowest",
    "FCL has the lowest classification error in most rows",
    "L25 section 5.2.1",
    r"'FCL consistently achieves the lowest classification error in most cases across all datasets and models, demonstrating its "
    r"effectiveness in reducing test errors, especially in CIFAR-100 and News datasets.' (Taken as: in most rows of the printed table of errors, and "
    r"in most of those of each of CIFAR-100, 20 Newsgroups and AG News; FinSen is financial news, in one row, where FCL is not lowest.)",
)
def errors_lowest() -> Evidence:
    """Counted in the printed table."""
    datasets = (None, "CIFAR-100", "20 Newsgroups", "AG News")
    return All.of(*(rows_won("L25", "error", "pre", "fcl", dataset=dataset) for dataset in datasets))


@add_ours(
    "l25.errors_rows",
    "FCL has the lowest error on CIFAR-100, not on FinSen",
    "L25 section 5.2.1, row by row",
    r"Of the seven losses FCL has the lowest error in 9 of 12 rows: in all of CIFAR-100, in 2 of 4 of CIFAR-10, not on FinSen.",
)
def errors_rows() -> Evidence:
    """Counted in the printed table."""
    parts = {"CIFAR-100": 4, "CIFAR-10": 2, "FinSen": 0}
    by_dataset = [rows_won("L25", "error", "pre", "fcl", n, dataset=dataset) for dataset, n in parts.items()]
    return All.of(rows_won("L25", "error", "pre", "fcl", 9), *by_dataset)


add_reading(
    "l25.auroc_highest",
    "FCL has the highest AUROC on most data sets",
    "L25 section 5.4",
    "'Across most datasets, FCL consistently achieves the highest AUROC' on data out of distribution. (Of two data "
    "sets, most are both. Taken as: on each it has the highest of seven losses for most of the four networks, before "
    "and after temperature scaling. How it stands in all rows together: l25.auroc_rows.)",
    lambda: All.of(
        *(
            rows_won("L25", "AUROC table", stage, "fcl", dataset=f"CIFAR-10/{name}")
            for name in ("CIFAR-10-C", "SVHN")
            for stage in STAGES
        )
    ),
    instead="in most rows; on one of the two data sets",
)


@add_ours(
    "l25.auroc_rows",
    "FCL has the highest AUROC in over half of the rows",
    "L25 section 5.4, row by row",
    "Of the seven losses FCL has the highest AUROC in 5 of 8 rows, before and after temperature scaling: in 2 of 4 on "
    "SVHN, in 3 of 4 on CIFAR-10-C. On neither of the two data sets has it the highest for all four networks, and on "
    "SVHN the mean over the four is higher for Brier loss.",
    corrects="l25.auroc_highest",
)
def auroc_rows() -> Evidence:
    """Counted in the printed table."""
    parts = {None: 5, "CIFAR-10/SVHN": 2, "CIFAR-10/CIFAR-10-C": 3}
    return All.of(
        *(
            rows_won("L25", "AUROC table", stage, "fcl", count, dataset=dataset)
            for stage in STAGES
            for dataset, count in parts.items()
        ),
        *(lower_mean("L25", "AUROC table", stage, "fcl", "brier", "CIFAR-10/SVHN") for stage in STAGES),
    )


add_reading(
    "l25.minimal_change",
    "Temperature scaling changes FCL less than FLSD-53",
    "L25 section 5.5.3, Tables 4 to 7",
    r"'The focal loss model exhibits a significant reduction in ECE after temperature scaling, indicating a substantial post-processing gap. "
    r"In contrast, the FCL model shows minimal change in calibration error after temperature scaling closing with 1.0.' (Taken as: in most rows of "
    r"Table 4 temperature scaling lowers the ECE of FLSD-53, and FCL has a temperature of 0.9 to 1.1; in most rows of each of Tables 4 to 7 it "
    r"changes the error of FCL by no more than that of FLSD-53. How much is 'significant' or 'minimal' is not judged; on average over the rows FCL changes by more: l25.minimal_change_rows.)",
    lambda: All.of(
        most_rows_lowered("L25", "Table 4", "flsd-53"),
        rows_near_temperature("L25", "Table 4", "fcl", 0.9, 1.1),
        *(rows_changed_no_more("L25", table, "fcl", "flsd-53") for table in TABLES),
    ),
)
add_ours(
    "l25.minimal_change_rows",
    "Temperature scaling changes FCL less in most rows, not on average",
    "L25 section 5.5.3, row by row",
    "In 9 of 12 rows of Table 4 temperature scaling changes the ECE of FCL by no more than that of FLSD-53, and in 6 "
    "its temperature is 1. In the other three, on Tiny-ImageNet, 20 Newsgroups and FinSen, it changes it by more. So "
    "the mean change is 2.17 points for FCL and 2.08 for FLSD-53; the median is 0.1 and 0.615.",
    lambda: All.of(
        rows_changed_no_more("L25", "Table 4", "fcl", "flsd-53", 9),
        *(
            rows_changed_no_more("L25", "Table 4", "fcl", "flsd-53", 0, dataset=dataset)
            for dataset in ("Tiny-ImageNet", "20 Newsgroups", "FinSen")
        ),
        rows_near_temperature("L25", "Table 4", "fcl", 1.0, 1.0, 6),
        size_of_change("L25", "Table 4", "fcl", "mean", 2.17),
        size_of_change("L25", "Table 4", "flsd-53", "mean", 2.08),
        size_of_change("L25", "Table 4", "fcl", "median", 0.1),
        size_of_change("L25", "Table 4", "flsd-53", "median", 0.615),
    ),
)
add_quoted(
    "l25.l2_lower",
    "L2 gives FCL a lower ECE than L1 in Table 8",
    "L25 App. A.15, Table 8",
    r"'We observe that L2 consistently achieves lower ECE' than L1 'across different architectures': in every row.",
    lambda: rows_lower("L25", "Table 8", "ece", "fcl", "fcl-l1", 8),
)
add_ours(
    "l25.l2_errors",
    "L2 has the lower test error in most rows of Table 8",
    "L25 Table 8, its errors",
    r"FCL with L2 has the lower test error in 5 of 8 rows of Table 8, with L1 in the others.",
    lambda: All.of(
        rows_lower("L25", "Table 8", "error", "fcl", "fcl-l1", 5),
        rows_lower("L25", "Table 8", "error", "fcl-l1", "fcl", 3),
    ),
)


@add_ours(
    "l25.table5_row_twice",
    "A row of Table 5 repeats most values of another",
    "L25 Table 5",
    r"The row of DenseNet-121 on CIFAR-10 repeats 12 of the 14 values of DenseNet-121 on CIFAR-100.",
)
def table5_row_twice() -> Evidence:
    """Equal cells, value and loss alike."""
    rows = study.find_equal_rows(printed_tables())
    rows = rows[(rows["table"] == "Table 5") & (rows["paper"] == "L25")].set_index(["row", "other row"])
    same = rows["equal"].get(("CIFAR-100 DenseNet-121", "CIFAR-10 DenseNet-121"), 0)
    return Measurement("equal cells of the two rows, of 14", "12", int(same), 12, said="claimed")


@add_ours(
    "l25.newsgroups_moved",
    "Some 20 Newsgroups values stand under another loss than in M20",
    "L25 Tables 4 and 6, 20 Newsgroups",
    r"On 20 Newsgroups Table 4 prints under Brier loss, before and after temperature scaling, the values that M20 "
    r"prints for MMCE, and under MMCE, after it, that for Brier loss; Table 6 prints under FLSD-53 those for focal "
    r"loss with $\gamma = 3$. (L25 does not say that it takes them from M20.)",
)
def newsgroups_moved() -> Evidence:
    """Cells of M20's tables found under another loss."""
    moves: list[tuple[str, str, str, tuple[str, ...]]] = [
        ("ece", "mmce", "brier", STAGES),
        ("ece", "brier", "mmce", ("post",)),
        ("adaptive-ece", "focal 3", "flsd-53", STAGES),
    ]
    return All.of(*(_moved(metric, theirs, ours, stage) for metric, theirs, ours, stages in moves for stage in stages))


def _moved(metric: str, theirs: str, ours: str, stage: str) -> Measurement:
    """M20's value for a loss on 20 Newsgroups, against L25's for another."""
    cells = printed_tables().query("dataset == '20 Newsgroups' and metric == @metric and stage == @stage")
    values = cells.drop_duplicates(["paper", "loss"]).set_index(["paper", "loss"])["value"]
    quantity = f"{metric} ({stage}) of {ours} in L25, against that of {theirs} in M20"
    expected = float(values["M20", theirs])
    return Measurement(quantity, f"{expected:g}", float(values["L25", ours]), expected)


@add_ours(
    "l25.lambda_selected",
    "The smallest lambda is selected most often",
    "L25 App. A.10",
    r"Of the 12 pairs $(\gamma, \lambda)$ that A.10 selects 'with best calibration error performance', $\lambda = \frac12$ is in 6, and it is the "
    r"smallest $\lambda$ of the table; the three text networks have $\lambda \ge 3$. (Its column heads are lost; the second is taken as $\lambda$.)",
)
def lambda_selected() -> Evidence:
    """Counted in the table."""
    selected = {key: lam for key, (_, lam) in FCL_OF_L25.items()}
    at_half = sum(lam == 0.5 for lam in selected.values())
    texts = [lam for (_, network), lam in selected.items() if network == "gp-cnn-glove"]
    return All.of(
        Measurement(f"pairs with lambda 0.5, of {len(selected)}", "6", at_half, 6, said="claimed"),
        Measurement("smallest lambda", "0.5", min(selected.values()), 0.5, said="claimed"),
        Measurement(f"smallest lambda of {len(texts)} text networks", "3", min(texts), 3.0, said="claimed"),
    )


add_reading(
    "l25.overconfident_printed",
    "Printed temperatures of FLSD-53 are above one in most rows",
    "L25 section 1, asked of its Table 4",
    r"Focal loss 'often leads to overly confident predictions'. (Taken as: in most rows of L25's Table 4 the temperature printed for "
    r"FLSD-53, a focal loss whose $\gamma$ hangs on the sample, is above 1, so that its networks are overconfident as trained.)",
    lambda: most_rows_above_temperature("L25", "Table 4", "flsd-53", 1.0),
)

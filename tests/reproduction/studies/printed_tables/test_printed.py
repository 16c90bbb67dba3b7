"""The printed tables as data: cells read back from the papers' pages, and what follows from them."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS
from reproduction.checkout import ROOT
from reproduction.studies import printed_tables as module
from reproduction.studies.printed_tables import kk24_table1, l25_table9, m20_fig8, m20_table6, printed_tables, study
from reproduction.studies.shared.printed_effects import compare_with_printed

CELLS = printed_tables()


def cell(paper, table, dataset, network, loss, metric, stage):
    wanted = {"paper": paper, "table": table, "dataset": dataset, "network": network, "loss": loss}
    wanted |= {"metric": metric, "stage": stage}
    (row,) = CELLS[np.logical_and.reduce([CELLS[k] == v for k, v in wanted.items()])].itertuples()
    return row.value, row.temperature


@pytest.mark.parametrize(
    ("place", "value", "temperature"),
    [
        (("M20", "Table 1", "CIFAR-100", "ResNet-50", "cross-entropy", "ece", "post"), 3.42, 2.10),
        (("M20", "Table 1", "SST Binary", "Tree-LSTM", "flsd-53", "ece", "post"), 1.83, 0.70),
        (("M20", "Table 3", "CIFAR-10", "DenseNet-121", "mmce", "error", "pre"), 5.41, np.nan),
        (("M20", "Table 5", "CIFAR-10", "ResNet-110", "focal 3", "adaptive-ece", "post"), 1.44, 1.10),
        (("M20", "Table 5", "CIFAR-10", "Wide-ResNet-26-10", "focal 5-3-2", "adaptive-ece", "pre"), 2.04, np.nan),
        (("M20", "Table 7", "20 Newsgroups", "Global Pooling CNN", "focal 5-3-1", "ece", "pre"), 13.55, np.nan),
        (("M20", "Table 11", "CIFAR-100", "ResNet-110", "brier", "nll", "post"), 111.81, np.nan),
        (("M20", "Table 13", "SST Binary", "Tree-LSTM", "flsd-53", "mce", "post"), 76.71, np.nan),
        (("L25", "Table 4", "Tiny-ImageNet", "ResNet-50", "fcl", "ece", "pre"), 10.22, np.nan),
        (("L25", "Table 7", "FinSen", "Global Pooling CNN", "fcl", "classwise-ece", "post"), 0.15, 1.3),
        (("L25", "AUROC table", "CIFAR-10/CIFAR-10-C", "DenseNet-121", "brier", "auroc", "pre"), 53.87, np.nan),
        (("L25", "Table 8", "CIFAR-10", "DenseNet-121", "fcl-l1", "ece", "pre"), 4.00, np.nan),
    ],
)
def test_cells(place, value, temperature):
    np.testing.assert_equal(cell(*place), (value, temperature))


def test_so_many_cells_were_read_twice():
    said = " ".join(module.__doc__.split())
    assert f"{len(CELLS):,} cells with {CELLS['temperature'].count()} temperatures, {len(l25_table9())} rows" in said
    assert f"{m20_table6()[['share', 'accuracy']].size} cells of M20's Table 6, {len(m20_fig8()) // 2} boxes" in said


def test_every_table_is_a_full_rectangle():
    key = ["paper", "table", "dataset", "network", "loss", "metric", "stage"]
    assert not CELLS.duplicated(key).any()
    for (paper, table), part in CELLS.groupby(["paper", "table"]):
        sides = [
            part[list(k)].drop_duplicates().shape[0] for k in (["dataset", "network"], ["loss"], ["metric", "stage"])
        ]
        assert len(part) == np.prod(sides), (paper, table)
    assert (CELLS["value"] >= 0).all()
    assert (CELLS["value"][CELLS["metric"] != "nll"] <= 100).all()


def test_l25_table_9_has_every_cell():
    wide = l25_table9().pivot(index="pathology", columns="method", values="auroc")
    assert wide.shape == (15, 4)
    assert wide.loc["Hernia", "FCL"] == 0.937
    assert ((wide > 0.6) & (wide < 1)).to_numpy().all()


@pytest.fixture(scope="module")
def shown():
    return {caption.split(":")[0]: table for caption, table in study.tables_as_printed().items()}


def test_tables_are_shown_as_printed(shown):
    at = ("CIFAR-100", "ResNet-50")
    assert shown["M20, Table 1"].loc[at, ("cross-entropy", "after")] == "3.42 (2.1)"
    assert shown["M20, Table 1"].loc[at, ("cross-entropy", "before scaling")] == "17.52"
    assert shown["M20, Table 10"].loc[at, "cross-entropy"] == "153.67"
    assert shown["L25, Table 8"].loc[("CIFAR-10", "DenseNet-121"), ("FCL with L1", "ECE")] == "4.00"
    assert shown["L25, Table 9"].loc["Average", ("FCL", "MCE")] == "0.3248"
    assert shown["M20, Table 6"].loc[("CIFAR-10", "ResNet-50"), ("focal", "share", "after")] == "14.27"
    kk24 = shown["KK24, Table 1, its legible rows"]
    assert kk24.loc[("CIFAR-10", "cross-entropy", "focal temperature"), "adaptive ECE"] == "0.71 ± 0.16 (2.36)"
    assert kk24.loc[("CIFAR-10", "AdaFocal", "temperature"), "NLL"] == ""  # lost in our copy


def test_no_cell_is_left_out(shown):
    """As many as in the data, table by table."""
    filled = {name: int((table != "").sum().sum()) for name, table in shown.items()}
    six, nine = m20_table6()[["share", "accuracy"]], l25_table9()[["auroc", "ece", "mce"]]
    wanted = {"M20, Table 6": six.size, "M20, Fig. 8": len(m20_fig8()), "L25, Table 9": int(nine.count().sum())}
    kk24 = kk24_table1()[["gamma", "error", "nll", "adaptive_ece"]]
    wanted["KK24, Table 1, its legible rows"] = int(kk24.count().sum())
    for (paper, table), part in CELLS.groupby(["paper", "table"]):
        wanted[f"{paper}, {study.NAMES.get(table, table)}"] = len(part)
    assert filled == wanted


def promised(page):
    """Of 'every figure and table': the names of M20's that it says are as printed in chapter 14."""
    own = page.split("## M20")[1].split("## KN24")[0]
    rows, found = re.findall(r"^\| ((?:Fig|Table).*?) \| (.*) \|$", own, re.M), set()
    for k, (name, here) in enumerate(rows):
        if "as printed in [](#ch-published)" in (rows[k - 1][1] if here == "the same" else here):
            kind = name.split()[0].rstrip("s")
            found |= {f"M20, {kind} {number}" for number in re.findall(r"\b\d+\b", name)}
    return found


def test_what_the_page_of_figures_promises_is_shown(shown):
    page = (ROOT / "book" / "figures_and_tables.md").read_text()
    found = promised(page)
    assert len(found) > 10
    assert found <= set(shown)
    more = page.replace("| Fig. 7: what focal loss predicts | ", "| Fig. 7: | as printed in [](#ch-published); ")
    assert promised(more) - set(shown) == {"M20, Fig. 7"}


def test_kk24_has_a_gamma_where_one_is_legible():
    """Of rows of focal temperature scaling it is lost in one, of CIFAR-10, focal 7."""
    fitted = kk24_table1().query("stage == 'fts'").set_index(["dataset", "loss"])["gamma"]
    assert fitted.index[fitted.isna()].tolist() == [("CIFAR-10", "focal 7")]
    assert fitted["Tiny-ImageNet", "focal 7"] == 0.05
    assert set(fitted.dropna()) <= set(PAPER_GAMMAS)
    assert kk24_table1().query("stage == 'ts'")["gamma"].isna().all()


def test_kk24_pairs():
    frame = kk24_table1()
    assert (frame.groupby(["dataset", "loss"])["stage"].nunique() == 2).all()
    gains = study.gains_of_kk24(frame)
    # Welch by hand for CIFAR-10, cross-entropy
    a, b = 0.16**2 / 5, 0.17**2 / 5
    row = gains[(gains["dataset"] == "CIFAR-10") & (gains["loss"] == "cross-entropy")].iloc[0]
    assert row["difference"] == pytest.approx(0.71 - 1.03)
    assert row["high"] - row["difference"] == pytest.approx(2.307 * np.sqrt(a + b), rel=1e-3)  # t(7.97)
    welch = stats.ttest_ind_from_stats(0.71, 0.16, 5, 1.03, 0.17, 5, equal_var=False)
    assert row["p"] == pytest.approx(welch.pvalue)
    assert gains["p_adjusted"].max() <= 1
    assert gains["p_adjusted"].min() == pytest.approx(len(gains) * gains["p"].min())


def made(rows):
    columns = ["paper", "table", "dataset", "network", "loss", "metric", "stage", "value"]
    return pd.DataFrame(rows, columns=columns).assign(temperature=np.nan)


def test_restated_cells_that_differ_are_found():
    frame = made(
        [
            ("M20", f"Table {t}", "d", "n", loss, "ece", "pre", v)
            for t, loss, v in ((2, "a", 1.0), (10, "a", 1.5), (10, "b", 2.0))
        ]
    )
    found = study.match_restated(frame, "M20")
    assert found[["table", "table_again", "value", "value_again"]].to_numpy().tolist() == [
        ["Table 2", "Table 10", 1.0, 1.5]
    ]


def test_equal_rows_and_other_columns_are_found():
    rows = [("L25", "Table 5", d, "n", k, "ece", "pre", v) for d in ("x", "y") for k, v in (("a", 1.0), ("b", 2.0))]
    assert study.find_equal_rows(made(rows), least=2)["equal"].tolist() == [2]
    assert study.find_equal_rows(made(rows), least=3).empty
    swap = [("M20", "Table 1", "d", "n", "a", "ece", s, v) for s, v in (("pre", 3.0), ("post", 1.0))]
    swap += [("L25", "Table 4", "d", "n", "b", "ece", s, v) for s, v in (("pre", 3.0), ("post", 1.0))]
    assert len(study.find_moved_columns(made(swap))) == 2
    assert study.find_moved_columns(made(swap[:3])).empty  # one stage alone may be chance


PAIR = [(("ece", "pre"), ("ece", "post"))]


def orders(networks, losses="abc"):
    """Cells of M20: (data set, network) -> values after, those before being 1, 2, 3."""
    rows = []
    for (dataset, network), after in networks.items():
        for i, (loss, value) in enumerate(zip(losses, after, strict=True)):
            rows += [("M20", "t", dataset, network, loss, "ece", s, v) for s, v in (("pre", i + 1), ("post", value))]
    return made(rows)


def test_rank_stability_is_kendalls_tau():
    rng = np.random.default_rng(0)
    after = {("d", f"n{i}"): rng.integers(0, 4, 6) for i in range(5)}  # with ties
    found = study.correlate_orders(orders(after, "abcdef"), "M20", PAIR).iloc[0]
    taus = [stats.kendalltau(range(6), values).statistic for values in after.values()]
    assert (found["networks"], found["datasets"]) == (5, 1)
    assert found["tau"] == pytest.approx(np.mean(taus), rel=1e-12)
    assert np.isnan([found["low"], found["high"]]).all()  # one data set


def test_many_networks_of_one_data_set_are_no_more_data():
    """Copies of its networks change neither the mean over data sets nor its interval."""
    few = {("x", "n"): (1, 3, 2), ("y", "n"): (1, 2, 3), ("z", "n"): (2, 1, 3)}
    many = few | {("x", f"copy {i}"): (1, 3, 2) for i in range(8)}
    one, two = (study.correlate_orders(orders(cells), "M20", PAIR).iloc[0] for cells in (few, many))
    assert one[["tau", "low", "high"]].tolist() == pytest.approx(two[["tau", "low", "high"]].tolist())
    interval = stats.ttest_1samp([1 / 3, 1, 1 / 3], 0).confidence_interval(0.95)
    assert (one["tau"], one["low"]) == pytest.approx((5 / 9, interval.low))
    assert one["high"] == 1.0 < interval.high  # no tau is larger


def test_p_values_are_those_of_all_permutations():
    """One data set of two networks with the same order of five losses: p is the share of permutations so extreme."""
    after = (1, 2, 3, 5, 4)
    cells = orders({("d", "n"): after, ("d", "m"): after}, "abcde")
    every = [stats.kendalltau(range(5), p).statistic for p in itertools.permutations(after)]
    wanted = np.mean(np.abs(every) >= stats.kendalltau(range(5), after).statistic - 1e-12)
    found = study.correlate_orders(cells, "M20", PAIR, permutations=20_000).iloc[0]
    assert found["p"] == pytest.approx(wanted, abs=0.01)  # 10 of 120; twice permuted apart they would be fewer


@pytest.mark.slow
def test_unrelated_orders_are_seldom_called_related():
    rng, low = np.random.default_rng(1), 0
    for _ in range(200):
        cells = orders({(d, n): rng.permutation(6) for d in "wxyz" for n in "ab"}, "abcdef")
        low += (
            study.correlate_orders(cells, "M20", PAIR, permutations=99, seed=int(rng.integers(1e6))).iloc[0]["p"]
            <= 0.05
        )
    assert 2 <= low <= 20


def test_networks_of_a_data_set_need_the_same_losses():
    cells = orders({("d", "n"): (1, 2, 3), ("d", "m"): (1, 2, 3)})
    with pytest.raises(ValueError, match=r"must have the same losses. Got others in d"):
        study.correlate_orders(cells[(cells["network"] == "n") | (cells["loss"] != "a")], "M20", PAIR)


def test_best_counts_share_ties():
    rows = [
        ("M20", "t", "d", n, k, "ece", "pre", v)
        for n, vs in (("n", (1, 1, 2)), ("m", (3, 2, 4)))
        for k, v in zip("abc", vs, strict=True)
    ]
    assert study.count_best(made(rows), "M20", "t")["best"].tolist() == [1, 2, 0]
    assert study.count_best(made(rows), "M20", "t", ["a", "c"])["best"].tolist() == [2, 0]


def test_measured_beside_printed():
    cells = [
        ("cross-entropy", 0, 9.0),
        ("cross-entropy", 1, 11.0),
        ("fcl 3 0.5", 0, 4.0),
        ("focal-scheduled-531", 0, 5.0),
    ]
    runs = pd.DataFrame(cells, columns=["loss", "seed", "value"]).assign(dataset="cifar10", model="m", metric="ece")
    runs = runs.assign(temperature=1.0, calibration_gamma=0.0)
    scalings = (("none", "", 0), ("temperature", "ece", 1), ("temperature", "adaptive-ece", 2))
    runs = pd.concat([runs.assign(method=m, objective=o, value=runs["value"] + add) for m, o, add in scalings])
    before, after = "as trained", "after temperature scaling"
    found = compare_with_printed(runs, "ece", "CIFAR-10")
    assert found.loc["cross-entropy", before].tolist()[:2] == [10.0, np.sqrt(2)]
    assert found.loc["cross-entropy", (before, "M20")] == 4.35
    assert found.loc["cross-entropy", (after, "here")] == 11.0  # chosen by ECE of equal width
    assert "KK24" not in found[after]  # its ECE has equal mass
    assert found.loc["fcl 3 0.5", (before, "L25")] == 0.76
    assert found.loc["focal-scheduled-531", (after, "M20")] == 1.53
    assert np.isnan(found.loc["fcl 3 0.5", (before, "M20")])
    adaptive = compare_with_printed(runs.assign(metric="adaptive-ece"), "adaptive-ece", "CIFAR-10")
    assert adaptive.loc["cross-entropy", (after, "here")] == 12.0  # chosen by that of equal mass
    assert adaptive.loc["cross-entropy", (after, "KK24")] == 1.03
    by_nll = compare_with_printed(runs.assign(metric="nll"), "nll", "CIFAR-10")
    assert by_nll.loc["cross-entropy", (before, "M20")] == 0.4121

"""The record of speed as tables: made up, and the one there is."""

import numpy as np
import pandas as pd
import pytest

from focal_lib.metrics.by_name import METRICS
from reproduction.checkout import ROOT
from reproduction.studies.shared import speed

MADE = {"machine": "A, 2 cores, x86_64", "commit": "abc", "others": 0.01}
NAN = np.nan


def libraries(*ratios, others=0.01):
    """A metric of one library at two sizes for each pair of ratios, and a temperature."""
    rows = []
    for size, (n, classes) in enumerate(((50, 100), (1000, 10))):
        for number, pair in enumerate(ratios):
            rows.append((f"metric {number}", n, classes, "lib", "f", pair[size], 1e-9, NAN, "rounding"))
        rows.append(("temperature", n, classes, "lib", "g", 5.0, 0.0, (2e-9, -1e-3)[size], ""))
    columns = ["what", "n", "classes", "library", "form", "ratio", "difference", "nll_gap", "note"]
    return pd.DataFrame(rows, columns=columns).assign(**MADE | {"others": others})


def busy(all_at_once=3.0):
    rows = [("all_metrics", all_at_once, 1.5, 0.5), ("focal temperature, nll", 7.0, 2.5, 0.01)]
    rows += [(name, 1.0, 1.1, 0.2) for name in ("ece", "adaptive_ece", "classwise_ece", "nll", "brier")]
    found = pd.DataFrame(rows, columns=["what", "quiet_ms", "ratio", "reading_share"])
    return found.assign(n=1000, classes=10, busy_ms=found["quiet_ms"] * found["ratio"], taken=1, cores=2, **MADE)


def large(*rows):
    """Rows of what, seconds, whether estimated, memory, value, the value in memory, note."""
    columns = ["what", "seconds", "estimate", "memory_gb", "value", "in_memory", "note"]
    found = pd.DataFrame(rows, columns=columns)
    about = {"samples": 10_000_000, "classes": 100, "dtype": "float16", "file_gb": 1.86, "before_gb": 0.4}
    return found.assign(value_of="T", **about, **MADE)


LARGE = (
    ("temperature:nll", 20.0, False, 0.61, 2.0, 2.0, ""),
    ("focal-temperature:adaptive-ece", 9000.0, True, NAN, 2.02, 2.0, "estimate: 20 times the 450.0 s of some"),
    ("isotonic:brier", NAN, False, NAN, NAN, NAN, "does not stream"),
    *((name, 1.0, False, 0.55, 0.5, 0.5, "") for name in METRICS),
    ("all-metrics", 2.5, False, 0.7, 0.5, 0.5, ""),
)


def test_ratios_side_by_side():
    found = speed.compare_ratios(libraries((3.0, 1.24)))
    row = found.set_index("what").loc["metric 0"]
    assert (row["ratio, 50 x 100"], row["ratio, 1,000 x 10"], row["difference, 50 x 100"]) == (3.0, 1.24, "+1e-09")
    assert "why not" not in found


def test_a_library_that_was_missing_has_no_ratio_and_says_why():
    table = libraries((3.0, 1.24), (NAN, NAN))
    table.loc[table["what"] == "metric 1", "note"] = "not installed"
    found = speed.compare_ratios(table).set_index("what")
    assert found["why not"].to_dict() == {"metric 0": "", "metric 1": "not installed", "temperature": ""}


def test_calls_by_their_names():
    names = speed.tabulate_busy(busy())["what"].tolist()
    assert names[:4] == ["all metrics at once", "focal temperature, NLL", "ECE", "adaptive ECE"]


def test_large_table():
    found = speed.tabulate_large(large(*LARGE)).set_index("what")
    estimated = found.loc["focal temperature by adaptive ECE"]
    assert (estimated["seconds"], estimated["minus in memory"]) == ("9,000.0 (estimate)", "+2e-02")
    assert found.loc["isotonic by Brier score", ["seconds", "found", "note"]].tolist() == ["", "", "does not stream"]
    assert speed.caption_large(large(*LARGE)) == (
        "Logits 10,000,000 x 100, float16, 1.86 GiB in a file (7.45 GiB as float64)"
    )


def test_where_it_was_measured():
    said = "Measured on A, 2 cores, x86_64, at commit abc; other processes had at most 0.01 cores."
    assert speed.say_made(busy()) == said


@pytest.mark.parametrize(
    ("name", "tabulate"),
    [("libraries", speed.compare_ratios), ("busy", speed.tabulate_busy), ("large", speed.tabulate_large)],
)
def test_the_record_of_the_repository(name, tabulate):
    """It names no place of the machine that made it."""
    table = speed.read_speed(name)
    assert len(tabulate(table))
    texts = table.select_dtypes(exclude="number").astype(str)
    assert not texts.apply(lambda column: column.str.contains(str(ROOT), regex=False)).any().any()
    assert not texts.apply(lambda column: column.str.contains(r"/(?:home|tmp|work|root)/")).any().any()


def training_rates(*rows):
    """Of (network, loop, way, runs at once, rate), on one card, deterministic where it is ours."""
    return pd.DataFrame(
        [
            {"device": "card", "network": network, "loop": loop, "precision": "bf16", "way": way, "at_once": at_once}
            | {"deterministic": loop == "ours", "images_per_second": rate, "share": 0.5}
            for network, loop, way, at_once, rate in rows
        ]
    )


ONE_NETWORK = training_rates(
    ("a", "torchvision", "plain", 1, 10.0),
    ("a", "ours", "plain", 1, 8.0),
    ("a", "ours", "graph", 1, 40.0),
    ("a", "ours", "graph", 2, 44.0),
)


def test_training_rates_beside_the_plain_loop_of_their_network(tmp_path):
    path = tmp_path / "training.json"
    path.write_text(ONE_NETWORK.assign(device="X, 1 cores, arm").to_json(orient="records"))
    rates = speed.read_training_rates(path)
    assert set(rates["device"]) == {"X, 1 core, arm"}
    table = speed.tabulate_training(rates)
    assert table["times torchvision's"].tolist() == [1, 0.8, 4, 4.4]
    assert table["share of a large product's rate (%)"].tolist() == [50] * 4
    assert not {"device", "network"} & set(table)
    alone = speed.tabulate_training(ONE_NETWORK[2:3])  # of a call that skipped the plain loop
    assert alone["times torchvision's"].isna().all()


def test_training_rates_of_several_devices_and_of_what_no_run_does():
    other = ONE_NETWORK.assign(device="another", images_per_second=ONE_NETWORK["images_per_second"] * 2)
    loose = ONE_NETWORK[2:3].assign(deterministic=False, images_per_second=99.0)
    again = ONE_NETWORK[2:3].assign(images_per_second=41.0)
    table = speed.tabulate_training(pd.concat([ONE_NETWORK, other, loose, again], ignore_index=True))
    assert table["device"].value_counts().to_dict() == {"card": 4, "another": 4}
    assert 99.0 not in set(table["images/s"])
    assert 41.0 in set(table["images/s"])
    assert table.loc[table["device"] == "another", "times torchvision's"].tolist() == [1, 0.8, 4, 4.4]

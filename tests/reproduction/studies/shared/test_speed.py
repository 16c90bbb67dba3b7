"""What the page says of a record of speed: on made-up tables, on the one there is, and where there is none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from focal_lib.metrics.by_name import METRICS
from reproduction.checkout import ROOT
from reproduction.engine.spec import Spec
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


# --- other libraries --------------------------------------------------------------------


def test_ratios_all_above_one():
    said = speed.say_ratios(libraries((3.0, 1.24)))
    assert "The smallest ratio is 1.24, metric 0 of lib (f) at 1,000 x 10." in said
    assert "0 of 4 ratios are below 1." in said
    assert "on A, 2 cores, x86_64, at commit abc; other processes had at most 0.01 cores meanwhile." in said
    assert "Of 2 temperatures ours has the lower NLL in 1, theirs in 1, and in 0 they are equal" in said


def test_a_ratio_below_one_is_said_with_its_name():
    said = speed.say_ratios(libraries((3.0, 2.0), (0.8, 1.5)))
    assert "The smallest ratio is 0.80" in said
    assert "1 of 6 ratios is below 1: metric 1 of lib (f) at 50 x 100." in said


def test_a_machine_that_was_not_quiet_is_called_so():
    assert "(not a quiet machine)" in speed.say_ratios(libraries((3.0, 2.0), others=0.7))
    assert "quiet" not in speed.say_ratios(libraries((3.0, 2.0)))


def test_ratios_side_by_side():
    found = speed.compare_ratios(libraries((3.0, 1.24)))
    row = found.set_index("what").loc["metric 0"]
    assert (row["ratio, 50 x 100"], row["ratio, 1,000 x 10"], row["difference, 50 x 100"]) == (3.0, 1.24, "+1e-09")
    assert "why not" not in found


def test_a_library_that_was_missing_has_no_ratio_and_says_why():
    table = libraries((3.0, 1.24), (NAN, NAN))
    table.loc[table["what"] == "metric 1", "note"] = "not installed"
    said = speed.say_ratios(table)
    assert "0 of 4 ratios are below 1." in said
    assert "2 of the calls could not be compared (lib)" in said
    found = speed.compare_ratios(table).set_index("what")
    assert found["why not"].to_dict() == {"metric 0": "", "metric 1": "not installed", "temperature": ""}
    assert "No call was compared. 1 of the calls" in speed.say_ratios(table[table["ratio"].isna()].head(1))


# --- a busy machine ---------------------------------------------------------------------


def test_the_slowest_call_and_one_pass():
    said = speed.say_busy(busy())
    assert "With 1 of 2 cores taken" in said
    assert "at most 2.50 times as long (focal temperature, NLL at 1,000 x 10)" in said
    assert "1 to 50 %, the largest for all metrics at once at 1,000 x 10" in said
    assert f"all {len(METRICS)} metrics in one pass took 3.0 ms, the 5 of the table one after another 5.0 ms" in said
    names = speed.tabulate_busy(busy())["what"].tolist()
    assert names[:4] == ["all metrics at once", "focal temperature, NLL", "ECE", "adaptive ECE"]


def test_one_pass_is_not_said_of_metrics_that_are_not_there():
    assert "one pass" not in speed.say_busy(busy().iloc[:3])


# --- samples in a file ------------------------------------------------------------------


def test_what_is_measured_estimated_and_left_out():
    said = speed.say_large(large(*LARGE))
    rows = len(METRICS) + 4
    assert f"Of {rows} rows {rows - 2} are measured, 1 is estimated" in said
    assert "and 1 has no time" in said
    assert "The most memory is 0.70 GiB (all metrics at once), 0.40 GiB of it before" in said
    assert f"one pass took 2.5 s, one after another {len(METRICS):.1f} s" in said
    assert "differ by at most 1e-02 (focal temperature by adaptive ECE)" in said
    assert "to the last digit" in speed.say_large(large(*LARGE).drop(index=1))


def test_large_table():
    found = speed.tabulate_large(large(*LARGE)).set_index("what")
    estimated = found.loc["focal temperature by adaptive ECE"]
    assert (estimated["seconds"], estimated["minus in memory"]) == ("9,000.0 (estimate)", "+2e-02")
    assert found.loc["isotonic by Brier score", ["seconds", "found", "note"]].tolist() == ["", "", "does not stream"]
    assert speed.caption_large(large(*LARGE)) == (
        "Logits 10,000,000 x 100, float16, 1.86 GiB in a file (7.45 GiB as float64)"
    )


def test_a_table_of_rows_without_time():
    said = speed.say_large(large(LARGE[2]))
    assert "Of 1 rows 0 are measured, 0 are estimated" in said
    assert "memory is" not in said


# --- the record -------------------------------------------------------------------------


def test_a_record_that_is_not_there_is_said_with_the_command(tmp_path):
    for name, say in (("libraries", speed.say_ratios), ("busy", speed.say_busy), ("large", speed.say_large)):
        assert speed.read_speed(name, tmp_path) is None
        assert "There is no record" in say(None)
        assert "`make bench RECORD=1" in say(None)
    with pytest.raises(ValueError, match="name must be one of libraries, busy, large"):
        speed.read_speed("training")


@pytest.mark.parametrize(
    ("name", "say", "tabulate"),
    [
        ("libraries", speed.say_ratios, speed.compare_ratios),
        ("busy", speed.say_busy, speed.tabulate_busy),
        ("large", speed.say_large, speed.tabulate_large),
    ],
)
def test_the_record_of_the_repository(name, say, tabulate):
    """Where there is one; it names no place of the machine that made it."""
    table = speed.read_speed(name)
    if table is None:
        assert "There is no record" in say(table)
        return
    assert "nan" not in say(table)
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
    assert speed.read_training_rates(tmp_path) is None
    (tmp_path / "training.json").write_text("[]")
    assert speed.read_training_rates(tmp_path) is None
    on_a_core = ONE_NETWORK.assign(device="X, 1 cores, arm")
    (tmp_path / "training.json").write_text(on_a_core.to_json(orient="records"))
    assert set(speed.read_training_rates(tmp_path)["device"]) == {"X, 1 core, arm"}
    table = speed.tabulate_training(speed.read_training_rates(tmp_path))
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


def test_what_a_grid_would_take_on_each_device_that_has_a_rate_of_its_network():
    specs = [Spec(model="mlp", n_train=36_000, epochs=100, seed=seed) for seed in (0, 1)]  # 7.2 million images
    slow = training_rates(("mlp", "torchvision", "plain", 1, 1000.0)).assign(device="core")
    fast = training_rates(("mlp", "ours", "graph", 1, 2000.0), ("mlp", "ours", "graph", 2, 9000.0))
    fast = pd.concat([fast, training_rates(("mlp", "torchvision", "plain", 1, 3000.0))])
    rates = pd.concat([slow, fast, ONE_NETWORK], ignore_index=True)
    first, second = speed.say_cost(rates, "some-grid", specs).split(" Ours was not measured. ")
    assert first == (
        "On core torchvision's loop, which no run takes, trains MLP in bf16 with 1,000 images a second. At that rate "
        "the 2 runs of some-grid.yaml, 7,200,000 images, would take 2 hours, evaluation not counted."
    )
    assert second.startswith("On card our loop trains MLP in bf16 with 2,000 images a second.")  # one run at a time
    assert second.endswith("would take 60 minutes, evaluation not counted.")
    assert speed.say_cost(ONE_NETWORK, "some-grid", specs) == ""
    slower = fast.assign(precision="float32", images_per_second=1500.0)
    by_precision = pd.concat([fast, slower], ignore_index=True)
    for precision, rate in {"bf16": "2,000", "float32": "1,500"}.items():
        asked = [replace(spec, precision=precision) for spec in specs]
        assert f"our loop trains MLP in {precision} with {rate} " in speed.say_cost(by_precision, "some-grid", asked)
    asked = [replace(spec, precision="float32") for spec in specs]
    assert "torchvision's loop, which no run takes, trains MLP in bf16 with 3,000" in speed.say_cost(
        fast, "some-grid", asked
    )
    assert speed.say_cost(fast[fast["loop"] == "ours"], "some-grid", asked) == ""
    for others in ([], [*specs, Spec(model="small-cnn")]):
        with pytest.raises(ValueError, match=r"specs must be of one network\. Got (none|mlp, small-cnn)"):
            speed.say_cost(rates, "some-grid", others)


def test_which_way_of_a_step_is_the_fastest():
    said = speed.say_training(ONE_NETWORK)
    assert said == (
        "a in bf16: 40 images a second by the fastest, the graph step, 4.0 times torchvision's loop, "
        "5.0 times the plain step. 2 runs at once of a in bf16 by graph steps do 44 together, 1.10 times one."
    )
    assert speed.say_training(ONE_NETWORK[2:3]) == "a in bf16: 40 images a second by graph steps."
    single = ONE_NETWORK[2:3].assign(precision="float32", images_per_second=50.0)
    said = speed.say_training(pd.concat([ONE_NETWORK[2:3], single]))
    assert said.endswith(" a does 0.8 times as many in bf16 as in float32.")
    other = ONE_NETWORK[2:3].assign(device="another")
    assert "a in bf16 on another: 40 images" in speed.say_training(pd.concat([ONE_NETWORK[2:3], other]))
    assert "benchmarks.training" in speed.say_training(None)

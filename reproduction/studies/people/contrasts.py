"""What the record says: the contrasts written down before it, and what was expected of temperatures."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.significance import t_p_value
from reproduction.checkout import ROOT
from reproduction.engine.contrasts import Contrast
from reproduction.ledger.evidence import All
from reproduction.ledger.measurement import Measurement
from reproduction.studies.people.errors import two_way_interval
from reproduction.studies.people.measures import RECORD
from reproduction.studies.people.plan import CE, EXPECTED, RATIO, RECORDS, UNSEEN, written_contrasts
from reproduction.studies.shared.from_runs import on_one_test_set, say_sign, signed_by_seed
from reproduction.studies.shared.over_seeds import correct_together
from reproduction.studies.shared.recorded import read_table
from reproduction.studies.shared.written_contrasts import difference_by_seed, find_contrast

NEEDS = f"results/{RECORD}"


@functools.cache
def read_errors() -> pd.DataFrame:
    """Standard errors over images and raters: see `record.errors_of`."""
    return pd.read_parquet(ROOT / "results" / RECORD / "errors.parquet")


def read_example() -> pd.DataFrame:
    """Means over a few images: people, and a network after the temperatures for labels and people; a row a class."""
    return pd.read_parquet(ROOT / "results" / RECORD / "example.parquet")


def read_curves() -> pd.DataFrame:
    """Of cross-entropy: record, temperature, nll of the labels, kl and l2 to people; see `record.trace`."""
    return pd.read_parquet(ROOT / "results" / RECORD / "curves.parquet")


def rows_of(record: str) -> pd.DataFrame:
    """The table's rows of one set of runs."""
    table = read_table(RECORD)
    return table[table["record"] == record].assign(dataset="cifar10")


def interval_of(contrast: Contrast) -> Interval:
    """Over seeds, images and raters; see `two_way_interval`."""
    by_seed = difference_by_seed(rows_of(contrast.table), contrast.metric, contrast.ours, contrast.theirs)
    errors = read_errors()
    error = errors.loc[(errors["table"] == contrast.table) & (errors["name"] == contrast.name), "error"]
    return two_way_interval(by_seed.to_numpy(), float(error.item()))


def evaluate(record: str) -> pd.DataFrame:
    """A row a contrast of one set of unseen runs: its difference and interval, and p corrected by Holm.

    The primary one stands for itself; the others are corrected together.
    """
    rows = []
    for contrast in written_contrasts(record):
        i = interval_of(contrast)
        p = t_p_value(i)
        rows.append(
            {"table": record, "name": contrast.name, "primary": contrast.primary, "claimed": contrast.claimed}
            | {"difference": i.estimate, "low": i.low, "high": i.high, "p": p, "p_adjusted": p}
        )
    found = pd.DataFrame(rows)
    others = found[~found["primary"]]
    found.loc[others.index, "p_adjusted"] = correct_together(others)["p_adjusted"]
    return found.assign(significant=found["p_adjusted"] <= 0.05)


def measure_contrast(record: str, name: str) -> Measurement:
    """A contrast against the sign claimed; its interval excludes 0 just where it is significant, corrected by Holm."""
    contrast = find_contrast(written_contrasts(record), name)
    interval = interval_of(contrast)
    found = evaluate(record).set_index("name")[["p", "p_adjusted"]].astype(float).to_dict("index")[name]
    remark = ""
    if found["p_adjusted"] > found["p"]:
        interval = interval.at(float(1 - (1 - interval.level) * found["p"] / found["p_adjusted"]))
        remark = f"p = {found['p']:.2g}, {found['p_adjusted']:.2g} by Holm"
    distance = "squared distance" if contrast.metric == "l2" else "KL"
    quantity = f"{distance} to people [{record}], {name}"
    measured = Measurement.signed(quantity, say_sign(contrast.claimed), interval, contrast.claimed, _over(record))
    return replace(measured, said="claimed", remark=remark)


def judge_contrasts(ending: str, records: tuple[str, ...] = UNSEEN, *, primary: bool = True) -> All:
    """The contrasts whose name ends so, in sets of unseen runs; all must hold.

    Args:
        primary: whether primary ones are among them.

    Raises:
        ValueError: there is none.
    """
    written = [(r, c) for r in records for c in written_contrasts(r) if primary or not c.primary]
    pairs = [(r, c.name) for r, c in written if c.name.endswith(ending)]
    if not pairs:
        raise ValueError(f"ending must be that of a contrast of {', '.join(records)}. Got {ending!r}.")
    return All(tuple(measure_contrast(*pair) for pair in pairs))


def judge_primary(*records: str) -> All:
    """The primary contrast of each of these sets; all must hold."""
    return All(tuple(measure_contrast(record, written_contrasts(record)[0].name) for record in records))


def temperature_ratios(record: str) -> pd.DataFrame:
    """T for people over T for labels: model, loss, seed; labels (T fitted on them), kl, l2 (ratios)."""
    rows = rows_of(record)
    wide = rows[rows["metric"] == "temperature"].pivot(
        index=["model", "loss", "seed"], columns="method", values="value"
    )
    ratios = {"kl": wide["people"] / wide["temperature"], "l2": wide["people-l2"] / wide["temperature"]}
    return pd.DataFrame({"labels": wide["temperature"], **ratios}).reset_index()


def measure_ratio(record: str, loss: str = CE) -> Measurement:
    """The mean over seeds of the ratio of temperatures (KL) of one loss, against what was expected."""
    found = temperature_ratios(record)
    ratios = found.loc[found["loss"] == loss, "kl"].to_numpy()
    errors = read_errors()
    of_log = errors.loc[(errors["table"] == record) & (errors["name"] == f"ratio, {loss}"), "error"].item()
    interval = two_way_interval(ratios, float(of_log * ratios.mean()))
    low, high = EXPECTED["ratio"]
    quantity, middle, half = f"T for people over T for labels [{record}], {loss}", (low + high) / 2, (high - low) / 2
    return Measurement.near(quantity, f"{low:g} to {high:g}", interval, middle, half, _over(record), said="claimed")


def measure_ratios_above_one() -> Measurement:
    """How many of the unseen runs need a higher temperature for people than for labels."""
    ratios = pd.concat([temperature_ratios(record) for record in UNSEEN])
    above, n = int((ratios["kl"] > 1).sum()), len(ratios)
    return Measurement.counted("runs with T for people above T for labels", above, n, n)


def temperature_hurts() -> pd.DataFrame:
    """Of each unseen run: labels (T), by (change of KL to people by that T), hurts, predicted."""
    parts = []
    for record in UNSEEN:
        kl = rows_of(record).query("metric == 'kl'").pivot(index=["loss", "seed"], columns="method", values="value")
        t = temperature_ratios(record).set_index(["loss", "seed"])["labels"]
        parts.append(pd.DataFrame({"record": record, "labels": t, "by": kl["temperature"] - kl["none"]}).reset_index())
    found = pd.concat(parts, ignore_index=True)
    predicted = found["labels"].between(RATIO**-2, 1, inclusive="neither")
    return found.assign(hurts=found["by"] > 0, predicted=predicted)


def measure_hurts() -> Measurement:
    """The share of runs of which the rule is right, against the share expected; a remark has that of a plainer rule."""
    found = temperature_hurts()
    plainer = (
        f"The rule T < 1, without a lower limit, is right of {int((found['hurts'] == (found['labels'] < 1)).sum())}"
    )
    right, n = int((found["hurts"] == found["predicted"]).sum()), len(found)
    quantity, said = f"runs of which the rule is right, of {n}", f"at least {EXPECTED['hurts']:.0%}"
    return Measurement(quantity, said, right, holds=right >= EXPECTED["hurts"] * n, said="claimed", remark=plainer)


def rare_shares(record: str) -> pd.DataFrame:
    """Of cross-entropy after its temperature, by seed: shares of both distances from almost excluded classes."""
    rows = rows_of(record)
    own = rows[(rows["loss"] == CE) & (rows["method"] == "temperature")]
    wide = own.pivot(index=["model", "seed"], columns="metric", values="value")
    return pd.DataFrame({"kl": wide["kl_rare"] / wide["kl"], "l2": wide["l2_rare"] / wide["l2"]})


def measure_rare(distance: str) -> All:
    """The mean of these shares in each set of unseen runs, against the limit expected: kl from below, l2 from above."""
    limit, sign = EXPECTED[f"{distance}_rare"], {"kl": 1, "l2": -1}[distance]
    parts = []
    for record in UNSEEN:
        beyond = rare_shares(record)[distance].to_numpy() - limit
        quantity = f"share of {distance} from classes below 1 %, minus {limit:g} [{record}]"
        parts.append(on_one_test_set(signed_by_seed(quantity, say_sign(sign), beyond, sign, "claimed")))
    return All(tuple(parts))


def _over(record: str) -> str:
    seeds = rows_of(record)["seed"].nunique()
    return f"{seeds} seeds, 10,000 images and their raters"


def mean_by_method(record: str, metric: str) -> pd.DataFrame:
    """Means over seeds: a row a loss, a column a method."""
    rows = rows_of(record)
    means = rows[rows["metric"] == metric].groupby(["loss", "method"], sort=False)["value"].mean()
    return means.unstack("method")


def found_table(evaluated: pd.DataFrame) -> pd.DataFrame:
    """Contrasts with their differences as a reader wants them: what was expected, what came."""
    so = evaluated["difference"] * evaluated["claimed"] > 0
    came = np.where(~evaluated["significant"], "not significant", np.where(so, "as expected", "the other way"))
    heads = {"table": "networks", "name": "comparison", "expected": "expected", "difference": "difference"}
    heads |= {"low": "95 % from", "high": "to", "p_adjusted": "p, corrected (Holm)", "found": "found"}
    table = evaluated.assign(expected=evaluated["claimed"].map({-1: "lower", 1: "higher"}), found=came)
    return table[list(heads)].rename(columns=heads)


def focal_against_cross_entropy(metrics: Mapping[str, str]) -> pd.DataFrame:
    """Focal loss as trained minus cross-entropy after T for labels: a row a set of runs, a column a metric's title."""
    rows = {}
    for record in RECORDS:
        means = {title: mean_by_method(record, metric).to_dict("index") for metric, title in metrics.items()}
        focal = "focal 2" if "focal 2" in next(iter(means.values())) else "focal 3"
        rows[f"{record}, {focal}"] = {title: of[focal]["none"] - of[CE]["temperature"] for title, of in means.items()}
    return pd.DataFrame(rows).T

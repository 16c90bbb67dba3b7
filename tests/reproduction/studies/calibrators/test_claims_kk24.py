import numpy as np
import pandas as pd
import pytest

from reproduction.engine.contrasts import Contrast, Setting
from reproduction.ledger import Verdict, find, ledger
from reproduction.studies.calibrators import claims_kk24 as open_questions
from reproduction.studies.calibrators.architectures import ARCHITECTURE_CONTRASTS, contrasts_by_network
from reproduction.studies.calibrators.calibrators_compared import CALIBRATOR_CONTRASTS, LOSSES
from reproduction.studies.shared.from_runs import measure_among
from reproduction.studies.shared.recorded import load_recorded, read_table
from reproduction.studies.shared.written_contrasts import evaluate_contrasts, interval_of, paired_by_seed

CLAIMS = [claim for claim in ledger("kk24") if claim.id.startswith(("kk24.calibrators_", "kk24.architectures_"))]


def test_an_interval_excludes_0_where_holm_finds_significance():
    table = read_table("open-questions").query("dataset == 'cifar10'")
    found = evaluate_contrasts(table, CALIBRATOR_CONTRASTS)
    judged = [measure_among("", table, one, CALIBRATOR_CONTRASTS) for one in CALIBRATOR_CONTRASTS]
    assert [one.interval.low > 0 or one.interval.high < 0 for one in judged] == found["significant"].tolist()
    assert 0 < found["significant"].sum() < len(found)
    assert judged[0].interval.level == pytest.approx(0.95)  # the primary one stands for itself
    alone = (found["low"] > 0) | (found["high"] < 0)
    assert alone.sum() > found["significant"].sum(), "some are significant only without a correction"


def made(values):
    rows = [
        {"dataset": "d", "model": "m", "loss": "l", "method": method, "objective": "o", "metric": "nll"}
        | {"seed": seed, "value": value}
        for method, column in values.items()
        for seed, value in enumerate(column)
    ]
    return pd.DataFrame(rows)


def contrast(method):
    return Contrast("t", method, "nll", Setting(("l",), "ours", "o"), Setting(("l",), method, "o"), -1)


def test_a_sign_that_is_significant_alone_is_undecided_among_many():
    noise = np.array([0.0, 0.3, -0.3, 0.1])
    table = made({"ours": [0.0] * 4} | {f"m{i}": (0.3 if i == 0 else 0.0) + noise + 0.01 * i for i in range(8)})
    family = [contrast(f"m{i}") for i in range(8)]
    alone, among = (measure_among("", table, family[0], part) for part in (family[:1], family))
    assert (alone.interval.level, alone.measured) == (0.95, among.measured)
    assert among.interval.level > 0.99
    assert among.verdict == Verdict.UNDECIDED
    with pytest.raises(ValueError, match="must be of the family"):
        measure_among("", table, contrast("m9"), family)


def test_one_seed_says_nothing():
    table = made({"ours": [0.0], "m0": [1.0], "m1": [2.0]})
    family = [contrast("m0"), contrast("m1")]
    assert measure_among("", table, family[0], family).verdict == Verdict.UNDECIDED


def test_every_contrast_by_log_loss_or_of_an_architecture_is_a_claim():
    """None is left out for what it says; the Brier score of the others is on the page."""
    assert len(CLAIMS) == 2 + 1 + sum(one.metric == "nll" for one in CALIBRATOR_CONTRASTS)
    of_networks = contrasts_by_network(read_table("fashion-mnist-architectures"), ARCHITECTURE_CONTRASTS)
    of_ece, of_nll = (find(f"kk24.architectures_{metric}").evidence for metric in ("ece", "nll"))
    parts = [*of_ece.parts, *of_nll.parts]
    found = sorted((part.measured, part.interval.low) for part in parts)
    assert found == sorted(zip(of_networks["difference"], of_networks["low"], strict=True))
    assert all("by Holm over all 6 contrasts" in part.remark for part in parts)


def test_what_was_changed_after_a_first_record_is_said():
    """Of the methods whose default penalty is another than on record for the small networks, and of no other."""
    for method in ("temperature", "vector", "matrix", "beta", "dirichlet", "structured"):
        remark = find(f"kk24.calibrators_{method}").evidence.remark
        assert ("with an earlier default penalty" in remark) == (method in ("vector", "matrix", "dirichlet"))


@pytest.mark.parametrize("metric", ["nll", "brier"])
def test_gammas_5_and_7_decide_against_a_temperature(metric):
    """As kk24.calibrators_temperature and that of the Brier score say."""
    table, others = read_table("open-questions").query("dataset == 'cifar10'"), set(LOSSES) - {"focal 5", "focal 7"}
    scaled = (Setting(tuple(others), method, "nll") for method in ("focal-temperature", "temperature"))
    found = interval_of(paired_by_seed(table, metric, *scaled), metric)
    assert found.low < 0 < found.high


def test_statements_name_the_networks():
    specs = [run.spec for run in load_recorded(open_questions.RUNS) if run.spec.label in LOSSES]
    assert {(spec.model, spec.dataset, spec.n_train, spec.training.epochs) for spec in specs} == {
        ("airbench-cnn", open_questions.DATASET, 45_000, 16)
    }
    assert len(LOSSES) == 7
    said = [claim.statement for claim in CLAIMS if claim.needs == "results/open-questions"]
    named = "AirBench CNN on CIFAR-10, 45,000 images, 16 epochs, mean over KK24's seven losses"
    assert all(named in one and "fitted on 5,000 validation images" in one for one in said)
    assert {len(run.validation.labels) for run in load_recorded(open_questions.RUNS)} == {5_000}
    others = sum(not one.primary for one in CALIBRATOR_CONTRASTS) - 1
    assert others == 10
    assert sum("the ten other secondary contrasts" in one for one in said) == len(said) - 1

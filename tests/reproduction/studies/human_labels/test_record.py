"""The record of models on raters' labels goes on where it stopped."""

import pandas as pd

from reproduction.studies.human_labels import record as human_labels
from reproduction.studies.human_labels.plan import Plan


def test_each_model_is_trained_once(tmp_path, monkeypatch):
    asked = []

    def measured(plans):
        asked.extend(plans)
        about = {"model": plans[0].model, "classes": plans[0].classes, "labels": plans[0].labels}
        return pd.DataFrame([about | {"loss": plans[0].label, "seed": plans[0].seed, "value": 1.0}])

    monkeypatch.setattr(human_labels, "measure_plans", measured)
    out = tmp_path / "record" / "table.parquet"
    human_labels.main(5, out, seeds=1)
    assert asked == human_labels.plans(1)
    first = pd.read_parquet(out)
    human_labels.main(5, out, seeds=2)
    assert asked == human_labels.plans(1) + human_labels.plans(2)
    pd.testing.assert_frame_equal(pd.read_parquet(out).head(len(first)), first)
    human_labels.main(0, out, seeds=3)  # no time: what there is stays
    assert len(asked) == len(set(asked)) == len(pd.read_parquet(out))


def test_later_seeds_have_the_cheap_models_alone():
    few = {(plan.model, plan.classes) for plan in human_labels.plans(10)}
    assert few == {("linear", 2), ("averaged-embedding", 2)}
    assert all(isinstance(plan, Plan) and plan.seed == 10 for plan in human_labels.plans(10))
    assert not human_labels.plans(11)

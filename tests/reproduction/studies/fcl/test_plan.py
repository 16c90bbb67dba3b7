"""What is trained for the map, and what is compared in it."""

import pytest

from focal_lib.metrics.by_name import METRICS
from reproduction.engine.spec import Spec
from reproduction.studies.fcl.plan import (
    MAP_GAMMAS,
    MAP_LAMBDAS,
    TrainedLoss,
    chosen_by_l25,
    fcl,
    losses_recorded,
    written_contrasts,
)

MORE = {"ece-change", "log-gap", "epochs-to-low", "epochs-to-error"}


def test_every_contrast_is_of_what_is_recorded():
    labels = [loss.label for loss in losses_recorded()]
    assert len(labels) == len(set(labels))
    for contrast in written_contrasts():
        assert {*contrast.ours.losses, *contrast.theirs.losses} <= set(labels)
        assert contrast.metric in {*METRICS, *MORE}


def test_the_pairs_of_l25_lie_in_the_map():
    assert (4.0, 1.5) in chosen_by_l25()
    assert all(gamma in MAP_GAMMAS and lam in MAP_LAMBDAS for gamma, lam in chosen_by_l25())


@pytest.mark.parametrize("loss", losses_recorded(), ids=lambda loss: loss.label)
def test_labels_are_those_of_specifications(loss):
    assert loss.label == Spec(loss=loss.name, gamma=loss.gamma, lam=loss.lam).label
    loss.build()


def test_without_the_square_it_is_focal_loss():
    assert fcl(3.0, 0.0) == fcl(3.0, 0.0, absolute=True) == TrainedLoss("focal", 3.0)
    assert fcl(3.0, 1.0, absolute=True).name == "fcl-l1"


def test_a_loss_of_other_things_is_refused():
    with pytest.raises(ValueError, match="hessian-trace"):
        TrainedLoss("hessian-trace", lam=1.0).build()

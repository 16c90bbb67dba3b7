"""What the papers train with, where a run leaves it out."""

from __future__ import annotations

from focal_lib.loss_records import LOSS_RECORDS

# (data set, network) -> gamma, lambda of FCL: L25 A.10. Its column heads are lost; we read gamma first, as section
# 5.5.2 finds 0.5 the best lambda, which stands in the second column only.
FCL_OF_L25: dict[tuple[str, str], tuple[float, float]] = {
    ("cifar100", "resnet50"): (2.0, 0.5),
    ("cifar100", "resnet110"): (4.0, 1.5),
    ("cifar100", "wide-resnet-26-10"): (3.0, 0.5),
    ("cifar100", "densenet121"): (3.0, 0.5),
    ("cifar10", "resnet50"): (4.0, 1.5),
    ("cifar10", "resnet110"): (4.0, 1.5),
    ("cifar10", "wide-resnet-26-10"): (2.0, 0.5),
    ("cifar10", "densenet121"): (2.0, 0.5),
    ("tiny-imagenet", "resnet50-tiny-imagenet"): (3.0, 0.5),
    ("20-newsgroups-m20", "gp-cnn-glove"): (5.0, 4.5),
    ("ag-news", "gp-cnn-glove"): (4.0, 3.0),
    ("finsen", "gp-cnn-glove"): (4.0, 4.0),
}


def advise(loss: str, dataset: str, model: str) -> str:
    """What the papers have for a parameter of the loss, for that network on that data set where they say so."""
    if loss not in ("fcl", "fcl-l1"):
        return LOSS_RECORDS[loss].papers
    what = "" if loss == "fcl" else ", for fcl,"
    if (dataset, model) in FCL_OF_L25:
        gamma, lam = FCL_OF_L25[dataset, model]
        return f"L25 A.10 has{what} gamma {gamma:g}, lam {lam:g} for {model} on {dataset}"
    return f"L25 A.10 has{what} gamma 4, lam 1.5 for resnet50 on cifar10, gamma 2, lam 0.5 on cifar100, not {model}"

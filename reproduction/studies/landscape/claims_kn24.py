"""KN24 Figs. 2 and 3: curvature over gamma, and its relation to ECE, on recorded measurements."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from reproduction.engine.contrasts import Contrast
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows, claim
from reproduction.ledger.measurement import Measurement
from reproduction.pages.tables import in_words
from reproduction.studies.landscape.landscape import relation_by_seed, relation_interval
from reproduction.studies.landscape.read import read_landscape
from reproduction.studies.landscape.written_landscape import (
    GAMMAS,
    NETWORKS,
    calibration_contrasts,
    cause_contrasts,
    eigenvalue_contrasts,
)
from reproduction.studies.shared.from_runs import contrast_by_seed, over_seeds

CHAPTER = "20_landscape"
RECORDED = "results/landscape"
OTHERS = ("small-cnn", "mlp")  # than ViT
ON = "Fashion-MNIST, networks trained on 2,000 images, the Hessian on 200"
OTHERS_SAID = ", ".join(map(in_words, OTHERS))
THREE = f"three small networks: {', '.join(map(in_words, NETWORKS))}; {ON}"


@functools.cache
def table() -> pd.DataFrame:
    """What was recorded, with logarithms."""
    return read_landscape()


def _measured(network: str, contrast: Contrast, said: str) -> Measurement:
    """A contrast that was written down, on one network."""
    found = table()
    of_pair = f"{contrast.ours.losses[0]} minus {contrast.theirs.losses[0]}"
    quantity = f"{contrast.metric}, {of_pair} [{network}]"
    return contrast_by_seed(quantity, found[found["model"] == network], contrast, said)


def _all(networks: Iterable[str], contrasts: Iterable[Contrast], said: str = "printed") -> Evidence:
    chosen = list(contrasts)
    return All(tuple(_measured(network, contrast, said) for network in networks for contrast in chosen))


def _cause(metric: str) -> list[Contrast]:
    return [contrast for contrast in cause_contrasts() if contrast.metric == metric]


@claim(
    "kn24.fig2",
    source="KN24 Fig. 2",
    statement=r"'For all architectures, $\lambda_{\max}(H_{val})$ monotonically decreases with increasing $\gamma$', on CIFAR-100. (Taken as: of focal "
    rf"loss itself, its logarithm, from each $\gamma$ to the next; 0, 1, 2, 3, 5, 7, of the transformer 0, 1, 3, 7; {THREE} validation images.)",
    chapter=CHAPTER,
    fidelity="our reading",
    needs=RECORDED,
    headline="the top eigenvalue of the Hessian falls as gamma grows",
)
def fig2() -> Evidence:
    """Every step, on each network."""
    steps = {name: eigenvalue_contrasts(gammas)[1:] for name, gammas in NETWORKS.items()}
    return All(tuple(_measured(name, contrast, "printed") for name, found in steps.items() for contrast in found))


add_reading = Rows(CHAPTER, "our reading", needs=RECORDED)
add_ours = Rows(CHAPTER, "ours", needs=RECORDED)

# The primary contrast, on each network.
add_ours(
    "kn24.fig2_ends",
    "KN24 Fig. 2, its ends",
    rf"$\lambda_{{\max}}(H_{{val}})$ of focal loss is smaller with $\gamma = 7$ than with cross-entropy ({THREE} validation images).",
    lambda: _all(NETWORKS, eigenvalue_contrasts()[:1], "asked"),
)

# Of test images; the paper does not say which bins, nor whether anything was fitted first.
add_reading(
    "kn24.fig2_ece",
    "KN24 Fig. 2",
    r"'ECE reaches its minimum for ViT architecture around $\gamma$ = 10 and for other architectures around $\gamma = 3,4$', on CIFAR-100. "
    rf"(Taken as: ECE of equal width, as trained, is lower at $\gamma = 3$ than at 0, and higher at 7 than at 3; networks that are no transformers: "
    rf"{OTHERS_SAID}; {ON}. Of ViT nothing is judged: no $\gamma$ above {GAMMAS[-1]:g} was run.)",
    lambda: _all(OTHERS, [contrast for contrast in calibration_contrasts() if contrast.metric == "ece"]),
)

# Both, at a middle gamma and at a large one.
add_reading(
    "kn24.fig3",
    "KN24 Fig. 3",
    r"'ECE reaches a minimum peak for all network architectures when $\operatorname{Tr}(H_{val})$ is reduced to a certain extent rather than "
    r"maximizing it', on CIFAR-100. (Taken as: trace and ECE of equal width are lower at $\gamma = 3$ than at 0, and at 7 the trace is lower still and ECE higher; "
    rf"for the transformer their other figure has its least ECE near 10; here {OTHERS_SAID}; {ON} validation images.)",
    lambda: _all(OTHERS, calibration_contrasts()),
)


@claim(
    "kn24.relation",
    source="KN24 Abstract, Figs. 2 and 3, taken further",
    statement=r"Over the values of $\gamma$ of one seed ECE of equal width rises with the top eigenvalue and with the trace of focal loss on validation "
    rf"images, by rank correlation. ({THREE} validation images. KN24, who study 'the relationship', say of the trace that the ECE has a minimum.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=RECORDED,
)
def relation() -> Evidence:
    """Spearman's correlation, a number a seed; intervals cut at -1 and 1, and not narrower than its steps make them."""
    parts = []
    for metric in ("top own validation", "trace own validation"):
        by_seed = relation_by_seed(table(), metric)
        for network, gammas in NETWORKS.items():
            values = by_seed.loc[network].dropna()
            quantity = f"rank correlation of ECE with {metric} over gamma [{network}]"
            interval = relation_interval(values, len(gammas))
            found = Measurement.signed(quantity, "positive", interval, 1, over_seeds(values))
            parts.append(replace(found, said="claimed"))
    return All(tuple(parts))


# The primary contrast of its table, on each network.
add_ours(
    "kn24.one_landscape",
    "KN24 Abstract, asked of one loss for all networks",
    rf"In the landscape of cross-entropy networks trained with focal loss, $\gamma = 3$, lie where the trace of the Hessian on validation images is "
    rf"smaller than where cross-entropy leads. ({THREE} validation images.)",
    lambda: _all(NETWORKS, _cause("log trace ce validation"), "asked"),
)

# On what the networks were fitted to.
add_ours(
    "kn24.one_landscape_train",
    "KN24 Abstract, asked of one loss for all networks",
    rf"In the landscape of cross-entropy networks trained with focal loss, $\gamma = 3$, lie where the trace of the Hessian on images that they were "
    rf"trained on is smaller than where cross-entropy leads. ({THREE} of these images.)",
    lambda: _all(NETWORKS, _cause("log trace ce train"), "asked"),
)

# Less concentrated probabilities make cross-entropy steeper in the logits, not flatter.
add_ours(
    "kn24.spread",
    "KN24 Abstract, its causes kept apart",
    r"With $\gamma = 3$ the probabilities on validation images are more spread than with cross-entropy: the mean of $1 - \sum_k p_k^2$, which is the "
    rf"trace of cross-entropy's Hessian in the logits, is larger. ({THREE} validation images.)",
    lambda: _all(NETWORKS, _cause("log spread validation"), "asked"),
)

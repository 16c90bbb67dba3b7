"""Distances between CIFAR-10 networks and people, recorded: results/people/. No image and no vote.
Needs FOCAL_DATA/cifar10h; FOCAL_DATA/published-resnets where it is there.

FOCAL_DATA=... python -m reproduction.studies.people.record      # half a minute of a core

`table.parquet` has a row for each network, method and metric; `errors.parquet` the standard errors over images and
raters of the contrasts and of the ratios of temperatures; `example.parquet` means over a few images on which people are
divided and networks are not; `curves.parquet` distances after each of many temperatures.
"""

from __future__ import annotations

import functools
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_softmax

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT
from reproduction.engine.contrasts import Contrast
from reproduction.studies.people.cifar10h import check_order, load_people, load_published
from reproduction.studies.people.errors import draw_errors, ratio_error, terms
from reproduction.studies.people.measures import RECORD, Network, measure_distances, settings
from reproduction.studies.people.plan import CE, PUBLISHED, RECORDS, RESNET18, UNSEEN, written_contrasts
from reproduction.studies.shared.going_on import made_by
from reproduction.studies.shared.recorded import load_recorded
from reproduction.studies.shared.votes import Votes, divergence_to_raters, squared_distance_to_raters

OUT = ROOT / "results" / RECORD
RESAMPLES = 1_000
TEMPERATURES = np.geomspace(0.8, 6, 30).round(3)
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

Said = dict[tuple[str, str, int], np.ndarray]  # (loss, method, seed) -> test log-probabilities


def networks(record: str) -> Iterator[Network]:
    """Those of a set of recorded runs, or the published ones."""
    if record == PUBLISHED:
        for name, (logits, labels) in load_published().items():
            yield Network(record, name, CE, 0.0, 0, logits.astype(np.float64), labels, None)
        return
    for folder in RECORDS[record]:
        for run in load_recorded(folder):
            gamma = run.spec.gamma if run.spec.is_focal else None
            validation = run.validation.logits.astype(np.float64), run.validation.labels
            test = run.test.logits.astype(np.float64), run.test.labels
            yield Network(record, run.spec.model, run.spec.label, gamma, run.spec.seed, *test, validation)


def measure(record: str, votes: Votes) -> tuple[list[dict[str, Any]], Said, list[Network]]:
    """Rows of the table, and what each network says after each method.

    Raises:
        ValueError: the votes are not in the order of a network's images.
    """
    rows: list[dict[str, Any]] = []
    said: Said = {}
    every = list(networks(record))
    for network in every:
        check_order(votes, network.logits, network.labels)
        about = {"record": record, "model": network.model, "loss": network.loss, "seed": network.seed}
        for method, log_probs, t in settings(network, votes):
            said[network.loss, method, network.seed] = log_probs
            found = measure_distances(log_probs, votes, network.labels) | {"temperature": t}
            common = about | {"method": method, "objective": ""}
            rows += [common | {"metric": metric, "value": value} for metric, value in found.items()]
    return rows, said, every


def errors_of(record: str, said: Said, every: list[Network], votes: Votes) -> list[dict[str, Any]]:
    """Standard errors over images and raters: of the contrasts of a set, and of log T for people over T for labels."""
    contrasts = written_contrasts(record)
    drawn = draw_errors([_mean_terms(contrast, said) for contrast in contrasts], votes, RESAMPLES)
    rows = [
        {"table": record, "name": contrast.name, "error": both, "error_images": images}
        for contrast, (both, images) in zip(contrasts, drawn, strict=True)
    ]
    for loss in dict.fromkeys(network.loss for network in every):
        of_loss = [network for network in every if network.loss == loss]
        rows.append({"table": record, "name": f"ratio, {loss}", "error": ratio_error(of_loss, votes)})
    return rows


def _mean_terms(contrast: Contrast, said: Said) -> tuple[np.ndarray, np.ndarray]:
    """What the contrast has for each vote and image, a mean over the seeds of both sides."""
    (ours,), (theirs,) = contrast.ours.losses, contrast.theirs.losses
    one, two = contrast.ours.method, contrast.theirs.method
    seeds = sorted({s for loss, m, s in said if (loss, m) == (ours, one) and (theirs, two, s) in said})
    pairs = [
        [a - b for a, b in zip(*(terms(said[key], contrast.metric) for key in keys), strict=True)]
        for keys in (((ours, one, seed), (theirs, two, seed)) for seed in seeds)
    ]
    return np.mean([votes for votes, _ in pairs], axis=0), np.mean([images for _, images in pairs], axis=0)


def choose_example(said: Said, votes: Votes) -> pd.DataFrame:
    """Means over images of one class: the votes and what two networks say, a row a class.

    Of images whose majority is this class, which cross-entropy after its temperature, too, calls with at least 0.9, and
    fewer than 0.7 of the people do; the class with most of them. Chosen to show what differs, not as typical; a mean,
    as the votes on one image are not this project's to keep.
    """

    def mean(loss: str, method: str) -> np.ndarray:
        found: np.ndarray = np.mean([np.exp(z) for (a, m, _), z in said.items() if (a, m) == (loss, method)], axis=0)
        return found

    ce, most = mean(CE, "temperature"), votes.shares.argmax(-1)
    divided = (ce.argmax(-1) == most) & (ce.max(-1) >= 0.9) & (votes.shares.max(-1) < 0.7)
    chosen = int(np.bincount(most[divided], minlength=len(CLASSES)).argmax())
    images = divided & (most == chosen)
    columns = {"people": votes.shares, "labels": ce, "suits people": mean(CE, "people")}
    means = {name: values[images].mean(0) for name, values in columns.items()}
    return pd.DataFrame(means | {"class": CLASSES, "images": int(images.sum())})


def trace(every: list[Network], votes: Votes) -> list[dict[str, Any]]:
    """Of cross-entropy, by temperature: NLL of the test labels, and both distances to people, means over networks."""
    rows = []
    own = [network for network in every if network.loss == CE]
    for t in TEMPERATURES:
        found = []
        for network in own:
            log_probs = log_softmax(network.logits / t, -1)
            labels = -float(log_probs[np.arange(len(network.labels)), network.labels].mean())
            kl, l2 = divergence_to_raters(log_probs, votes), squared_distance_to_raters(np.exp(log_probs), votes)
            found.append((labels, float(kl.mean()), float(l2.mean())))
        nll, away, squared = np.mean(found, axis=0)
        rows.append({"record": own[0].record, "temperature": t, "nll": nll, "kl": away, "l2": squared})
    return rows


def main(out: Path = OUT) -> None:
    """Measure every network; a file is written whole or not at all."""
    votes, code = load_people(), made_by(__file__)
    table, errors, curves, example = [], [], [], pd.DataFrame()
    for record in (*RECORDS, PUBLISHED):
        try:
            rows, said, every = measure(record, votes)
        except FileNotFoundError:
            if record != PUBLISHED:
                raise
            continue  # the published networks are somebody else's, too, and may not be there
        table += rows
        curves += trace(every, votes)
        if record in UNSEEN:
            errors += errors_of(record, said, every, votes)
        if record == RESNET18:
            example = choose_example(said, votes)
    out.mkdir(parents=True, exist_ok=True)
    for name, rows_or_frame in (("table", table), ("errors", errors), ("curves", curves), ("example", example)):
        kept = pd.DataFrame(rows_or_frame).assign(**code)
        write_whole(out / f"{name}.parquet", functools.partial(kept.to_parquet, index=False))


if __name__ == "__main__":
    main()

"""The same probabilities in another place of the landscape: what curvature alone does to calibration, nothing.

ReLU(a z) = a ReLU(z) for a > 0, so a layer whose weights and bias are multiplied by a, the next one's weights divided
by it, gives what it gave. The trace of the Hessian changes (Dinh et al. 2017, arXiv 1703.04933, section 3).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn

from focal_lib.losses.focal import FocalLoss
from focal_lib.metrics.by_name import METRICS
from reproduction.engine.run import trained
from reproduction.engine.store import Result
from reproduction.studies.landscape.measures import gauss_newton_traces, logit_grams, logit_hessians


def rescale_layers(model: nn.Sequential, factor: float) -> nn.Sequential:
    """A copy whose first layer of weights is multiplied by a factor and whose second is divided by it: one function.

    Raises:
        ValueError: factor not above 0, or what is between the two is not a ReLU, with or without flattening.
    """
    if not factor > 0:
        raise ValueError(f"factor must be above 0. Got {factor}.")
    found = copy.deepcopy(model)
    layers = list(found)
    weighted = [i for i, layer in enumerate(layers) if isinstance(layer, nn.Linear | nn.Conv2d)]
    between = layers[weighted[0] + 1 : weighted[1]] if len(weighted) > 1 else []
    if not any(isinstance(b, nn.ReLU) for b in between) or not all(
        isinstance(b, nn.ReLU | nn.Flatten) for b in between
    ):
        raise ValueError(f"the first two layers must have a ReLU between them, and no more. Got {between}.")
    with torch.no_grad():
        for weights in layers[weighted[0]].parameters():
            weights.mul_(factor)
        layers[weighted[1]].get_parameter("weight").div_(factor)
    return found


def measure_rescaled(
    results: Iterable[Result], factors: Sequence[float], images: int = 100, root: str | Path | None = None
) -> pd.DataFrame:
    """Trace of cross-entropy's Hessian on validation images, and calibration there, of each network by each factor.

    Returns:
        loss, gamma, seed, factor; trace, exact, see `gauss_newton_traces`; ece, in per cent; moved, the largest change
        of a probability.

    Raises:
        ValueError: images out of range, a network that is not layers in a row, or as `rescale_layers`.
        RunMissing, RunDamaged: weights that are needed.
    """
    rows = []
    for result in results:
        model, parts = trained(result.spec, root, "cpu")
        inputs, labels = parts["validation"]
        if not 1 <= images <= len(labels):
            raise ValueError(f"images must be 1 to {len(labels)}. Got {images}.")
        if not isinstance(model, nn.Sequential):
            raise ValueError(f"networks must be layers in a row. Got {result.spec.model}.")
        named = {"loss": result.spec.label, "gamma": result.spec.gamma, "seed": result.spec.seed}
        before: np.ndarray | None = None
        for factor in (1.0, *factors):
            moved = rescale_layers(model, factor)
            with torch.no_grad():
                logits = moved(inputs).double()
            hessians = logit_hessians(FocalLoss(0.0), logits[:images], labels[:images])
            trace = float(gauss_newton_traces(logit_grams(moved, inputs[:images]), hessians).mean())
            probs = logits.softmax(-1).numpy()
            before = probs if before is None else before
            found = {"trace": trace, "ece": METRICS["ece"].shown(probs, labels.numpy())}
            rows.append(named | {"factor": factor} | found | {"moved": float(np.abs(probs - before).max())})
    return pd.DataFrame(rows).drop_duplicates(["loss", "seed", "factor"])

"""What a classifier is given of several raters' votes: one of them at random, their majority, or all of them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from focal_lib.losses.base import LogitLoss
from reproduction.studies.human_labels.votes import Votes

KINDS = ("drawn", "majority", "votes")


def make_targets(votes: Votes, kind: str, seed: int) -> np.ndarray:
    """Targets (n, K), each row a distribution.

    Args:
        kind: 'drawn', a label drawn from the shares of the votes, which is the vote of one rater at random (one between
            two classes by a coin): the labels that the theory speaks of. 'majority', the class with the largest share,
            ties by a coin: another posterior, more certain than the raters are. 'votes', the shares themselves, for
            which the expected loss is the conditional risk that the theory minimises.
        seed: of the draws.

    Raises:
        ValueError: another kind.
    """
    rng = np.random.default_rng([seed, 1])
    shares = votes.shares
    if kind == "votes":
        return shares
    if kind == "drawn":
        labels = (rng.random((len(shares), 1)) > shares.cumsum(-1)[:, :-1]).sum(-1)
    elif kind == "majority":
        labels = (shares + 1e-9 * rng.random(shares.shape)).argmax(-1)
    else:
        raise ValueError(f"kind of labels must be one of {', '.join(KINDS)}. Got {kind!r}.")
    return np.eye(shares.shape[-1])[labels]


def expected_loss(loss: LogitLoss, logits: Tensor, targets: Tensor) -> Tensor:
    """Mean over items of the loss expected under the targets: sum_k t_k L(z, k), (n, K), (n, K) -> ()."""
    n, classes = targets.shape
    if bool(((targets == 0) | (targets == 1)).all()):
        return loss.per_sample(logits, targets.argmax(-1)).mean()
    every = [loss.per_sample(logits, torch.full((n,), k)) for k in range(classes)]
    return (targets * torch.stack(every, -1)).sum(-1).mean()

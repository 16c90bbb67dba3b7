"""Cross-entropy with the maximum mean calibration error (Kumar, Sarawagi and Jain, ICML 2018)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from focal_lib.losses.base import TrainingLoss, check_batch
from focal_lib.validation import check_number

LARGE = 20_000  # samples whose kernel is not held in memory: a training set, where its summary is taken; no batch


def mmce(confidence: Tensor, correct: Tensor, weighted: bool = True, width: float = 0.4, divided_by: int = 1) -> Tensor:
    r"""The MMCE of a batch, with the kernel :math:`k(r, r') = e^{-|r - r'|/0.4}` and the square root.

    Unweighted, their MMCE_m: :math:`\sqrt{\sum_{ij}(c_i-r_i)(c_j-r_j)k(r_i,r_j)}/m`. Weighted, MMCE_w: right and
    wrong samples each averaged by their own number; 0 where a batch has only one kind. Codes differ: some omit
    the root, and M20's (github.com/torrvision/focal_calibration, Losses/mmce.py) divides the weighted means by the
    numbers a second time.

    Args:
        confidence: (m,), in [0, 1]; correct: (m,), 0 or 1.
        divided_by: the power of the number of right, or of wrong, samples by which theirs are divided: 1 for their
            mean, 2 as M20's code has it. Of MMCE_w only.
    """
    large = len(confidence) > LARGE
    if not large:
        kernel = torch.exp(-(confidence[:, None] - confidence[None, :]).abs() / width)  # (m, m)
    correct = correct.to(confidence.dtype)
    if weighted:
        right, wrong = correct.sum(), (1 - correct).sum()
        of_right, of_wrong = right.clamp(min=1) ** divided_by, wrong.clamp(min=1) ** divided_by
        gap = correct * (1 - confidence) / of_right - (1 - correct) * confidence / of_wrong
    else:
        gap = (correct - confidence) / len(confidence)
    squared = _by_sorting(confidence, gap, width) if large else gap @ kernel @ gap
    root = squared.clamp(min=torch.finfo(squared.dtype).tiny).sqrt()  # the root has no slope at 0
    return torch.where((right > 0) & (wrong > 0), root, 0.0) if weighted else root  # a branch would stall a GPU


def _by_sorting(confidence: Tensor, gap: Tensor, width: float) -> Tensor:
    r""":math:`\sum_{ij}g_ig_je^{-|r_i-r_j|/w}` without the m x m kernel, in float64: with the samples sorted it is

    :math:`\sum_ig_i^2+2\sum_ig_ie^{-r_i/w}\sum_{j<i}g_je^{r_j/w}`.
    """
    order = confidence.detach().argsort()
    r, g = confidence[order].double() / width, gap[order].double()
    before = (g * r.exp()).cumsum(0) - g * r.exp()
    total: Tensor = (g**2).sum() + 2 * (g * (-r).exp() * before).sum()
    return total.to(gap.dtype)


class MMCELoss(TrainingLoss):
    """Mean cross-entropy plus lam times the MMCE of the batch: no loss of single samples, so no reduction.

    Args:
        lam: >= 0; M20 appendix D has 2 for images and 8 for documents.
        weighted: MMCE_w rather than MMCE_m; which of them they use the texts of M20 and L25 do not tell, M20's code
            the former.
        divided_by: see `mmce`; 2 is M20's code, in which the same lam weighs less, the less the more samples are
            right and wrong.

    Raises:
        ValueError: lam negative; wrong shapes when called.
    """

    def __init__(self, lam: float = 2.0, weighted: bool = True, divided_by: int = 1) -> None:
        super().__init__()
        self.lam = check_number(lam, "lam", minimum=0.0)
        self.weighted = weighted
        self.divided_by = divided_by

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_batch(logits, labels)
        confidence, predicted = torch.softmax(logits, -1).max(-1)
        error = mmce(confidence, predicted == labels, self.weighted, divided_by=self.divided_by)
        return nn.functional.cross_entropy(logits, labels) + self.lam * error

    def extra_repr(self) -> str:
        return f"lam={self.lam:g}, weighted={self.weighted}, divided_by={self.divided_by}"

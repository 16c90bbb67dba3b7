"""Cross-entropy with the maximum mean calibration error (Kumar, Sarawagi and Jain, ICML 2018)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from focal_lib.losses.base import IGNORED, TrainingLoss, as_rows, check_fixed
from focal_lib.validation import check_number

LARGE = 20_000  # above this number of samples (a training set, not a batch) the kernel is not held in memory


def mmce(
    confidence: Tensor, correct: Tensor, counted: Tensor | None = None, *, width: float = 0.4, divided_by: int = 1
) -> Tensor:
    r"""The weighted maximum mean calibration error of a batch (Kumar, Sarawagi and Jain 2018), a scalar.

    The kernel is :math:`k(r, r') = e^{-|r - r'|/0.4}`. The unweighted MMCE_m is
    :math:`\sqrt{\sum_{ij}(c_i-r_i)(c_j-r_j)k(r_i,r_j)}/m`. The weighted MMCE_w averages right and wrong samples
    separately, and is 0 if a batch has only one kind. M20's code (github.com/torrvision/focal_calibration,
    Losses/mmce.py) uses MMCE_w and divides the means by the numbers a second time; its text and L25's do not say which.

    Args:
        confidence: (m,), in [0, 1].
        correct: (m,), 0 or 1.
        counted: (m,), whether a sample counts; default all.
        width: of the kernel.
        divided_by: the power of the numbers of right and wrong samples that divides their sums: 1 for the mean, 2 in
            M20's code.
    """
    large = len(confidence) > LARGE
    if not large:
        kernel = torch.exp(-(confidence[:, None] - confidence[None, :]).abs() / width)  # (m, m)
    correct = correct.to(confidence.dtype)
    incorrect = 1 - correct
    if counted is not None:
        correct, incorrect = correct * counted, incorrect * counted
    right, wrong = correct.sum(), incorrect.sum()
    of_right, of_wrong = right.clamp(min=1) ** divided_by, wrong.clamp(min=1) ** divided_by
    gap = correct * (1 - confidence) / of_right - incorrect * confidence / of_wrong
    squared = _by_sorting(confidence, gap, width) if large else gap @ kernel @ gap
    root = squared.clamp(min=torch.finfo(squared.dtype).tiny).sqrt()  # the root has no slope at 0
    return torch.where((right > 0) & (wrong > 0), root, 0.0)  # a branch would stall a GPU


def _by_sorting(confidence: Tensor, gap: Tensor, width: float) -> Tensor:
    r""":math:`\sum_{ij}g_ig_je^{-|r_i-r_j|/w}` without the m x m kernel, in float64. With sorted samples it is

    :math:`\sum_ig_i^2+2\sum_ig_ie^{-r_i/w}\sum_{j<i}g_je^{r_j/w}`.
    """
    order = confidence.detach().argsort()
    r, g = confidence[order].double() / width, gap[order].double()
    before = (g * r.exp()).cumsum(0) - g * r.exp()
    total: Tensor = (g**2).sum() + 2 * (g * (-r).exp() * before).sum()
    return total.to(gap.dtype)


class MMCELoss(TrainingLoss):
    """Mean cross-entropy plus lam times the MMCE of the batch (Kumar, Sarawagi and Jain 2018). It has no reduction.

    Args:
        lam: >= 0; M20 appendix D uses 2 for images and 8 for documents.
        ignore_index: labels of this value do not count, neither in the mean nor in the MMCE.
        divided_by: see `mmce`; 2 is M20's code, where the penalty is smaller for the same lam, and shrinks with the
            numbers of right and wrong samples.

    Raises:
        ValueError: lam negative; divided_by below 1; as LogitLoss, and float labels.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2], [0.8, 0.2]]).log(), torch.tensor([0, 1])
        >>> round(float(MMCELoss(lam=2.0)(logits, labels)), 4)  # 0.9163 + 2 * (0.8 - 0.2)
        2.1163
    """

    def __init__(self, lam: float = 2.0, *, divided_by: int = 1, ignore_index: int = IGNORED) -> None:
        super().__init__()
        self.lam, self.ignore_index = check_fixed(lam, "lam"), int(ignore_index)
        self.divided_by = int(check_number(divided_by, "divided_by", minimum=1.0))

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        rows, classes, counted = as_rows(logits, labels, self.ignore_index)
        if classes.is_floating_point():
            raise ValueError(
                "labels must be integers: MMCE needs predictions that are right or wrong. Got float labels."
            )
        confidence, predicted = torch.softmax(rows, -1).max(-1)
        with torch.autocast(rows.device.type, enabled=False):  # the product with the kernel would be of half precision
            error = mmce(confidence, predicted == classes, counted, divided_by=self.divided_by)
        return cross_entropy(rows, classes, ignore_index=self.ignore_index) + self.lam * error

    def extra_repr(self) -> str:
        return f"lam={self.lam:g}, divided_by={self.divided_by}"

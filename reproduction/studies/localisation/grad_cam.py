"""Grad-CAM, by captum: which parts of the last feature map speak for a label."""

from __future__ import annotations

import numpy as np
import torch

from reproduction.studies.localisation.train import Outcome


def grad_cam(outcome: Outcome, image: np.ndarray, label: np.ndarray, batch: int = 500) -> np.ndarray:
    r"""Heat maps float32 (m, S, S), at least 0, of these test images for these labels, (m,) each.

    .. math:: \max\Big(0, \sum_c \overline{\partial z_k/\partial A_c}\,A_c\Big)

    of the feature maps :math:`A_c` that are pooled, the derivative of the label's logit averaged over a map; then
    enlarged to the image, linearly (Selvaraju et al. 2017).

    Raises:
        ValueError: images and labels of different number.
    """
    from captum.attr import LayerAttribution, LayerGradCam  # slow to import

    if image.shape != label.shape or image.ndim != 1:
        raise ValueError(f"image and label must both have shape (m,). Got {image.shape} and {label.shape}.")
    outcome.model.eval()
    method = LayerGradCam(outcome.model, outcome.model.features)
    size, found = tuple(outcome.inputs.shape[-2:]), []
    for at in range(0, len(image), batch):
        rows = slice(at, at + batch)
        inputs, asked = outcome.inputs[image[rows]], torch.from_numpy(label[rows])
        coarse = method.attribute(inputs, target=asked, relu_attributions=True)
        found.append(LayerAttribution.interpolate(coarse, size, "bilinear").detach()[:, 0].numpy())
    return np.concatenate(found) if found else np.zeros((0, *size), np.float32)

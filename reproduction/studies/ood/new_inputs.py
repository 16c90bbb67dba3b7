"""What finished runs say of images that are in none of their splits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from reproduction.engine.spec import Spec

AT_ONCE = 100  # images: with more a CPU waits for its memory, and the logits are the same


def logits_on(
    specs: Iterable[Spec], images: Mapping[str, np.ndarray], root: str | Path | None = None, device: str = "auto"
) -> Iterator[tuple[Spec, dict[str, np.ndarray]]]:
    """Of each run, logits float32 (n, K) of each of these sets of images, by its weights and its own pixel scale.

    A data set that several runs share is read once. On a GPU the network runs in float32, whatever it was trained in.

    Args:
        images: uint8 (n, H, W, C), as large as those of the data set.

    Raises:
        ValueError: images of another type, size or number of channels; a run that is not of images.
        RunMissing, RunDamaged: see `trained`.
    """
    import torch

    from reproduction.engine import data
    from reproduction.engine.fit import pixel_scale
    from reproduction.engine.precision import make_float32_exact
    from reproduction.engine.run import checked_weights, network
    from reproduction.engine.trainer import pick_device, to_tensors

    where, loaded = pick_device(device), dict[str, data.Dataset]()
    make_float32_exact()
    for spec in specs:
        weights = checked_weights(spec, root)
        if spec.dataset not in loaded:
            loaded = {spec.dataset: data.load(spec.dataset)}  # one at a time: they are large
        own = loaded[spec.dataset]
        _check(own, images)
        mean, std = pixel_scale(data.split(own, spec.n_train, spec.n_validation, spec.seed)[0])
        model, found = network(spec, own, weights, where), {}
        with torch.inference_mode():
            for name, given in images.items():
                parts = [given[at : at + AT_ONCE] for at in range(0, len(given), AT_ONCE)]
                tensors = (to_tensors(data.Split(p, np.zeros(len(p), np.int64)), where, mean, std)[0] for p in parts)
                found[name] = torch.cat([model(tensor).float().cpu() for tensor in tensors]).numpy()
        yield spec, found


def _check(own: object, images: Mapping[str, np.ndarray]) -> None:
    from reproduction.engine import data

    assert isinstance(own, data.Dataset)
    if own.kind != "images":
        raise ValueError(f"runs must be of images. Got {own.name}, {own.kind}.")
    size = own.train.inputs.shape[1:]
    for name, given in images.items():
        if given.dtype != np.uint8 or given.ndim != 4 or given.shape[1:] != size or not len(given):
            expected = f"uint8 of shape (n, {', '.join(map(str, size))}), as {own.name}"
            raise ValueError(f"images of {name} must be {expected}. Got {given.dtype} {given.shape}.")

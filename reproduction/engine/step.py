"""One step of training in three ways: as PyTorch does it, compiled, or compiled and replayed as a CUDA graph.

Crops, network and loss are compiled as one graph, their gradient as another, and on a GPU the update is one fused
kernel. All full batches have one shape, so each graph is made once. A last batch that is not full is done as PyTorch
does it: filled up with weights of 0 it would change the batch statistics of the network, and compiled it would be
another graph for one step an epoch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

WAYS = ("plain", "compiled", "graph")

Objective = Callable[[Tensor, Tensor, Tensor | None, Tensor], Tensor]  # images, labels, crops, indices -> loss


def pick_way(device: torch.device, one_graph: bool, captures: bool) -> str:
    """How to do the steps on this device: plain on a CPU; on a GPU FOCAL_STEP, else 'graph', where that can be.

    On an H100 a compiled step of ResNet-18 waits for its launches: replayed it is 3.6 times as fast (results/speed).

    Args:
        one_graph: whether network and loss can be compiled as one graph.
        captures: whether the update can be part of a CUDA graph, too.

    Raises:
        ValueError: FOCAL_STEP names no way.
    """
    wanted = os.environ.get("FOCAL_STEP", "graph")
    if wanted not in WAYS:
        raise ValueError(f"FOCAL_STEP must be {', '.join(WAYS[:-1])} or {WAYS[-1]}. Got {wanted!r}.")
    if device.type != "cuda" or not one_graph:
        return "plain"
    return "compiled" if wanted == "graph" and not captures else wanted


def compiled(objective: Objective, backend: str = "inductor") -> Objective:
    """The objective as one graph for each shape of its arguments.

    Raises:
        torch._dynamo.exc.Unsupported: when called, of what is no single graph.
    """
    torch.compiler.reset()  # graphs of earlier trainers in this process count towards PyTorch's limit
    found: Objective = torch.compile(objective, backend=backend, fullgraph=True, dynamic=False)
    return found


def take_step(
    objective: Callable[[Tensor], Tensor],
    optimiser: torch.optim.Optimizer,
    index: Tensor,
    reduction: str = "mean",
    clip_norm: float = 0.0,
) -> Tensor:
    """Update the weights by the gradient of the objective, a mean over the samples at these indices; its value.

    Args:
        reduction: 'sum': by the gradient of their sum.
        clip_norm: a gradient that is longer is made as long as this; 0: as long as it is.
    """
    loss = objective(index)
    optimiser.zero_grad(set_to_none=True)
    (loss * len(index) if reduction == "sum" else loss).backward()
    if clip_norm:
        weights = [weight for group in optimiser.param_groups for weight in group["params"]]
        torch.nn.utils.clip_grad_norm_(weights, clip_norm)
    optimiser.step()
    return loss.detach()


def use_fused_update(optimiser: torch.optim.SGD, device: torch.device) -> None:
    """One kernel for the update, that reads the rate on the device, where a schedule changes it."""
    for group in optimiser.param_groups:
        group |= {"fused": True, "foreach": None, "lr": torch.tensor(float(group["lr"]), device=device)}


def portable_state(state: dict[str, Any]) -> dict[str, Any]:
    """An optimiser's state as one without the fused update has it, for a checkpoint that any device can go on from."""
    return state | {
        "param_groups": [
            group | {"lr": float(group["lr"])} | ({"fused": None} if group.get("fused") else {})
            for group in state["param_groups"]
        ]
    }


def take_recorded(recording: AbstractContextManager[object], step: Callable[[], Tensor]) -> Tensor:
    """The loss of a step that is taken while it is recorded.

    Where it fails its own error is raised, such as one of too little memory: ending the recording then fails, too, and
    would hide it.
    """
    failed: BaseException | None = None
    try:
        with recording:
            try:
                return step()
            except BaseException as error:  # Ctrl-C, too
                failed = error
                raise
    except BaseException:
        if failed is None:
            raise
        raise failed from None


class Replay:
    """A step recorded as a CUDA graph, and replayed for other indices: one launch instead of one for each kernel.

    What Python decides is decided when it is recorded; data, weights, the rate of the optimiser and the buffers of
    the loss are read, each time, where they lay then. Steps must have been taken before, on the current stream, which
    is not the default one, so that kernels are chosen and the optimiser has its state.
    """

    def __init__(
        self,
        objective: Callable[[Tensor], Tensor],
        optimiser: torch.optim.Optimizer,
        size: int,
        device: torch.device,
        reduction: str = "mean",
        clip_norm: float = 0.0,
    ) -> None:
        self.index = torch.zeros(size, dtype=torch.int64, device=device)
        optimiser.zero_grad(set_to_none=True)  # so that gradients get their place in the graph's memory
        self.graph = torch.cuda.CUDAGraph()
        recording = torch.cuda.graph(self.graph, stream=torch.cuda.current_stream(device))
        self.loss = take_recorded(recording, lambda: take_step(objective, optimiser, self.index, reduction, clip_norm))

    def __call__(self, index: Tensor) -> Tensor:
        """The step for these indices (size,); the loss, which the next call overwrites."""
        self.index.copy_(index)
        self.graph.replay()
        return self.loss

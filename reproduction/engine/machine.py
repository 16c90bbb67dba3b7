"""What a run is computed on, in words."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


_BF16 = {"avx512_bf16", "amx_bf16", "bf16", "svebf16"}  # as Linux names what processors of Intel, AMD and Arm can


def machine_of(device: torch.device) -> str:
    """'NVIDIA H200' of a GPU, else the machine's own name."""
    if device.type != "cuda":
        return machine_name()

    import torch

    return torch.cuda.get_device_name(device)


def machine_name() -> str:
    """'Intel(R) Xeon(R) Processor, 2 cores, x86_64': the cores this process has."""
    return f"{processor_name()}, {cores_here()} cores, {platform.machine()}"


def spell_cores(machines: str) -> str:
    """'1 core' for the '1 cores' that records have: they write every number so."""
    return machines.replace(", 1 cores,", ", 1 core,")


def processor_name() -> str:
    """As the system names it."""
    for name, value in _processor():
        if name in ("model name", "hardware", "cpu model"):
            return value
    return platform.processor() or "unnamed processor"


def computes_bf16() -> bool | None:
    """Whether the processor has instructions for bfloat16; without, they are emulated. None: the system tells not."""
    for name, value in _processor():
        if name in ("flags", "features"):
            return not _BF16.isdisjoint(value.lower().split())
    return None


def _processor() -> Iterator[tuple[str, str]]:
    """What Linux says of the processor, name and value."""
    listed = Path("/proc/cpuinfo")
    if listed.is_file():
        for line in listed.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if value.strip():
                yield name.strip().lower(), value.strip()


def cores_here() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""What a run is computed on, in words."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["cores_here", "machine_name", "machine_of", "processor_name"]


def machine_of(device: torch.device) -> str:
    """'NVIDIA H200' of a GPU, else the machine's own name."""
    if device.type != "cuda":
        return machine_name()

    import torch

    return torch.cuda.get_device_name(device)


def machine_name() -> str:
    """'Intel(R) Xeon(R) Processor, 2 cores, x86_64': the cores this process has."""
    return f"{processor_name()}, {cores_here()} cores, {platform.machine()}"


def processor_name() -> str:
    """As the system names it."""
    listed = Path("/proc/cpuinfo")
    if listed.is_file():
        for line in listed.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip().lower() in ("model name", "hardware", "cpu model") and value.strip():
                return value.strip()
    return platform.processor() or "unnamed processor"


def cores_here() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""What a run is computed on, in words."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


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
    """As Linux names it, where this is Linux."""
    listed = Path("/proc/cpuinfo")
    text = listed.read_text(errors="replace") if listed.is_file() else ""
    found = re.search(r"^(?:model name|hardware|cpu model)[ \t]*:[ \t]*(\S.*)$", text, re.IGNORECASE | re.MULTILINE)
    return found[1].strip() if found else platform.processor() or "unnamed processor"


def cores_here() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

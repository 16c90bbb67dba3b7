"""Available memory, checked before a file is read."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_LIMITS = (  # of a container: its limit and what it uses, of version 2 of control groups and of version 1
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> int:
    """Bytes available to this process: the machine's, or fewer under a container's or a process limit."""
    found = [_of_machine()]
    for limit, used in _LIMITS:
        try:
            found.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no container, or 'max'
            continue
    statm = Path("/proc/self/statm")
    if resource is not None and statm.exists():  # Linux
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            found.append(most - int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(found))


def _of_machine() -> int:
    """Linux's estimate of available bytes; else half of all memory; else 2 GB."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) * 1024
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return 2_000_000_000


def require_memory(size: int, what: str) -> None:
    """ValueError unless so many bytes are available.

    Args:
        what: what needs them, for the message: 'logits in x.npz, (1000000000, 4) float64,'.
    """
    if size > (there := available_memory()):
        raise ValueError(f"{what} must fit into memory: {_in_words(size)}. Got {_in_words(there)} available.")


def _in_words(size: int) -> str:
    return f"{size / 1e9:,.3g} GB" if size >= 1e9 else f"{size / 1e6:,.3g} MB"

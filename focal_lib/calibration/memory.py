"""Memory that there is, compared with what a file would need before any of it is taken."""

from __future__ import annotations

from pathlib import Path

import psutil

_LIMITS = (  # of a container: its limit and what it uses, of version 2 of control groups and of version 1
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> int:
    """Bytes that this process can take: those of the machine, or fewer where a container or a limit says so."""
    found = [psutil.virtual_memory().available]
    for limit, used in _LIMITS:
        try:
            found.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no container, or 'max'
            continue
    own = psutil.Process()
    if hasattr(own, "rlimit"):  # Linux
        most, taken = own.rlimit(psutil.RLIMIT_AS)[0], own.memory_info().vms
        found += [most - taken] if most != psutil.RLIM_INFINITY else []
    return max(0, min(found))


def require_memory(size: int, what: str) -> None:
    """ValueError unless so many bytes are available.

    Args:
        what: needs them: 'logits in x.npz, (1000000000, 4) float64,'.
    """
    if size > (there := available_memory()):
        raise ValueError(f"{what} must fit into memory: {_in_words(size)}. Got {_in_words(there)} available.")


def _in_words(size: int) -> str:
    return f"{size / 1e9:,.3g} GB" if size >= 1e9 else f"{size / 1e6:,.3g} MB"

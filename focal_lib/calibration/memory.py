"""Available memory, checked before a file is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_MOUNT, _OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
# files of a control group, version 2 and 1: limits, what is used, what of that are cached files that can go
_VERSION_2 = ("memory.max", "memory.high"), "memory.current", "inactive_file "
_VERSION_1 = ("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file "


def available_memory() -> int:
    """Bytes available to this process: the machine's, or fewer under a container's or a process limit."""
    found = [_of_machine(), *_of_groups(_MOUNT, _OWN_GROUP)]
    statm = Path("/proc/self/statm")
    if resource is not None and statm.exists():  # Linux
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            found.append(most - int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(found))


def _of_groups(mount: Path, own: Path) -> Iterator[int]:
    """What is left to each control group that this process is in, from its own up to the one that is mounted."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except (OSError, ValueError):  # not Linux
        return
    for _, kinds, path in lines:
        if kinds and "memory" not in kinds.split(","):
            continue
        (limits, used, of_files), root = (_VERSION_1, mount / "memory") if kinds else (_VERSION_2, mount)
        inside = root / path.lstrip("/")
        for group in (inside, *inside.parents):
            for limit in limits:
                try:
                    left = int((group / limit).read_text()) - int((group / used).read_text())
                    stat = (group / "memory.stat").read_text().splitlines()
                    yield left + sum(int(line.split()[1]) for line in stat if line.startswith(of_files))
                except (OSError, ValueError):  # no limit, 'max', or a container's path, which is mounted as the root
                    continue
            if group == root:
                break


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

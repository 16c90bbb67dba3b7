"""What other processes took of the processor while something was timed: whether the machine was quiet."""

from __future__ import annotations

import time

import psutil

_BUSY = ("user", "nice", "system", "irq", "softirq", "steal")  # 'steal': other machines on the same processor


class Neighbours:
    """Counts from when it is made.

    Args:
        helpers: ids of processes that belong to the measurement, and live until it ends.
    """

    def __init__(self, *helpers: int) -> None:
        self._helpers = [psutil.Process(one) for one in helpers]
        self._started = time.perf_counter()
        self._all, self._own = _of_all(), self._of_own()

    def cores(self) -> float:
        """How many cores others had since, on average; the system counts in hundredths of a second."""
        taken = _of_all() - self._all - (self._of_own() - self._own)
        return max(0.0, taken / (time.perf_counter() - self._started))

    def _of_own(self) -> float:
        return time.process_time() + sum(sum(one.cpu_times()[:2]) for one in self._helpers)


def _of_all() -> float:
    found = psutil.cpu_times()
    return sum(getattr(found, name, 0.0) for name in _BUSY)

"""Snakemake, which SIGTERM cannot bring to a standstill.

    python -m workflow.call_snakemake ARGUMENTS OF SNAKEMAKE

Its handler takes a lock that is not reentrant, in the thread which holds it while jobs are chosen (and PuLP is
imported, a second): a signal that comes then is waited for without end. Here a thread of its own waits for the lock.
The Snakemakes that jobs on a cluster start themselves are as they are.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from snakemake.cli import main
from snakemake.scheduling.job_scheduler import JobScheduler


def handle_in_thread() -> None:
    """The scheduler's handler of SIGTERM, as often as it is called, runs in a thread.

    A daemon: others take a lock of `threading` when they start, which the main thread may hold, too.
    """
    handle = JobScheduler.exit_gracefully

    def begin(scheduler: JobScheduler, *args: Any) -> None:
        threading.Thread(target=handle, args=(scheduler, *args), daemon=True).start()

    JobScheduler.exit_gracefully = begin


if __name__ == "__main__":
    handle_in_thread()
    sys.argv[0] = "snakemake"  # as its usage and its errors call it
    main()

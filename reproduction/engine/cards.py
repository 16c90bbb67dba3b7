"""Which GPU a job takes where several share those of a machine: each GPU has places, each place a lock."""

from __future__ import annotations

import contextlib
import getpass
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from reproduction.engine.locks import TimeUp, is_held


def cards_here() -> list[str]:
    """Names of this machine's GPUs that tell them apart in every process, in PyTorch's order.

    Raises:
        ValueError: there is none.
    """
    import torch

    from reproduction.engine.trainer import pick_device

    pick_device("cuda")
    found = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    return [str(getattr(properties, "uuid", i)) for i, properties in enumerate(found)]


@contextlib.contextmanager
def place_on_a_card(
    per_card: int, cards: Sequence[str] | None = None, poll: float = 1.0, until: float = math.inf
) -> Iterator[str]:
    """'cuda:<number>', a GPU with fewer than `per_card` jobs of this user; waits for one. That with fewest comes first.

    Jobs count whatever number a card each of them asked for.

    Args:
        poll: seconds between two looks; until: seconds since 1970, at which waiting ends.

    Raises:
        ValueError: no GPU.
        TimeUp: none has a place yet.
    """
    cards = cards_here() if cards is None else cards
    folder = Path(tempfile.gettempdir(), f"focal-cards-{getpass.getuser()}")  # of the machine, as the cards are
    folder.mkdir(mode=0o700, exist_ok=True)
    while True:
        left = until - time.time()
        if (taken := _take_place(folder, cards, per_card, max(min(poll, left), 0))) is not None:
            number, hold = taken
            with hold:
                yield f"cuda:{number}"
            return
        if left <= 0:
            raise TimeUp("time is up, and every GPU is still taken.")
        time.sleep(min(poll, left))


def _take_place(
    folder: Path, cards: Sequence[str], per_card: int, wait: float
) -> tuple[int, contextlib.AbstractContextManager[object]] | None:
    """The number of a GPU and a place there, held; None where there is none, or others choose for longer than `wait`.

    One process chooses at a time, else two would each count the other, and both go away.
    """
    with contextlib.suppress(Timeout), FileLock(folder / ".choosing").acquire(timeout=wait):
        jobs = [_count_jobs(folder, card) for card in cards]
        for number in sorted(range(len(cards)), key=jobs.__getitem__):
            for place in range(per_card if jobs[number] < per_card else 0):
                with contextlib.suppress(Timeout):
                    return number, FileLock(folder / f"{cards[number]}-{place}").acquire(blocking=False)
    return None


def _count_jobs(folder: Path, card: str) -> int:
    """Places held there, also those beyond this job's `per_card`: another may have asked for more jobs a card."""
    return sum(is_held(path) for path in folder.iterdir() if path.name.rpartition("-")[0] == card)

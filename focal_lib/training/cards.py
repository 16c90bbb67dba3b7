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

from focal_lib.training.locks import TimeUp

__all__ = ["cards_here", "place_on_a_card"]


def cards_here() -> list[str]:
    """Names of this machine's GPUs that tell them apart in every process, in PyTorch's order.

    Raises:
        ValueError: there is none.
    """
    import torch

    from focal_lib.training.trainer import pick_device

    pick_device("cuda")
    found = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    return [str(getattr(properties, "uuid", i)) for i, properties in enumerate(found)]


@contextlib.contextmanager
def place_on_a_card(
    per_card: int, cards: Sequence[str] | None = None, poll: float = 1.0, until: float = math.inf
) -> Iterator[str]:
    """'cuda:<number>', a GPU with fewer than `per_card` jobs of this user; waits for one. An empty GPU comes first.

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
        for place in range(per_card):
            for number, card in enumerate(cards):
                with contextlib.suppress(Timeout), FileLock(folder / f"{card}-{place}").acquire(blocking=False):
                    yield f"cuda:{number}"
                    return
        if (left := until - time.time()) <= 0:
            raise TimeUp("time is up, and every GPU is still taken.")
        time.sleep(min(poll, left))

"""The search for the boxes of a certificate.

What is found here is not trusted: `checker` checks it with other formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from reproduction.ledger.certificates.checker import Box, positive


def find_boxes(
    function: Callable[[Any], Any], low: Fraction, high: Fraction, order: int = 0, max_boxes: int = 5_000
) -> tuple[Box, ...]:
    """A cover of [low, high] by boxes on which a derivative of the function is positive; () if none is found.

    `order` is that of the derivative used at 0, where the function may vanish: all derivatives
    below that order are 0 there. Elsewhere it is 0.
    """
    done: list[Box] = []
    pieces = max(1, int(high - low))  # start at length about 1: formulas on wider balls can be 0/0
    ends = [low + (high - low) * k / pieces for k in range(pieces + 1)]
    todo = [(ends[k], ends[k + 1]) for k in reversed(range(pieces))]
    while todo:
        a, b = todo.pop()
        box = Box(a, b, order if a == 0 else 0)
        if positive(function, box, depth=0):
            done.append(box)
        elif len(done) + len(todo) >= max_boxes or b - a < Fraction(1, 2**20):
            return ()
        else:
            middle = (a + b) / 2
            todo += [(middle, b), (a, middle)]
    return tuple(done)

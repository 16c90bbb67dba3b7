"""The search for boxes finds a cover that the checker accepts, and ends where there is none."""

from fractions import Fraction

import pytest
import sympy as sp

from reproduction.ledger.certificates.checker import covers, on_series, positive
from reproduction.ledger.certificates.search import find_boxes

X = sp.Symbol("x")
LOW, HIGH = Fraction(0), Fraction(4)
FAR = Fraction(1), Fraction(5)


def test_found_boxes_are_a_cover_that_the_checker_accepts():
    function = on_series(sp.exp(X) - 1 - X - X**2 / 2, X)
    boxes = find_boxes(function, LOW, HIGH, order=3)
    assert covers(boxes, LOW, HIGH)
    assert all(positive(function, box, depth=0) for box in boxes)
    assert [box.order for box in boxes] == [3] + [0] * (len(boxes) - 1)


@pytest.mark.parametrize(("low", "high"), [("1/2", "7/2"), ("0", "1/3"), ("0", "3")])
def test_from_end_to_end_and_no_box_longer_than_one(low, high):
    boxes = find_boxes(on_series(X + 1, X), Fraction(low), Fraction(high))
    assert (boxes[0].low, boxes[-1].high) == (Fraction(low), Fraction(high))
    assert covers(boxes, Fraction(low), Fraction(high))
    assert len(boxes) == max(1, int(Fraction(high) - Fraction(low)))
    assert all(box.high - box.low <= 1 and box.order == 0 for box in boxes)


def boxes_tried(expression, **options):
    """Lengths of the boxes over which it was evaluated, and what was found."""
    function, tried = on_series(expression, X), []

    def spy(s):
        if s[0].rad() > 1e-9:  # not a centre
            tried.append(2 * float(s[0].rad()))
        return function(s)

    return tried, find_boxes(spy, *FAR, **options)


def test_where_there_is_none_the_search_ends_at_short_boxes():
    tried, found = boxes_tried(X - 2, max_boxes=10**6)
    assert found == ()
    assert min(tried) == pytest.approx(2**-21, rel=1e-6)


@pytest.mark.parametrize(("most", "tried"), [(3, 1), (4, 2), (5, 3)])
def test_or_at_many_boxes(most, tried):
    assert [len(boxes_tried(X - 2, max_boxes=most)[0]), boxes_tried(X - 2, max_boxes=most)[1]] == [tried, ()]
    everywhere, found = boxes_tried(X + 1, max_boxes=4)
    assert len(everywhere) == len(found) == 4

"""Tied classes lose confidence below gamma* and not above it."""

from fractions import Fraction

from reproduction.theorems.lemmas.confidence import drop_of_tied_classes


def test_tied_classes_rise_above_the_critical_gamma():
    assert drop_of_tied_classes(4, Fraction("1.4"), Fraction(1, 10**6)) > 0
    assert drop_of_tied_classes(4, Fraction("1.5"), Fraction(1, 10**6)) < 0

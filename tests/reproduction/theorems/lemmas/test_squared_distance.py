"""The expected squared distance, class by class, against the sum over the labels."""

import numpy as np
import pytest
import sympy as sp

from reproduction.ledger.evidence import step
from reproduction.theorems.lemmas.squared_distance import class_share, squared_distance_steps


@pytest.mark.parametrize("n", [2, 3, 7])
def test_shares_add_up_to_the_expectation(n):
    rng = np.random.default_rng(n)
    q, p = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n))
    over_labels = sum(p[y] * ((q - np.eye(n)[y]) ** 2).sum() for y in range(n))
    assert sum(class_share(q, p)) == pytest.approx(over_labels)


def test_a_wrong_share_is_no_step():
    assert all(s.holds for s in squared_distance_steps())
    q, p = sp.symbols("q p", real=True)
    assert not step("", class_share(q, p), (q - p) ** 2, sp.expand).holds

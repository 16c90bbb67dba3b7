"""The expected squared distance from the label is that from the truth plus a constant: L25 App. A.2, A.7, Thm. 4.1."""

from __future__ import annotations

from typing import Any

import sympy as sp

from reproduction.ledger.evidence import Step, step


def class_share(q: Any, p: Any) -> Any:
    """What one class adds to E||q - e_Y||^2: (q-1)^2 with probability p, where it is the label, and q^2 otherwise."""
    return p * (q - 1) ** 2 + (1 - p) * q**2


def squared_distance_steps() -> tuple[Step, ...]:
    """E||q - e_Y||^2 = ||q - p||^2 + 1 - ||p||^2, class by class and so for every n."""
    q, p = sp.symbols("q_i p_i", real=True)
    n = sp.Symbol("n", integer=True, positive=True)
    classes, i = sp.IndexedBase("p"), sp.Idx("i", (1, n))
    rest = sp.Sum(classes[i] * (1 - classes[i]), (i, 1, n)).expand().doit()
    return (
        step(
            r"$\mathbb{E}\lVert q-e_Y\rVert^2 = \sum_i \big[p_i(q_i-1)^2 + (1-p_i)q_i^2\big]$, and each summand is "
            r"$(q_i-p_i)^2 + p_i(1-p_i)$",
            class_share(q, p),
            (q - p) ** 2 + p * (1 - p),
            sp.expand,
        ),
        step(
            r"$\sum_i p_i(1-p_i) = \sum_i p_i - \sum_i p_i^2 = 1 - \lVert p\rVert^2$",
            rest,
            sp.Sum(classes[i], (i, 1, n)) - sp.Sum(classes[i] ** 2, (i, 1, n)),
        ),
    )

"""Taylor coefficients in exact numbers: whether a function and its derivatives are 0 at a point, not only near 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp


@dataclass(frozen=True)
class ExactSeries:
    """c_0 + c_1 t + ..., cut after as many terms as there are coefficients, which are sympy's numbers.

    Sums, products, quotients, whole powers, exp and log: what the formulas of `symbols` are made of.
    """

    coefficients: tuple[sp.Expr, ...]

    def _of(self, other: Any) -> ExactSeries:
        if isinstance(other, ExactSeries):
            return other
        return ExactSeries((sp.sympify(other), *[sp.S.Zero] * (len(self.coefficients) - 1)))

    def __add__(self, other: Any) -> ExactSeries:
        pairs = zip(self.coefficients, self._of(other).coefficients, strict=True)
        return ExactSeries(tuple(sp.expand(a + b) for a, b in pairs))

    def __neg__(self) -> ExactSeries:
        return ExactSeries(tuple(-c for c in self.coefficients))

    def __sub__(self, other: Any) -> ExactSeries:
        return self + -self._of(other)

    def __rsub__(self, other: Any) -> ExactSeries:
        return -self + other

    def __mul__(self, other: Any) -> ExactSeries:
        one, two = self.coefficients, self._of(other).coefficients
        return ExactSeries(tuple(sp.expand(sum(one[j] * two[k - j] for j in range(k + 1))) for k in range(len(one))))

    def __truediv__(self, other: Any) -> ExactSeries:
        below = self._of(other).coefficients
        found: list[sp.Expr] = []
        for k, value in enumerate(self.coefficients):
            rest = value - sum(found[j] * below[k - j] for j in range(k))
            found.append(sp.expand(rest / below[0]))
        return ExactSeries(tuple(found))

    def __rtruediv__(self, other: Any) -> ExactSeries:
        return self._of(other) / self

    def __pow__(self, power: int) -> ExactSeries:
        """Whole powers.

        Raises:
            ValueError: another one.
        """
        if power != int(power):
            raise ValueError(f"power must be a whole number. Got {power}.")
        result = self._of(1)
        for _ in range(abs(int(power))):
            result = result * self
        return result if power >= 0 else 1 / result

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> ExactSeries:
        """From (e^f)' = f' e^f."""
        found = [sp.exp(self.coefficients[0])]
        for k in range(1, len(self.coefficients)):
            terms = (j * self.coefficients[j] * found[k - j] for j in range(1, k + 1))
            found.append(sp.expand(sum(terms, sp.S.Zero) / k))
        return ExactSeries(tuple(found))

    def log(self) -> ExactSeries:
        """From f (log f)' = f'."""
        first, *_ = self.coefficients
        found = [sp.log(first)]
        for k in range(1, len(self.coefficients)):
            terms = (j * found[j] * self.coefficients[k - j] for j in range(1, k))
            found.append(sp.expand((k * self.coefficients[k] - sum(terms, sp.S.Zero)) / (k * first)))
        return ExactSeries(tuple(found))

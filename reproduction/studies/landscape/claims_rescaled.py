"""KN24 on curvature as what calibrates: the same network at a steeper place (Dinh et al. 2017, section 3)."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Derivation, Evidence, step, step_of_several
from reproduction.ledger.ledger import claim

CHAPTER = "20_landscape"


@claim(
    "kn24.flat_by_scaling",
    source="KN24 Abstract, 'curvature may be one of the essential factors in achieving model calibration'",
    statement=r"The curvature in the weights does not decide calibration: where a ReLU follows a layer, multiplying its weights and bias by $a > 0$ and "
    r"dividing the weights of the next layer by $a$ changes no probability, hence no ECE, and makes the trace of the Hessian $T_1/a^2 + a^2T_2 + T_0$, with the "
    r"parts that the multiplied, the divided and the other weights had in it: as large as one likes where $T_1$ or $T_2$ is above 0.",
    chapter=CHAPTER,
    fidelity="ours",
)
def flat_by_scaling() -> Evidence:
    """The loss as a function F(p, q) of one weight p of the first and one weight q of the second of the two layers."""
    p, q, z, place = sp.symbols("p q z y", real=True)
    a, above = sp.symbols("a T", positive=True)
    first, second, others = sp.symbols("T_1 T_2 T_0", real=True)
    loss = sp.Function("F")
    moved = loss(a * p, q / a)  # equal to F(p, q), whatever p and q
    in_first = sp.Subs(sp.diff(loss(place, q / a), place, 2), place, a * p)
    in_second = sp.Subs(sp.diff(loss(a * p, place), place, 2), place, q / a)
    shares = ((in_first / sp.diff(moved, p, 2)).doit(), (in_second / sp.diff(moved, q, 2)).doit())
    trace = sp.simplify(shares[0]) * first + sp.simplify(shares[1]) * second + others
    return Derivation(
        (
            step_of_several(
                r"$\max(0, az) = a\max(0, z)$ for $a > 0$, where $z \ge 0$ and where $z \le 0$",
                *((sp.Max(0, a * value), a * sp.Max(0, value)) for value in (sp.Abs(z), -sp.Abs(z))),
            ),
            step(
                r"so the next layer gets what it got: $(q/a)\,a\max(0, z) = q\max(0, z)$, and $F(ap, q/a) = F(p, q)$",
                q / a * a,
                q,
            ),
            step_of_several(
                r"twice differentiated, $a^2F_{pp}(ap, q/a) = F_{pp}(p, q)$ and $a^{-2}F_{qq}(ap, q/a) = F_{qq}(p, q)$",
                (sp.diff(moved, p, 2).doit(), (a**2 * in_first).doit()),
                (sp.diff(moved, q, 2).doit(), (in_second / a**2).doit()),
            ),
            step_of_several(
                r"summed over the weights, the trace is $T_1/a^2 + a^2T_2 + T_0$: without bound as $a \to 0$ where $T_1 > 0$, as "
                r"$a \to \infty$ where $T_2 > 0$, whatever the other parts",
                (trace, first / a**2 + a**2 * second + others),
                (1 / sp.limit(trace.subs(first, above), a, 0, "+"), 0),
                (1 / sp.limit(trace.subs(second, above), a, sp.oo), 0),
            ),
        )
    )

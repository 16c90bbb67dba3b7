"""When focal loss helps as trained: what the decomposition implies for samples that were not trained on."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Evidence, derivation, step
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols

ours = Rows("when_focal_loss_helps", "ours")
gamma, q = symbols.gamma, symbols.q


@ours(
    "kk24.helps_below_twice",
    "The gap shrinks exactly if the map adds less than twice it",
    "KK24 section 4, taken further",
    r"Let the map of a focal network's outputs be overconfident by $G > 0$ (mean confidence minus accuracy), and let the map add $D > 0$ to mean "
    r"confidence. Then the network itself is overconfident by $G - D$, and $|G - D| < G$ exactly if $D < 2G$; $D = G$ is best.",
)
def helps_below_twice() -> Evidence:
    """The map keeps the order of classes (Prop. 4), so both have one accuracy."""
    G, D, accuracy, mapped = sp.symbols("G D a c", positive=True)
    own = mapped - D  # confidence of the network itself
    return derivation(
        step(r"$c - D - a = (c - a) - D = G - D$", own - accuracy, (mapped - accuracy) - D),
        step(r"$(G-D)^2 - G^2 = D\,(D - 2G)$: negative exactly if $D < 2G$", (G - D) ** 2 - G**2, D * (D - 2 * G)),
        step(r"$|G-D|$ is least, 0, at $D = G$", sp.solve(sp.diff((G - D) ** 2, D), D) == [G]),
        remark="The map is increasing in each logit and so keeps the most probable class (`kk24.prop4`): network and map are right on the same samples.",
    )


@ours(
    "kk24.faster_where_sure",
    "Where a network is sure, focal loss trains the mapped network faster",
    "KK24 section 4, taken further",
    r"Two classes, $\gamma > 0$, one sample of class 1, its logit $m$ trained by gradient descent on focal loss. The logit $M$ of the map, $P = \sigma(M)$, obeys "
    r"$\frac{dM}{dt} = r\,(1-P)$, and $r \to 1 + \gamma$ as $m \to \infty$. With cross-entropy $r = 1$: where a network is sure, focal loss trains the mapped "
    r"network $1 + \gamma$ times as fast, whether it is right or wrong ($r$ is even in $m$).",
)
def faster_where_sure() -> Evidence:
    """With d = 1 - q both slopes of the loss are powers of d times functions with limits."""
    d = sp.symbols("delta", positive=True)
    slope = -sp.diff(symbols.focal_loss(), q)  # of the true class; of the other class, at 1 - q
    a = 1 / (1 - d) - gamma * sp.log(1 - d) / d
    b = (1 - d) ** gamma - gamma * (1 - d) ** (gamma - 1) * d * sp.log(d)
    true, other = d**gamma * a, b / d
    to_zero = sp.symbols("x", positive=True)  # of d log d, which tends to 0
    b_limit = b.subs(d * sp.log(d), to_zero).subs({to_zero: 0}).subs(d, 0)
    db = sp.diff(b, d) * d
    db_limit = sp.expand(db.subs(sp.log(d), to_zero / d)).subs(d, 0).subs(to_zero, 0)
    return derivation(
        step(
            r"with $\delta = 1-q$: $|L'(q)| = \delta^\gamma a(\delta)$ and $|L'(1-q)| = b(\delta)/\delta$",
            (slope.subs(q, 1 - d), true),
            (slope.subs(q, d), other),
        ),
        step(
            r"$M = \log|L'(1-q)| - \log|L'(q)|$ and $\frac{d\delta}{dm} = -\delta(1-\delta)$ give "
            r"$\frac{dM}{dm} = (1-\delta)\left(1 + \gamma + \delta\frac{a'}{a} - \delta\frac{b'}{b}\right)$",
            -d * (1 - d) * (sp.diff(b, d) / b - 1 / d - gamma / d - sp.diff(a, d) / a),
            (1 - d) * (1 + gamma + d * sp.diff(a, d) / a - d * sp.diff(b, d) / b),
        ),
        step(
            r"$a \to 1 + \gamma$ and $\delta a' \to 0$",
            (sp.limit(a, d, 0), 1 + gamma),
            (sp.limit(d * sp.diff(a, d), d, 0), 0),
        ),
        step(r"$b \to 1$ and $\delta b' \to 0$, as $\delta\log\delta \to 0$", (b_limit, 1), (db_limit, 0)),
        step(
            r"$-\frac{dL}{dm} = \delta(1-\delta)\,|L'(q)|$, and over $1 - P$ that is $(1-\delta)(b + \delta^{1+\gamma}a) \to 1$",
            (d * (1 - d) * true / (true / (true + other)), (1 - d) * (b + d ** (1 + gamma) * a)),
        ),
        remark=r"So $r = \frac{dM}{dm}\cdot\frac{-dL/dm}{1-P} \to 1 + \gamma$. As $1 - P = |L'(q)|\,/\,(|L'(q)| + |L'(1-q)|)$, "
        r"$r = \frac{dM}{dm}\,q(1-q)\,(|L'(q)| + |L'(1-q)|)$, which is the same at $-m$.",
    )

"""KK24 section 3.3: does a higher gamma make the map sharper?"""

from __future__ import annotations

import flint
import sympy as sp

from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import Derivation, Evidence, Step, step
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.entropy_terms import entropy_terms_steps
from reproduction.theorems.lemmas.sharpness import SHARPER, sharper_proof, sharper_steps, weight_growth

CHAPTER = "06_confidence"
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")
q = symbols.q


@reading(
    "kk24.sharper_gamma",
    "KK24 section 3.3 on Fig. 5",
    r"'Moreover, the higher $\gamma$ is, the sharper the effect becomes.' (Taken as: for three classes, as in the figure, the highest "
    r"probability of the map never falls as $\gamma$ grows, and the lowest falls unless it is 0 or $\frac13$.)",
)
def sharper_gamma() -> Evidence:
    """The derivatives of both by gamma have one sign each."""
    return sharper_proof()


@ours(
    "kk24.sharper_gamma_n",
    "KK24 section 3.3, carried to more classes",
    r"With $n \ge 4$ classes the highest probability never falls as $\gamma$ grows, at any point of the simplex from $\gamma^\circ = "
    r"-\frac{1}{\log(1-p_0)} - \frac{1}{b(p_0)} > 0$ on, $p_0 = \frac{1}{n-1}$; below it there are points where a higher $\gamma$ is less sharp.",
)
def sharper_gamma_n() -> Evidence:
    """v(1/(n-1)) changes sign at gamma°; below it n - 1 tied classes fall."""
    g, rest, ratio = sp.symbols("gamma a b", positive=True)  # -log(1 - p0), b(p0)
    v = rest - ratio / (1 + g * ratio)
    ball = turning_gamma("1/3")
    return Derivation(
        (
            *sharper_steps(),
            step(
                r"$v(p_0) = a - \frac{b}{1+\gamma b}$ with $a = -\log(1-p_0)$, $b = b(p_0)$ increases in $\gamma$",
                sp.diff(v, g),
                ratio**2 / (1 + g * ratio) ** 2,
            ),
            step(r"and is 0 at $\gamma^\circ = \frac1a - \frac1b$", v.subs(g, 1 / rest - 1 / ratio), 0),
            step(
                r"which is positive for $p_0 < \frac12$: $b - a = \frac{f(p_0)}{1-p_0}$",
                symbols.entropy_ratio() + sp.log(1 - q),
                ((1 - q) * sp.log(1 - q) - q * sp.log(q)) / (1 - q),
            ),
            *entropy_terms_steps(),
            step(
                r"$v$ is the derivative of $\log w$ by $\gamma$, at $\gamma = 0$ it is $-\log(1-q) - b$",
                weight_growth().subs(symbols.gamma, 0),
                -sp.log(1 - q) - symbols.entropy_ratio(),
            ),
            Step(
                rf"$n = 4$: $\gamma^\circ = {float(ball.mid()):.4f}$; from $\gamma = 0$ to $\frac12$ the highest of $(0.33, 0.33, 0.33, 0.01)$ falls, in "
                "ball arithmetic",
                bool(ball > balls.exact("1/2") and less_sharp(("0.33", "0.33", "0.33", "0.01"), "0", "1/2")),
            ),
        ),
        rf"{SHARPER} Below $\gamma^\circ$: with $n - 1$ classes tied at $m$ and one at $\varepsilon$ the derivative of $\log\hat p$ of the tied ones is "
        r"$\hat p_\varepsilon\,(v(m) - v(\varepsilon))$, negative for small $\varepsilon$, as $v(m) - v(\varepsilon) \to v(p_0) < 0$.",
    )


def turning_gamma(p0: str) -> flint.arb:
    """-1/log(1 - p0) - 1/b(p0) as a ball."""
    with balls.precision():
        p = balls.exact(p0)
        return -1 / (1 - p).log() + (1 - p) / (p * p.log())


def less_sharp(point: tuple[str, ...], low: str, high: str) -> bool:
    """Whether the map of the higher gamma gives the first class less than that of the lower one."""
    with balls.precision():
        probs = [balls.exact(v) for v in point]
        mapped = [formulas.focal_map(probs, balls.exact(gamma))[0] for gamma in (low, high)]
        return bool(mapped[1] < mapped[0])

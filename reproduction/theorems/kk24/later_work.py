"""What abstracts of 2025 and 2026 claim of focal loss, temperatures and ECE, where it can be judged here."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import comb

import sympy as sp

from reproduction.ledger.evidence import Evidence, Step, derivation, step
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import confidence, entropy_ratio, gain, weight

ECE_RATE, ECE_SAMPLES = Fraction(9, 10), 5  # an example of kk24.ece_of_the_truth
q = symbols.q

claim_of_map = Rows("confidence", "ours")
claim_of_temperatures = Rows("focal_temperature_scaling", "ours")
claim_of_ece = Rows("miscalibration", "ours")


@claim_of_map(
    "kk24.rare_diminished",
    "Focal loss diminishes very small probabilities only among three others or more",
    "KK24 Prop. 4, asked of Shah et al. (2026), abstract",
    r"Focal loss, 'under extreme class imbalance, induces an over-suppression regime in which very small probabilities are further diminished'. (Taken as: "
    r"of its minimiser $q$ for true probabilities $p$, $\gamma > 0$, as one $p_k > 0$ tends to 0 and the others stay above 0. Then $\frac{q_k}{p_k}$ tends to "
    r"$\sum_{j \ne k} q_j/g(q_j)$. Of $m \ge 3$ others alike that is below 1 exactly for $\gamma < \gamma^*(\frac1m)$; with one other or two, however they "
    rf"share the rest, it never is. {gain.CRITICAL})",
)
def rare_diminished() -> Evidence:
    """Truth over minimiser is h(q_k) / S; for two others by the lowest of three classes."""
    part, total = sp.symbols("q_k S", positive=True)
    m, h = sp.symbols("m h", positive=True)
    g, slope = symbols.g, (1 - q) * sp.log(1 - q) - q * sp.log(q)
    return derivation(
        *weight.lagrange_steps(),
        *weight.printed_weight_steps(),
        step(
            r"$\frac{q_k}{p_k} = \frac{S}{h(q_k)}$ with $p_k = \frac{w(q_k)}{S}$, $S = \sum_j w(q_j) = \sum_j q_j h(q_j)$",
            (part / (part * h / total), total / h),
        ),
        entropy_ratio.limit_step(
            r"$b \to 0$ as $q_k \to 0$: $h(q_k) \to 1$, and $\frac{q_k}{p_k} \to \sum_{j \ne k} q_j/g(q_j)$"
        ),
        step(r"$m$ others alike: that is $m\,\frac1m\,h(\frac1m) = 1/g(\frac1m)$", (m * (h / m), h)),
        *confidence.critical_gamma_steps(),
        step(
            r"$\partial_\gamma\log g = b + \log(1-q)$ at $\gamma = 0$; times $1 - q$ it is 0 at 0 and at $\frac12$, with second derivative "
            r"$-\frac{1-2q}{q(1-q)} < 0$ between: above 0 for $q < \frac12$, so $\gamma^*(\frac1m) > 0$ for $m \ge 3$",
            (sp.diff(sp.log(symbols.gain(q, g)), g).subs(g, 0) * (1 - q), slope),
            (sp.limit(slope, q, 0, "+"), 0),
            (slope.subs(q, sp.Rational(1, 2)), 0),
            (sp.diff(slope, q, 2), -(1 - 2 * q) / (q * (1 - q))),
        ),
        *confidence.sharper_proof().steps,
        remark=r"$m$ others alike: below 1 exactly where $g(\frac1m) > 1$, that is $\gamma < \gamma^*(\frac1m)$. *Two others.* Of three classes the lowest "
        r"falls from $q$ to $p$ (`kk24.fig5_lowest_falls`), so $\frac{q_k}{p_k} > 1$, and the limit is at least 1. *One other.* It is at $q_j \to 1$, where "
        r"$1/g \to \infty$.",
    )


@claim_of_temperatures(
    "kk24.only_temperature",
    "Of linear scalers only temperatures keep every predicted class",
    "KK24 section 5.1, asked of Mattei & Loureiro (2026), abstract",
    r"'[T]emperature scaling is the only linear scaler that does not change the hard predictions of the model.' (Taken as: if for every $z \in \mathbb R^K$, "
    r"$K \ge 2$, with one largest logit that of $Wz + b$ is the same one, there is a $T > 0$ with $\operatorname{softmax}(Wz + b) = \operatorname{softmax}(z/T)$ for "
    r"every $z$.)",
)
def only_temperature() -> Evidence:
    """Differences of logits vanish on the hyperplane where two classes are tied, and triples share one factor."""
    shift = sp.Symbol("s", real=True)
    z, scale = sp.symbols("z1:4", real=True), sp.symbols("a_12 a_23 a_13", positive=True)
    d = {pair: sp.symbols(f"d1:4_{pair[0]}{pair[1]}", real=True) for pair in permutations(range(3), 2)}
    top, low = sp.symbols("t u", real=True)
    tied = []
    for (i, j), row in d.items():
        (k,) = {0, 1, 2} - {i, j}
        at = sum(row[c] * (top if c in (i, j) else low) for c in range(3)) + shift
        found = sp.solve(sp.Poly(at, top, low).coeffs(), [row[j], row[k], shift], dict=True)
        tied.append((found[0][row[j]], -row[i]))
        tied += [(found[0][row[k]], 0), (found[0][shift], 0)]
    sums = [scale[0] * (z[0] - z[1]) + scale[1] * (z[1] - z[2]) - scale[2] * (z[0] - z[2])]
    one = sp.solve([sp.Poly(sums[0], *z).coeff_monomial(v) for v in z], scale[1:], dict=True)[0]
    return derivation(
        step(
            r"$d\cdot z + s$, $d = W_i - W_j$, $s = b_i - b_j$, is at least 0 where $z_i$ is largest, at most 0 where $z_j$ is: 0 where $z_i = z_j = t \ge z_k = u$. "
            r"For all such $t$, $u$: $d_j = -d_i$, $d_k = 0$, $s = 0$",
            *tied,
        ),
        step(
            r"so $(Wz + b)_i - (Wz + b)_j = a_{ij}(z_i - z_j)$, and as $(i,j) + (j,k) = (i,k)$, $a_{12} = a_{23} = a_{13}$",
            *((one[other], scale[0]) for other in scale[1:]),
        ),
        remark=r"With more classes the others are at $u$ together or apart: the same. $a > 0$, or the largest would not stay the one largest. Every difference of logits is $a$ times "
        r"what it was: $T = 1/a$. For $K = 2$ there is one difference.",
    )


@claim_of_ece(
    "kk24.ece_of_the_truth",
    "ECE on a sample can be lower for a lie than for the truth",
    "KK24 section 5, asked of Hartline et al. (2026), abstract",
    r"'[W]hen calibration is evaluated on a random sample, all known calibration measures incentivize predictors to lie'. (Of ECE: in a bin of $n$ samples that "
    r"all are right with probability $p$, let $\bar y$ be the share that is. Saying another $q$ has a smaller $\mathbb E|q - \bar y|$ than saying $p$, exactly if "
    r"$p$ is no median of $\bar y$. Of other measures nothing is said.)",
)
def ece_of_the_truth() -> Evidence:
    """The least absolute error is at the median."""
    p = sp.Symbol("p", positive=True)
    chances = [comb(ECE_SAMPLES, k) * ECE_RATE**k * (1 - ECE_RATE) ** (ECE_SAMPLES - k) for k in range(ECE_SAMPLES + 1)]
    expected = {
        said: sum(chance * abs(said - Fraction(k, ECE_SAMPLES)) for k, chance in enumerate(chances))
        for said in (ECE_RATE, Fraction(1))
    }
    low, high = (sp.Rational(*expected[said].as_integer_ratio()) for said in (Fraction(1), ECE_RATE))
    return derivation(
        step(
            r"$\mathbb E|q - \bar y| = \sum_k P(\bar y = \frac kn)\,|q - \frac kn|$ is convex, and its slope between two $\frac kn$ is $P(\bar y < q) - P(\bar y > q)$: "
            r"of one summand $1$ above $\frac kn$, $-1$ below",
            (sp.diff(q - p, q), 1),
            (sp.diff(p - q, q), -1),
        ),
        Step(
            rf"for example $n = {ECE_SAMPLES}$, $p = {float(ECE_RATE):g}$: saying 1 has {float(low):g}, saying $p$ {float(high):g}",
            bool(low < high),
        ),
        remark=r"A convex function is least at $p$ exactly if its slope is at most 0 before $p$ and at least 0 after it: at a median.",
    )

"""KK24 Prop. 5: does the map raise confidence, and a higher gamma more? What holds for each number of classes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import sympy as sp

from focal_lib.theory.confidence import confidence_change
from focal_lib.theory.gain import confidence_threshold, critical_gamma
from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import All, Counterexample, Derivation, Evidence, Step, Unchecked, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, confidence, entropy_ratio, gain, published, weight

CHAPTER = "confidence"
quoted = Rows(CHAPTER, "quoted")
paraphrased = Rows(CHAPTER, "paraphrased")
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")
q = symbols.q


MANY = 100


def largest_fall(n: int) -> float:
    """How far the top probability of n classes falls at most, the others equal: the largest on a grid."""
    tops = np.linspace(1 / n, 0.5, 200)
    probs = np.column_stack([tops, *[(1 - tops) / (n - 1)] * (n - 1)])
    return max(-float(confidence_change(probs, gamma).min()) for gamma in np.linspace(0.05, 6, 120))


@quoted(
    "kk24.prop5",
    "The map never lowers the top probability",
    "KK24 Prop. 5, App. A.5",
    # 'for any gamma > 0': section 1
    r"After the map 'the $j$-th coordinate', of the predicted class, 'will be higher than or equal to all coordinates of the "
    r"initial prediction': $\hat p_j \ge \max_i q_i = q_j$, for every $n$ and 'for any $\gamma > 0$'.",
    formal=formal("exact", "kk24_prop5_refuted", "kk24_prop5_refuted_4"),
    in_readme=True,
    number=lambda: f"with {MANY} classes it falls by up to {100 * largest_fall(MANY):.1f} points",
    instead="true for two and three classes; for n classes from a sharp gamma on",
)
def prop5() -> Evidence:
    """The map with gamma = 1 lowers the top of 100 classes by over a point, and already that of four."""
    return All.of(
        Counterexample(
            r"$n = 100$, $\gamma = 1$, $q_{\max} = 0.13$, the rest equal: the top probability falls", _fall_of_many()
        ),
        Counterexample(
            r"$n = 4$, the fewest, $\gamma = 1$, $q = (0.333, 0.333, 0.333, 0.001)$: the top probability falls",
            confidence.drop_of_ties(1, ("0.333", 3), ("0.001", 1)),
        ),
    )


def _fall_of_many() -> Any:
    """Of 100 classes, one at 0.13 and 99 equal ones, gamma = 1: how far the top falls, a ball."""
    return confidence.drop_of_ties(1, ("0.13", 1), (Fraction("0.87") / 99, 99))


@ours(
    "kk24.prop5_large",
    "With 100 classes the top probability can fall by over one point",
    "KK24 Prop. 5, size of the effect",
    r"With 100 classes the top probability can fall by more than one point of 100.",
    formal=formal("exact", "kk24_prop5_refuted_100"),
)
def prop5_large() -> Evidence:
    """The example has gamma = 1, one class at 0.13 and 99 equal ones."""
    margin = _fall_of_many() - balls.exact("0.01")
    return derivation(
        Step(r"$n = 100$, $\gamma = 1$, $q_{\max} = 0.13$, rest equal: falls by more than 0.01", bool(margin > 0))
    )


ours(
    "kk24.prop5_threshold",
    "A top probability above the threshold tau never falls",
    "KK24 Prop. 5, corrected",
    r"If $\gamma > 0$ and $q_{\max} \ge \tau(\gamma)$, where focal loss and cross-entropy have equal gradients, then $\hat p_{\max} \ge q_{\max}$ for every $n$.",
    lambda: derivation(
        *weight.printed_weight_steps(),
        weight.top_class_step(),
        *gain.threshold_steps(),
        published.threshold_step(),
        remark=r"For $m = q_{\max} \ge \tau$: $h(q_i) \le \max(1, h(m)) = h(m)$ for every $i$, since $h \le 1$ up to $\tau$ and "
        r"increases after it. Averaging with weights $q_i$ gives $S \le h(m)$.",
    ),
    formal=formal("equivalent", "kk24_prop5_tau", "m20_unimodal", "m20_gain_ends"),
    corrects="kk24.prop5",
)


@ours(
    "kk24.prop5_threshold_sharp",
    "Below the threshold tau the top probability falls for some n",
    "KK24 Prop. 5, corrected",
    r"Below $\tau(\gamma)$, $\gamma > 0$, the top probability falls for some $n$: with the other classes equal, for large $n$. (Above $\tau$ focal loss has "
    r"the smaller gradient, below it cross-entropy.)",
    formal=formal("exact", "kk24_prop5_tau_sharp"),
    corrects="kk24.prop5",
)
def prop5_threshold_sharp() -> Evidence:
    """S -> m h(m) + (1 - m) as n grows, above h(m) where h(m) < 1; examples just below tau."""
    m, h = sp.symbols("m h", positive=True)
    limit = (m * h + (1 - m)) - h
    falls = []
    for gamma in (1, 2, 3):
        top, others = Fraction(round(0.98e6 * confidence_threshold(gamma)), 10**6), 10**4 - 1
        falls.append(confidence.drop_of_ties(gamma, (top, 1), ((1 - top) / others, others)))
    return derivation(
        *weight.printed_weight_steps(),
        weight.top_class_step(),
        step(r"$\lim_n S - h(m) = (1-m)(1-h(m)) > 0$ for $h(m) < 1$", (limit, (1 - m) * (1 - h))),
        entropy_ratio.limit_step(r"each other class has $h(q_i) \to h(0) = 1$: $b \to 0$"),
        Step(
            rf"for example at $0.98\,\tau$ and $n = 10^4$, $\gamma = 1, 2, 3$ (ball arithmetic): falls by at least "
            rf"{min(float(f.mid()) for f in falls):.4f}",
            all(bool(f > 0) for f in falls),
        ),
        *gain.threshold_steps(),
        published.threshold_step(),
    )


paraphrased(
    "kk24.prop5_two_classes",
    "Two classes: the map never lowers the top probability",
    "KK24 Prop. 5, the case n = 2",
    # Prop. 5 as printed, at n = 2; the shape of the curve: section 3.2
    r"For $n = 2$ and $\gamma > 0$ the probability of the predicted class never becomes lower.",
    lambda: derivation(
        *weight.printed_weight_steps(),
        binary_map.stationarity_steps()[1],
        *binary_map.map_slope_steps(),
        remark=r"For two classes Eq. (1) has the odds $w(1-q)/w(q) = L'(q)/L'(1-q)$, those of the binary map, which is odd in logits with slope above 1: "
        r"$|\operatorname{logit}\hat p| > |s|$.",
    ),
    formal=formal("exact", "kk24_prop5_two_classes"),
)

quoted(
    "kk24.prop5_sublemma",
    "A concave function with f(0) = 0 lies above its chords from 0",
    "KK24 App. A.5, statement 1",
    r"'Let $f(x)$ be a concave function defined on $[0, 1]$ range such that $f(0) = 0$. Then $\forall \lambda \in [0, 1]$: "
    r"$f(\lambda x) \ge \lambda f(x)$.'",
    lambda: derivation(sublemma_step()),
    formal=formal("exact", "kk24_prop5_sublemma"),
)


def sublemma_step(at_zero: int = 0) -> Step:
    """What concavity says of the points x and 0 with weights lambda and 1 - lambda, where f(0) is as given."""
    lam, x = sp.symbols("lambda x", positive=True)
    f = sp.Function("f")

    def above_chord(one: Any, other: Any) -> Any:
        """Not negative for concave f."""
        return f(lam * one + (1 - lam) * other) - (lam * f(one) + (1 - lam) * f(other))

    return step(
        r"$f(\lambda x + (1-\lambda)\cdot 0) - \lambda f(x) - (1-\lambda)f(0) \ge 0$ is $f(\lambda x) - \lambda f(x) \ge 0$",
        (above_chord(x, sp.S.Zero).subs(f(0), at_zero), f(lam * x) - lam * f(x)),
    )


quoted(
    "kk24.prop5_positive",
    "The function in the proof is positive by monotonicity",
    "KK24 App. A.5, proof",
    r"'Moreover $f(q_k) > 0$ due to monotonicity.'",
    lambda: Unchecked(
        "the next sentence, 'it implies that the denominator is negative', needs f < 0, so the sign is a slip or damaged; "
        "kk24.prop5_positive_corrected proves the sign that is needed"
    ),
)

ours(
    "kk24.prop5_positive_corrected",
    "The function in the proof, 1/L', is negative",
    "KK24 App. A.5, corrected",
    r"For $\gamma \ge 0$ $f = 1/L'$ is negative on $(0, 1)$, as $L$ decreases.",
    lambda: derivation(gain.positive_step(), remark=r"$f = -q/g$."),
    formal=formal("exact", "kk24_prop5_negative_f"),
    corrects="kk24.prop5_positive",
)

paraphrased(
    "kk24.prop5_dominates",
    "The term with a power of 1 - q dominates the derivative",
    "KK24 App. A.5, proof",
    # the exponent is damaged here and legible in the display before, where the sign of L''/L'^2 is not
    r"The term with a power of $1-q$ in $f' = (1/L')'$, 'which is monotonically decreasing, will dominate other terms'.",
    lambda: Unchecked(
        "the sign in front of the quotient and the exponent of the term are not legible: $-(1-q)^{-\\gamma}$ decreases, as "
        "said, $(1-q)^{-\\gamma}$ increases; what the sentence concludes, that $f$ is concave, is kk24.prop4_inflection"
    ),
)


@ours(
    "kk24.prop5_near_uniform",
    "Near the uniform distribution the number of classes decides whether confidence falls",
    "KK24 Prop. 5, corrected",
    r"That the map never lowers the top probability fails next to the uniform distribution of $n$ classes if $1/n < p^*(\gamma)$ and holds there if "
    r"$1/n > p^*(\gamma)$. ($\gamma > 0$; at $p^*$ the gradient of focal loss over that of cross-entropy is largest.)",
    formal=formal("exact", "kk24_prop5_near_uniform"),
    corrects="kk24.prop5",
)
def prop5_near_uniform() -> Evidence:
    """First order: sum w(q_i) - h(m) = -h'(1/n) (m - 1/n), and h' has the sign of -g'."""
    n, e, m, others = sp.symbols("n epsilon delta_1 delta_2", positive=True)
    w, h = sp.Function("w"), sp.Function("h")
    # the other classes' deviations sum to -delta_1; to first order each class adds w' times its own
    excess = sp.diff(w(1 / n + e * m) + w(1 / n + e * others) - h(1 / n + e * m), e).doit().subs(e, 0).doit()
    slope = sp.Derivative(h(q), q).subs(q, 1 / n).doit()
    return derivation(
        *weight.printed_weight_steps(),
        weight.top_class_step(),
        step(
            r"$\frac{d}{d\varepsilon}\big[\sum_i w(\frac1n+\varepsilon\delta_i) - h(\frac1n+\varepsilon\delta_1)\big]_0 = "
            r"w'(\frac1n)\sum_i\delta_i - h'(\frac1n)\,\delta_1 = -h'(\frac1n)\,\delta_1$, as $\sum_i\delta_i = 0$",
            (excess.subs(others, -m).doit(), -slope * m),
        ),
        *gain.threshold_steps(),
        remark=r"$h = 1/g$ falls before $p^*$ and rises after it, so the excess is positive, and the top falls, exactly when "
        r"$\frac1n < p^*$.",
    )


@quoted(
    "kk24.fig5_others_fall",
    "Three classes: the highest probability rises and all others fall",
    "KK24 section 3.3 on Fig. 5",
    r"'The predicted distribution becomes sharper, meaning that the highest predicted probability becomes higher while all "
    r"others - become lower' ($n = 3$).",
    chapter="simplex",
    instead="only the lowest must fall",
)
def fig5_others_fall() -> Evidence:
    """The second class rises, too."""
    with balls.precision():
        point = [balls.exact(v) for v in ("0.40", "0.39", "0.21")]
        rise = formulas.focal_map(point, balls.exact(1))[1] - point[1]
    return Counterexample(r"$\gamma = 1$, $q = (0.40, 0.39, 0.21)$: the second class rises", rise)


ours(
    "kk24.fig5_lowest_falls",
    "Three classes: the lowest probability falls",
    "KK24 section 3.3 on Fig. 5, corrected",
    r"For $n = 3$ and $\gamma > 0$ the lowest probability becomes lower, unless it is 0 or $\frac13$.",
    lambda: confidence.sharper_proof(),
    chapter="simplex",
    corrects="kk24.fig5_others_fall",
)


@ours(
    "kk24.prop5_n_fails",
    "Four or more classes: below a critical gamma confidence can fall",
    "KK24 Prop. 5, corrected for each n",
    r"For $n \ge 4$ and $0 < \gamma < \gamma^*(\frac{1}{n-1})$ the map lowers the top probability at $n - 1$ tied classes and a small last one. "
    rf"({gain.CRITICAL})",
    formal=formal("exact", "kk24_prop5_gamma_star", "kk24_prop5_n_fails"),
    corrects="kk24.prop5",
)
def prop5_n_fails() -> Evidence:
    """To first order in the last class, and examples in ball arithmetic."""
    steps = [*confidence.tied_classes_fall_steps(), *confidence.critical_gamma_steps(), published.critical_gamma_step()]
    last = Fraction(1, 10**6)
    for classes in (4, 5, 7, 10):
        gamma = Fraction(round(900 * critical_gamma(classes)), 1000)
        fall = confidence.drop_of_ties(gamma, ((1 - last) / (classes - 1), classes - 1), (last, 1))
        steps.append(Step(rf"for example $n = {classes}$ at $0.9\,\gamma^*$, in ball arithmetic", bool(fall > 0)))
    return Derivation(tuple(steps))


@ours(
    "kk24.prop5_n_holds",
    "Four or more classes: from the critical gamma on confidence never falls",
    "KK24 Prop. 5, corrected for each n",
    rf"For $n \ge 4$ and $\gamma \ge \gamma^*(\frac{{1}}{{n-1}})$ confidence never falls. ({gain.CRITICAL})",
    formal=formal("exact", "kk24_prop5_gamma_star"),
    corrects="kk24.prop5",
)
def prop5_n_holds() -> Evidence:
    """A concave difference is not negative between two ends where it is not."""
    found = confidence.confidence_proof()
    return replace(found, steps=(*found.steps, published.critical_gamma_step()))


paraphrased(
    "kk24.prop5_three_classes",
    "Three classes: the map never lowers the top probability",
    "KK24 Prop. 5, the case n = 3; section 3.3 on Fig. 5",
    r"For $n = 3$ the highest predicted probability never becomes lower, for any $\gamma > 0$.",
    lambda: confidence.confidence_proof(),
    formal=formal("exact", "kk24_prop5_three_classes"),
)

reading(
    "kk24.sharper_gamma",
    "Three classes: a higher gamma makes the map sharper",
    "KK24 section 3.3 on Fig. 5",
    r"'Moreover, the higher $\gamma$ is, the sharper the effect becomes.' (Taken as: for three classes, as in the figure, the highest "
    r"probability of the map never falls as $\gamma \ge 0$ grows, and the lowest falls unless it is 0 or $\frac13$.)",
    lambda: confidence.sharper_proof(),
)


@ours(
    "kk24.sharper_gamma_n",
    "Four or more classes: a higher gamma is always sharper from some gamma on",
    "KK24 section 3.3, carried to more classes",
    r"With $n \ge 4$ classes the highest probability never falls as $\gamma$ grows, at any point of the simplex from $\gamma^\circ = "
    r"-\frac{1}{\log(1-p_0)} - \frac{1}{b(p_0)} > 0$ on, $p_0 = \frac{1}{n-1}$; below it there are points where a higher $\gamma$ is less sharp.",
)
def sharper_gamma_n() -> Evidence:
    """v(1/(n-1)) changes sign at gamma°; below it n - 1 tied classes fall."""
    g, rest, ratio = sp.symbols("gamma a b", positive=True)  # -log(1 - p0), b(p0)
    v = rest - ratio / (1 + g * ratio)
    ball = turning_gamma("1/3")
    return derivation(
        *confidence.sharper_steps(),
        step(
            r"$v(p_0) = a - \frac{b}{1+\gamma b}$ with $a = -\log(1-p_0)$, $b = b(p_0)$ increases in $\gamma$",
            (sp.diff(v, g), ratio**2 / (1 + g * ratio) ** 2),
        ),
        step(r"and is 0 at $\gamma^\circ = \frac1a - \frac1b$", (v.subs(g, 1 / rest - 1 / ratio), 0)),
        step(
            r"which is positive for $p_0 < \frac12$: $b - a = \frac{f(p_0)}{1-p_0}$",
            (symbols.entropy_ratio() + sp.log(1 - q), ((1 - q) * sp.log(1 - q) - q * sp.log(q)) / (1 - q)),
        ),
        *entropy_ratio.terms_steps(),
        step(
            r"$v$ is the derivative of $\log w$ by $\gamma$, at $\gamma = 0$ it is $-\log(1-q) - b$",
            (confidence.weight_growth().subs(symbols.gamma, 0), -sp.log(1 - q) - symbols.entropy_ratio()),
        ),
        Step(
            rf"$n = 4$: $\gamma^\circ = {float(ball.mid()):.4f}$; from $\gamma = 0$ to $\frac12$ the highest of $(0.33, 0.33, 0.33, 0.01)$ falls, in "
            "ball arithmetic",
            bool(ball > balls.exact("1/2") and less_sharp(("0.33", "0.33", "0.33", "0.01"), "0", "1/2")),
        ),
        remark=rf"{confidence.SHARPER} Below $\gamma^\circ$: with $n - 1$ classes tied at $m$ and one at $\varepsilon$ the derivative of $\log\hat p$ of the tied ones is "
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

"""L25 sections 2.5, 3.1, 4.2, 4.3, App. A.3 to A.9: ranking, properness, bias, the function phi, entropy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import flint
import sympy as sp

from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import (
    Counterexample,
    Derivation,
    Disproof,
    Evidence,
    Step,
    Unchecked,
    derivation,
    step,
)
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, curvature, entropy_bound, entropy_ratio, fcl, gain

CHAPTER = "focal_calibration_loss"
quoted = Rows(CHAPTER, "quoted")
paraphrased = Rows(CHAPTER, "paraphrased")
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")
q, g = symbols.q, symbols.g
lam = sp.Symbol("lambda", positive=True)


def residual_steps() -> tuple[Step, ...]:
    """The slope of the FCL risk at q = p is p L'(p) = -g(p) in each class."""
    p = sp.Symbol("p", positive=True)
    slope = p * symbols.focal_loss_slope(q, g) + 2 * lam * (q - p)
    return (
        step(
            r"at $q = p$: $p_iL'(p_i) + 2\lambda(p_i-p_i) = -g(p_i)$",
            (slope.subs(q, p) / (1 - p) ** (g - 1), -symbols.gain(p, g) / (1 - p) ** (g - 1)),
            simplify=symbols.tidy,
        ),
        gain.positive_step(),
    )


def _gain_gap() -> flint.arb:
    """g(0.2, 2) - g(0.8, 2) as a ball."""
    with balls.precision():
        two = balls.exact(2)
        return formulas.gain(balls.exact("0.2"), two) - formulas.gain(balls.exact("0.8"), two)


def order_steps() -> tuple[Step, ...]:
    """What makes the two stationarity values differ where q_i <= q_j although p_i > p_j; lambda may be 0."""
    p_i, p_j, q_i, q_j, slope_i, slope_j = sp.symbols("p_i p_j q_i q_j s_i s_j", real=True)
    left = p_i * slope_i + 2 * lam * (q_i - p_i)
    right = p_j * slope_j + 2 * lam * (q_j - p_j)
    return (
        *curvature.convexity_proof().steps,
        curvature.slope_step(r"$L' < 0$: $L' = -(1-q)^{\gamma-1}\big(\frac{1-q}{q} + \gamma(-\log q)\big)$"),
        step(
            r"difference of the two values: $p_i(L'_i - L'_j) + (p_i - p_j)L'_j + 2\lambda\big[(q_i-q_j) - (p_i-p_j)\big]$",
            (left - right, p_i * (slope_i - slope_j) + (p_i - p_j) * slope_j + 2 * lam * ((q_i - q_j) - (p_i - p_j))),
            simplify=sp.expand,
        ),
    )


paraphrased(
    "l25.order_preserving",
    "FCL's minimiser keeps the order of the classes",
    "L25 Thm. A.2, section 4.2",
    r"FCL 'satisfies the Strictly Order-Preserving Property': $p_i > p_j$ implies $q_i > q_j$ at its minimiser.",
    lambda: Derivation(
        order_steps(),
        r"If $p_i > p_j$ and $q_i \le q_j$: $L'_i \le L'_j < 0$ by convexity, so the first term is at most 0, the second negative and the third not "
        r"positive: the values differ, against stationarity. This holds for every $\gamma, \lambda \ge 0$.",
    ),
    formal=formal("exact", "l25_order_preserving", "l25_minimiser_exists_everywhere"),
    in_readme=True,
)

quoted(
    "l25.a4",
    "A strictly convex plus a convex function is strictly convex",
    "L25 Thm. A.1 (App. A.4)",
    r"'Let' $f$ 'be a strictly convex function, and let' $h$ 'be a convex function. Then the function' $f + h$ 'is strictly convex'.",
    lambda: derivation(defect_step()),
    formal=formal("exact", "l25_strictly_convex_sum"),
)


def defect_step(combine: Callable[[Any, Any], Any] = operator.add) -> Step:
    """The defect of convexity of a combination, a sum, against the sum of the defects."""
    t, u, v = sp.symbols("t u v", real=True)
    f, h = sp.Function("f"), sp.Function("h")

    def defect(function: Callable[[Any], Any]) -> Any:
        """Chord minus value between u and v: positive for strictly convex, not negative for convex functions."""
        return t * function(u) + (1 - t) * function(v) - function(t * u + (1 - t) * v)

    return step(
        r"chord minus value: that of $f + h$ is that of $f$, positive, plus that of $h$, not negative",
        (defect(lambda point: combine(f(point), h(point))), defect(f) + defect(h)),
        simplify=sp.expand,
    )


@quoted(
    "l25.a7",
    "The Brier score is a strictly proper scoring rule",
    "L25 App. A.7",
    r"'The mean squared norm', $\lVert q - e_y\rVert^2$ (Brier score), 'is a strictly proper scoring rule for both binary and "
    r"multiclass classification'.",
    formal=formal("exact", "l25_brier_strictly_proper"),
)
def a7() -> Evidence:
    """Its expected excess over q = p is the squared distance of q and p, for every n."""
    q_i, p_i = sp.symbols("q_i p_i", real=True)
    return derivation(
        *fcl.squared_distance_steps(),
        step(
            r"so the excess over $q = p$ is $\sum_i (q_i - p_i)^2$, 0 at $q = p$ only",
            (fcl.class_share(q_i, p_i) - fcl.class_share(p_i, p_i), (q_i - p_i) ** 2),
            simplify=sp.expand,
        ),
    )


quoted(
    "l25.a8",
    "FCL is strictly proper exactly under two conditions",
    "L25 section 4.3, App. A.8",
    r"'The Focal Calibration Loss is strictly proper if and only if' two conditions hold that 'and' joins and our copy has "
    r"lost.",
    lambda: Unchecked(
        "our copy has lost both conditions; l25.a8_reading says that no condition helps that leaves a gamma above 0, l25.a3 that the "
        "conclusion drawn in words is false"
    ),
)


@ours(
    "l25.a8_reading",
    "FCL is not proper for any gamma above 0",
    "L25 section 4.3, App. A.8, under any reading",
    r"For no $\gamma > 0$, and whatever $\lambda$, is FCL proper, so it is not strictly proper either. (Case 2 of the proof is where 'FCL reduces "
    r"to the focal loss': were the conditions $\lambda > 0$ and $\gamma \ge 0$, or any others that leave a $\gamma > 0$, the sentence would be false.)",
    formal=formal("exact", "l25_not_proper"),
)
def a8_reading() -> Evidence:
    """At q = p the slopes -g(p_i) differ for some p, whatever lambda; p = (0.8, 0.2) for gamma = 2."""
    with balls.precision():
        differ = bool(_gain_gap() > 0)
    return derivation(
        *residual_steps(),
        *gain.limit_steps(),
        Step(r"for example $\gamma = 2$, $p = (0.8, 0.2)$: $g(0.2) > g(0.8)$, in ball arithmetic", differ),
        remark=r"$g(p) \to 0$ as $p \to 1$ while $g(1-p) \to 1$: at some $q = p$ of two classes the slopes differ, and moving towards the class with the larger "
        r"$g$ lowers the risk. The same with more classes, where the others have $p_i = 0$: their $\lambda q_i^2$ has slope 0 at $q_i = 0$.",
    )


def cross_entropy_steps() -> tuple[Step, ...]:
    """The excess risk of cross-entropy is KL(p || q), positive unless q = p."""
    t = sp.Symbol("t", positive=True)
    return (
        step(
            r"$\gamma = \lambda = 0$: the excess risk is $\sum_i p_i\big(\frac{q_i}{p_i} - 1 - \log\frac{q_i}{p_i}\big)$, as "
            r"$\sum q_i = \sum p_i$: one term",
            (q * (t - 1 - sp.log(t)) - (q * t - q), -q * sp.log(t)),
            simplify=sp.expand,
        ),
        step(
            r"$t - 1 - \log t$ is 0 at 1 with derivative $1 - \frac1t$: positive for $t \ne 1$",
            (sp.diff(t - 1 - sp.log(t), t), 1 - 1 / t),
        ),
    )


reading(
    "l25.a8_zero",
    "Cross-entropy is proper but not strictly proper",
    "L25 App. A.8, case 2",
    r"In case 2 the loss 'reduces to the cross-entropy loss, which is proper but not strictly proper without additional "
    r"regularization'. (The conditions are lost; taken as: $\lambda = \gamma = 0$.)",
    lambda: Disproof(Derivation(cross_entropy_steps())),
    formal=formal("exact", "log_loss_strictly_proper", "l25_gamma_0_strictly_proper"),
    instead="it is strictly proper",
)

ours(
    "l25.a8_when",
    "FCL's minimiser is the truth exactly where g is equal",
    "L25 App. A.3, corrected; App. A.8",
    r"For $\gamma > 0$ the minimiser of FCL is $p$ exactly where $g(p_i, \gamma)$ is the same for every class with $p_i > 0$, whatever "
    r"$\lambda$.",
    lambda: derivation(
        *residual_steps(),
        step(
            r"a class with $p_i = 0$ adds $\lambda q_i^2$, whose slope at $q_i = 0$ is 0, not below the $-g \le 0$ of the others: nothing is "
            r"gained by moving to it",
            (sp.diff(lam * q**2, q).subs(q, 0), 0),
        ),
        gain.positive_step(),
        *curvature.convexity_proof().steps,
        remark=r"Necessary: where $0 < p_i < 1$ the point is inside in these coordinates, and the slopes must be equal. Sufficient: the risk is "
        r"convex, and strictly so in the classes with $p_i > 0$.",
    ),
    formal=formal("exact", "l25_unbiased_iff"),
    corrects="l25.a3",
)

ours(
    "l25.a8_cross_entropy",
    "Without the square FCL is strictly proper exactly at gamma 0",
    "L25 App. A.8, corrected",
    r"With $\lambda = 0$ FCL is strictly proper if and only if $\gamma = 0$.",
    lambda: derivation(
        *cross_entropy_steps(),
        *residual_steps(),
        *gain.limit_steps(),
        remark=r"$\gamma > 0$: $g(p) \to 0$ as $p \to 1$ while $g(1-p) \to 1$, so they differ for some $p$.",
    ),
    formal=formal("exact", "l25_strictly_proper_iff"),
    corrects="l25.a8_zero",
)

quoted(
    "l25.focal_improper",
    "Focal loss is not a proper scoring rule",
    "L25 sections 1 and 3.1",
    r"'Focal loss is not a proper scoring rule': it 'is classification-calibrated, it is not strictly proper' ($\gamma > 0$).",
    lambda: derivation(
        *order_steps(),
        *residual_steps(),
        *gain.limit_steps(),
        remark=r"The order of the classes is kept for $\lambda = 0$, too: classification-calibrated. $g(p) \to 0$ as $p \to 1$ while $g(1-p) \to 1$: at some $q = "
        r"p$ the slopes differ, and $p$ is no minimiser: not proper.",
    ),
    formal=formal("equivalent", "l25_focal_improper", "l25_order_preserving", "kk24_map_recovers_truth", "kk24_prop4"),
)

quoted(
    "l25.a3",
    "Minimising FCL recovers the true class probabilities",
    "L25 App. A.3, its conclusion",
    r"'Minimizing the Focal Calibration Loss over the probability simplex recovers the true class-posterior probabilities.' (For $\gamma > 0$; at $\gamma = 0$ it does.)",
    lambda: Counterexample(
        r"$\gamma = 2$, $p = (0.8, 0.2)$: the residuals of the two classes at $q = p$ differ by $g(0.2) - g(0.8)$",
        _gain_gap(),
    ),
    formal=formal("equivalent", "l25_not_proper"),
    in_readme=True,
    instead="biased, by O(1/lambda)",
)


@ours(
    "l25.bias",
    "The bias of FCL's minimiser shrinks like 1/lambda",
    "L25 section 4.3, corrected",
    r"For $\gamma \ge 0$ and where every $p_i > 0$ the bias shrinks like $1/\lambda$: $q_i - p_i = \frac{g(p_i) - \frac1n\sum_j g(p_j)}{2\lambda} + O(\lambda^{-2})$.",
    formal=formal("exact", "l25_bias", "l25_minimiser_exists"),
    corrects="l25.a3",
)
def bias() -> Evidence:
    """Stationarity with q = p + x/lambda, to first order in 1/lambda."""
    e, x, mu = sp.symbols("epsilon x mu")  # epsilon = 1/lambda
    slope = sp.Function("L1")
    p = sp.Symbol("p", positive=True)
    stationary = p * slope(p + e * x) + 2 * x + mu  # p L'(q) + 2 lam (q - p) + mu at q = p + x/lam
    own, total = sp.symbols("g_i Gamma")  # g(p_i) and the sum over the classes
    n = sp.Symbol("n", positive=True)
    gains, i, classes = sp.IndexedBase("g"), sp.Idx("i"), sp.Symbol("n", integer=True, positive=True)
    shift = (gains[i] - total / classes) / 2
    together = sp.Sum(shift, (i, 1, classes)).expand().doit()
    return derivation(
        *residual_steps(),
        step(
            r"$q = p + x/\lambda$: at $\lambda \to \infty$ stationarity is $-g(p_i) + 2x_i + \mu = 0$",
            (stationary.subs(e, 0).subs(slope(p), -sp.Symbol("G") / p), -sp.Symbol("G") + 2 * x + mu),
        ),
        step(
            r"$x_i = \frac12\big(g(p_i) - \bar g\big)$ solves it with $\mu = \bar g = \frac1n\sum_j g(p_j)$",
            (-own + 2 * (own - total / n) / 2 + total / n, 0),
        ),
        step(
            r"and has $\sum_i x_i = \frac12\big(\sum_i g(p_i) - n\bar g\big) = 0$, as $\sum_i q_i = \sum_i p_i$ asks",
            (together - (sp.Sum(gains[i], (i, 1, classes)) - total) / 2, 0),
        ),
        remark=r"The risk over $\lambda$ is smooth in $1/\lambda$ with Hessian $2I$ at $1/\lambda = 0$, so $x$ is smooth in $1/\lambda$ (implicit function theorem).",
    )


def phi_steps() -> tuple[Step, ...]:
    """phi decreases, from infinity at 0 to -2 lambda (1 - eta) at 1."""
    eta, v = sp.symbols("eta v", positive=True)
    loss = sp.Function("L")
    phi = -eta * sp.diff(loss(v), v) - 2 * lam * (v - eta)
    return (
        step(r"$\varphi' = -\eta L'' - 2\lambda$", (sp.diff(phi, v), -eta * sp.diff(loss(v), v, 2) - 2 * lam)),
        *curvature.convexity_proof().steps,
        *curvature.gradient_limit_steps(),
        gain.of_loss_step(r"$-vL'(v) = g = (1-v)^\gamma(1 + \gamma b)$ ($v = q$)"),
        entropy_ratio.limit_step(r"at 0: $g \to 1$, as $b \to 0$, so $-L' \to \infty$"),
        step(
            r"at 1, where $L' \to 0$: $\varphi \to -2\lambda(1-\eta) < 0$; so $\varphi$ has one root, as it falls from $\infty$",
            ((-2 * lam * (v - eta)).subs(v, 1), -2 * lam * (1 - eta)),
        ),
    )


quoted(
    "l25.a6",
    "A function of the lemma strictly decreases and has one root",
    "L25 Lemma A.3 (App. A.6)",
    r"$\varphi$, whose formula is lost from our copy, 'is strictly decreasing', with limits that are lost, and 'there exists a "
    r"unique' root.",
    lambda: Unchecked(
        "our copy has lost the formula of the function and its limits; l25.a6_reading takes it from the proof"
    ),
)

ours(
    "l25.a6_reading",
    "Read as the derivative of the risk, Lemma A.3 is true",
    "L25 Lemma A.3, under a reading",
    r"Under the reading $\varphi(v) = -\eta L'(v) - 2\lambda(v-\eta)$ the lemma is true for $\gamma, \lambda > 0$ and $0 < \eta < 1$: $\varphi$ is "
    r"strictly decreasing on $(0, 1)$, tends to $\infty$ at 0 and to $-2\lambda(1-\eta)$ at 1, and has exactly one root.",
    lambda: Derivation(phi_steps()),
    formal=formal("exact", "l25_phi"),
)


@ours(
    "l25.a6_mapping",
    "Read so, predicted and true probabilities map uniquely",
    "L25 App. A.6, after Cor. A.4, under the reading of l25.a6_reading",
    r"Under the reading $\varphi(v) = -\eta L'(v) - 2\lambda(v-\eta)$ the sentence 'the function's monotonic decrease ensures a unique "
    r"mapping between the predicted probabilities and the true class probabilities' is true for $\gamma, \lambda > 0$ and $0 < \eta < 1$: the root increases with $\eta$.",
    formal=formal("exact", "l25_phi", "l25_phi_root_increasing"),
)
def a6_mapping() -> Evidence:
    """d phi/d eta = -L' + 2 lambda > 0 while phi falls in v: different truths have different roots."""
    eta = sp.Symbol("eta", positive=True)
    return derivation(
        *phi_steps(),
        gain.positive_step(),
        step(
            r"$\partial_\eta\varphi = -L' + 2\lambda = \frac{g}{v} + 2\lambda > 0$ ($v = q$)",
            (
                (sp.diff(-eta * symbols.focal_loss_slope(q, g) - 2 * lam * (q - eta), eta) - 2 * lam)
                / (1 - q) ** (g - 1),
                symbols.gain(q, g) / q / (1 - q) ** (g - 1),
            ),
            simplify=symbols.tidy,
        ),
        remark=r"$\varphi$ falls in $v$ and rises in $\eta$, so its root rises with $\eta$: one root for each truth, and different ones.",
    )


ours(
    "l25.a6_root_corrected",
    "The root lies above the true probability: no identity",
    "L25 App. A.6, what the root is, under the reading of l25.a6_reading",
    r"The root of $\varphi(v) = -\eta L'(v) - 2\lambda(v-\eta)$ lies above $\eta$ for every $\gamma > 0$ and $\lambda > 0$, "
    r"$0 < \eta < 1$: the mapping is unique, and not the identity.",
    lambda: derivation(*phi_steps(), *residual_steps(), gain.positive_step()),
    formal=formal("exact", "l25_phi", "l25_phi_root_above"),
)

quoted(
    "l25.a9",
    "Focal loss is bounded in terms of KL divergence",
    "L25 Eq. (8), App. A.9",
    r"'Focal loss can be related to the KL divergence', 'giving a bound of form' that is lost from our copy.",
    lambda: Unchecked("our copy has lost the formula; l25.a9_reading proves that of M20, which it builds on"),
)

ours(
    "l25.a9_reading",
    "Read as M20's bound, Eq. (8) is true",
    "L25 Eq. (8), under the reading that it is the bound of M20 App. H",
    r"Read as the bound of M20 App. H, Eq. (8) is true: $\mathrm{FL}_\gamma \ge \mathrm{KL}(p\Vert q) + H(p) - \gamma H(q)$, for every $\gamma \ge 0$.",
    lambda: derivation(*entropy_bound.entropy_bound_steps(), entropy_bound.divergence_step()),
    formal=formal("exact", "m20_app_h_kl"),
)

ours(
    "l25.eq8_entropy",
    "At fixed KL the bound of Eq. (8) falls with entropy",
    "L25 section 2.5, under the reading of l25.a9_reading",
    r"Read as the bound of M20 App. H (l25.a9_reading), and at fixed $p$ and $\mathrm{KL}(p\Vert q)$, the bound of Eq. (8) falls by $\gamma$ for each nat of $H(q)$.",
    lambda: derivation(*entropy_bound.entropy_bound_steps(), entropy_bound.divergence_step(), entropy_rate_step()),
)


def entropy_rate_step(weight: Any = -g) -> Step:
    """The rate of the bound in the entropy of the prediction, which enters it with this weight."""
    divergence, own, other = sp.symbols("KL H_p H_q", nonnegative=True)
    bound = divergence + own + weight * other
    return step(
        r"$\partial_{H(q)}\big(\mathrm{KL} + H(p) - \gamma H(q)\big) = -\gamma < 0$, and falls with $\gamma$",
        (sp.diff(bound, other) + g).is_zero
        and sp.diff(bound, other).is_negative
        and sp.diff(bound, other, g).is_negative,
    )


quoted(
    "l25.higher_entropy",
    "Focal loss often yields higher entropy and underconfidence",
    "L25 section 3.1",
    r"'Our observations in Fig. 2 suggest that focal loss often yields higher-entropy predictions, leading to underconfident outputs even "
    r"when the true probability is near 0 or 1 (i.e., for “easy” samples).'",
    lambda: Unchecked(
        "the observations of Fig. 2 are not at hand; what theory says of two classes is l25.higher_entropy_two_classes, of "
        "more m20.entropy_three_classes and m20.entropy_many_classes"
    ),
)

ours(
    "l25.higher_entropy_two_classes",
    "Two classes: focal minimisers have higher entropy than the truth",
    "L25 section 3.1, in theory",
    r"For two classes and $\gamma > 0$ the minimiser of the focal loss has a higher entropy and a smaller top probability than every "
    r"truth but 0, $\frac12$ and 1, however near to 0 or 1.",
    lambda: derivation(
        *binary_map.stationarity_steps(),
        *curvature.convexity_proof().steps,
        *binary_map.map_slope_steps(),
        entropy_bound.entropy_slope_step(),
        remark=r"The map takes the minimiser to the truth, fixes $\frac12$ (logit 0) and stretches logits: $|\operatorname{logit} p| > |\operatorname{logit} q|$, "
        r"for $q$ as near to 0 or 1 as one likes.",
    ),
    formal=formal("exact", "l25_higher_entropy", "kk24_map_recovers_truth", "kk24_prop4"),
)

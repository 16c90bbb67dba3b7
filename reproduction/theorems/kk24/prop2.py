"""KK24 sections 2 to 3.2 and Prop. 2: the minimiser, the binary decomposition."""

from __future__ import annotations

import sympy as sp

from focal_lib.theory.proper import focal_minimiser
from reproduction.ledger.certificates import balls
from reproduction.ledger.evidence import Conditional, Derivation, Disproof, Evidence, Step, Unchecked, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, curvature, gain

ASKED, CHAPTER = "focal_loss", "binary"
quoted = Rows(CHAPTER, "quoted")
reading = Rows(CHAPTER, "our reading")
ours = Rows(CHAPTER, "ours")
q, s, gamma, g = symbols.q, symbols.s, symbols.gamma, symbols.g
x = sp.Symbol("x", positive=True)


reading(
    "kk24.minimiser",
    "For p = 0.8 and gamma 2 focal loss predicts about 0.62",
    "KK24 section 3.1",
    r"At a point with $p = 0.8$ focal loss 'will result in the prediction of a lower value of around 0.62' for $\gamma = 2$. (Our reading of 'around': within 0.01.)",
    lambda: Measurement(
        r"$q^*(0.8)$ for $\gamma = 2$", "around 0.62", float(focal_minimiser([[0.8, 0.2]], 2.0)[0, 0]), 0.62, 0.01
    ),
    chapter=ASKED,
)


@quoted(
    "kk24.minimiser_range",
    "Varying gamma yields every prediction between 0.8 and 0.5 for p = 0.8",
    "KK24 section 3.1",
    r"'By varying parameter $\gamma > 0$, we could receive any value between 0.8 and 0.5' at $p = 0.8$.",
    formal=formal("exact", "kk24_minimiser_range"),
    chapter=ASKED,
)
def minimiser_range() -> Evidence:
    """By the intermediate value theorem in gamma: logit FC(s) is s at gamma = 0 and above gamma s in general."""
    top = sp.Symbol("S", positive=True)  # logit p
    return derivation(
        step(
            r"$\gamma = 0$: $\operatorname{logit}\hat p(q) = s$, below $S = \operatorname{logit} p$ for $s < S$",
            (symbols.binary_map_of_logit(s, 0), s),
        ),
        *binary_map.stationarity_steps(),
        *curvature.convexity_proof().steps,
        *binary_map.map_slope_steps(),
        step(
            r"$\gamma = S/s$ with $0 < s < S$: $\operatorname{logit}\hat p(q) = S + s - R(s)$, beyond $S$ as $R(s) < s$ by $R(0) = 0$, "
            r"$R' < 1$",
            (symbols.binary_map_of_logit(x, top / x), top + x - symbols.logit_gap(x, top / x)),
            (symbols.logit_gap(0), 0),
        ),
        remark=r"Focal loss is least in the mean at the $q$ that the map takes to $p$. For $1/2 < q < p$, with logit $s < \operatorname{logit} p$: the map of $q$ is below $p$ at $\gamma = 0$ and, its "
        r"slope being above $\gamma$, beyond $p$ at $\gamma = \operatorname{logit} p / s$. It is continuous in $\gamma$, "
        "so some $\\gamma$ in between predicts exactly $q$.",
    )


quoted(
    "kk24.prop2",
    "Two classes: focal loss is a proper loss after a bijection",
    "KK24 Prop. 2, App. A.2",
    r"For $\gamma > 0$ binary focal loss 'can be decomposed into a bijective function' of $[0, 1]$ 'and a proper loss': "
    r"$\hat p(q) = 1\big/\big(1 + (\tfrac{1-q}{q})^\gamma\tfrac{(1-q)-\gamma q\log q}{q-\gamma(1-q)\log(1-q)}\big)$.",
    lambda: derivation(
        *binary_map.stationarity_steps(),
        *curvature.convexity_proof().steps,
        *binary_map.map_slope_steps(),
        remark="The map is odd in logits with positive slope, so it is increasing and onto: a bijection of (0, 1), of [0, 1] by "
        "limits. The risk is strictly convex in q (Prop. 1), so its stationary point, where the map of q is p, is the "
        "only minimum: the loss as a function of the mapped q is strictly proper.",
    ),
    formal=formal("exact", "kk24_prop2"),
    in_readme=True,
)

ours(
    "kk24.prop2_slope",
    "The binary map has slope between max(1, gamma) and gamma + 1 in logits",
    "sharpens KK24 Prop. 2",
    r"For $\gamma > 0$ and every logit, $\max(1, \gamma) < \frac{d}{ds}\operatorname{logit}\hat p(q) < \gamma + 1$.",
    lambda: Derivation(binary_map.map_slope_steps()),
    formal=formal("exact", "kk24_prop2_slope"),
)


@ours(
    "kk24.prop2_negative",
    "The binary map stays a bijection for gamma from -1 to 0",
    "KK24 section 3.2, which plugs in negative gamma",
    r"The binary map stays an increasing bijection of $[0, 1]$ for $-1 \le \gamma < 0$.",
    formal=formal("exact", "kk24_prop2_negative_closed"),
)
def prop2_negative() -> Evidence:
    """1 + gamma u > 0 since u < 1, both parts of R' are negative, and logit FC is unbounded, at gamma = -1 too."""
    a, rest, excess, far = sp.symbols("a d e s", positive=True)  # gamma = -a with a <= 1; 1 - u; u - q
    at_most_one = 1 / (1 + a)  # runs through (0, 1)
    scale = 1 - at_most_one * (1 - rest)  # 1 + gamma u
    return derivation(
        *binary_map.gap_slope_steps(),
        step(
            r"$u = 1 - d$, $\gamma \ge -1$: $1 + \gamma u = (1+\gamma) - \gamma d > 0$",
            sp.simplify(scale).is_positive and sp.simplify(scale.subs(a, 0)).is_positive,
        ),
        step(
            r"so with $\gamma < 0$ both parts of $R'$ are negative: slope $= \gamma + 1 - R' > \gamma + 1 \ge 0$",
            sp.simplify(-at_most_one * excess / scale).is_negative,
        ),
        step(
            r"onto, $\gamma > -1$: $u \to 1$ and $\bar u \to 0$ as $s \to \infty$, so $R$ stays bounded and "
            r"$(\gamma+1)s \to \infty$",
            *binary_map.limits_of_u(),
        ),
        step(
            r"onto, $\gamma = -1$: $\operatorname{logit}\hat p = -R = \log\frac{1-\bar u}{1-u}$, and $1 - u \to 0$",
            (
                sp.expand_log(symbols.binary_map_of_logit(far, -1), force=True),
                sp.expand_log(sp.log((1 - symbols.u(-far)) / (1 - symbols.u(far))), force=True),
            ),
            (sp.limit(1 - symbols.u(far), far, sp.oo), 0),
        ),
        remark=r"The map is odd in logits, so the other end follows.",
    )


@ours(
    "kk24.prop2_below",
    "Below gamma = -1 the formula leaves the unit interval",
    "KK24 section 3.2, which plugs in negative gamma",
    r"For $\gamma < -1$ the formula of the map is no map into $[0, 1]$: $1 + \gamma u(s)$ changes sign.",
)
def prop2_below() -> Evidence:
    """u runs from 0 to 1, so 1 + gamma u runs from 1 to 1 + gamma < 0 while its mirror image stays positive."""
    far, beyond = sp.symbols("s a", positive=True)  # gamma = -1 - a
    with balls.precision():
        g, point = balls.exact("-6/5"), balls.exact(2)
        here, mirrored = (1 + g * (1 + (-v).exp()).log() * v.exp() for v in (point, -point))
    return derivation(
        step(
            r"$\gamma = -1-a$, $a > 0$: $1 + \gamma u \to 1 + \gamma = -a < 0$ as $s \to \infty$",
            (sp.limit(1 - (1 + beyond) * symbols.u(far), far, sp.oo), -beyond),
        ),
        step(
            r"and $1 + \gamma\bar u \to 1$: the odds of the map, a power of $e^s$ times their ratio, turn negative",
            (sp.limit(1 - (1 + beyond) * symbols.u(-far), far, sp.oo), 1),
        ),
        *binary_map.logit_form_steps()[:1],
        Step(
            r"for example $\gamma = -1.2$, $s = 2$, in ball arithmetic: $1+\gamma u < 0 < 1+\gamma\bar u$",
            bool(here < 0 and mirrored > 0),
        ),
    )


@quoted(
    "kk24.prop2_differentiable",
    "The binary map is defined on all of [0, 1]",
    "KK24 App. A.2, proof",
    r"'The mapping is defined $\forall q \in [0, 1]$ as partial losses are differentiable.'",
    instead="defined strictly between 0 and 1",
)
def prop2_differentiable() -> Evidence:
    """Both losses have a negative derivative on (0, 1); that of class 1 has none at q = 0, that of class 2 none at q = 1."""
    g, r = sp.symbols("gamma r", positive=True)  # q = r/(1+r)
    part = -symbols.focal_loss_slope(r / (1 + r), g)
    return Conditional(
        "q",
        sp.Interval(0, 1),
        derivation(
            step(
                r"$L'(q)$ is $\gamma(1-q)^{\gamma-1}\log q - \frac{(1-q)^\gamma}{q}$, finite for $0 < q < 1$",
                (sp.diff(symbols.focal_loss(q, g), q), symbols.focal_loss_slope(q, g)),
            ),
            step(
                r"with $q = \frac{r}{1+r}$, $r > 0$: $-L'(q) = (1+r)^{1-\gamma}\big(\gamma\log\frac{1+r}{r} + \frac1r\big) > 0$",
                (
                    sp.expand_log(sp.powsimp(sp.powdenest(sp.simplify(part), force=True), force=True), force=True),
                    sp.expand_log((1 + r) ** (1 - g) * (g * sp.log((1 + r) / r) + 1 / r), force=True),
                ),
            ),
            remark="The other partial loss is its mirror image, so the two terms of the denominator have one sign and it is not 0.",
            where=sp.Interval.open(0, 1),
        ),
        Disproof(
            derivation(
                step(
                    r"$-q\,L'(q) \to 1$ as $q \to 0$, so $-L' \to \infty$: no derivative at 0",
                    (sp.limit(sp.expand(-q * sp.diff(symbols.focal_loss(q, g), q)), q, 0, "+"), 1),
                ),
                step(r"nor a value: $1/L(q) \to 0$", (sp.limit(1 / symbols.focal_loss(q, g), q, 0, "+"), 0)),
                remark="So the partial loss of class 1 has none at $q = 0$, and its mirror image, that of class 2, none at $q = 1$.",
                where=sp.FiniteSet(0, 1),
            )
        ),
    )


reading(
    "kk24.prop2_sign",
    "Numerator and denominator of the binary map have the same sign",
    "KK24 App. A.2, proof",
    # the reason that is given, convexity, is kk24.prop2_sign_reason
    r"'Both nominator and denominator have the same sign'; 'Also, the denominator is never zero' "
    r"($\gamma > 0$, $0 < q < 1$; the ratio, damaged in our copy, is $\hat p = \frac{-L'(1-q)}{-L'(1-q) - L'(q)}$).",
    lambda: derivation(
        gain.positive_step(),
        binary_map.stationarity_steps()[1],
        remark=r"So $-L'(1-q) > 0$ and $-L'(q) > 0$: numerator and denominator are positive, and the ratio, whose odds are $L'(1-q)$ to $L'(q)$, "
        r"is the printed map.",
    ),
    formal=formal("exact", "kk24_prop2_sign", "kk24_prop5_negative_f"),
)


@reading(
    "kk24.prop2_sign_reason",
    "Convexity of focal loss gives numerator and denominator the same sign",
    "KK24 App. A.2, proof",
    r"They have the same sign 'due to the convexity of the focal loss'. (Taken as: $L' < 0$ follows from the convexity of $L$ and "
    r"that its least value, 0, is at 1; $\gamma > 0$, $0 < q < 1$.)",
)
def prop2_sign_reason() -> Evidence:
    """A convex L that is 0 at 1 and positive before it has a negative slope: its tangent lies below it."""
    g, r = sp.symbols("gamma r", positive=True)  # q = 1/(1+r)
    before = sp.expand_log(sp.factor(symbols.focal_loss(1 / (1 + r), g)), force=True)
    return derivation(
        *curvature.convexity_proof().steps,
        step(r"$L \to 0$ as $q \to 1$", (sp.limit(symbols.focal_loss(q, g), q, 1, "-"), 0)),
        step(r"$L = \big(\frac{r}{1+r}\big)^\gamma\log(1+r) > 0$ at $q = \frac{1}{1+r}$, $r > 0$", before.is_positive),
        remark=r"By convexity $0 = L(1) \ge L(q) + (1-q)\,L'(q)$, so $L'(q) \le -\frac{L(q)}{1-q} < 0$ on $(0, 1)$. "
        r"Convexity alone would not do, $(q-\frac12)^2$ is convex, too; that the loss is least at 1 is used as well.",
    )


quoted(
    "kk24.prop2_weight",
    "The weight of the properness condition is positive and finite",
    "KK24 App. A.2, proof",
    r"Of a weight of the properness condition, whose formula is damaged in our copy: '$w(p) > 0$ due to partial loss monotonicity and "
    r"$w(p)$ is finite for all $p$ on' $(0, 1)$.",
    lambda: Unchecked(
        "the formula of the weight is damaged in our copy, both times; kk24.prop2_weight_reading proves it as the condition asks for it"
    ),
)


@ours(
    "kk24.prop2_weight_reading",
    "Read as a sum of two derivatives, that weight is positive and finite",
    "KK24 App. A.2, proof, under a reading",
    r"Under the reading that the weight $w(p)$ is the sum of the derivatives of $L_1^*$ at $1-p$ and $L_0^*$ at $p$, each by its own argument, what "
    r"is said of it is true ($\gamma > 0$): it is positive and finite on $(0, 1)$, and with it the partial losses satisfy the condition of properness.",
)
def prop2_weight_reading() -> Evidence:
    """With A = -L'(1-q), B = -L'(q) and the slope of the map: w = (A + B)/p', w p = A/p', w (1-p) = B/p'."""
    one, other, slope = sp.symbols("A B P", positive=True)
    p = one / (one + other)
    return derivation(
        step(
            r"by the chain rule $\frac{dL_0^*}{dp} = \frac{A}{\hat p'(q)}$, as $L_0(q) = L(1-q)$ has the slope $A = -L'(1-q)$",
            ((sp.diff(symbols.focal_loss(1 - q), q) + symbols.focal_loss_slope(1 - q)) * q ** (1 - gamma), 0),
            simplify=symbols.tidy,
        ),
        step(
            r"and $L_1^*$ has by $1 - p$ the slope $\frac{B}{\hat p'(q)}$, $B = -L'(q)$: with their sum $w = \frac{A+B}{\hat p'}$ and "
            r"$p = \frac{A}{A+B}$, $w\,p$ is the one and $w\,(1-p)$ the other",
            ((one + other) / slope * p, one / slope),
            ((one + other) / slope * (1 - p), other / slope),
        ),
        *binary_map.stationarity_steps(),
        curvature.slope_step(r"$A, B > 0$: $-L'(q) = \frac{(1-q)^{\gamma-1}}{q}(1 - q - \gamma q\log q)$"),
        step(
            r"$\hat p' = \hat p(1-\hat p)\,\frac{d\operatorname{logit}\hat p}{ds}\,\frac{1}{q(1-q)}$, $s = \operatorname{logit} q$",
            (sp.diff(sp.log(q / (1 - q)), q), 1 / (q * (1 - q))),
        ),
        *binary_map.map_slope_steps(),
        remark=r"The slope is at least 1, so $\hat p' > 0$: $w$ is positive, and finite and continuous on $(0, 1)$, so that its integral over "
        r"$[\varepsilon, 1-\varepsilon]$ is finite as well.",
    )


ours(
    "kk24.prop2_ends",
    "The binary map extends continuously to 0 and 1 as a limit",
    "KK24 App. A.2, corrected",
    r"For $\gamma \ge 0$ the map extends continuously to $[0, 1]$, with 0 to 0 and 1 to 1, as a limit.",
    lambda: derivation(
        *binary_map.logit_form_steps(),
        step(r"$u(s) \to 1$ as $s \to \infty$", (sp.limit(symbols.u(x), x, sp.oo), 1)),
        step(
            r"$u(-s) \to 0$: $R \to \log(1+\gamma)$, so $\operatorname{logit}\hat p \to \infty$",
            (sp.limit(symbols.u(-x), x, sp.oo), 0),
        ),
        remark="The map is odd in logits, so the other end follows.",
    ),
    formal=formal("exact", "kk24_prop2_ends", "kk24_prop2_continuous"),
    corrects="kk24.prop2_differentiable",
)

quoted(
    "kk24.prop2_proper_part_sides",
    "The proper part lies below focal loss for q < 1/2, above it otherwise",
    "KK24 section 3.2 on Fig. 1",
    r"The proper part, compared with the focal loss, 'has lower loss values for predictions lower than 0.5 and higher "
    r"loss otherwise'. (Of the loss of the true class, $\gamma > 0$; at $q = \frac12$ and at 1 the two are equal.)",
    lambda: derivation(
        *binary_map.stationarity_steps(),
        *binary_map.map_slope_steps(),
        curvature.slope_step(r"$L'(q) = -\frac{(1-q)^{\gamma-1}}{q}(1 - q - \gamma q\log q) < 0$"),
        remark="The map is odd in logits with slope above 1, so its inverse moves every q towards 1/2.",
    ),
    formal=formal("exact", "kk24_proper_part_sides"),
)

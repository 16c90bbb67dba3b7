"""Which losses have a map that lowers the predicted class with no number of classes: beyond KK24 Prop. 5."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from reproduction.ledger.evidence import Evidence, Step, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import entropy_ratio, gain, weight

ours = Rows("confidence", "ours")
q, g = symbols.q, symbols.g
a, b, lam, n, total = sp.symbols("a b lambda n S", positive=True)
h = sp.Function("h", positive=True)

# (probability, h) at the corners of a factor that turns twice, straight between them and constant outside
CORNERS = tuple(
    (Fraction(at), Fraction(value)) for at, value in (("0.35", "1"), ("0.36", "2"), ("0.4", "1.9"), ("0.5", "2"))
)


@ours(
    "kk24.raises_every_n",
    "The map never lowers confidence if its factor never falls",
    "KK24 Prop. 5, for every loss",
    r"A loss $L(q_y)$, $L' < 0$, has the map $\hat p_i = \frac{q_i h(q_i)}{\sum_j q_j h(q_j)}$, $h(q) = \frac{-1}{q L'(q)}$. If $h(b) \le h(a)$ wherever "
    r"$0 < b \le a$ and $a + b \le 1$, the map lowers the predicted class with no number of classes. If $h$ turns at most once, it does so only then. "
    r"(The condition: $h$ does not fall on $(0, \frac12]$, and $h(1-a) \le h(a)$ for $a \ge \frac12$.)",
    formal=formal("exact", "kk24_raises_every_n", "kk24_raises_every_n_only", "kk24_spreads_pairs_iff"),
    corrects="kk24.prop5",
)
def raises_every_n() -> Evidence:
    """The top rises where its factor is at least the mean factor; two distributions show that no less will do."""
    return derivation(
        *map_steps(),
        step(
            r"two classes, $a \ge \frac12$ and $1 - a$: $S - h(a) = (1-a)\,(h(1-a) - h(a))$",
            (a * h(a) + (1 - a) * h(1 - a) - h(a), (1 - a) * (h(1 - a) - h(a))),
        ),
        step(
            r"one class at $a$ and $\frac{1-a}{r}$ others at $r$: $S - h(a) = (1-a)\,(h(r) - h(a))$",
            (a * h(a) + (1 - a) / b * b * h(b) - h(a), (1 - a) * (h(b) - h(a))),
        ),
        *two_turns_steps(),
        remark=r"*Enough.* Any other class of $q$ has $b \le m = q_{\max}$ and $m + b \le 1$, so $h(b) \le h(m)$, and the mean $S = \sum_i q_i h(q_i)$ is at "
        r"most $h(m)$. *Needed.* For $a \ge \frac12$ two classes say $h(1-a) \le h(a)$. Were $h(b) > h(a)$ with $b < a \le \frac12$: if $h$ falls, then "
        r"rises, it falls up to $b$, so enough others at $r \le b$ have $h(r) \ge h(b) > h(a)$, and $a$ is lowered; if $h$ rises, then falls, from $c$ on, "
        r"let $x = \max(b, c) < a$: $h(x) \ge h(b) > h(a) \ge h(1-x)$, and of two classes $1 - x$ is lowered.",
    )


def map_steps() -> tuple[Step, ...]:
    """p_i is proportional to -1/L'(q_i) = q_i h(q_i) at a minimum, and what that does to the top class."""
    p, m = sp.symbols("p m", positive=True)
    slope = sp.Symbol("d", negative=True)  # L'(q)
    factor = -1 / (q * slope)
    return (
        step(
            r"$p_i L'(q_i) = -\lambda$ at the least $\sum_i p_i L(q_i)$: $p_i = \lambda\,q_i h(q_i)$, $h = \frac{-1}{q L'} > 0$",
            (sp.solve(sp.Eq(p * slope, -lam), p)[0], lam * q * factor),
        ),
        step(
            r"$\hat p_{\max} - q_{\max} = m\,\frac{h(m) - S}{S}$, $m = q_{\max}$, $S = \sum_i q_i h(q_i)$: the top is lowered where $S > h(m)$",
            (m * h(m) / total - m, m * (h(m) - total) / total),
        ),
    )


def two_turns_steps() -> tuple[Step, ...]:
    """CORNERS: it falls from 0.36 to 0.4, and yet no predicted class is lowered."""
    (low, one), (top, most), (valley, least), (half, again) = CORNERS
    slope = (least - most) / (valley - top)
    return (
        Step(
            r"with two turns less will do: let $h$ be 1 up to 0.35, 2 at 0.36, 1.9 at 0.4, 2 from 0.5 on, straight between. Then $q\,h$ increases, as "
            r"$h + q\,h' > 0$ where $h$ falls",
            least + valley * slope > 0 and most == again == 2 and one == 1,
        ),
        Step(
            r"for a top of at most 0.36, or at least 0.5, no class below it has more than $h(m)$; between, at most one other class lies above 0.35",
            top + 2 * low > 1 and top < valley < half,
        ),
        Step(
            r"that one, $b$, with $b \le 0.4$: $h(m) - S \ge (1-m)(h(m)-1) - b\,(h(b)-1) \ge 0.9\,(1-m) - b > 0$; with $b > 0.4$, $h(b) \le h(m)$",
            (least - one) * (1 - half) > valley * (most - one),
        ),
    )


@ours(
    "kk24.raises_each_n",
    "A factor that falls, then rises: tied classes and one below decide",
    "KK24 Prop. 5, for every loss and each n",
    r"Let $h > 0$ be continuous, fall strictly up to some $c \ge 0$ and not fall after it. The map $q_i h(q_i)/\sum_j q_j h(q_j)$ of $n \ge 2$ classes never "
    r"lowers the predicted class if and only if it does not for $n - 1$ classes tied at $a$ and one below, that is $h(1-(n-1)a) \le h(a)$ for "
    r"$\frac1n < a < \frac{1}{n-1}$.",
    corrects="kk24.prop5",
)
def raises_each_n() -> Evidence:
    """The smallest other class has the largest factor, and it is at least what n - 1 tied classes leave."""
    m, d = sp.symbols("m d", nonnegative=True)
    last = 1 - (n - 1) * a
    return derivation(
        *map_steps(),
        step(
            r"$n - 1$ classes at $a$ and one at $\varepsilon = 1 - (n-1)a$: $S - h(a) = \varepsilon\,(h(\varepsilon) - h(a))$",
            ((n - 1) * a * h(a) + last * h(last) - h(a), last * (h(last) - h(a))),
        ),
        step(
            r"the others of a top $m$ sum to $1 - m$ and are at most $m$: one of them is $1 - (n-1)m + d$, $d = \sum_{j}(m - q_j) \ge 0$ over the rest",
            (1 - ((n - 1) * m - d), 1 - (n - 1) * m + d),
        ),
        remark=r"*Enough.* Let $m < \frac{1}{n-1}$. Every other class lies in $[\varepsilon, m]$, $\varepsilon = 1 - (n-1)m$, where $h$, which falls, then rises, is "
        r"at most $\max(h(\varepsilon), h(m)) = h(m)$. So $S \le h(m)$. As $m \to \frac{1}{n-1}$, $\varepsilon \to 0$: $h(0+) \le h(\frac{1}{n-1})$ by continuity, "
        r"so $\frac{1}{n-1} > c$ unless $c = 0$. For $m \ge \frac{1}{n-1}$ then $h(b) \le \max(h(0+), h(m)) = h(m)$ for every $b \le m$.",
    )


@ours(
    "kk24.raises_examples",
    "Temperatures up to 1 raise confidence for every n; focal loss does not",
    "KK24 Prop. 5, for other losses",
    r"With no number of classes the predicted class is lowered by these maps: temperature scaling, the map of $L = \frac{1-q^{1-1/T}}{1-1/T}$, exactly for "
    r"$T \le 1$; that of poly-1, $-\log q + \varepsilon(1-q)$, $\varepsilon > -1$, exactly for $\varepsilon \le 0$; that of label smoothing; that of cross-entropy "
    r"less $\beta > 0$ times the entropy. The map of focal loss, $\gamma > -1$, lowers it with some number, unless $\gamma = 0$.",
    formal=formal("related", "kk24_raises_temperature", "kk24_prop5_refuted"),
)
def raises_examples() -> Evidence:
    """h of each loss, and its sign of change; label smoothing and the entropy have one that depends on n, or on q."""
    T, eps, beta, entropy, log = sp.symbols("T epsilon beta H ell", positive=True)
    real = sp.Symbol("epsilon", real=True)
    power, poly = (1 - q ** (1 - 1 / T)) / (1 - 1 / T), -sp.log(q) + real * (1 - q)
    r = sp.Symbol("r", positive=True)
    negative = sp.Symbol("gamma", negative=True)
    smoothed, multiplier = (1 - eps) * b + eps / n, sp.Symbol("mu", real=True)
    return derivation(
        step(
            r"$L = \frac{1-q^{1-1/T}}{1-1/T}$ has $h = q^{1/T-1}$, with $q\,h'/h = \frac1T - 1$: it does not fall exactly for $T \le 1$",
            (factor_of(power), q ** (1 / T - 1)),
            (sp.diff(sp.log(factor_of(power)), q) * q, 1 / T - 1),
        ),
        step(
            r"poly-1 has $h = \frac{1}{1+\varepsilon q}$, $h' = \frac{-\varepsilon}{(1+\varepsilon q)^2}$",
            (factor_of(poly), 1 / (1 + real * q)),
            (sp.diff(1 / (1 + real * q), q), -real / (1 + real * q) ** 2),
        ),
        step(
            r"label smoothing says $q_i = (1-\varepsilon)\,p_i + \frac\varepsilon n$: $p_i$ is proportional to $q_i\,h$, $h = 1 - \frac{\varepsilon}{n q_i}$, which "
            r"rises",
            (sp.solve(sp.Eq(q, smoothed), b)[0], q * (1 - eps / (n * q)) / (1 - eps)),
            (sp.diff(1 - eps / (n * q), q), eps / (n * q**2)),
        ),
        step(
            r"cross-entropy less $\beta H(q)$: $-\frac{p_i}{q_i} + \beta\,(\log q_i + 1) = -\lambda$, so $p_i = q_i\,h$ with $h = \lambda + \beta + \beta\log q_i$, which rises",
            (sp.solve(sp.Eq(-b / q + beta * (log + 1), -multiplier), b)[0], q * (multiplier + beta + beta * log)),
            (sp.diff(multiplier + beta + beta * sp.log(q), q), beta / q),
        ),
        step(
            r"there $\sum_i p_i = 1$ gives $\lambda + \beta = 1 + \beta H$: $\hat p_{\max} - q_{\max} = \beta q_{\max}\,(H + \log q_{\max}) \ge 0$",
            (q * (1 + beta * entropy + beta * sp.log(q)) - q, beta * q * (entropy + sp.log(q))),
        ),
        *weight.printed_weight_steps(),
        *gain.threshold_steps(),
        entropy_ratio.limit_step(r"focal loss with $-1 < \gamma < 0$: $b \to 0$ as $q \to 0$, so $h \to 1$", 0),
        entropy_ratio.limit_step(r"and $b \to 1$ as $q \to 1$", 1),
        step(
            r"where $h = \frac{(1-q)^{-\gamma}}{1+\gamma b} \to 0$: with two classes $h(1-a) > h(a)$ near $a = 1$",
            (sp.limit(r**-negative, r, 0, "+"), 0),
        ),
        remark=r"For $\gamma > 0$ $h = \frac1g$ falls before it rises (the steps on $g$): for some $n$ a top is lowered, by `kk24.raises_every_n`. For label "
        r"smoothing and the entropy $h$ is one function of $q_i$ once $n$, or $q$, is given, and the mean of its values is at most that of the largest. Dual "
        r"focal loss depends on two probabilities and has no $h$; the Brier score's minimiser is $p$, $h = 1$.",
    )


def factor_of(loss: sp.Expr) -> sp.Expr:
    """h = -1/(q L')."""
    return sp.simplify(-1 / (q * sp.diff(loss, q)))

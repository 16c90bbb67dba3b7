"""KK24 Prop. 4: the decomposition on the simplex."""

from __future__ import annotations

import sympy as sp

from focal_lib.theory.gain import weight_inflection
from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import All, Counterexample, Derivation, Evidence, Step, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import curvature, entropy_ratio, weight

CHAPTER = "simplex"
quoted = Rows(CHAPTER, "quoted")
ours = Rows(CHAPTER, "ours")
q, gamma, g = symbols.q, symbols.gamma, symbols.g


quoted(
    "kk24.prop4",
    "Many classes: focal loss is a proper loss after a bijection",
    "KK24 Prop. 4, Eq. (1), App. A.4",
    r"For $\gamma > 0$ multiclass focal loss 'can be deconstructed into a composition of a bijective function' of the simplex, "
    r"$\hat p_j = w(q_j)/\sum_k w(q_k)$ with the $w = -1/L'$ of Eq. (1), 'and a proper loss'.",
    lambda: derivation(
        *weight.lagrange_steps(),
        *curvature.convexity_proof().steps,
        *weight.weight_steps(),
        *bijection_steps(),
        remark=r"The risk is strictly convex (Prop. 1), so the stationary point is its only minimum: the loss of the mapped "
        r"prediction is strictly proper. Classes with $p_i = 0$ have $q_i = 0$, and a face carries the map of its own classes.",
    ),
    formal=formal("exact", "kk24_prop4", "kk24_prop4_printed"),
    in_readme=True,
)


def bijection_steps() -> tuple[Step, ...]:
    """Given p, q_i = w^-1(c p_i) sums to 1 for exactly one c."""
    p, c, slope = sp.symbols("p c w_1", positive=True)
    w, inverse = sp.Function("w"), sp.Function("v")
    change = sp.solve(sp.diff(w(inverse(c)) - c * p, c), sp.diff(inverse(c), c))[0]
    return (
        step(
            r"preimages of $p$ are $q_i = v(c\,p_i)$, $v = w^{-1}$; from $w(v) = c\,p$: $\frac{dv}{dc} = \frac{p}{w'(v)} > 0$, so "
            r"$\sum_i q_i$ increases in $c$, by the limits of $w$ from 0 to the number of classes with $p_i > 0$: if there are two or "
            r"more, it is 1 for exactly one $c$; one class alone is a vertex, which stays where it is",
            (change.replace(lambda e: isinstance(e, sp.Subs | sp.Derivative), lambda e: slope), p / slope),
        ),
    )


quoted(
    "kk24.prop4_inverse_is_minimiser",
    "The map leads from focal minimisers back to the true probabilities",
    "KK24 section 3.3, after Charoenphakdee et al. (2021)",
    r"'The derived focal calibration map is observed to equal with the transformation that maps the outputs from focal "
    r"minimizers to the true class probabilities.'",
    lambda: derivation(
        *weight.lagrange_steps(),
        *curvature.convexity_proof().steps,
        remark=r"The minimiser of the strictly convex risk is its stationary point, where $p_j \propto w(q_j)$: the map.",
    ),
    formal=formal("equivalent", "kk24_map_recovers_truth"),
)

quoted(
    "kk24.prop4_bijection",
    "The multiclass map is a bijection of the simplex",
    "KK24 App. A.4, proof",
    # the chapter says what the binary reasoning leaves out
    r"'Based on the same reasoning as for binary case, we can see that $\hat p(q)$ is a bijection' ($\gamma > 0$): $w$ increases. "
    r"(That exactly one $c$ makes the preimage sum to 1 has to be added.)",
    lambda: derivation(*curvature.convexity_proof().steps, *weight.weight_steps(), *bijection_steps()),
    formal=formal("exact", "kk24_prop4", "kk24_weight_increases_onto", "kk24_one_normaliser"),
)


@ours(
    "kk24.prop4_negative",
    "For gamma between -1 and 0 the multiclass map stays a bijection",
    "KK24 Prop. 4, for negative gamma (section 5.1)",
    r"For $-1 < \gamma < 0$, where $w$ is not monotone, the map is still a bijection of the simplex.",
    not_formalised="tried; it needs more than the lemmas at hand, Hadamard's theorem first of all",
)
def prop4_negative() -> Evidence:
    """The Jacobian never vanishes and faces go to faces, so Hadamard's theorem applies."""
    a, r, top = sp.symbols("a r q_1", positive=True)  # a = -gamma in (0, 1), r = 1 - q_1
    b = symbols.entropy_ratio()
    log_slope = sp.diff(sp.log(symbols.weight(q, -a)), q)
    written = 1 / q - a / (1 - q) + a * sp.diff(b, q) / (1 - a * b)
    # the others have q <= r and elasticity at least 1 - a r/(1-r); the large one at most (a - r/(1-r)) / r below 0
    margin = (1 - a * r / (1 - r)) - (a - r / (1 - r))
    with balls.precision():
        half = balls.exact("-1/2")
        drop = formulas.weight(balls.exact("0.8"), half) - formulas.weight(balls.exact("0.95"), half)
    return derivation(
        *weight.printed_weight_steps(sp.Symbol("gamma", negative=True)),
        step(
            r"$(\log w)' = \frac1q - \frac{a}{1-q} + \frac{a\,b'}{1-ab}$ for $\gamma = -a$",
            (sp.simplify(log_slope - written), 0),
        ),
        *entropy_ratio.sign_steps(),
        entropy_ratio.limit_step(r"$1 - ab > 0$, since $b \le b(1) = 1$ and $a < 1$", 1),
        step(
            r"with $b' > 0$: $e(q) = q(\log w)' \ge 1 - \frac{aq}{1-q}$, positive for $q \le \frac12$",
            (sp.simplify(q * (1 / q - a / (1 - q))), 1 - a * q / (1 - q)),
        ),
        step(
            r"and $-(1-q_1)(\log w)'(q_1) \le a - \frac{r}{1-r}$ with $r = 1 - q_1$",
            (sp.simplify(-(r * (1 / top - a / (1 - top))).subs(top, 1 - r)), a - r / (1 - r)),
        ),
        step(r"the difference of the two bounds is $\frac{1-a}{1-r} > 0$", (margin, (1 - a) / (1 - r))),
        *jacobian_steps(),
        Step(
            r"the monotonicity of $w$ is not there to use: $w(0.8) > w(0.95)$ at $\gamma = -\frac12$, in ball arithmetic",
            bool(drop > 0),
        ),
        remark=r"If every $e_i > 0$ the Jacobian is positive. At most one class, the largest, has $e_1 < 0$; then "
        r"$\sum_{i\ge2} q_i/e_i \le r/(1-\frac{ar}{1-r}) < r/(a-\frac{r}{1-r}) \le q_1/|e_1|$, so product and sum are both "
        r"negative; at $e_1 = 0$ the limit is $q_1\prod_{i\ge2} e_i > 0$. Near the boundary $w(q)/q \to 1$ as $q \to 0$, and "
        r"at a vertex $w \sim (1-q)^a/(1-a)$ outweighs the others, which are at most $2(1-q)$: the map is proper. A proper "
        r"local diffeomorphism of the open simplex is a bijection (Hadamard); each face carries the map of its own classes.",
    )


def jacobian_steps() -> tuple[Step, ...]:
    """det of d(log p_i - log p_n)/d(q_j), i, j < n, along the simplex: prod e_i sum q_i/e_i over prod q_i, for every n."""
    d, last, product, inverses = sp.symbols("d_m c P S")  # P = d_1 ... d_(m-1), S = sum 1/d_i of the same
    with_one_more = product * d * (1 + last * (inverses + 1 / d))
    q_n, e_n, sum_others, prod_others = sp.symbols("q_n e_n Sigma Pi", positive=True)
    determinant = prod_others * (1 + e_n / q_n * sum_others)
    q3, e3 = sp.symbols("q_1:4", positive=True), sp.symbols("e_1:4")
    rows = [[e3[0] / q3[0] + e3[2] / q3[2], e3[2] / q3[2]], [e3[2] / q3[2], e3[1] / q3[1] + e3[2] / q3[2]]]
    whole = sp.Mul(*e3) / sp.Mul(*q3) * sum(v / e for v, e in zip(q3, e3, strict=True))
    return (
        step(
            r"along $\sum_i q_i = 1$: $\partial(\log p_i - \log p_n)/\partial q_j = \delta_{ij}d_i + c$, $d_i = e_i/q_i$, $c = e_n/q_n$; its "
            r"determinant is $D_m = \prod d_i\,(1 + c\sum\frac1{d_i})$ over $m = n-1$ classes: $D_1 = d + c$",
            (with_one_more.subs({product: 1, inverses: 0}), d + last),
        ),
        step(
            r"and $D_m = d_mD_{m-1} + c\prod_{i<m}d_i$ (the last row is $d_m$ times a unit row plus $c$ times ones; with the row of ones "
            r"subtracted from the others a diagonal is left)",
            (with_one_more, d * product * (1 + last * inverses) + last * product),
        ),
        step(
            r"so it is $\prod_{i\le n}\frac{e_i}{q_i}\sum_{i\le n}\frac{q_i}{e_i}$",
            (determinant, prod_others * e_n / q_n * (sum_others + q_n / e_n)),
        ),
        step(r"as the determinant itself says for three classes", (sp.simplify(sp.Matrix(rows).det() - whole), 0)),
    )


@quoted(
    "kk24.prop4_inflection",
    "The function 1/L' is concave on the whole range",
    "KK24 Prop. 5, App. A.5, proof, statement 2",
    r"'The function $f(q)$', $1/L'(q)$, 'is concave on the whole range $\forall q \in (0, 1)$'.",
    chapter="confidence",
    instead="convex at first, then concave",
)
def prop4_inflection() -> Evidence:
    """f = -w is convex near 0 and concave near 1, so neither f nor -f is concave on (0, 1): the sign does not matter."""
    with balls.precision():
        g = balls.exact(1)
        a, m, b = (formulas.weight(balls.exact(v), g) for v in ("0.01", "0.03", "0.05"))
        c, n, d = (formulas.weight(balls.exact(v), g) for v in ("0.4", "0.5", "0.6"))
    below, above = (f"below the inflection at {weight_inflection(1.0):.6f}", "above it")
    return All(
        (
            Counterexample(
                rf"$\gamma = 1$: on $[0.01, 0.05]$, {below}, $f = -w$ lies below its chord's middle", 2 * m - a - b
            ),
            Counterexample(rf"nor is $-f = w$ concave: on $[0.4, 0.6]$, {above}, it does", c + d - 2 * n),
            Derivation(weight.printed_weight_steps(), "So the $w$ of these numbers is $-1/L'$."),
        )
    )


ours(
    "kk24.prop4_inflection_corrected",
    "The function 1/L' is convex up to one point, then concave",
    "KK24 Prop. 5, App. A.5, corrected",
    r"For every $\gamma > 0$, $f = -w$ is convex up to one point $q_i(\gamma) < \frac16$ and concave after it.",
    lambda: derivation(
        *weight.printed_weight_steps(),
        *inflection_steps(),
        remark=r"Up to $q_0$ all four terms increase and the sum starts below 0; from $q_0$ on none is negative and the sum is positive: "
        r"it changes sign once, before $q_0$.",
    ),
    chapter="confidence",
    corrects="kk24.prop4_inflection",
)


def inflection_steps() -> tuple[Step, ...]:
    """w'' has the sign of B + gamma C1 + gamma^2 C2 + gamma^3 C3: increasing where B < 0, positive elsewhere."""
    r, b, x = 1 - q, symbols.entropy_ratio(), -sp.log(q)
    start = 5 - 7 * q + 2 * q**2 - 2 * x  # B
    second, third, fourth = q * (5 * r + x * (1 - 3 * q)), q * r * b * (4 - b), q * r * b**2
    scale = q * r**3 * (1 + g * b) ** 2 / g
    log_w = sp.log(q) - g * sp.log(r) - sp.log(1 + g * b)
    curved = sp.diff(log_w, q) ** 2 + sp.diff(log_w, q, 2)  # w''/w
    mark = sp.Symbol("b_0", positive=True)  # in (0, 1)
    turn = (7 - sp.sqrt(17)) / 8
    return (
        step(
            r"$\frac{qr^3(1+\gamma b)^2}{\gamma}\frac{w''}{w} = B + \gamma C_1 + \gamma^2C_2 + \gamma^3C_3$, $r = 1-q$, with $B = 5-7q+2q^2+2\log q$, "
            r"$C_1 = q\,(5r - (1-3q)\log q)$, $C_2 = qr\,b(4-b)$, $C_3 = qr\,b^2$",
            (scale * curved - (start + g * second + g**2 * third + g**3 * fourth), 0),
        ),
        step(
            r"$B' = \frac{4q^2-7q+2}{q}$: $B$ rises up to $q = \frac{7-\sqrt{17}}{8}$ and falls after it",
            (sp.diff(start, q), 4 * (q - turn) * (q - (7 + sp.sqrt(17)) / 8) / q),
        ),
        step(
            r"$B \to -\infty$ as $q \to 0$ and $B(1) = 0$: $B$ is negative up to one $q_0$, where it is rising, and positive on $(q_0, 1)$",
            (sp.limit(1 / start, q, 0, "+"), 0),
            (start.subs(q, 1), 0),
        ),
        Step(
            r"$B(\frac16) > 0$, so $q_0 < \frac16$",
            bool(start.subs(q, sp.Rational(1, 6)).is_positive and turn > sp.Rational(1, 6)),
        ),
        *entropy_ratio.sign_steps(),
        step(
            r"up to $\frac16$: $C_1' = 4 - 7q + (1-6q)(-\log q) > 0$", (sp.diff(second, q), 4 - 7 * q + (1 - 6 * q) * x)
        ),
        step(
            r"and $qr$, with derivative $1 - 2q$, and $b(4-b)$ and $b^2$, as $b' > 0$ and $b < 1$, increase: so do $C_2$ and $C_3$",
            (sp.diff(q * r, q), 1 - 2 * q),
            (sp.diff(mark * (4 - mark), mark), 2 * (2 - mark)),
            (sp.limit(b, q, 1, "-"), 1),
        ),
        step(
            r"everywhere $C_1 > 0$: beyond $q = \frac13$ since $-\log q \le \frac{r}{q}$, and $5r - (3q-1)\frac rq = \frac{r\,(2q+1)}{q}$",
            (5 * r - (3 * q - 1) * r / q, r * (2 * q + 1) / q),
        ),
        step(
            r"($\frac{1-q}{q} + \log q$ is 0 at 1 with derivative $-\frac{1-q}{q^2} < 0$); and $C_2, C_3 > 0$, as $0 < b < 1$",
            (((1 - q) / q + sp.log(q)).subs(q, 1), 0),
            (sp.diff((1 - q) / q + sp.log(q), q), -(1 - q) / q**2),
        ),
        step(
            r"as $q \to 0$ all but $B$ vanish: the sum starts below 0",
            *((sp.limit(term, q, 0, "+"), 0) for term in (second, third, fourth)),
        ),
    )

"""KN24 Figs. 2 to 4: curvature over gamma, its relation to ECE, a penalty on it, and the same network at a steeper place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import sympy as sp

from focal_lib.metrics.intervals import paired_t_interval
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.ledger.evidence import All, Derivation, Evidence, step
from reproduction.ledger.ledger import Rows, claim
from reproduction.ledger.measurement import Measurement
from reproduction.pages.tables import in_words
from reproduction.studies.landscape.contrasts import read_landscape
from reproduction.studies.landscape.measures import relation_by_seed, relation_interval
from reproduction.studies.landscape.plan import (
    GAMMAS,
    NETWORKS,
    calibration_contrasts,
    cause_contrasts,
    eigenvalue_contrasts,
)
from reproduction.studies.shared.from_runs import contrast_by_seed, difference, on_one_test_set, over_seeds
from reproduction.studies.shared.printed_effects import PrintedEffect
from reproduction.studies.shared.recorded import load_recorded
from reproduction.studies.shared.regimes import recorded_as

PENALTIES = "curvature"  # chapter of the runs with a penalty
RUNS = "cifar10-hessian"
NONE, STRONG = 0.0, 0.002  # penalties
LABEL = "hessian-trace {:g}"


def _traces(penalty: float) -> tuple[float, ...]:
    """tr H of the test cross-entropy after training, a number a seed."""
    runs = sorted((r for r in load_recorded(RUNS) if r.spec.lam == penalty), key=lambda r: r.spec.seed)
    last = [r.history[r.history["split"] == "test"].iloc[-1] for r in runs]
    return tuple(float(row["hessian_trace"]) for row in last)


@claim(
    "kn24.fig4",
    short="A penalty on the Hessian's trace lowers trace and ECE",
    source="KN24 Fig. 4",
    statement=r"A penalty on $\operatorname{Tr}(H)$ while training a two-layer MLP on CIFAR-10 lowers the trace and ECE. (Taken as: the largest "
    r"penalty against none, taken on training batches; trace of the test loss; ECE of equal width, as trained; 4,000 training images, 30 epochs, one learning rate.)",
    chapter=PENALTIES,
    fidelity="our reading",
    needs=f"results/{RUNS}",
    in_readme=True,
    regime=partial(recorded_as, "kn24-fig4", RUNS),
)
def fig4() -> Evidence:
    """The largest penalty against none; the network is KN24's, the training short."""
    traces = _traces(STRONG), _traces(NONE)
    quantity = f"trace of the Hessian of the test loss, penalty {STRONG:g} minus none"
    strong, none = (Setting((LABEL.format(penalty),)) for penalty in (STRONG, NONE))
    return All(
        (
            on_one_test_set(
                Measurement.signed(quantity, "negative", paired_t_interval(*traces), -1, over_seeds(traces[0]))
            ),
            difference(RUNS, "ece", strong, none, PrintedEffect(-1, None, "negative")),
        )
    )


@claim(
    "kn24.fig4_after_scaling",
    short="The penalty's lower ECE lasts after temperature scaling",
    source="KN24 Fig. 4, taken further",
    statement=r"The advantage of kn24.fig4 lasts: with the penalty ECE is lower after temperature scaling, too. (As there: the largest penalty against none, a "
    r"two-layer MLP, CIFAR-10, 4,000 training images, 30 epochs; T chosen by ECE, equal width.)",
    chapter=PENALTIES,
    fidelity="ours",
    needs=f"results/{RUNS}",
    instead="ECE (equal width) is higher with the penalty",
)
def fig4_after_scaling() -> Evidence:
    """The paper does not say; a single temperature does more for the network without a penalty."""
    strong, none = (Setting((LABEL.format(penalty),), "temperature", "ece") for penalty in (STRONG, NONE))
    return difference(RUNS, "ece", strong, none, PrintedEffect(-1, None, "negative, if it lasts"), "asked")


CHAPTER = "landscape"
RECORDED = "results/landscape"
OTHERS = ("small-cnn", "mlp")  # than ViT
TRAINED = "Fashion-MNIST, networks trained on 2,000 images for 100 epochs"
ON_200 = "the Hessian on 200"
OTHERS_SAID = ", ".join(map(in_words, OTHERS))
THREE = f"three small networks: {', '.join(map(in_words, NETWORKS))}; {TRAINED}, of the transformer 30; {ON_200}"


def _measured(network: str, contrast: Contrast, said: str) -> Measurement:
    """A contrast that was written down, on one network."""
    found = read_landscape()
    of_pair = f"{contrast.ours.losses[0]} minus {contrast.theirs.losses[0]}"
    quantity = f"{contrast.metric}, {of_pair} [{network}]"
    return contrast_by_seed(quantity, found[found["model"] == network], contrast, said)


def _all(networks: Iterable[str], contrasts: Iterable[Contrast], said: str = "printed") -> Evidence:
    chosen = list(contrasts)
    return All(tuple(_measured(network, contrast, said) for network in networks for contrast in chosen))


def _cause(metric: str) -> list[Contrast]:
    return [contrast for contrast in cause_contrasts() if contrast.metric == metric]


add_reading = Rows(CHAPTER, "our reading", needs=RECORDED, regime=partial(recorded_as, "kn24-curvature", "landscape"))
add_ours = Rows(CHAPTER, "ours", needs=RECORDED)

# Every step, on each network.
add_reading(
    "kn24.fig2",
    "The top eigenvalue of the Hessian falls as gamma grows",
    "KN24 Fig. 2",
    r"'For all architectures, $\lambda_{\max}(H_{val})$ monotonically decreases with increasing $\gamma$', on CIFAR-100. (Taken as: of focal "
    rf"loss itself, its logarithm, from each $\gamma$ to the next; 0, 1, 2, 3, 5, 7, of the transformer 0, 1, 3, 7; {THREE} validation images.)",
    lambda: All(
        tuple(
            _measured(name, contrast, "printed")
            for name, gammas in NETWORKS.items()
            for contrast in eigenvalue_contrasts(gammas)[1:]
        )
    ),
    in_readme=True,
)

# The primary contrast, on each network.
add_ours(
    "kn24.fig2_ends",
    "The top eigenvalue is smaller with gamma 7 than with cross-entropy",
    "KN24 Fig. 2, at the ends of our grid",
    rf"$\lambda_{{\max}}(H_{{val}})$ of focal loss is smaller with $\gamma = 7$ than with cross-entropy ({THREE} validation images).",
    lambda: _all(NETWORKS, eigenvalue_contrasts()[:1], "asked"),
)


# Of test images; the paper does not say which bins, nor whether anything was fitted first.
add_reading(
    "kn24.fig2_ece",
    "ECE is least near gamma 3 in networks other than transformers",
    "KN24 Fig. 2",
    r"'ECE reaches its minimum for ViT architecture around $\gamma$ = 10 and for other architectures around $\gamma = 3,4$', on CIFAR-100. "
    rf"(Taken as: ECE of equal width, as trained, is lower at $\gamma = 3$ than at 0, and higher at 7 than at 3; networks that are no transformers: "
    rf"{OTHERS_SAID}; {TRAINED}. Of ViT nothing is judged: no $\gamma$ above {GAMMAS[-1]:g} was run.)",
    lambda: _all(OTHERS, [contrast for contrast in calibration_contrasts() if contrast.metric == "ece"]),
)

# Both, at a middle gamma and at a large one.
add_reading(
    "kn24.fig3",
    "ECE is least at a moderately reduced Hessian trace",
    "KN24 Fig. 3",
    r"'ECE reaches a minimum peak for all network architectures when $\operatorname{Tr}(H_{val})$ is reduced to a certain extent rather than "
    r"maximizing it', on CIFAR-100. (Taken as: trace and ECE of equal width are lower at $\gamma = 3$ than at 0, and at 7 the trace is lower still and ECE higher; "
    rf"for the transformer their other figure has its least ECE near 10; here {OTHERS_SAID}; {TRAINED}; {ON_200} validation images.)",
    lambda: _all(OTHERS, calibration_contrasts()),
)


@claim(
    "kn24.relation",
    short="ECE rises with top eigenvalue and trace over gamma",
    source="KN24 Abstract, Figs. 2 and 3, taken further",
    statement=r"Over the values of $\gamma$ of one seed ECE of equal width rises with the top eigenvalue and with the trace of focal loss on validation "
    rf"images, by rank correlation. ({THREE} validation images. KN24, who study 'the relationship', say of the trace that the ECE has a minimum.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=RECORDED,
)
def relation() -> Evidence:
    """Spearman's correlation, a number a seed; intervals cut at -1 and 1, and not narrower than its steps make them."""
    parts = []
    for metric in ("top own validation", "trace own validation"):
        by_seed = relation_by_seed(read_landscape(), metric)
        for network, gammas in NETWORKS.items():
            values = by_seed.loc[network].dropna()
            quantity = f"rank correlation of ECE with {metric} over gamma [{network}]"
            interval = relation_interval(values, len(gammas))
            found = Measurement.signed(quantity, "positive", interval, 1, over_seeds(values))
            parts.append(on_one_test_set(replace(found, said="claimed")))
    return All(tuple(parts))


# The primary contrast of its table, on each network.
add_ours(
    "kn24.one_landscape",
    "Focal networks lie flatter by cross-entropy's validation trace",
    "KN24 Abstract, asked of one loss for all networks",
    rf"In the landscape of cross-entropy networks trained with focal loss, $\gamma = 3$, lie where the trace of the Hessian on validation images is "
    rf"smaller than where cross-entropy leads. ({THREE} validation images.)",
    lambda: _all(NETWORKS, _cause("log trace ce validation"), "asked"),
)

# On what the networks were fitted to.
add_ours(
    "kn24.one_landscape_train",
    "Focal networks lie flatter by cross-entropy's training trace",
    "KN24 Abstract, asked of one loss for all networks",
    rf"In the landscape of cross-entropy networks trained with focal loss, $\gamma = 3$, lie where the trace of the Hessian on images that they were "
    rf"trained on is smaller than where cross-entropy leads. ({THREE} of these images.)",
    lambda: _all(NETWORKS, _cause("log trace ce train"), "asked"),
    instead="the trace is larger in the small CNN and the MLP",
)

# Less concentrated probabilities make cross-entropy steeper in the logits, not flatter.
add_ours(
    "kn24.spread",
    "Gamma 3 spreads validation probabilities more than cross-entropy",
    "KN24 Abstract, its causes kept apart",
    r"With $\gamma = 3$ the probabilities on validation images are more spread than with cross-entropy: the mean of $1 - \sum_k p_k^2$, which is the "
    rf"trace of cross-entropy's Hessian in the logits, is larger. ({THREE} validation images.)",
    lambda: _all(NETWORKS, _cause("log spread validation"), "asked"),
)


@claim(
    "kn24.flat_by_scaling",
    short="Curvature in the weights alone does not decide calibration",
    source="KN24 Abstract, 'curvature may be one of the essential factors in achieving model calibration'",
    statement=r"The curvature in the weights does not decide calibration: where a layer is followed by a ReLU that feeds the next layer alone, with no skip "
    r"connection, multiplying the layer's weights and bias by $a > 0$ and dividing the weights of the next one by $a$ changes no probability, hence no ECE, and makes the trace of the Hessian $T_1/a^2 + a^2T_2 + T_0$, with the "
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
            step(
                r"$\max(0, az) = a\max(0, z)$ for $a > 0$, where $z \ge 0$ and where $z \le 0$",
                *((sp.Max(0, a * value), a * sp.Max(0, value)) for value in (sp.Abs(z), -sp.Abs(z))),
            ),
            step(
                r"so the next layer gets what it got: $(q/a)\,a\max(0, z) = q\max(0, z)$, and $F(ap, q/a) = F(p, q)$",
                (q / a * a, q),
            ),
            step(
                r"twice differentiated, $a^2F_{pp}(ap, q/a) = F_{pp}(p, q)$ and $a^{-2}F_{qq}(ap, q/a) = F_{qq}(p, q)$",
                (sp.diff(moved, p, 2).doit(), (a**2 * in_first).doit()),
                (sp.diff(moved, q, 2).doit(), (in_second / a**2).doit()),
            ),
            step(
                r"summed over the weights, the trace is $T_1/a^2 + a^2T_2 + T_0$: without bound as $a \to 0$ where $T_1 > 0$, as "
                r"$a \to \infty$ where $T_2 > 0$, whatever the other parts",
                (trace, first / a**2 + a**2 * second + others),
                (1 / sp.limit(trace.subs(first, above), a, 0, "+"), 0),
                (1 / sp.limit(trace.subs(second, above), a, sp.oo), 0),
            ),
        )
    )

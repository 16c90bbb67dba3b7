"""KN24 section 5, Fig. 4: a penalty on the trace of the Hessian, on recorded runs."""

from __future__ import annotations

import functools

from focal_lib.claims.evidence import All, Evidence, Measurement
from focal_lib.claims.from_runs import on_recorded, recorded, seeds_apart
from focal_lib.claims.ledger import claim
from focal_lib.metrics.intervals import paired_t_interval

CHAPTER = "11_curvature"
RUNS = "cifar10-hessian"
NONE, STRONG = "hessian-trace 0", "hessian-trace 0.002"


@functools.cache
def _traces(lam: float) -> tuple[float, ...]:
    """tr H of the test cross-entropy after training, a number a seed."""
    last = [r.history[r.history["split"] == "test"].iloc[-1] for r in recorded(RUNS) if r.spec.lam == lam]
    return tuple(float(row["hessian_trace"]) for row in last)


@claim(
    "kn24.fig4",
    source="KN24 Fig. 4",
    statement=r"Penalising $\operatorname{Tr}(H)$ while training a two-layer MLP on CIFAR-10 lowers the trace and ECE.",
    chapter=CHAPTER,
)
@on_recorded(RUNS)
def fig4() -> Evidence:
    """The largest penalty against none; the network is KN24's, the training short."""
    trace = paired_t_interval(_traces(0.002), _traces(0.0))
    return All(
        (
            Measurement.signed(
                "trace of the Hessian of the test loss, penalty 0.002 minus none", "negative", trace, -1
            ),
            seeds_apart(RUNS, "ece", (STRONG, "pre"), (NONE, "pre"), "negative", -1),
        )
    )


@claim(
    "kn24.fig4_after_scaling",
    source="KN24 Fig. 4, taken further",
    statement=r"The advantage lasts: with the penalty ECE is lower after temperature scaling, too.",
    chapter=CHAPTER,
)
@on_recorded(RUNS)
def fig4_after_scaling() -> Evidence:
    """The paper does not say; a single temperature does more for the network without a penalty."""
    return seeds_apart(RUNS, "ece", (STRONG, "ts, ece"), (NONE, "ts, ece"), "negative, if it lasts", -1)

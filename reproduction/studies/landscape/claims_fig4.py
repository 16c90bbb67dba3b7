"""KN24 Fig. 4: a penalty on the trace of the Hessian, on recorded runs."""

from __future__ import annotations

from focal_lib.metrics.intervals import paired_t_interval
from reproduction.engine.contrasts import Setting
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import claim
from reproduction.ledger.measurement import Measurement
from reproduction.studies.shared.from_runs import difference, over_seeds
from reproduction.studies.shared.printed_effects import PrintedEffect
from reproduction.studies.shared.recorded import load_recorded

CHAPTER = "11_curvature"
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
    source="KN24 Fig. 4",
    statement=r"A penalty on $\operatorname{Tr}(H)$ while training a two-layer MLP on CIFAR-10 lowers the trace and ECE. (Taken as: the largest "
    r"penalty against none, taken on training batches; trace of the test loss; ECE of equal width; 4,000 training images, 30 epochs, one learning rate.)",
    chapter=CHAPTER,
    fidelity="our reading",
    needs=f"results/{RUNS}",
    headline="a penalty on the Hessian's trace lowers ECE (equal width)",
)
def fig4() -> Evidence:
    """The largest penalty against none; the network is KN24's, the training short."""
    traces = _traces(STRONG), _traces(NONE)
    quantity = f"trace of the Hessian of the test loss, penalty {STRONG:g} minus none"
    strong, none = (Setting((LABEL.format(penalty),)) for penalty in (STRONG, NONE))
    return All(
        (
            Measurement.signed(quantity, "negative", paired_t_interval(*traces), -1, over_seeds(traces[0])),
            difference(RUNS, "ece", strong, none, PrintedEffect(-1, None, "negative")),
        )
    )


@claim(
    "kn24.fig4_after_scaling",
    source="KN24 Fig. 4, taken further",
    statement=r"The advantage of kn24.fig4 lasts: with the penalty ECE is lower after temperature scaling, too. (As there: the largest penalty against none, a "
    r"two-layer MLP, CIFAR-10, 4,000 training images, 30 epochs; T chosen by ECE, equal width.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=f"results/{RUNS}",
)
def fig4_after_scaling() -> Evidence:
    """The paper does not say; a single temperature does more for the network without a penalty."""
    strong, none = (Setting((LABEL.format(penalty),), "temperature", "ece") for penalty in (STRONG, NONE))
    return difference(RUNS, "ece", strong, none, PrintedEffect(-1, None, "negative, if it lasts"), "asked")

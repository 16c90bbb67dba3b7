"""KK24 sections 4.2 and 5, Table 1, Fig. 8: focal temperature scaling, measured on Fashion-MNIST."""

from __future__ import annotations

import numpy as np

from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS
from focal_lib.claims.evidence import All, Evidence, Measurement
from focal_lib.claims.from_runs import comparison, on_runs, results
from focal_lib.claims.kk24.training import SIZE, column, focal_gammas
from focal_lib.claims.ledger import claim
from focal_lib.metrics.intervals import paired_t_interval
from focal_lib.results.by_run import temperature_by_gamma

CHAPTER = "09_focal_temperature_scaling"


@claim(
    "kk24.table1_ece",
    source="KK24 Table 1, section 5.2",
    statement=rf"Focal temperature scaling improves the test ECE of every model over temperature scaling, both chosen by ECE. ({SIZE}.)",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def table1_ece() -> Evidence:
    """ECE after focal minus after plain temperature scaling, paired by seed, for each loss."""
    parts = []
    for g in (0.0, *focal_gammas(comparison())):
        gain = paired_t_interval(column(comparison(), g, "fts_ece"), column(comparison(), g, "ts_ece"))
        parts.append(Measurement.signed(rf"change of ECE, trained with $\gamma = {g:g}$", "< 0", gain, -1))
    return All(tuple(parts))


@claim(
    "kk24.table1_nll",
    source="KK24 Table 1, section 5.2",
    statement=rf"Chosen by log-loss, focal temperature scaling lowers the test log-loss slightly: about 1 %. ({SIZE}.)",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def table1_nll() -> Evidence:
    """Mean relative change of the NLL over all runs, with a t interval over seeds' means."""
    frame = comparison()
    relative = (frame["fts_nll_nll"] / frame["ts_nll_nll"] - 1).groupby(frame["seed"]).mean().to_numpy()
    change = paired_t_interval(relative, np.zeros_like(relative))
    return Measurement("relative change of NLL", "about -1 %", change.estimate, -0.01, 0.005, (change.low, change.high))


@claim(
    "kk24.choose_by_ece",
    source="KK24 section 5.2",
    statement=rf"Choosing the temperature by validation ECE instead of log-loss gains an extra 20 % of ECE on average. ({SIZE}.)",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def choose_by_ece() -> Evidence:
    """Mean over runs of the relative change, plain temperature scaling."""
    frame = comparison()
    by_seed = frame.groupby("seed")[["ts_ece", "ts_nll_ece"]].mean()
    relative = (by_seed["ts_ece"] / by_seed["ts_nll_ece"] - 1).to_numpy()
    change = paired_t_interval(relative, np.zeros_like(relative))
    return Measurement("relative change of test ECE", "-20 %", change.estimate, -0.2, 0.1, (change.low, change.high))


@claim(
    "kk24.fig8_linear",
    source="KK24 Fig. 8, section 5.2",
    statement=rf"For each model the optimal temperature is close to linear in the calibration $\gamma$. ({SIZE}.)",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def fig8_linear() -> Evidence:
    """Smallest R^2 over the losses, first seed, gammas up to 1 where the temperature grid does not end."""
    gammas = [g for g in PAPER_GAMMAS if g <= 1]
    r2 = {}
    for result in results():
        if result.spec.seed == 0:
            t = temperature_by_gamma(result, gammas)
            if t.max() < 4.99:  # the grid ends at 5
                r2[result.spec.label] = float(np.corrcoef(gammas, t)[0, 1] ** 2)
    worst = min(r2, key=lambda name: r2[name])
    return Measurement(
        rf"smallest $R^2$ of {len(r2)} models ({worst})", "close to 1", r2[worst], holds=r2[worst] > 0.95
    )


@claim(
    "kk24.line_search",
    source="KK24 section 5.2, open question",
    statement=rf"Searching only along the line gives up at most 0.1 points of validation ECE. ({SIZE}.)",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def line_search() -> Evidence:
    """Validation ECE along the line minus that of the full grid, every run."""
    loss = (comparison()["line_objective"] - comparison()["fts_objective"]).to_numpy()
    return Measurement(
        "largest loss of ECE",
        "<= 0.001",
        float(loss.max()),
        interval=(float(loss.min()), float(loss.max())),
        holds=bool(loss.max() <= 1e-3),
    )

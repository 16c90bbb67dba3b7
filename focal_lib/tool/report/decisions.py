"""Probabilities as a basis of decisions: thresholds for answering, unreliable classes, net benefit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.metrics.net_benefit import THRESHOLDS, NetBenefit, net_benefit_of
from focal_lib.metrics.per_class import (
    ClassReliability,
    ConfidenceBand,
    Predictions,
    class_reliability_of,
    confusion_by_confidence_of,
    predictions_of_chunk,
)
from focal_lib.metrics.risk_coverage import RiskCoverage, Threshold, risk_coverage_of
from focal_lib.metrics.samples import Samples
from focal_lib.tool.evaluation.scoring import log_probs

RARE = 0.1  # share of the rarer of two outcomes, below which answers are nearly all right that never expect it
SHOWN_RISKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # of which those below the error are asked for


@dataclass(frozen=True)
class Decisions:
    """Result of `decide`: certified thresholds, reliability of each class, confusion, net benefit.

    Attributes:
        risk_coverage: the risk-coverage curve with simultaneous bounds.
        thresholds: risk -> certified threshold; None if the samples certify none.
        per_class: confidence and accuracy of each predicted class; the interval of the gap farthest from 0 comes first.
        confusion: right and wrong predictions in bands of confidence.
        net_benefit: of acting on class 1, for a binary model; else None.
        class_names: names of the classes; numbers if there are none.
        caveats: what the bounds ignore, for data with weights, groups or folds.
        is_rare: one of two outcomes has a share below 10 %: what is said is of acting on it, and thresholds of the net
            benefit are halves and doubles of the share.

    Examples:
        >>> data = LogitSet(np.array([[0.0, 2.1972]] * 400), np.array([1, 1, 1, 0] * 100))
        >>> found = decide([(None, data)])
        >>> found.class_table()[["class", "confidence", "accuracy"]].round(2).to_numpy().tolist()
        [['1', 0.9, 0.75]]
    """

    risk_coverage: RiskCoverage
    thresholds: dict[float, Threshold | None]
    per_class: ClassReliability
    confusion: tuple[ConfidenceBand, ...]
    net_benefit: NetBenefit | None
    class_names: tuple[str, ...]
    caveats: tuple[str, ...] = ()
    is_rare: bool = False

    def threshold_table(self) -> pd.DataFrame:
        """One row for each risk: certified threshold, coverage, observed risk and bound."""
        rows = [
            (risk, *((np.nan,) * 4 if t is None else (t.threshold, t.coverage, t.risk, t.bound)))
            for risk, t in self.thresholds.items()
        ]
        return pd.DataFrame(rows, columns=["risk at most", "threshold", "coverage", "observed risk", "bound"])

    def class_table(self) -> pd.DataFrame:
        """One row for each predicted class; the interval of the gap farthest from 0 comes first."""
        p = self.per_class
        columns = {"class": [self.class_names[k] for k in p.classes], "predicted": p.count}
        names = ("confidence", "accuracy", "gap", "low", "high")
        return pd.DataFrame(columns | {name: getattr(p, name) for name in names})

    def confusion_table(self) -> pd.DataFrame:
        """One row for each band of confidence, with the most confused classes, label -> predicted."""
        names, rows = self.class_names, []
        for band in self.confusion:
            pairs = "; ".join(f"{names[p.label]} -> {names[p.predicted]} ({p.count:,})" for p in band.pairs)
            rows.append((f"{band.low:g} to {band.high:g}", band.right, band.wrong, pairs))
        return pd.DataFrame(rows, columns=["confidence", "right", "wrong", "label -> predicted (samples)"])

    def net_benefit_table(self) -> pd.DataFrame | None:
        """One row for each threshold; None if the model is not binary."""
        if self.net_benefit is None:
            return None
        names = ("threshold", "model", "treat_all", "gain", "low", "high")
        return pd.DataFrame({name.replace("_", " "): getattr(self.net_benefit, name) for name in names})

    def sentences(self) -> list[str]:
        """The certified thresholds and worst classes, or of a rare event where to act; the caveats; in sentences."""
        if self.is_rare and self.net_benefit is not None:
            return [self._on_acting(self.net_benefit), *self.caveats]
        found, level = [], f"{100 * self.risk_coverage.level:g} %"
        for risk, t in self.thresholds.items():
            if t is not None:
                # in full: rounded down it would take in samples for which nothing is certified
                where = f"Answer where the confidence is above {t.threshold!r}" if t.threshold else "Answer always"
                found.append(
                    f"{where}: at most {100 * risk:g} % of the answers are wrong, with {level} confidence; that "
                    f"answers {100 * t.coverage:.0f} % of the samples, {100 * t.risk:.2g} % of them wrongly."
                )
        if none := [f"{100 * risk:g} %" for risk, t in self.thresholds.items() if t is None]:
            found.append(
                f"{self.risk_coverage.samples:,} samples certify no threshold of the confidence above which at most "
                f"{' or '.join(none)} of the answers are wrong."
            )
        return [*found, self._on_classes(), *self.caveats]

    def _on_acting(self, curve: NetBenefit) -> str:
        gains, level = curve.threshold[curve.low > 0], f"{100 * curve.level:g} %"
        acting = f"Acting by the probability of class {self.class_names[1]}, whose share is {curve.prevalence:.2%},"
        if not len(gains):
            return f"{acting} is shown to be better than always or never at none of the thresholds tried ({level})."
        ends = dict.fromkeys(f"{t:.2g}" for t in (gains.min(), gains.max()))
        return f"{acting} is better than always or never at thresholds of {' to '.join(ends)} ({level} intervals)."

    def _on_classes(self) -> str:
        p, level = self.per_class, f"{100 * self.per_class.level:g} %"
        if not (count := int(np.count_nonzero(p.certain))):
            return (
                f"No class is shown to be miscalibrated: each {level} interval of its gap holds 0 (all hold together)."
            )
        worst = "; ".join(
            f"{self.class_names[p.classes[i]]} (confidence {100 * p.confidence[i]:.1f} %, accuracy "
            f"{100 * p.accuracy[i]:.1f} %, {p.count[i]:,} samples)"
            for i in np.flatnonzero(p.certain)[:3]
        )
        return (
            f"{count} of the {len(p.classes)} classes that are predicted {'is' if count == 1 else 'are'} "
            f"miscalibrated: the {level} interval of confidence minus accuracy excludes 0 (all hold together). The "
            f"farthest from 0: {worst}."
        )


def decide(
    parts: Sequence[tuple[Calibrator | None, LogitSet]], *, level: float = 0.95, risks: Sequence[float] | None = None
) -> Decisions:
    """Compute certified thresholds, class reliability, confusion by confidence and, for two classes, net benefit.

    Args:
        parts: pairs of a calibrator, or None, and a set of samples that it was not fitted on; one pair for each fold of
            cross-fitting.
        level: simultaneous level of each kind of bounds or intervals; pointwise for the net benefit.
        risks: for which thresholds are certified; None for the largest three of SHOWN_RISKS below the error.

    Raises:
        ValueError: no parts, or level or a risk not in (0, 1).

    Examples:
        >>> logits = np.array([[0.0, 1.0]] * 400 + [[0.0, 5.0]] * 400)
        >>> labels = np.array([1, 0] * 200 + [1] * 400)  # right at confidence 0.99, half of them at 0.73
        >>> found = decide([(None, LogitSet(logits, labels))], risks=[0.05]).thresholds[0.05]
        >>> round(found.threshold, 2), found.coverage, found.risk
        (0.73, 0.5, 0.0)
    """
    if not parts:
        raise ValueError("parts must hold at least one set of samples. Got none.")
    found = [_predictions(calibrator, data) for calibrator, data in parts]
    predicted = Predictions.concatenate([own for own, _ in found])
    curve = risk_coverage_of(predicted.confidence, predicted.correct, level=level)
    error = 1 - float(predicted.correct.mean())
    asked = [risk for risk in SHOWN_RISKS if risk < error][-3:] if risks is None else risks
    names = next((data.class_names for _, data in parts if data.class_names), None)
    positive = np.concatenate([p for _, p in found])
    is_binary, event = predicted.classes == 2 and len(positive) > 1, (predicted.label == 1).astype(float)
    is_rare = is_binary and 0 < min(event.mean(), 1 - event.mean()) < RARE
    thresholds = _around(float(event.mean())) if is_rare else THRESHOLDS
    return Decisions(
        risk_coverage=curve,
        thresholds={float(risk): curve.certified(risk) for risk in asked},
        per_class=class_reliability_of(predicted, level=level),
        confusion=confusion_by_confidence_of(predicted),
        net_benefit=net_benefit_of(positive, event, thresholds=thresholds, level=level) if is_binary else None,
        class_names=tuple(names or map(str, range(predicted.classes))),
        caveats=_caveats([data for _, data in parts]),
        is_rare=is_rare,
    )


def _around(share: float) -> list[float]:
    """The share of the rarer outcome, halves and doubles of it, in two digits; of one that is common 1 minus these."""
    rare = min(share, 1 - share)
    found = [float(f"{rare * 2.0**k:.2g}") for k in range(-3, 10) if rare * 2.0**k <= 0.5]
    return found if share == rare else [1 - t for t in found[::-1]]


def _caveats(sets: Sequence[LogitSet]) -> tuple[str, ...]:
    found = []
    if len(sets) > 1:
        found.append(
            "Each fold was answered by a calibrator fitted on the others: bounds and intervals are of these, not of "
            "the one that is kept, and take them for one model."
        )
    if any(data.weights is not None for data in sets):
        found.append(
            "For thresholds, classes, confusion and net benefit every sample counts the same: weights are left out."
        )
    if any(data.groups is not None for data in sets):
        found.append("Bounds and intervals take samples for independent, which those of one group are not.")
    return tuple(found)


def _predictions(calibrator: Calibrator | None, data: LogitSet) -> tuple[Predictions, np.ndarray]:
    """Predictions, and the probability of class 1, chunk by chunk."""

    def chunk(z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        p = np.exp(log_probs(calibrator, z))
        return *predictions_of_chunk(p, y), p[:, 1]

    predicted, confidence, label, second = Samples(data.logits, data.labels).gather(chunk)
    return Predictions(predicted, confidence, label, data.classes), second

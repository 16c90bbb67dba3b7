"""Calibrate a model from its logits: calibrators, `calibrate` with its report, files."""

from focal_lib.calibration.apply.new_scores import apply_to_scores
from focal_lib.calibration.calibrators.dirichlet import DirichletCalibration
from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS, WIDE_GAMMAS, FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.one_vs_rest import BetaCalibration, HistogramBinning, IsotonicCalibration
from focal_lib.calibration.calibrators.structured_matrix import StructuredMatrixScaling
from focal_lib.calibration.calibrators.temperature import M20_TEMPERATURES, PAPER_TEMPERATURES, TemperatureScaling
from focal_lib.calibration.calibrators.torch_module import write_onnx
from focal_lib.calibration.calibrators.venn_abers import VennAbersCalibration
from focal_lib.calibration.evaluation.advice_groups import (
    GROUP_ERRORS,
    count_group_errors,
    group_population,
    judge_advice_in_groups,
    mark_group_errors,
)
from focal_lib.calibration.evaluation.advice_power import count_advised, population_with_gain
from focal_lib.calibration.evaluation.advice_rates import (
    ADVICE_ERRORS,
    KNOWN_TRUTHS,
    count_advice_errors,
    judge_advice,
    made_up_population,
)
from focal_lib.calibration.evaluation.method_table import method_table
from focal_lib.calibration.evaluation.slices import by_slice
from focal_lib.calibration.gate import Check, Outcome, check
from focal_lib.calibration.inputs.logit_sets import LogitSet, as_logits
from focal_lib.calibration.inputs.logits_file import read_logits
from focal_lib.calibration.report.decisions import Decisions, decide
from focal_lib.calibration.report.report import Report, calibrate
from focal_lib.calibration.saved import load_calibrator, save_calibrator
from focal_lib.calibration.watch.rates import alarm_delays, alarm_times, false_alarm_rates
from focal_lib.calibration.watch.watch import CalibrationWatch

__all__ = [
    "ADVICE_ERRORS",
    "GROUP_ERRORS",
    "KNOWN_TRUTHS",
    "M20_TEMPERATURES",
    "PAPER_GAMMAS",
    "PAPER_TEMPERATURES",
    "WIDE_GAMMAS",
    "BetaCalibration",
    "CalibrationWatch",
    "Check",
    "Decisions",
    "DirichletCalibration",
    "EceSurface",
    "FocalTemperatureScaling",
    "HistogramBinning",
    "IsotonicCalibration",
    "LogitSet",
    "MatrixScaling",
    "Outcome",
    "Report",
    "StructuredMatrixScaling",
    "TemperatureScaling",
    "VectorScaling",
    "VennAbersCalibration",
    "alarm_delays",
    "alarm_times",
    "apply_to_scores",
    "as_logits",
    "by_slice",
    "calibrate",
    "check",
    "count_advice_errors",
    "count_advised",
    "count_group_errors",
    "decide",
    "false_alarm_rates",
    "group_population",
    "judge_advice",
    "judge_advice_in_groups",
    "load_calibrator",
    "made_up_population",
    "mark_group_errors",
    "method_table",
    "population_with_gain",
    "read_logits",
    "save_calibrator",
    "write_onnx",
]

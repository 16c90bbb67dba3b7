"""What `focal calibrate`, `apply`, `check` and `watch` do: inputs, data checks, comparison, advice, report."""

from focal_lib.tool.apply.new_scores import apply_to_scores
from focal_lib.tool.evaluation.method_table import method_table
from focal_lib.tool.evaluation.slices import by_slice
from focal_lib.tool.gate import Check, Outcome, check
from focal_lib.tool.inputs.logits_file import read_logits
from focal_lib.tool.report.decisions import Decisions, decide
from focal_lib.tool.report.report import Report, calibrate
from focal_lib.tool.watch import CalibrationWatch

__all__ = [
    "CalibrationWatch",
    "Check",
    "Decisions",
    "Outcome",
    "Report",
    "apply_to_scores",
    "by_slice",
    "calibrate",
    "check",
    "decide",
    "method_table",
    "read_logits",
]

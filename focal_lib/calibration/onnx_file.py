"""A calibrator's torch module as an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from focal_lib.atomic_write import check_target, write_whole
from focal_lib.validation import check_package

if TYPE_CHECKING:
    from torch import nn


def write_onnx(module: nn.Module, classes: int, path: Path) -> None:
    """Write the module as ONNX: input 'logits' float32 (n, classes), any n; output 'probs'.

    Raises:
        ValueError: the name does not end in .onnx; the exporter would choose another format.
        ModuleNotFoundError: torch, onnx or onnxscript is not installed.

    Examples:
        >>> from focal_lib.calibration import TemperatureScaling
        >>> module = TemperatureScaling().fit([[0.0, 2.1972]] * 4, [1, 1, 1, 0]).to_module()
        >>> write_onnx(module, 2, Path("calibrator.onnx"))  # doctest: +SKIP
    """
    check_target(path, ending=".onnx")
    for needed in ("torch", "onnx", "onnxscript"):
        check_package(needed, "to write ONNX", "torch" if needed == "torch" else "onnx")
    import torch  # needed only for writing

    any_n = {"logits": {0: torch.export.Dim("n")}}
    program = torch.onnx.export(
        module.eval(),
        (torch.zeros(2, classes),),
        dynamo=True,
        dynamic_shapes=any_n,
        input_names=["logits"],
        output_names=["probs"],
        verbose=False,
    )
    if program is None:
        raise RuntimeError("torch's ONNX exporter gave nothing")
    write_whole(path, lambda part: program.save(str(part)))

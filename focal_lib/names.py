"""Names of losses and what each depends on: known without importing PyTorch."""

from __future__ import annotations

__all__ = ["LOSSES"]

# loss -> the parameters it uses, of gamma and lam (the weight of the added term, or the smoothing)
LOSSES: dict[str, tuple[str, ...]] = {
    "focal": ("gamma",),
    "proper-focal": ("gamma",),
    "brier": (),
    "label-smoothing": ("lam",),
    "mmce": ("lam",),
    "focal-scheduled-532": (),
    "focal-scheduled-531": (),
    "flsd-53": (),
    "flsd-532": (),
    "adafocal": (),
    "dual-focal": ("gamma",),
    "hessian-trace": ("lam",),
    "fcl": ("gamma", "lam"),
    "fcl-l1": ("gamma", "lam"),
}

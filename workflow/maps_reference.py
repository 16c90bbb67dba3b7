"""50-digit reference values of the maps: python -m workflow.maps_reference.

Written from KK24 Eq. (1), apart from focal_lib, with x = -log q and log(1 - q) as mpmath numbers of 60 digits; for far
logits 1 - q is a sum of exponentials, so nothing cancels and no more digits are needed.
"""

import json
import random
from pathlib import Path
from typing import Any

import mpmath as mp

FILE = Path(__file__).resolve().parents[1] / "tests" / "focal_lib" / "theory" / "maps_reference.json"
GAMMAS = ("-0.9", "-0.5", "-0.05", "0", "0.1", "1", "2", "5", "20", "100")
LOGITS = ("0", "1e-8", "1e-3", "0.3", "0.999", "1", "2", "17", "37", "100", "800", "1e4", "-3", "-0.5", "-1e4")


def b_of(x: mp.mpf) -> mp.mpf:
    """b = x / (e^x - 1) of x = -log q."""
    return x / mp.expm1(x) if x else mp.mpf(1)


def binary(s: mp.mpf, g: mp.mpf) -> mp.mpf:
    """logit FC(s) from -log q = log(1 + e^-s) and its mirror."""
    x, mirrored = mp.log1p(mp.exp(-s)), mp.log1p(mp.exp(s))
    return (g + 1) * s - mp.log((1 + g * b_of(x)) / (1 + g * b_of(mirrored)))


def simplex(z: list[mp.mpf], g: mp.mpf) -> list[mp.mpf]:
    """log p-hat, every 1 - q_i as the sum over the other classes."""
    total = mp.fsum(mp.exp(v - max(z)) for v in z)
    weights = []
    for i, v in enumerate(z):
        rest = mp.fsum(mp.exp(other - max(z)) for j, other in enumerate(z) if j != i) / total
        x = mp.log1p(rest * total / mp.exp(v - max(z)))  # log(1 + (1-q)/q)
        weights.append(-x - g * mp.log(rest) - mp.log(1 + g * b_of(x)))
    top = max(weights)
    norm = top + mp.log(mp.fsum(mp.exp(w - top) for w in weights))
    return [w - norm for w in weights]


if __name__ == "__main__":
    mp.mp.dps = 60
    random.seed(0)
    reference: dict[str, Any] = {"binary": [], "simplex": []}
    for g in GAMMAS:
        for s in LOGITS:
            value = binary(mp.mpf(float(s)), mp.mpf(float(g)))
            reference["binary"].append([float(s), float(g), mp.nstr(value, 50)])
    for classes, scale in ((2, 1), (3, 0.1), (3, 30), (5, 5000), (10, 5), (30, 100), (100, 3)):
        for g in ("-0.9", "0", "0.5", "2", "100"):
            z = [random.uniform(-scale, scale) for _ in range(classes)]
            values = simplex([mp.mpf(v) for v in z], mp.mpf(float(g)))
            reference["simplex"].append([z, float(g), [mp.nstr(v, 50) for v in values]])
    FILE.write_text(json.dumps(reference))

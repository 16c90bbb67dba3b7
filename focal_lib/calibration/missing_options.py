"""Options that are not there: samples with fewer options than others have columns that mean nothing.

Their logit is MISSING, a number so low that their probability is exactly 0 after any temperature and map that can be
fitted, and so that sums over the options stay finite.
"""

from __future__ import annotations

from typing import Any

MISSING = -1e30


def is_missing(logits: Any) -> Any:
    """Where an array or tensor of logits holds no option, of its shape."""
    return logits <= MISSING / 2

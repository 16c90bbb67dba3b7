"""Missing options: samples with fewer options than others have unused columns.

Their logit is MISSING: so low that their probability is exactly 0 after any fitted temperature and map, and finite, so
that sums over the options are finite.
"""

from __future__ import annotations

from typing import Any

MISSING = -1e30


def is_missing(logits: Any) -> Any:
    """Mask of missing options in an array or tensor of logits, of the same shape."""
    return logits <= MISSING / 2

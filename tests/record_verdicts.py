"""Record the verdicts as they are now: python -m tests.record_verdicts, then read the difference."""

import json
from pathlib import Path

from focal_lib.claims import ledger

FILE = Path(__file__).parent / "data" / "verdicts.json"

if __name__ == "__main__":
    # What rests on training runs is measured at each build, so it is not recorded.
    verdicts = {claim.id: str(claim.verdict) for claim in ledger() if claim.needs is None}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(verdicts, indent=1) + "\n")

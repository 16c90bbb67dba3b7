"""Evidence from networks whose heat maps were held against boxes, as recorded in results/where-it-looks.

Where the record is missing these functions raise FileNotFoundError, which `claim(needs=...)` turns into a reason.
"""

from __future__ import annotations

from dataclasses import replace

from reproduction.ledger.measurement import Measurement
from reproduction.studies.localisation.localisation import RECORD
from reproduction.studies.localisation.localisation_record import of_setting
from reproduction.studies.localisation.plan import written_contrasts
from reproduction.studies.shared.from_runs import signed_if_any
from reproduction.studies.shared.written_contrasts import difference_by_seed

NEEDS = f"results/{RECORD}"


def contrast_of_record(setting: str, name: str, sign: int) -> Measurement:
    """A contrast that was written down for a setting, in points, against the sign claimed; paired over seeds.

    Raises:
        ValueError: no such contrast was written down.
    """
    written = {contrast.name: contrast for contrast in written_contrasts(setting)}
    if name not in written:
        raise ValueError(f"contrast must be one of {', '.join(written)}. Got {name!r}.")
    contrast = written[name]
    values = difference_by_seed(of_setting(setting), contrast.metric, contrast.ours, contrast.theirs)
    printed = "negative" if sign < 0 else "positive"
    return replace(signed_if_any(f"{name}, {setting}, in points", printed, values, sign), said="claimed")

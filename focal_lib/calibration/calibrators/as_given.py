"""The logits unchanged, as a calibrator: the choice where no method gains enough."""

from __future__ import annotations

import functools

from focal_lib.calibration.calibrators.fit_samples import FitSamples
from focal_lib.calibration.calibrators.mapped import MappedCalibrator
from focal_lib.calibration.calibrators.newton import temperature_sums


class AsGiven(MappedCalibrator):
    """p = softmax(z): temperature scaling with T fixed at 1.

    Fitted attributes:
        ``temperature_`` is 1, ``gamma_`` is 0; ``objective_``: the NLL.
        ``n_classes_``, ``classes_``: of fit.

    Raises:
        ValueError: bad data.
    """

    def _fit(self, samples: FitSamples) -> None:
        value = float(samples.weighted_mean(functools.partial(temperature_sums, 1.0))[0])
        self._keep((value, 0.0, 1.0), True)

"""Density of a mixture with one Gaussian per class (as in DDU)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.supervision.gaussian import Gaussian
from fireassay.supervision.nearest import group_rows
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class GmmDensity(Supervisor):
    """Negative log density under one Gaussian per class (Mukhoti et al. 2023).

    Classes are the true labels of the training rows; without labels, the predicted ones. Classes
    with a single row are left out.
    """

    name: ClassVar[str] = "gmm-density"
    needs: ClassVar[tuple[str, ...]] = ("features",)
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        assert reading.features is not None
        classes = reading.predictions if labels is None else labels
        groups = [rows for rows in group_rows(classes).values() if len(rows) > 1]
        groups = groups or [np.arange(len(classes))]
        sizes = np.array([len(rows) for rows in groups], dtype=np.float64)
        gaussians = [Gaussian.fit(reading.features, rows) for rows in groups]
        return {"gaussians": gaussians, "log_weights": np.log(sizes / sizes.sum())}

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        logs = [g.log_density(reading.features) for g in self.state_["gaussians"]]
        scores: FloatArray = -logsumexp(np.stack(logs, axis=1) + self.state_["log_weights"], axis=1)
        return scores

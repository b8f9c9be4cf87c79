"""Mahalanobis distance to the nearest class, relative to that to all training rows."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.supervision.gaussian import Gaussian
from fireassay.supervision.mahalanobis import fit_shared, nearest_class_distance
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class RelativeMahalanobis(Supervisor):
    """Nearest-class distance minus the distance to one Gaussian of all rows (Ren et al. 2021)."""

    name: ClassVar[str] = "relative-mahalanobis"
    needs: ClassVar[tuple[str, ...]] = ("features",)
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        assert reading.features is not None
        state = fit_shared(reading.features, reading.predictions if labels is None else labels)
        return {**state, "background": Gaussian.fit(reading.features)}

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        to_class = nearest_class_distance(self.state_, reading.features)
        background = self.state_["background"].squared_distance(reading.features)
        return np.asarray(to_class - background)

"""One minus the lead of the most probable class over the second."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class Pcs(Supervisor):
    """Prediction-confidence score, p1 − p2 (Zhang et al. 2020), turned around."""

    name: ClassVar[str] = "pcs"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.probabilities is not None
        top = np.partition(reading.probabilities, -2, axis=1)[:, -2:]
        scores: FloatArray = 1.0 - (top[:, 1] - top[:, 0])
        return scores

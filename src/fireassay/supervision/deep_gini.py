"""Gini impurity of the probabilities."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class DeepGini(Supervisor):
    """One minus the sum of squared probabilities (Feng et al. 2020)."""

    name: ClassVar[str] = "deep-gini"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.probabilities is not None
        return np.asarray(1.0 - np.square(reading.probabilities).sum(axis=1))

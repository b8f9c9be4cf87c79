"""Generalised entropy of the largest probabilities (GEN)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.validation import check_integer, check_real
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class Gen(Supervisor):
    """Sum of (p (1 − p))^gamma over the ``top`` largest probabilities (Liu et al. 2023)."""

    name: ClassVar[str] = "gen"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)
    gamma: float = 0.1
    top: int = 100

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.probabilities is not None
        gamma = check_real(self.gamma, "gamma", low=0, high=1)
        top = min(check_integer(self.top, "top", low=1), reading.probabilities.shape[1])
        largest = np.sort(reading.probabilities, axis=1)[:, -top:]
        scores: FloatArray = ((largest * (1.0 - largest)) ** gamma).sum(axis=1)
        return scores

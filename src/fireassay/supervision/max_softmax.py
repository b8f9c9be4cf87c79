"""One minus the largest probability."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class MaxSoftmax(Supervisor):
    """One minus the largest probability (Hendrycks and Gimpel 2017)."""

    name: ClassVar[str] = "max-softmax"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.probabilities is not None
        return np.asarray(1.0 - reading.probabilities.max(axis=1))

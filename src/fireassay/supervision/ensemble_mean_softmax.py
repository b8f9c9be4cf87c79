"""One minus the largest mean probability of the ensemble."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.supervision.ensemble_supervisor import EnsembleSupervisor
from fireassay.supervision.reading import Reading


@dataclass(kw_only=True, eq=False)
class EnsembleMeanSoftmax(EnsembleSupervisor):
    """One minus the largest mean probability of the ensemble."""

    name: ClassVar[str] = "ensemble-mean-softmax"

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.ensemble is not None
        return np.asarray(1.0 - reading.ensemble.mean.max(axis=1))

"""Entropy of the mean minus mean entropy of the ensemble, in bits."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.probabilities import entropy_bits
from fireassay.supervision.ensemble_supervisor import EnsembleSupervisor
from fireassay.supervision.reading import Reading


@dataclass(kw_only=True, eq=False)
class EnsembleMutualInformation(EnsembleSupervisor):
    """Entropy of the mean minus mean entropy of the ensemble, in bits."""

    name: ClassVar[str] = "ensemble-mutual-information"

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.ensemble is not None
        summary = reading.ensemble
        return np.maximum(entropy_bits(summary.mean) - summary.mean_entropy, 0.0)

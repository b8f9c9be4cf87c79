"""Entropy of the mean probabilities of the ensemble, in bits."""

from dataclasses import dataclass
from typing import ClassVar

from fireassay.core.arrays import FloatArray
from fireassay.core.probabilities import entropy_bits
from fireassay.supervision.ensemble_supervisor import EnsembleSupervisor
from fireassay.supervision.reading import Reading


@dataclass(kw_only=True, eq=False)
class EnsemblePredictiveEntropy(EnsembleSupervisor):
    """Entropy of the mean probabilities of the ensemble, in bits."""

    name: ClassVar[str] = "ensemble-predictive-entropy"

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.ensemble is not None
        return entropy_bits(reading.ensemble.mean)

"""Entropy of the mean probabilities of dropout samples, in bits."""

from dataclasses import dataclass
from typing import ClassVar

from fireassay.core.arrays import FloatArray
from fireassay.core.probabilities import entropy_bits
from fireassay.supervision.dropout_supervisor import DropoutSupervisor
from fireassay.supervision.reading import Reading


@dataclass(kw_only=True, eq=False)
class McDropoutPredictiveEntropy(DropoutSupervisor):
    """Entropy of the mean probabilities of dropout samples, in bits."""

    name: ClassVar[str] = "mc-dropout-predictive-entropy"

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.dropout is not None
        return entropy_bits(reading.dropout.mean)

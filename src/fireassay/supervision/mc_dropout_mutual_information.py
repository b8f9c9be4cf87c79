"""Entropy of the mean minus mean entropy of dropout samples, in bits."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.probabilities import entropy_bits
from fireassay.supervision.dropout_supervisor import DropoutSupervisor
from fireassay.supervision.reading import Reading


@dataclass(kw_only=True, eq=False)
class McDropoutMutualInformation(DropoutSupervisor):
    """Entropy of the mean minus mean entropy of dropout samples, in bits."""

    name: ClassVar[str] = "mc-dropout-mutual-information"

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.dropout is not None
        summary = reading.dropout
        return np.maximum(entropy_bits(summary.mean) - summary.mean_entropy, 0.0)

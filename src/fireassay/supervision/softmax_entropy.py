"""Entropy of the probabilities."""

from dataclasses import dataclass
from typing import ClassVar

from fireassay.core.arrays import FloatArray
from fireassay.core.probabilities import entropy_bits
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class SoftmaxEntropy(Supervisor):
    """Entropy of the probabilities in bits."""

    name: ClassVar[str] = "softmax-entropy"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.probabilities is not None
        return entropy_bits(reading.probabilities)

"""Free energy of the logits."""

from dataclasses import dataclass
from typing import ClassVar

from scipy.special import logsumexp

from fireassay.core.arrays import FloatArray
from fireassay.core.validation import check_real
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


def energy(logits: FloatArray, temperature: float = 1.0) -> FloatArray:
    """−T log Σ exp(logit / T): low where the model has seen much of the kind."""
    result: FloatArray = -temperature * logsumexp(logits / temperature, axis=1)
    return result


@dataclass(kw_only=True, eq=False)
class Energy(Supervisor):
    """Free energy of the logits (Liu et al. 2020)."""

    name: ClassVar[str] = "energy"
    needs: ClassVar[tuple[str, ...]] = ("logits",)
    temperature: float = 1.0

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.logits is not None
        return energy(reading.logits, check_real(self.temperature, "temperature", low=0))

"""Length of the gradient in the last layer (GradNorm)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class GradNorm(Supervisor):
    """L1 length of the gradient of the divergence from uniform, negated (Huang et al. 2021).

    The gradient with respect to the last weights is the outer product of p − 1/k and the
    activations, so that its length needs no backward pass.
    """

    name: ClassVar[str] = "gradnorm"
    needs: ClassVar[tuple[str, ...]] = ("features", "probabilities", "head")

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        assert reading.probabilities is not None
        n_classes = reading.probabilities.shape[1]
        from_uniform = np.abs(reading.probabilities - 1.0 / n_classes).sum(axis=1)
        scores: FloatArray = -from_uniform * np.abs(reading.features).sum(axis=1)
        return scores

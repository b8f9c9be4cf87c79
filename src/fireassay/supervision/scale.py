"""Activation scaling (SCALE)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.supervision.ash import kept_share
from fireassay.supervision.energy import energy
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class Scale(Supervisor):
    """Energy after scaling all activations by exp(sum of all / sum above the ``pruned`` quantile).

    Xu et al. (2024): as ASH, but nothing is dropped.
    """

    name: ClassVar[str] = "scale"
    needs: ClassVar[tuple[str, ...]] = ("features", "head")
    pruned: float = 0.65

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        assert reading.head is not None
        _, ratio = kept_share(reading.features, self.pruned)
        weights, bias = reading.head
        return energy(np.exp(ratio)[:, None] * reading.features @ weights.T + bias)

"""Rectified activations (ReAct)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.validation import check_real
from fireassay.supervision.energy import energy
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class React(Supervisor):
    """Energy after clipping activations at a quantile of those in training (Sun et al. 2021)."""

    name: ClassVar[str] = "react"
    needs: ClassVar[tuple[str, ...]] = ("features", "head")
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "head")
    quantile: float = 0.9

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        check_real(self.quantile, "quantile", low=0, high=1, inclusive="high")
        assert reading.features is not None
        return {"largest": float(np.quantile(reading.features, self.quantile))}

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        assert reading.head is not None
        weights, bias = reading.head
        clipped = np.minimum(reading.features, self.state_["largest"])
        return energy(clipped @ weights.T + bias)

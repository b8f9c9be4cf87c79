"""The largest logit, negated."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class MaxLogit(Supervisor):
    """The largest logit, negated (Hendrycks et al. 2022)."""

    name: ClassVar[str] = "max-logit"
    needs: ClassVar[tuple[str, ...]] = ("logits",)

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.logits is not None
        return np.asarray(-reading.logits.max(axis=1))

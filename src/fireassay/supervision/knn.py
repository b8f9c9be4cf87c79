"""Distance to the k-th nearest training activation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_real
from fireassay.supervision.nearest import kth_distance
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class Knn(Supervisor):
    """Distance to the ``k``-th nearest training activation, all scaled to length one.

    Sun et al. (2022). ``subsample`` is the share of the training rows that is kept.
    """

    name: ClassVar[str] = "knn"
    needs: ClassVar[tuple[str, ...]] = ("features",)
    fit_needs: ClassVar[tuple[str, ...]] = ("features",)
    k: int = 50
    subsample: float = 1.0

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        check_integer(self.k, "k", low=1)
        check_real(self.subsample, "subsample", low=0, high=1, inclusive="high")
        assert reading.features is not None
        n = len(reading.features)
        count = max(1, round(self.subsample * n))
        rows = np.sort(generator(self.seed, "knn", "subsample").permutation(n)[:count])
        return {"references": _unit(np.asarray(reading.features[rows], dtype=np.float64))}

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        references = self.state_["references"]
        return kth_distance(_unit(reading.features), references, min(self.k, len(references)))


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))

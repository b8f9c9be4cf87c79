"""Distance to the k-th nearest training activation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_real
from fireassay.supervision.nearest import kth_distance
from fireassay.supervision.onnx_graph import GraphBuilder
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
        n = len(reading.features)
        count = max(1, round(self.subsample * n))
        rows = np.sort(generator(self.seed, "knn", "subsample").permutation(n)[:count])
        return {"references": _unit(np.asarray(reading.features[rows], dtype=np.float64))}

    def _score(self, reading: Reading) -> FloatArray:
        references = self.state_["references"]
        return kth_distance(_unit(reading.features), references, min(self.k, len(references)))

    def _graph(self, g: GraphBuilder) -> str:
        features, references = g.input("features"), self.state_["references"]
        length = g.op("Sqrt", g.sum(g.times(features, features), keep=1))
        unit = g.op("Div", features, g.op("Max", length, g.constant(1e-300)))
        count = g.constant([min(self.k, len(references))], np.int64)
        squares = g.squared_gaps(unit, references)
        gaps, _ = g.ops("TopK", squares, count, outputs=2, axis=1, largest=0)
        return g.op("Sqrt", g.max(gaps))


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))

"""Virtual-logit matching (ViM)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy_modules import special
from fireassay.core.validation import check_integer
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class Vim(Supervisor):
    """Length of the activation outside the principal space, against the energy of the logits.

    Wang et al. (2022). Activations are taken from the point at which the logits vanish; the
    principal space has ``principal`` dimensions (default: the smaller of half the width and
    1,000).
    """

    name: ClassVar[str] = "vim"
    needs: ClassVar[tuple[str, ...]] = ("features", "logits", "head")
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "logits", "head")
    principal: int | None = None

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        weights, bias = reading.head
        origin = -np.linalg.pinv(weights) @ bias
        centred = reading.features - origin
        width = centred.shape[1]
        wanted = min(width // 2, 1000) if self.principal is None else self.principal
        principal = check_integer(wanted, "principal", low=0, high=width - 1)
        _, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
        outside = vectors[:, : width - principal]
        residual = np.linalg.norm(centred @ outside, axis=1)
        mean = float(residual.mean())
        alpha = float(reading.logits.max(axis=1).mean()) / mean if mean > 0 else 0.0
        return {"origin": origin, "outside": outside, "alpha": alpha}

    def _score(self, reading: Reading) -> FloatArray:
        centred = reading.features - self.state_["origin"]
        residual = np.linalg.norm(centred @ self.state_["outside"], axis=1)
        scores: FloatArray = self.state_["alpha"] * residual - special.logsumexp(
            reading.logits, axis=1
        )
        return scores

    def _graph(self, g: GraphBuilder) -> str:
        centred = g.minus(g.input("features"), g.constant(self.state_["origin"]))
        outside = g.op("MatMul", centred, g.constant(self.state_["outside"]))
        residual = g.op("Sqrt", g.sum(g.times(outside, outside)))
        scaled = g.times(residual, g.constant(self.state_["alpha"]))
        return g.op("Add", scaled, g.energy(g.input("logits")))

"""Scores of what the last linear layer takes, after its activations were reshaped or weighed."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.validation import check_real
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.reading import NotAvailableError, Reading
from fireassay.supervision.softmax_scores import energy
from fireassay.supervision.supervisor import Supervisor

_LARGEST_RATIO = 20.0  # exp of more would overflow, and says no more


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
        return {"largest": float(np.quantile(reading.features, self.quantile))}

    def _score(self, reading: Reading) -> FloatArray:
        weights, bias = reading.head
        clipped = np.minimum(reading.features, self.state_["largest"])
        return energy(clipped @ weights.T + bias)

    def _graph(self, g: GraphBuilder) -> str:
        clipped = g.op("Min", g.input("features"), g.constant(self.state_["largest"]))
        return g.energy(g.linear(clipped, *_model_head(self)))


@dataclass(kw_only=True, eq=False)
class Ash(Supervisor):
    """Energy after dropping a row's smaller activations and scaling the rest up.

    Djurisic et al. (2023), ASH-S: activations below the row's ``pruned`` quantile are set to zero,
    the others multiplied by exp(sum before / sum after).
    """

    name: ClassVar[str] = "ash"
    needs: ClassVar[tuple[str, ...]] = ("features", "head")
    pruned: float = 0.65

    def _score(self, reading: Reading) -> FloatArray:
        kept, ratio = kept_share(reading.features, self.pruned)
        weights, bias = reading.head
        return energy(np.exp(ratio)[:, None] * kept @ weights.T + bias)

    def _graph(self, g: GraphBuilder) -> str:
        return _shaped_graph(g, self, self.pruned, drops=True)


@dataclass(kw_only=True, eq=False)
class Scale(Supervisor):
    """Energy after scaling all activations by exp(sum of all / sum above the ``pruned`` quantile).

    Xu et al. (2024): as ASH, but nothing is dropped.
    """

    name: ClassVar[str] = "scale"
    needs: ClassVar[tuple[str, ...]] = ("features", "head")
    pruned: float = 0.65

    def _score(self, reading: Reading) -> FloatArray:
        _, ratio = kept_share(reading.features, self.pruned)
        weights, bias = reading.head
        return energy(np.exp(ratio)[:, None] * reading.features @ weights.T + bias)

    def _graph(self, g: GraphBuilder) -> str:
        return _shaped_graph(g, self, self.pruned, drops=False)


@dataclass(kw_only=True, eq=False)
class GradNorm(Supervisor):
    """L1 length of the gradient of the divergence from uniform, negated (Huang et al. 2021).

    The gradient with respect to the last weights is the outer product of p − 1/k and the
    activations, so that its length needs no backward pass.
    """

    name: ClassVar[str] = "gradnorm"
    needs: ClassVar[tuple[str, ...]] = ("features", "probabilities", "head")

    def _score(self, reading: Reading) -> FloatArray:
        n_classes = reading.probabilities.shape[1]
        from_uniform = np.abs(reading.probabilities - 1.0 / n_classes).sum(axis=1)
        scores: FloatArray = -from_uniform * np.abs(reading.features).sum(axis=1)
        return scores

    def _graph(self, g: GraphBuilder) -> str:
        p = g.input("probabilities")
        from_uniform = g.sum(g.op("Abs", g.minus(p, g.mean(p, keep=1))))
        return g.negative(g.times(from_uniform, g.sum(g.op("Abs", g.input("features")))))


def kept_share(features: FloatArray, pruned: float) -> tuple[FloatArray, FloatArray]:
    """Activations at or above the row's quantile, and the ratio of the sums before and after."""
    check_real(pruned, "pruned", low=0, high=1, inclusive="low")
    limit = np.quantile(features, pruned, axis=1, keepdims=True)
    kept = np.where(features >= limit, features, 0.0)
    positive, before = np.maximum(kept, 0.0).sum(axis=1), np.maximum(features, 0.0).sum(axis=1)
    ratio = np.divide(before, positive, out=np.ones_like(before), where=positive > 0)
    return kept, np.minimum(ratio, _LARGEST_RATIO)


def _shaped_graph(g: GraphBuilder, supervisor: Supervisor, pruned: float, drops: bool) -> str:
    features, (weights, bias) = g.input("features"), _model_head(supervisor)
    # The row's quantile, between two neighbours in its order.
    place = pruned * (weights.shape[1] - 1)
    below = int(np.floor(place))
    count = weights.shape[1] - below
    values, _ = g.ops("TopK", features, g.constant([count], np.int64), outputs=2)
    low = g.op("Gather", values, g.constant([count - 1], np.int64), axis=1)
    high = g.op("Gather", values, g.constant([max(count - 2, 0)], np.int64), axis=1)
    limit = g.op("Add", low, g.times(g.minus(high, low), g.constant(place - below)))
    is_kept = g.op("GreaterOrEqual", features, limit)
    kept = g.op("Where", is_kept, features, g.constant(0.0))
    before, after = (g.sum(g.op("Relu", part), keep=1) for part in (features, kept))
    has_some = g.op("Greater", after, g.constant(0.0))
    safe = g.op("Where", has_some, after, g.constant(1.0))
    ratio = g.op("Where", has_some, g.op("Div", before, safe), g.constant(1.0))
    factor = g.op("Exp", g.op("Min", ratio, g.constant(_LARGEST_RATIO)))
    shaped = g.times(factor, kept if drops else features)
    return g.energy(g.linear(shaped, weights, bias))


def _model_head(supervisor: Supervisor) -> tuple[FloatArray, FloatArray]:
    reader = getattr(supervisor, "reader_", None)
    head: tuple[FloatArray, FloatArray] | None = None if reader is None else reader.head()
    if head is None:
        raise NotAvailableError(
            f"The graph of {supervisor.name} contains the model's last linear layer.",
            got="no model that shows it",
            do="Call fit(model, …) or attach(model) first.",
        )
    return head

"""Supervisors on features: k-th nearest neighbour and ViM."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_real
from fireassay.supervision.distance_scores import kth_distance
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.reading import NotAvailableError, Reading
from fireassay.supervision.softmax_scores import energy
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class Knn(Supervisor):
    """Distance to the ``k``-th nearest training activation, all scaled to length one."""

    # Sun et al. (2022). ``subsample`` is the share of the training rows that is kept.

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


@dataclass(kw_only=True, eq=False)
class Vim(Supervisor):
    """Length of the activation outside the principal space, against the energy of the logits."""

    # Wang et al. (2022): activations from the point at which the logits vanish; ``principal`` is by
    # default the smaller of half the width and 1,000.

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
        return np.asarray(self.state_["alpha"] * residual + energy(reading.logits))

    def _graph(self, g: GraphBuilder) -> str:
        centred = g.minus(g.input("features"), g.constant(self.state_["origin"]))
        outside = g.op("MatMul", centred, g.constant(self.state_["outside"]))
        residual = g.op("Sqrt", g.sum(g.times(outside, outside)))
        scaled = g.times(residual, g.constant(self.state_["alpha"]))
        return g.op("Add", scaled, g.energy(g.input("logits")))


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
    """Energy after dropping a row's smaller activations and scaling the rest up."""

    # Djurisic et al. (2023), ASH-S: what is below the row's ``pruned`` quantile is set to zero, the
    # rest multiplied by exp(sum before / sum after).

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
    """Energy after scaling all activations by exp(sum / sum above the ``pruned`` quantile)."""

    # Xu et al. (2024): as ASH, but nothing is dropped.

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
    """L1 length of the gradient of the divergence from uniform, negated (Huang et al. 2021)."""

    # The gradient by the last weights is the outer product of p − 1/k and the activations: no
    # backward pass.

    name: ClassVar[str] = "gradnorm"
    needs: ClassVar[tuple[str, ...]] = ("features", "probabilities", "head")

    def _score(self, reading: Reading) -> FloatArray:
        n_classes = reading.probabilities.shape[1]
        from_uniform = np.abs(reading.probabilities - 1.0 / n_classes).sum(axis=1)
        return np.asarray(-from_uniform * np.abs(reading.features).sum(axis=1))

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

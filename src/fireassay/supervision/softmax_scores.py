"""Scores of the answer alone: its probabilities or its logits."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.lazy_modules import special
from fireassay.core.probabilities import entropy_bits
from fireassay.core.validation import check_integer, check_real
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class MaxSoftmax(Supervisor):
    """One minus the largest probability (Hendrycks and Gimpel 2017)."""

    name: ClassVar[str] = "max-softmax"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)

    def _score(self, reading: Reading) -> FloatArray:
        return np.asarray(1.0 - reading.probabilities.max(axis=1))

    def _graph(self, g: GraphBuilder) -> str:
        return g.from_one(g.max(g.input("probabilities")))


@dataclass(kw_only=True, eq=False)
class Pcs(Supervisor):
    """One minus the lead of the most probable class over the second (Zhang et al. 2020)."""

    name: ClassVar[str] = "pcs"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)

    def _score(self, reading: Reading) -> FloatArray:
        top = np.partition(reading.probabilities, -2, axis=1)[:, -2:]
        scores: FloatArray = 1.0 - (top[:, 1] - top[:, 0])
        return scores

    def _graph(self, g: GraphBuilder) -> str:
        values, _ = g.ops("TopK", g.input("probabilities"), g.constant([2], np.int64), outputs=2)
        return g.from_one(g.sum(g.times(values, g.constant([[1.0, -1.0]]))))


@dataclass(kw_only=True, eq=False)
class SoftmaxEntropy(Supervisor):
    """Entropy of the probabilities in bits."""

    name: ClassVar[str] = "softmax-entropy"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)

    def _score(self, reading: Reading) -> FloatArray:
        return entropy_bits(reading.probabilities)

    def _graph(self, g: GraphBuilder) -> str:
        return g.entropy(g.input("probabilities"))


@dataclass(kw_only=True, eq=False)
class DeepGini(Supervisor):
    """One minus the sum of squared probabilities (Feng et al. 2020)."""

    name: ClassVar[str] = "deep-gini"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)

    def _score(self, reading: Reading) -> FloatArray:
        return np.asarray(1.0 - np.square(reading.probabilities).sum(axis=1))

    def _graph(self, g: GraphBuilder) -> str:
        return g.from_one(g.sum(g.times(g.input("probabilities"), g.input("probabilities"))))


@dataclass(kw_only=True, eq=False)
class Gen(Supervisor):
    """Sum of (p (1 − p))^gamma over the ``top`` largest probabilities (Liu et al. 2023)."""

    name: ClassVar[str] = "gen"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)
    gamma: float = 0.1
    top: int = 100

    def _score(self, reading: Reading) -> FloatArray:
        gamma = check_real(self.gamma, "gamma", low=0, high=1)
        top = min(check_integer(self.top, "top", low=1), reading.probabilities.shape[1])
        largest = np.sort(reading.probabilities, axis=1)[:, -top:]
        scores: FloatArray = ((largest * (1.0 - largest)) ** gamma).sum(axis=1)
        return scores

    def _graph(self, g: GraphBuilder) -> str:
        p = g.input("probabilities")
        width = g.op("Shape", p, start=1, end=2)
        top = g.op("Min", width, g.constant([self.top], np.int64))
        largest, _ = g.ops("TopK", p, top, outputs=2)
        spread = g.op("Max", g.times(largest, g.from_one(largest)), g.constant(0.0))
        return g.sum(g.op("Pow", spread, g.constant(self.gamma)))


@dataclass(kw_only=True, eq=False)
class MaxLogit(Supervisor):
    """The largest logit, negated (Hendrycks et al. 2022)."""

    name: ClassVar[str] = "max-logit"
    needs: ClassVar[tuple[str, ...]] = ("logits",)

    def _score(self, reading: Reading) -> FloatArray:
        return np.asarray(-reading.logits.max(axis=1))

    def _graph(self, g: GraphBuilder) -> str:
        return g.negative(g.max(g.input("logits")))


@dataclass(kw_only=True, eq=False)
class Energy(Supervisor):
    """Free energy of the logits (Liu et al. 2020)."""

    name: ClassVar[str] = "energy"
    needs: ClassVar[tuple[str, ...]] = ("logits",)
    temperature: float = 1.0

    def _score(self, reading: Reading) -> FloatArray:
        return energy(reading.logits, check_real(self.temperature, "temperature", low=0))

    def _graph(self, g: GraphBuilder) -> str:
        scaled = g.op("Div", g.input("logits"), g.constant(self.temperature))
        return g.times(g.energy(scaled), g.constant(self.temperature))


def energy(logits: FloatArray, temperature: float = 1.0) -> FloatArray:
    """−T log Σ exp(logit / T): low where the model has seen much of the kind."""
    result: FloatArray = -temperature * special.logsumexp(logits / temperature, axis=1)
    return result

"""Scores of the answer alone: its probabilities or its logits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, entropy_bits
from fireassay.core.errors import ParameterError
from fireassay.core.lazy import special
from fireassay.core.seeds import derived_seed
from fireassay.core.validation import check_integer, check_real
from fireassay.engine import Executor
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.reading import ModelReader, Reading, SampleSummary
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
        return np.asarray(1.0 - (top[:, 1] - top[:, 0]))

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
        return np.asarray(((largest * (1.0 - largest)) ** gamma).sum(axis=1))

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
    return np.asarray(-temperature * special.logsumexp(logits / temperature, axis=1))


Recipe = Callable[[Any, Any, int], Any]


class _MeanSoftmax:
    """One minus the largest mean probability."""

    def _score(self, reading: Reading) -> FloatArray:
        return np.asarray(1.0 - _summary(self, reading).mean.max(axis=1))

    def _graph(self, g: GraphBuilder) -> str:
        return g.from_one(g.max(g.mean(g.input("samples"), axis=0)))


class _PredictiveEntropy:
    """Entropy of the mean."""

    def _score(self, reading: Reading) -> FloatArray:
        return entropy_bits(_summary(self, reading).mean)

    def _graph(self, g: GraphBuilder) -> str:
        return g.entropy(g.mean(g.input("samples"), axis=0))


class _MutualInformation:
    """Entropy of the mean minus mean entropy."""

    def _score(self, reading: Reading) -> FloatArray:
        summary = _summary(self, reading)
        return np.maximum(entropy_bits(summary.mean) - summary.mean_entropy, 0.0)

    def _graph(self, g: GraphBuilder) -> str:
        single = g.mean(g.entropy(g.input("samples"), axis=2), axis=0)
        together = g.entropy(g.mean(g.input("samples"), axis=0))
        return g.op("Max", g.minus(together, single), g.constant(0.0))


def _summary(supervisor: Any, reading: Reading) -> SampleSummary:
    summary: SampleSummary = getattr(reading, supervisor.needs[0])
    return summary


@dataclass(kw_only=True, eq=False)
class DropoutSupervisor(Supervisor):
    """Reads the answers of ``n_samples`` networks thinned by dropout (Gal and Ghahramani 2016)."""

    # Each sample uses one mask for all rows, so that a score does not depend on the other rows.

    needs: ClassVar[tuple[str, ...]] = ("dropout",)
    n_samples: int = 100

    def _reader(self, model: Any, X: Any, y: Any) -> ModelReader:
        del X, y
        return ModelReader(model, layer=self.layer, n_samples=self.n_samples, seed=self.seed)


@dataclass(kw_only=True, eq=False)
class McDropoutVariationRatio(DropoutSupervisor):
    """Share of dropout samples that do not vote for the most frequent class."""

    name: ClassVar[str] = "mc-dropout-variation-ratio"

    def _score(self, reading: Reading) -> FloatArray:
        votes = reading.dropout.votes
        return np.asarray(1.0 - votes.max(axis=1) / votes.sum(axis=1))

    def _graph(self, g: GraphBuilder) -> str:
        samples = g.input("samples")
        answers = g.op("ArgMax", samples, axis=2, keepdims=0)
        classes = g.op("Squeeze", g.op("Shape", samples, start=2, end=3))
        votes = g.op("OneHot", answers, classes, g.constant([0.0, 1.0], np.float32), axis=-1)
        votes = g.op("Cast", votes, to=g.onnx.TensorProto.DOUBLE)
        return g.from_one(g.max(g.mean(votes, axis=0)))


@dataclass(kw_only=True, eq=False)
class McDropoutMeanSoftmax(_MeanSoftmax, DropoutSupervisor):
    """One minus the largest mean probability of dropout samples."""

    name: ClassVar[str] = "mc-dropout-mean-softmax"


@dataclass(kw_only=True, eq=False)
class McDropoutMutualInformation(_MutualInformation, DropoutSupervisor):
    """Entropy of the mean minus mean entropy of dropout samples, in bits."""

    name: ClassVar[str] = "mc-dropout-mutual-information"


@dataclass(kw_only=True, eq=False)
class McDropoutPredictiveEntropy(_PredictiveEntropy, DropoutSupervisor):
    """Entropy of the mean probabilities of dropout samples, in bits."""

    name: ClassVar[str] = "mc-dropout-predictive-entropy"


@dataclass(kw_only=True, eq=False)
class EnsembleSupervisor(Supervisor):
    """Looks at the answers of several models (Lakshminarayanan et al. 2017)."""

    needs: ClassVar[tuple[str, ...]] = ("ensemble",)
    members: Sequence[Any] | None = None
    train: Recipe | None = None
    n_members: int = 20

    def _reader(self, model: Any, X: Any, y: Any) -> ModelReader:
        members = self.members
        if members is None and self.train is not None and X is not None:
            members = train_members(self.train, X, y, self.n_members, self.seed)
        self.members_ = members
        return ModelReader(model, layer=self.layer, members=members, seed=self.seed)


@dataclass(kw_only=True, eq=False)
class EnsembleMeanSoftmax(_MeanSoftmax, EnsembleSupervisor):
    """One minus the largest mean probability of the ensemble."""

    name: ClassVar[str] = "ensemble-mean-softmax"


@dataclass(kw_only=True, eq=False)
class EnsembleMutualInformation(_MutualInformation, EnsembleSupervisor):
    """Entropy of the mean minus mean entropy of the ensemble, in bits."""

    name: ClassVar[str] = "ensemble-mutual-information"


@dataclass(kw_only=True, eq=False)
class EnsemblePredictiveEntropy(_PredictiveEntropy, EnsembleSupervisor):
    """Entropy of the mean probabilities of the ensemble, in bits."""

    name: ClassVar[str] = "ensemble-predictive-entropy"


def train_members(
    train: Recipe, X: Any, y: Any, n_members: int, seed: int, executor: Executor | None = None
) -> list[Any]:
    """Models of one recipe that differ in their seed alone."""
    check_integer(n_members, "n_members", low=2)
    if not callable(train):
        raise ParameterError(
            "The 'train' parameter must be a function (X, y, seed) -> model.", got=repr(train)
        )
    seeds = [derived_seed(seed, "ensemble", i) for i in range(n_members)]
    if executor is None:
        return [train(X, y, own) for own in seeds]
    return executor.map(_member, seeds, {"train": train, "X": X, "y": y}, name="train members")


def _member(seed: int, train: Recipe, X: Any, y: Any) -> Any:
    return train(X, y, seed)

"""Stacked small networks: autoencoders and classifiers of class pairs, and their batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.random import Generator
from torch.nn import functional

from fireassay.ambiguity.preset import Preset
from fireassay.core.arrays import Float32Array, FloatArray, IntArray
from fireassay.networks.training import Adam

_LEAK = 0.3


class StackedMlp(torch.nn.Module):
    """A stack of multilayer perceptrons: weights ``[stack, in, out]``, no weight is shared."""

    def __init__(
        self, sizes: Sequence[int], generators: Sequence[Generator], dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        self.dropout = dropout
        self.weights = torch.nn.ParameterList()
        self.biases = torch.nn.ParameterList()
        for fan_in, fan_out in pairwise(sizes):
            limit = np.sqrt(6.0 / (fan_in + fan_out))
            first = np.empty((len(generators), fan_in, fan_out), dtype=np.float32)
            for i, rng in enumerate(generators):
                first[i] = rng.uniform(-limit, limit, (fan_in, fan_out))
            self.weights.append(torch.nn.Parameter(torch.from_numpy(first)))
            self.biases.append(torch.nn.Parameter(torch.zeros(len(generators), 1, fan_out)))

    def forward(self, x: torch.Tensor, noise: torch.Generator | None = None) -> torch.Tensor:
        """Outputs ``[stack, rows, out]`` of inputs ``[stack, rows, in]``; no final activation."""
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x, weight)
            if i < last:
                x = functional.leaky_relu(x, _LEAK)
                if self.training and self.dropout:
                    kept = torch.rand(x.shape, generator=noise) >= self.dropout
                    x = x * kept / (1.0 - self.dropout)
        return x

    def push_forward(
        self, x: torch.Tensor, direction: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Outputs, and their derivative along a direction of the inputs (forward mode)."""
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x, direction = torch.baddbmm(bias, x, weight), torch.bmm(direction, weight)
            if i < last:
                direction = torch.where(x > 0.0, direction, _LEAK * direction)
                x = functional.leaky_relu(x, _LEAK)
        return x, direction

    def subset(self, members: Sequence[int]) -> "StackedMlp":
        """The chosen networks as a stack of their own."""
        chosen = torch.as_tensor(list(members))
        smaller = StackedMlp(self.sizes, [], self.dropout)
        with torch.no_grad():
            smaller.weights = torch.nn.ParameterList(w[chosen].clone() for w in self.weights)
            smaller.biases = torch.nn.ParameterList(b[chosen].clone() for b in self.biases)
        return smaller.eval()


@dataclass(frozen=True, eq=False)
class PairRows:
    """Row numbers of the two classes of one pair."""

    first: IntArray
    second: IntArray

    @property
    def size(self) -> int:
        """Rows of both classes."""
        return len(self.first) + len(self.second)

    @property
    def both(self) -> IntArray:
        """Rows of the first class, then of the second."""
        return np.concatenate([self.first, self.second])

    @property
    def side(self) -> Float32Array:
        """0 for rows of the first class, 1 for those of the second, in the order of `both`."""
        return np.repeat([0.0, 1.0], [len(self.first), len(self.second)]).astype(np.float32)


class PairBatches:
    """Endless batches: each network goes through its rows in shuffled passes of its own."""

    def __init__(
        self, rows: Sequence[PairRows], preset: Preset, generators: Sequence[Generator]
    ) -> None:
        self._both = [pair.both for pair in rows]
        self._side = [pair.side for pair in rows]
        self._generators = generators
        self._batch = preset.batch
        both = zip(rows, generators, strict=True)
        self._passes = [_passes(pair, preset, rng) for pair, rng in both]

    def draw(self) -> tuple[IntArray, Float32Array, Float32Array]:
        """Rows ``[stack, batch]``, their sides, and standard normals ``[stack, batch, 4]``."""
        picked, side, noise = [], [], []
        for i, passes in enumerate(self._passes):
            members = np.concatenate([part.draw() for part in passes])
            picked.append(self._both[i][members])
            side.append(self._side[i][members])
            noise.append(self._generators[i].standard_normal((len(members), 4), dtype=np.float32))
        return np.stack(picked), np.stack(side), np.stack(noise)


def _passes(pair: PairRows, preset: Preset, rng: Generator) -> "list[_Shuffled]":
    members = np.arange(pair.size)
    if not preset.balanced:
        return [_Shuffled(members, preset.batch, rng)]
    half = preset.batch // 2
    first, second = members[: len(pair.first)], members[len(pair.first) :]
    return [_Shuffled(first, half, rng), _Shuffled(second, preset.batch - half, rng)]


class _Shuffled:
    def __init__(self, members: IntArray, size: int, rng: Generator) -> None:
        self._members, self._size, self._rng = members, size, rng
        self._left = members[:0]

    def draw(self) -> IntArray:
        while len(self._left) < self._size:
            self._left = np.concatenate([self._left, self._rng.permutation(self._members)])
        drawn, self._left = self._left[: self._size], self._left[self._size :]
        return drawn


CLASS_MEAN = 3.0
LATENT = 2
CELLS = 50


class PairAutoencoders(torch.nn.Module):
    """Encoder, decoder and discriminator of every pair and try; a row's side, 0 or 1, is its class.

    The priors of a pair's classes lie around (-3, 0) and (3, 0), with unit variance.
    """

    def __init__(
        self, inputs: int, outputs: int, preset: Preset, generators: Sequence[Generator]
    ) -> None:
        super().__init__()
        self.odds_are_posteriors = preset.mismatch_negatives
        width = preset.units(outputs)
        hidden = (width, width)
        self.encoder = StackedMlp((inputs, *hidden, LATENT), generators, preset.dropout)
        self.decoder = StackedMlp((LATENT, *hidden, outputs), generators, preset.dropout)
        judging = (preset.discriminator_hidden, preset.discriminator_hidden)
        self.discriminator = StackedMlp((LATENT + 2, *judging, 1), generators, preset.dropout)

    @classmethod
    def of_weights(
        cls, inputs: int, outputs: int, preset: Preset, arrays: Sequence[Float32Array]
    ) -> "PairAutoencoders":
        """The trained networks that `weight_arrays` describes, ready to use."""
        nets = cls(inputs, outputs, preset, [])
        left = iter(arrays)
        for group in nets._groups():
            for i in range(len(group)):
                group[i] = torch.nn.Parameter(torch.from_numpy(next(left)))
        return nets.eval()

    def weight_arrays(self) -> list[Float32Array]:
        """Weights and biases of encoder, decoder and discriminator, to be sent or kept."""
        return [value.detach().numpy() for group in self._groups() for value in group]

    def _groups(self) -> list[torch.nn.ParameterList]:
        parts = (self.encoder, self.decoder, self.discriminator)
        return [group for part in parts for group in (part.weights, part.biases)]

    def judge(
        self, codes: torch.Tensor, side: torch.Tensor, noise: torch.Generator | None = None
    ) -> torch.Tensor:
        """Logits ``[stack, rows]`` that a code was drawn from the prior of its side."""
        one_hot = torch.stack([1.0 - side, side], dim=-1)
        logits: torch.Tensor = self.discriminator(torch.cat([codes, one_hot], dim=-1), noise)
        return logits[..., 0]

    def decode(self, codes: torch.Tensor, noise: torch.Generator | None = None) -> torch.Tensor:
        """Features in [0, 1] of codes ``[stack, rows, 2]``."""
        return torch.sigmoid(self.decoder(codes, noise))

    def second_class_probability(self, codes: torch.Tensor) -> torch.Tensor:
        """P(second class) of codes, in double precision."""
        # With mismatch negatives the odds of a side are twice its posterior once codes follow the
        # prior, so the odds are normalised; without, the paper's rule normalises the two outputs.
        first = self.judge(codes, torch.zeros(codes.shape[:-1])).double()
        second = self.judge(codes, torch.ones(codes.shape[:-1])).double()
        if self.odds_are_posteriors:
            return torch.sigmoid(second - first)
        return torch.sigmoid(second) / (torch.sigmoid(first) + torch.sigmoid(second))

    def subset(self, members: Sequence[int]) -> "PairAutoencoders":
        """The chosen autoencoders as a stack of their own, ready to use."""
        smaller = PairAutoencoders.__new__(PairAutoencoders)
        torch.nn.Module.__init__(smaller)
        smaller.odds_are_posteriors = self.odds_are_posteriors
        smaller.encoder = self.encoder.subset(members)
        smaller.decoder = self.decoder.subset(members)
        smaller.discriminator = self.discriminator.subset(members)
        return smaller.eval()


def prior_means(side: torch.Tensor) -> torch.Tensor:
    """The mean of the prior for each side, ``[..., 2]``."""
    x = (2.0 * side - 1.0) * CLASS_MEAN
    return torch.stack([x, torch.zeros_like(x)], dim=-1)


def confined_anchors(latent_sd: float, columns: int = CELLS) -> tuple[FloatArray, FloatArray]:
    """Anchors and cell size: between the class means, ``latent_sd`` up and down."""
    size = np.array([2.0 * CLASS_MEAN / columns, 2.0 * latent_sd / CELLS])
    x = -CLASS_MEAN + size[0] * (np.arange(columns) + 0.5)
    y = -latent_sd + size[1] * (np.arange(CELLS) + 0.5)
    return np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2), size


def analytic_probability(x: np.ndarray) -> np.ndarray:
    """P(second class) if the codes follow the prior exactly: sigmoid(6 x)."""
    return np.asarray(1.0 / (1.0 + np.exp(-2.0 * CLASS_MEAN * x)))


_SCHEDULE = Preset("pair classifier", batch=64, balanced=True)
_STEPS = 200
_HIDDEN = 64
_RATE = 3e-3


class PairClassifiers:
    """One network with a hidden layer per entry of ``rows``; gives P(second class)."""

    def __init__(
        self,
        inputs: torch.Tensor,
        rows: Sequence[PairRows],
        generators: Sequence[Generator],
        steps: int = _STEPS,
    ) -> None:
        self.net = StackedMlp((inputs.shape[1], _HIDDEN, 1), generators).train()
        adam = Adam(self.net.parameters(), lr=_RATE)
        batches = PairBatches(rows, _SCHEDULE, generators)
        for step in range(steps):
            adam.param_groups[0]["lr"] = _RATE * (1.0 - step / steps)
            picked, side, _ = batches.draw()
            logits = self.net(inputs[torch.from_numpy(picked)])[..., 0]
            loss = functional.binary_cross_entropy_with_logits(
                logits, torch.from_numpy(side), reduction="none"
            )
            adam.zero_grad()
            loss.mean(dim=1).sum().backward()  # type: ignore[no-untyped-call]
            adam.step()
        self.net.eval()

    def second_class_probability(self, member: int, inputs: torch.Tensor) -> FloatArray:
        """P(second class) by one network of the stack."""
        with torch.no_grad():
            logits = self.net.subset([member])(inputs[None])[0, :, 0]
        return np.asarray(torch.sigmoid(logits.double()).numpy())

    def accuracies(self, inputs: torch.Tensor, rows: Sequence[PairRows]) -> list[float]:
        """Balanced accuracy of each network on the given rows."""
        seen = [inputs[torch.from_numpy(pair.both)] for pair in rows]
        found = [self.second_class_probability(i, own) for i, own in enumerate(seen)]
        return [balanced_accuracy(p, pair.side) for p, pair in zip(found, rows, strict=True)]


def balanced_accuracy(second: FloatArray, side: Float32Array) -> float:
    """Mean of the two classes' accuracies; an exact tie counts half."""
    right = np.where(second == 0.5, 0.5, (second > 0.5) == (side > 0.5))
    return float((right[side < 0.5].mean() + right[side > 0.5].mean()) / 2.0)

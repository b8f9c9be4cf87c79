"""Batches for a stack of pair networks: rows, their side, and noise for the prior."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fireassay.ambiguity.preset import Preset
from fireassay.core.arrays import Float32Array, IntArray


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
        self, rows: Sequence[PairRows], preset: Preset, generators: Sequence[np.random.Generator]
    ) -> None:
        self._both = [pair.both for pair in rows]
        self._side = [pair.side for pair in rows]
        self._generators = generators
        self._batch = preset.batch
        self._passes = [
            _passes(pair, preset, rng) for pair, rng in zip(rows, generators, strict=True)
        ]

    def draw(self) -> tuple[IntArray, Float32Array, Float32Array]:
        """Rows ``[stack, batch]``, their sides, and standard normals ``[stack, batch, 4]``."""
        picked, side, noise = [], [], []
        for i, passes in enumerate(self._passes):
            members = np.concatenate([part.draw() for part in passes])
            picked.append(self._both[i][members])
            side.append(self._side[i][members])
            noise.append(self._generators[i].standard_normal((len(members), 4), dtype=np.float32))
        return np.stack(picked), np.stack(side), np.stack(noise)


def _passes(pair: PairRows, preset: Preset, rng: np.random.Generator) -> "list[_Shuffled]":
    members = np.arange(pair.size)
    if not preset.balanced:
        return [_Shuffled(members, preset.batch, rng)]
    half = preset.batch // 2
    first, second = members[: len(pair.first)], members[len(pair.first) :]
    return [_Shuffled(first, half, rng), _Shuffled(second, preset.batch - half, rng)]


class _Shuffled:
    def __init__(self, members: IntArray, size: int, rng: np.random.Generator) -> None:
        self._members, self._size, self._rng = members, size, rng
        self._left = members[:0]

    def draw(self) -> IntArray:
        while len(self._left) < self._size:
            self._left = np.concatenate([self._left, self._rng.permutation(self._members)])
        drawn, self._left = self._left[: self._size], self._left[self._size :]
        return drawn

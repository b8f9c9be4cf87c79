"""Turnbull's estimate: the survival curve when failures are only known to lie in intervals."""

from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray, IntArray
from fireassay.survival.times import Times


def intervals_overlap(times: Times) -> bool:
    """Whether some failure's interval cuts another row's, so that a plain curve is not enough."""
    open_ends = times.failed & ~times.exact
    if not open_ends.any():
        return False
    pairs = np.unique(np.column_stack([times.lower[open_ends], times.upper[open_ends]]), axis=0)
    if (pairs[:-1, 1] > pairs[1:, 0]).any():
        return True
    points = np.unique(times.lower[~open_ends])
    first = np.searchsorted(points, pairs[:, 0], side="right")
    last = np.searchsorted(points, pairs[:, 1], side="left")
    return bool((last > first).any())


@dataclass(frozen=True)
class TurnbullSupport:
    """Distinct (lower, upper] patterns and the innermost intervals that can carry mass."""

    pattern_of_row: IntArray
    starts: IntArray
    stops: IntArray
    right: AnyArray

    @classmethod
    def of(cls, times: Times) -> "TurnbullSupport":
        """From times."""
        ends = np.column_stack([times.lower, times.upper])
        patterns, inverse = np.unique(ends, axis=0, return_inverse=True)
        return cls(inverse.ravel(), *_innermost(patterns))

    def mass(
        self,
        weights: AnyArray,
        start: AnyArray | None = None,
        *,
        tolerance: float = 1e-6,
        max_iterations: int = 2000,
    ) -> AnyArray:
        """The self-consistent mass of each innermost interval, for weighted rows.

        EM steps with squared extrapolation, until no probability moves by ``tolerance``.
        """
        counts = np.bincount(self.pattern_of_row, weights, len(self.starts))
        total, size = float(counts.sum()), len(self.right)
        uniform = np.full(size, 1.0 / size)
        mass = uniform if start is None else 0.99 * start + 0.01 * uniform
        for _ in range(max_iterations):
            once = self._step(mass, counts, total)
            twice = self._step(once, counts, total)
            moved = self._step(_extrapolate(mass, once, twice), counts, total)
            change = float(np.abs(np.cumsum(moved - mass)).max())
            mass = moved
            if change < tolerance:
                break
        return mass

    def curve(self, mass: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Times and survival from them on; a drop is at the end of its innermost interval."""
        finite = np.isfinite(self.right)
        survival = 1.0 - np.cumsum(mass)
        return self.right[finite], np.clip(survival[finite], 0.0, 1.0)

    def _step(self, mass: AnyArray, counts: AnyArray, total: float) -> AnyArray:
        cumulative = np.append(0.0, np.cumsum(mass))
        inside = np.maximum(cumulative[self.stops] - cumulative[self.starts], 1e-300)
        share = counts / inside
        size = len(mass) + 1
        change = np.bincount(self.starts, share, size) - np.bincount(self.stops, share, size)
        moved = mass * np.maximum(np.cumsum(change)[:-1], 0.0) / total
        return np.asarray(moved / moved.sum())


def turnbull(times: Times) -> tuple[AnyArray, AnyArray]:
    """Times and survival just after them, by self-consistency on the innermost intervals."""
    support = TurnbullSupport.of(times)
    return support.curve(support.mass(np.ones(len(times)), tolerance=1e-8, max_iterations=20_000))


def _innermost(patterns: AnyArray) -> tuple[IntArray, IntArray, AnyArray]:
    """For each pattern the range of innermost intervals inside it, and their right ends."""
    lower, upper = patterns[:, 0], patterns[:, 1]
    exact = lower == upper
    # At one value: a closed left end, then a right end, then an open left end.
    left_keys = np.column_stack([lower, np.where(exact, 0.0, 2.0)])
    right_keys = np.column_stack([upper, np.full(len(upper), 1.0)])
    keys = np.unique(np.concatenate([left_keys, right_keys]), axis=0)
    is_right = keys[:, 1] == 1.0
    closes = np.flatnonzero(is_right[1:] & ~is_right[:-1]) + 1
    position = {(value, kind): i for i, (value, kind) in enumerate(keys.tolist())}
    left_at = np.array([position[tuple(key)] for key in left_keys.tolist()])
    right_at = np.array([position[tuple(key)] for key in right_keys.tolist()])
    starts = np.searchsorted(closes, left_at, side="right")
    stops = np.searchsorted(closes, right_at, side="right")
    return starts, stops, keys[closes, 0]


def _extrapolate(before: AnyArray, once: AnyArray, twice: AnyArray) -> AnyArray:
    """A squared extrapolation of the EM sequence, kept inside the simplex."""
    change = once - before
    bend = twice - once - change
    size = float(bend @ bend)
    if size == 0.0:
        return twice
    length = -max(1.0, min(64.0, float(np.sqrt(change @ change / size))))
    guess = before - 2.0 * length * change + length * length * bend
    return twice if (guess < 0).any() else np.asarray(guess / guess.sum())

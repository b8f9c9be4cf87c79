"""The values that each column of a sample may take in a search over values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Choices:
    """For every sample and feature a range, how it is divided, and how many may change at once.

    ``least`` and ``most`` are ``(n, d)``; ``step`` is the distance of two values of an integer, 0
    for reals and categories.
    """

    target: AttackedModel
    free: Index
    least: Matrix
    most: Matrix
    step: NDArray[np.float64]
    limited_columns: NDArray[np.bool_]
    limit: int

    def draw(self, rows: Index, columns: Index, uniform: NDArray[np.float64]) -> NDArray[Any]:
        """One value for each pair of sample and column: an end of its range, half of the time.

        In between, integers take any value, reals go to the other end; categories take any.
        """
        low, high = self.least[rows, columns], self.most[rows, columns]
        own, step = self.target.original[rows, columns].astype(np.float64), self.step[columns]
        ends = np.where(np.where(uniform < 0.5, uniform < 0.25, uniform < 0.75), low, high)
        count = np.where(step > 0, np.rint((high - low) / np.where(step > 0, step, 1.0)), 0.0)
        between = low + np.floor((2 * uniform - 1) * (count + 1)) * step
        found = np.where((step > 0) & (uniform >= 0.5), between, ends)
        space = self.target.space
        if space is not None:
            for at in np.flatnonzero(space.category[columns]).tolist():
                others = space.values[int(columns[at])]
                others = others[others != own[at]]
                found[at] = others[int(uniform[at] * len(others))]
        # Where the range is the sample's own value there is nothing to choose.
        return np.asarray(np.where(low == high, own, found), dtype=self.target.dtype)

    def limited(
        self, rows: Index, points: NDArray[Any], generators: list[np.random.Generator]
    ) -> NDArray[Any]:
        """Points with at most ``limit`` changes in the limited columns: some at random go back."""
        changed = (points != self.target.original[rows]) & self.limited_columns
        for at in np.flatnonzero(changed.sum(axis=1) > self.limit).tolist():
            some = generators[at].permutation(np.flatnonzero(changed[at]))[self.limit :]
            points[at, some] = self.target.original[rows[at], some]
        return points


def make_choices(target: AttackedModel) -> Choices:
    """The choices of an attack in linf (each column within eps) or l0 (so many columns)."""
    own = target.original.astype(np.float64)
    d = own.shape[1]
    space = target.space
    low = np.broadcast_to(target.low.astype(np.float64), own.shape)
    high = np.broadcast_to(target.high.astype(np.float64), own.shape)
    reach = np.full((len(own), 1), np.inf)
    if target.norm == "linf":
        # Less what rounding can add, so that the distance never exceeds eps.
        largest = (np.abs(own).max(axis=1, keepdims=True) + target.eps).astype(target.dtype)
        reach = np.maximum(target.eps - np.spacing(largest).astype(np.float64), 0.0)
    least, most = np.maximum(low, own - reach), np.minimum(high, own + reach)
    step = np.zeros(d)
    limited, limit = np.ones(d, dtype=np.bool_), d
    if target.norm == "l0":
        limit = int(target.eps)
    if space is not None:
        whole = space.integer
        step = np.where(whole, 1.0 / space.unit, 0.0)
        steps_down = np.floor((own - least)[:, whole] / step[whole] + 1e-9)
        steps_up = np.floor((most - own)[:, whole] / step[whole] + 1e-9)
        least[:, whole] = own[:, whole] - np.maximum(steps_down, 0) * step[whole]
        most[:, whole] = own[:, whole] + np.maximum(steps_up, 0) * step[whole]
        category = space.category
        least[:, category] = np.broadcast_to(low, own.shape)[:, category]
        most[:, category] = np.broadcast_to(high, own.shape)[:, category]
        least = np.where(space.increasing, own, least)
        least, most = np.minimum(least, own), np.maximum(most, own)
        least, most = np.where(target.stays, own, least), np.where(target.stays, own, most)
        if target.norm == "linf":
            limited, limit = category, space.most_categories
        else:
            limit = min(limit, d)
    unlimited = ~np.isfinite(least) | ~np.isfinite(most)
    seen_low, seen_high = own.min(axis=0), own.max(axis=0)
    least = np.where(unlimited, seen_low, least)
    most = np.where(unlimited, seen_high, most)
    return Choices(target, target.free, least, most, step, limited, limit)

"""Several directions bisected together: those that lose are dropped, the nearest is left."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.bisection import along_line, into_box
from fireassay.attacks.norms import length
from fireassay.attacks.start import Pool, find_starts, rival_starts

_RIVALS = 7
_MOST_ROUNDS = 16
# How well the first direction is known when the others are asked, and how much nearer they must be.
_COARSE, _NEARER = 0.25, 0.7
# Once the distance is known to this share, one of the directions left is as good as another.
_ENOUGH = 0.1


def near_starts(
    target: AttackedModel,
    rows: Index,
    generators: list[np.random.Generator],
    pool: Pool | None,
    tolerance: float,
) -> tuple[Index, NDArray[Any]]:
    """Misclassified points at the boundary, for as many of these samples as possible.

    Of noise some more is tried, and the direction in which the boundary is nearest is taken; of a
    pool the nearest member is taken already. Returns positions in ``rows`` and the points, which
    lie behind the boundary by at most ``tolerance`` as a share of their distance.
    """
    found, points = find_starts(target, rows, generators, pool)
    count = _RIVALS if pool is None else 0
    rivals = rival_starts(target, rows[found], [generators[i] for i in found], count)
    return found, nearest_of(target, rows[found], points, rivals, tolerance)


def nearest_of(
    target: AttackedModel,
    rows: Index,
    points: NDArray[Any],
    rivals: NDArray[Any],
    tolerance: float,
) -> NDArray[Any]:
    """Of several directions the one in which the boundary is nearest: the points found there.

    ``points`` are misclassified; ``rivals`` ``(n, k, d)`` are other directions, of which nothing is
    known. They are all asked at once, somewhat nearer than the first direction leads. Those that
    are wrong there go on: at every distance all that were wrong further out are asked, and if any
    of them still is, only those are left.
    """
    search = along_line if target.norm == "l2" else into_box
    race = _Race(target, rows, search(target, rows, points, _COARSE), rivals)
    challenged = race.ask(np.arange(len(rows)), _NEARER * race.wrong_at)
    race.back_to_first(~challenged)
    for _ in range(_MOST_ROUNDS):
        width = race.wrong_at - race.right_at
        race.alive &= (width > _ENOUGH * race.wrong_at)[:, None] | race.first_alive()
        open_ = np.flatnonzero((width > tolerance * race.wrong_at) & (target.room(rows) >= 1))
        if not len(open_):
            break
        middle = (race.right_at + race.wrong_at) / 2
        won = race.ask(open_, middle)
        lost = open_[~won[open_]]
        race.right_at[lost] = middle[lost]
    return race.best


class _Race:
    """Of each sample: which directions are left, and between which distances the boundary lies."""

    def __init__(
        self, target: AttackedModel, rows: Index, points: NDArray[Any], rivals: NDArray[Any]
    ) -> None:
        self.target, self.rows, self.best = target, rows, points.copy()
        self.samples = target.original[rows]
        self.offsets = np.concatenate([points[:, None], rivals], axis=1) - self.samples[:, None]
        n, k, d = self.offsets.shape
        self.lengths = length(self.offsets.reshape(n * k, d), target.norm).reshape(n, k)
        self.wrong_at, self.right_at = self.lengths[:, 0].copy(), np.zeros(n)
        self.alive = np.ones((n, k), dtype=np.bool_)
        self.alive[:, 0] = False

    def first_alive(self) -> NDArray[np.bool_]:
        """The first direction that is left of each sample."""
        return np.asarray(self.alive & (np.cumsum(self.alive, axis=1) == 1))

    def back_to_first(self, chosen: NDArray[np.bool_]) -> None:
        """For these samples no other direction was nearer."""
        self.alive[chosen] = np.arange(self.alive.shape[1]) == 0
        self.right_at[chosen] = (1 - _COARSE) * self.wrong_at[chosen]

    def ask(self, open_: Index, distance: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Ask about all directions left of these samples at this distance; True: one is wrong."""
        target, rows = self.target, self.rows
        affordable = np.cumsum(self.alive, axis=1) <= target.room(rows)[:, None]
        owner, which = np.nonzero((self.alive & affordable)[open_])
        owner = open_[owner]
        moves = self._shortened(owner, which, distance[owner])
        proposals = target.inside(self.samples[owner] + moves, rows[owner])
        wrong = target.check(proposals, rows[owner])
        owner, which, proposals = owner[wrong], which[wrong], proposals[wrong]
        self.best[owner] = proposals
        won = np.zeros_like(self.alive)
        won[owner, which] = True
        any_won = np.asarray(won.any(axis=1))
        self.alive[any_won] = won[any_won]
        self.wrong_at[any_won] = distance[any_won]
        return any_won

    def _shortened(self, owner: Index, which: Index, distance: NDArray[np.float64]) -> NDArray[Any]:
        """Offsets of at most this length: in l2 along the line, in linf cut off."""
        offsets = self.offsets[owner, which]
        if self.target.norm == "linf":
            most = distance[:, None].astype(offsets.dtype)
            return np.clip(offsets, -most, most)
        share = np.minimum(distance / np.maximum(self.lengths[owner, which], 1e-30), 1.0)
        return np.asarray(share[:, None].astype(offsets.dtype) * offsets)

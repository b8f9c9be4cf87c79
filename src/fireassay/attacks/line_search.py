"""Line searches for the decision boundary, one direction or several at once."""

from collections.abc import Callable

import numpy as np

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.norms import length
from fireassay.attacks.start import Pool, find_starts, rival_starts
from fireassay.core.arrays import AnyArray, BoolArray, Float32Array, FloatArray

_MOST_ROUNDS = 16
Vector = FloatArray


def along_line(
    target: AttackedModel, rows: Index, points: AnyArray, tolerance: float, *, first: float = 0.5
) -> AnyArray:
    """Bisect from points to samples, first at share ``first``, to a relative ``tolerance``."""
    samples = target.original[rows].astype(np.float64)
    offsets = points - samples

    def at(position: Vector, chosen: Index) -> AnyArray:
        return samples[chosen] + position[:, None] * offsets[chosen]

    return _bisect(target, rows, points, np.ones(len(rows)), at, tolerance, first)


def into_box(target: AttackedModel, rows: Index, points: AnyArray, tolerance: float) -> AnyArray:
    """Shrink a box around the sample and pull the point into it, as far as it stays wrong."""
    samples = target.original[rows].astype(np.float64)
    offsets = points - samples

    def at(position: Vector, chosen: Index) -> AnyArray:
        half = position[:, None]
        return samples[chosen] + np.clip(offsets[chosen], -half, half)

    return _bisect(target, rows, points, np.abs(offsets).max(axis=1), at, tolerance)


def _bisect(
    target: AttackedModel,
    rows: Index,
    points: AnyArray,
    wrong_at: Vector,
    at: Callable[[Vector, Index], AnyArray],
    tolerance: float,
    first: float = 0.5,
) -> AnyArray:
    """Bisect between 0 (the sample, right) and ``wrong_at``; returns the nearest wrong points."""
    best = points.copy()
    right_at = np.zeros(len(rows))
    for step in range(_MOST_ROUNDS):
        wide = wrong_at - right_at > tolerance * wrong_at
        open_ = np.flatnonzero(wide & (target.queries_left(rows) >= 1))
        if not len(open_):
            break
        share = first if step == 0 else 0.5
        middle = right_at[open_] + share * (wrong_at[open_] - right_at[open_])
        proposals = target.inside(at(middle, open_), rows[open_])
        wrong = target.check(proposals, rows[open_])
        best[open_[wrong]] = proposals[wrong]
        wrong_at[open_[wrong]] = middle[wrong]
        right_at[open_[~wrong]] = middle[~wrong]
    return best


def plane(
    target: AttackedModel, rows: Index, points: AnyArray, directions: Float32Array
) -> tuple[AnyArray, Vector, AnyArray, AnyArray]:
    """Samples, distances of points, unit vectors to them, and directions orthogonal to those."""
    samples = target.original[rows].astype(np.float64)
    outward = points - samples
    distance = np.sqrt(np.square(outward).sum(axis=1))
    outward /= distance[:, None]
    sideways = directions - (directions * outward).sum(axis=1, keepdims=True) * outward
    sideways /= np.maximum(np.sqrt(np.square(sideways).sum(axis=1, keepdims=True)), 1e-12)
    return samples, distance, outward, sideways


def along_semicircle(
    target: AttackedModel,
    rows: Index,
    points: AnyArray,
    normals: Float32Array,
    guesses: Vector,
    tolerance: float,
) -> tuple[AnyArray, Vector]:
    """Points and angles on the half circle sample–point in the normal's plane."""
    # At angle a the distance is cos(a) times the present one; for a flat boundary with this normal
    # the last wrong point on the circle is the nearest point of the boundary.
    samples, distance, outward, sideways = plane(target, rows, points, normals)
    wrong_at = np.zeros(len(rows))
    right_at = np.full(len(rows), np.pi / 2)
    trial = guesses.copy()
    best = points.copy()
    for _ in range(_MOST_ROUNDS):
        width = right_at - wrong_at
        # Far from the top of the circle a small angle hardly changes the distance.
        precise = width * np.maximum(np.tan(wrong_at), 0.1) <= tolerance
        open_ = np.flatnonzero(~precise & (target.queries_left(rows) >= 1))
        if not len(open_):
            break
        angle = trial[open_]
        radius = distance[open_] * np.cos(angle)
        turned = np.cos(angle)[:, None] * outward[open_] + np.sin(angle)[:, None] * sideways[open_]
        proposals = target.inside(samples[open_] + radius[:, None] * turned, rows[open_])
        wrong = target.check(proposals, rows[open_])
        best[open_[wrong]] = proposals[wrong]
        wrong_at[open_[wrong]] = angle[wrong]
        right_at[open_[~wrong]] = angle[~wrong]
        middle = (wrong_at + right_at) / 2
        unbounded = (right_at == np.pi / 2) & (wrong_at > 0)
        trial = np.where(unbounded, np.minimum(1.5 * wrong_at, middle), middle)
    next_guess = np.clip(np.where(wrong_at > 0, wrong_at, guesses / 2), 0.02, 1.2)
    return best, next_guess


_RIVALS = 7
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
) -> tuple[Index, AnyArray]:
    """Positions in ``rows`` with a misclassified point near the boundary, and those points."""
    # Noise is tried in several directions, and the nearest boundary wins; of a pool the nearest
    # member is the start. A point lies behind the boundary by at most tolerance of its distance.
    found, points = find_starts(target, rows, generators, pool)
    count = _RIVALS if pool is None else 0
    rivals = rival_starts(target, rows[found], [generators[i] for i in found], count)
    return found, nearest_of(target, rows[found], points, rivals, tolerance)


def nearest_of(
    target: AttackedModel, rows: Index, points: AnyArray, rivals: AnyArray, tolerance: float
) -> AnyArray:
    """Per sample the wrong point nearest to the boundary, among ``points`` and ``rivals``."""
    # Rivals are (n, k, d) and unknown. All rivals are asked somewhat nearer than the point; those
    # wrong there are asked at ever smaller distances, and while any is wrong the others drop out.
    search = along_line if target.norm == "l2" else into_box
    race = _Race(target, rows, search(target, rows, points, _COARSE), rivals)
    challenged = race.ask(np.arange(len(rows)), _NEARER * race.wrong_at)
    race.back_to_first(~challenged)
    for _ in range(_MOST_ROUNDS):
        width = race.wrong_at - race.right_at
        race.alive &= (width > _ENOUGH * race.wrong_at)[:, None] | race.first_alive()
        wide = width > tolerance * race.wrong_at
        open_ = np.flatnonzero(wide & (target.queries_left(rows) >= 1))
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
        self, target: AttackedModel, rows: Index, points: AnyArray, rivals: AnyArray
    ) -> None:
        self.target, self.rows, self.best = target, rows, points.copy()
        self.samples = target.original[rows]
        self.offsets = np.concatenate([points[:, None], rivals], axis=1) - self.samples[:, None]
        n, k, d = self.offsets.shape
        self.lengths = length(self.offsets.reshape(n * k, d), target.norm).reshape(n, k)
        self.wrong_at, self.right_at = self.lengths[:, 0].copy(), np.zeros(n)
        self.alive = np.ones((n, k), dtype=np.bool_)
        self.alive[:, 0] = False

    def first_alive(self) -> BoolArray:
        """The first direction that is left of each sample."""
        return np.asarray(self.alive & (np.cumsum(self.alive, axis=1) == 1))

    def back_to_first(self, chosen: BoolArray) -> None:
        """For these samples no other direction was nearer."""
        self.alive[chosen] = np.arange(self.alive.shape[1]) == 0
        self.right_at[chosen] = (1 - _COARSE) * self.wrong_at[chosen]

    def ask(self, open_: Index, distance: FloatArray) -> BoolArray:
        """Ask about all directions left of these samples at this distance; True: one is wrong."""
        target, rows = self.target, self.rows
        affordable = np.cumsum(self.alive, axis=1) <= target.queries_left(rows)[:, None]
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

    def _shortened(self, owner: Index, which: Index, distance: FloatArray) -> AnyArray:
        """Offsets of at most this length: in l2 along the line, in linf cut off."""
        offsets = self.offsets[owner, which]
        if self.target.norm == "linf":
            most = distance[:, None].astype(offsets.dtype)
            return np.clip(offsets, -most, most)
        share = np.minimum(distance / np.maximum(self.lengths[owner, which], 1e-30), 1.0)
        return np.asarray(share[:, None].astype(offsets.dtype) * offsets)

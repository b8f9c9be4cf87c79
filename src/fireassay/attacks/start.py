"""Where decision-based attacks start: any misclassified point, the nearer the better."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.directions import Subspace, make_subspace
from fireassay.core.arrays import AnyArray, BoolArray, Float32Array
from fireassay.core.errors import DataError
from fireassay.core.validation import check_class_indices, check_features

_POOL_TRIES = 5
_BLOCK = 512  # rows whose distances to a whole pool are held at once
_NOISE_TRIES = 25


@dataclass(frozen=True)
class Pool:
    """Inputs with known predicted classes, from which a start can be taken."""

    points: AnyArray
    predicted: Index


def make_pool(target: AttackedModel, pool: Any) -> Pool | None:
    """The `Pool` of an array (predicted once) or of a pair (array, predicted labels)."""
    if pool is None:
        return None
    labels: ArrayLike | None = None
    if isinstance(pool, tuple):
        pool, labels = pool
    points = check_features(pool, name="pool")
    if points.shape[1:] != target.shape:
        raise DataError(
            f"pool must have samples of the shape of X's, {target.shape}.",
            got=f"{points.shape[1:]}",
        )
    if labels is None:
        predicted = target.model.predict_proba(points).argmax(axis=1)
        target.shared_queries += len(points)
    else:
        predicted = check_class_indices(
            labels, target.model.classes, name="labels of the pool", n=len(points)
        )
    flat = points.reshape(len(points), -1).astype(target.dtype)
    return Pool(flat, np.asarray(predicted, dtype=np.int64))


def find_starts(
    target: AttackedModel, rows: Index, generators: list[Generator], pool: Pool | None
) -> tuple[Index, AnyArray]:
    """Positions in ``rows`` that got a misclassified start (pool first, then noise); starts."""
    points = np.zeros((len(rows), target.original.shape[1]), dtype=target.dtype)
    started = np.zeros(len(rows), dtype=np.bool_)
    if pool is not None:
        candidates = _nearest_others(target, rows, pool)
        for k in range(candidates.shape[1]):
            open_ = np.flatnonzero(~started & (candidates[:, k] >= 0))
            proposals = pool.points[candidates[open_, k]]
            _try(target, rows, open_, proposals, points, started)
    ranges = feature_ranges(target, pool)
    tried = 0
    while tried < _NOISE_TRIES and not started.all():
        # Twice as many as so far: calls are what costs time, and few samples need a second one.
        attempts = range(tried, min(2 * tried + 1, _NOISE_TRIES))
        tried = attempts.stop
        open_ = np.flatnonzero(~started)
        drawing = [generators[i] for i in open_]
        proposals = [_noise(target, rows[open_], drawing, k, ranges) for k in attempts]
        several = np.stack(proposals, axis=1).reshape(-1, points.shape[1])
        _try(target, rows, np.repeat(open_, len(attempts)), several, points, started)
    found = np.flatnonzero(started)
    return found, points[found]


def rival_starts(
    target: AttackedModel, rows: Index, generators: list[Generator], count: int
) -> AnyArray:
    """``count`` further places to look at for each sample, of which nothing is known: noise."""
    low, high = feature_ranges(target)
    shape = (len(rows), count, len(low))
    if len(target.shape) in (2, 3):
        found = np.where(_waves(target.shape, generators, count) > 0, high, low)
    else:
        found = np.asarray([rng.uniform(low, high, shape[1:]) for rng in generators])
    finished = target.inside(found.reshape(-1, shape[2]), np.repeat(rows, count))
    return finished.reshape(shape)


def _try(
    target: AttackedModel,
    rows: Index,
    positions: Index,
    proposals: AnyArray,
    points: AnyArray,
    started: BoolArray,
) -> None:
    before = np.arange(len(positions)) - np.searchsorted(positions, positions)
    affordable = target.queries_left(rows[positions]) > before
    positions = positions[affordable]
    if not len(positions):
        return
    finished = target.inside(proposals[affordable], rows[positions])
    wrong = target.check(finished, rows[positions])
    points[positions[wrong]] = finished[wrong]
    started[positions[wrong]] = True


def _nearest_others(target: AttackedModel, rows: Index, pool: Pool) -> Index:
    """Indices of the nearest pool members of another class, ascending; −1 where there is none."""
    count = min(_POOL_TRIES, len(pool.points))
    nearest = np.full((len(rows), count), -1, dtype=np.int64)
    if not count:
        return nearest
    members = pool.points[:, target.free].astype(np.float64)
    squares = np.square(members).sum(axis=1)
    for start in range(0, len(rows), _BLOCK):
        some = rows[start : start + _BLOCK]
        products = target.original[some][:, target.free].astype(np.float64) @ members.T
        distance = squares - 2.0 * products
        distance[pool.predicted == target.goal[some, None]] = np.inf
        first = np.sort(np.argpartition(distance, count - 1, axis=1)[:, :count], axis=1)
        near = np.take_along_axis(distance, first, axis=1)
        order = np.argsort(near, axis=1, kind="stable")
        ranked = np.take_along_axis(first, order, axis=1)
        found = np.isfinite(np.take_along_axis(near, order, axis=1))
        nearest[start : start + _BLOCK] = np.where(found, ranked, -1)
    return nearest


def feature_ranges(target: AttackedModel, pool: Pool | None = None) -> tuple[AnyArray, AnyArray]:
    """The range of each feature: the model's bounds, or what X and the pool show."""
    d = target.original.shape[1]
    if np.isfinite(target.low).all() and np.isfinite(target.high).all():
        ends = np.broadcast_to(target.low, d), np.broadcast_to(target.high, d)
        return ends[0].astype(np.float64), ends[1].astype(np.float64)
    seen = target.original if pool is None else np.vstack([target.original, pool.points])
    low, high = seen.min(axis=0).astype(np.float64), seen.max(axis=0).astype(np.float64)
    constant = low == high
    return np.where(constant, low - 1.0, low), np.where(constant, high + 1.0, high)


def _noise(
    target: AttackedModel,
    rows: Index,
    generators: list[Generator],
    attempt: int,
    ranges: tuple[AnyArray, AnyArray],
) -> AnyArray:
    """The ``attempt``-th proposals: coarse noise (images), fine noise, negative, flat fields."""
    low, high = ranges
    kind = attempt % 4
    if kind == 0 and len(target.shape) in (2, 3):
        return np.where(_waves(target.shape, generators, 1) > 0, high, low)
    if attempt == 2:
        return np.asarray(low + high - target.original[rows])
    if kind == 3:
        return np.asarray([low + rng.random() * (high - low) for rng in generators])
    return np.asarray([rng.uniform(low, high) for rng in generators])


def _waves(shape: tuple[int, ...], generators: list[Generator], count: int) -> Float32Array:
    """Coarse waves over an image, ``count`` from each generator, one below the other."""
    space = _coarse(shape)
    drawn = [rng.standard_normal((count, space.size), dtype=np.float32) for rng in generators]
    return space.expand(np.asarray(drawn, dtype=np.float32).reshape(-1, space.size))


@functools.lru_cache(maxsize=8)
def _coarse(shape: tuple[int, ...]) -> Subspace:
    return make_subspace(4, shape, np.ones(int(np.prod(shape)), dtype=np.bool_))

"""Boundary Attack: a random walk along the decision boundary, always nearer to the sample."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.directions import Subspace, make_subspace
from fireassay.attacks.line_search import along_semicircle, into_box, near_starts, plane
from fireassay.attacks.result import NOT_FOUND, AttackResult
from fireassay.attacks.start import Pool, make_pool
from fireassay.core.arrays import AnyArray, BoolArray, Float32Array, FloatArray
from fireassay.core.validation import check_integer

_FIRST_ANGLE = 0.3
_GROW, _SHRINK = 1.3, 0.93
_SMALLEST_ANGLE, _LARGEST_ANGLE = 1e-3, 1.2
_LINE_TOLERANCE = 0.01
_BLOCK_ROWS = 512
# Share of a proposed direction (squared) that comes from the mean of the directions that worked.
_LEARNT = 0.3
_FORGET = 0.97


def boundary(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "l2",
    max_queries: int = 2000,
    pool: Any = None,
    subspace: str | int | None = None,
    seed: int = 0,
    *,
    eps: float | None = None,
    mask: ArrayLike | None = None,
) -> AttackResult:
    """Find a near misclassified point by small random steps, asking for decisions only.

    Args:
        model, X, y, max_queries, pool, subspace, eps, mask: As in `hopskipjump`.
        norm: ``"l2"``, the distance in which every step is nearer.
        seed: Of the random steps.

    Brendel, Rauber and Bethge 2018. A step turns the line from the sample to the current point
    sideways and shortens it by the angle's cosine: the new point lies on the half circle over that
    line. A refused step is tried once in the opposite sense. The angle follows the rate of success,
    and part of a direction is the mean of those that worked before. One query per step.

    >>> from fireassay import as_classifier
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])  # the boundary is at 0.5
    >>> model = as_classifier(half, classes=[0, 1], bounds=(0, 1))
    >>> found = boundary(model, [[0.4, 0.5], [0.2, 0.5]], [0, 0], max_queries=300)
    >>> found.distance.round(2).tolist(), bool(found.queries.max() <= 300)
    ([0.1, 0.3], True)
    """
    max_queries = check_integer(max_queries, "max_queries")
    target = AttackedModel(
        "boundary", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        norms=("l2",),
    )  # fmt: skip
    space = make_subspace(subspace, target.shape, target.mask)
    starts = make_pool(target, pool) if max_queries >= 2 else None
    for first in range(0, target.n, _BLOCK_ROWS):
        _walk(target, space, starts, np.arange(first, min(first + _BLOCK_ROWS, target.n)))
    return target.result()


def _walk(target: AttackedModel, space: Subspace, pool: Pool | None, rows: Index) -> None:
    rows = target.begin(rows)
    generators = target.generators(rows)
    found, starts = near_starts(target, rows, generators, pool, _LINE_TOLERANCE)
    rows, generators = rows[found], [generators[i] for i in found]
    points = starts.astype(np.float64)
    angles = np.full(len(rows), _FIRST_ANGLE)
    learnt = np.zeros((len(rows), space.size), dtype=np.float32)
    coefficients = np.zeros_like(learnt)
    retry = np.zeros(len(rows), dtype=np.bool_)
    while True:
        fallen = (target.status[rows] != NOT_FOUND) & np.isfinite(target.eps)
        kept = np.flatnonzero((target.queries_left(rows) >= 1) & ~fallen)
        if not len(kept):
            return
        if len(kept) < len(rows):
            rows, points, angles, retry = rows[kept], points[kept], angles[kept], retry[kept]
            learnt, coefficients = learnt[kept], coefficients[kept]
            generators = [generators[i] for i in kept]
        coefficients[retry] *= -1
        for i in np.flatnonzero(~retry):
            coefficients[i] = _direction(space, generators[i], learnt[i])
        proposals = _turn(target, rows, points, space.expand(coefficients), angles)
        wrong = target.check(proposals, rows)
        points[wrong] = proposals[wrong]
        learnt[wrong] = _FORGET * learnt[wrong] + coefficients[wrong]
        exhausted = ~wrong & retry
        retry = ~wrong & ~retry
        angles[wrong] *= _GROW
        angles[exhausted] *= _SHRINK
        np.clip(angles, _SMALLEST_ANGLE, _LARGEST_ANGLE, out=angles)


def _direction(space: Subspace, rng: np.random.Generator, learnt: Float32Array) -> Float32Array:
    """A unit vector: partly random, partly the mean of what worked."""
    fresh = space.draw(rng, 1)[0]
    known = np.linalg.norm(learnt)
    if known > 0:
        fresh = np.sqrt(1 - _LEARNT) * fresh + np.sqrt(_LEARNT) * learnt / known
        fresh /= np.linalg.norm(fresh)
    return np.asarray(fresh, dtype=np.float32)


def _turn(
    target: AttackedModel,
    rows: Index,
    points: FloatArray,
    directions: Float32Array,
    angles: FloatArray,
) -> AnyArray:
    samples, distance, outward, sideways = plane(target, rows, points, directions)
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    turned = distance[:, None] * cosine * (cosine * outward + sine * sideways)
    return target.inside(samples + turned, rows)


# Probes lie this far from the boundary, as a share of the distance to the sample.
_PROBE_RADIUS = 0.05
_FIRST_PROBES, _MORE_PROBES = 14, 0.6
# How near the boundary a point must be, as a share of what a probe moves along one feature.
_TOLERANCE = 1.5
# How much of the last normal is carried over; the boundary turns little between two steps.
_MEMORY = 0.5
_LEAST_GAIN = 0.01
_BLOCK_FLOATS = 2e7


def hopskipjump(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "l2",
    max_queries: int = 500,
    pool: Any = None,
    subspace: str | int | None = None,
    seed: int = 0,
    *,
    eps: float | None = None,
    mask: ArrayLike | None = None,
) -> AttackResult:
    """Find a near misclassified point for each sample, asking the model for decisions only.

    Args:
        model: A classifier, or anything `as_classifier` makes one of.
        X, y: Samples and their labels; without ``y`` the attack is away from the predicted class.
        norm: ``"l2"`` or ``"linf"``: the distance that is made small.
        max_queries: Hard limit of queries per sample, with start and every check in it.
        pool: Inputs to start from, the nearest of another predicted class: an array (predicted
            once, see ``shared_queries``) or a pair (array, predicted labels). Without it: noise.
        subspace: None: every direction, of images low frequencies more strongly. ``"features"``:
            every direction alike. ``"dct"`` or an int: the lowest frequencies of images alone.
        eps: If given, only points within this distance count; the first ends a sample's search.
        mask: Booleans, True for features that may change (False: categorical or fixed ones).
        seed: Of the random points.

    Chen, Jordan and Wainwright 2020: the normal at a boundary point is estimated from decisions at
    random points around it. Where the start is noise, more noise is tried beside it, and the walk
    begins in the direction in which the boundary is nearest. For l2 the next boundary point is
    searched on the half circle through the sample and the current point in the plane of the normal
    (Reza et al. 2023), on which every point is nearer; for linf by their step and projection. Each
    estimate is averaged with the one before. Without bounds, noise is drawn from the range of each
    feature in X.

    >>> from fireassay import as_classifier
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])  # the boundary is at 0.5
    >>> model = as_classifier(half, classes=[0, 1], bounds=(0, 1))
    >>> found = hopskipjump(model, [[0.4, 0.5], [0.2, 0.5]], [0, 0], max_queries=300)
    >>> found.distance.round(2).tolist(), bool(found.queries.max() <= 300)
    ([0.1, 0.3], True)
    """
    max_queries = check_integer(max_queries, "max_queries")
    target = AttackedModel(
        "hopskipjump", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps,
        mask=mask, norms=("l2", "linf"),
    )  # fmt: skip
    space = make_subspace(subspace, target.shape, target.mask)
    starts = make_pool(target, pool) if max_queries >= 2 else None
    most_probes = _FIRST_PROBES * (1 + max_queries / 100)
    block = max(1, int(_BLOCK_FLOATS / (most_probes * target.original.shape[1])))
    for first in range(0, target.n, block):
        _attack(target, space, starts, np.arange(first, min(first + block, target.n)))
    return target.result()


def _attack(target: AttackedModel, space: Subspace, pool: Pool | None, rows: Index) -> None:
    rows = target.begin(rows)
    generators = target.generators(rows)
    tolerance = _TOLERANCE * _PROBE_RADIUS / np.sqrt(space.size)
    found, points = near_starts(target, rows, generators, pool, tolerance)
    rows, generators = rows[found], [generators[i] for i in found]
    normals = np.zeros((len(rows), target.original.shape[1]), dtype=np.float32)
    angles = np.full(len(rows), 0.5)
    evenly = np.zeros(len(rows), dtype=np.bool_)
    step = 0
    while True:
        step += 1
        within = (target.status[rows] != NOT_FOUND) & np.isfinite(target.eps)
        going = (target.queries_left(rows) >= 3) & ~within
        if not going.all():
            kept = np.flatnonzero(going)
            rows, points, normals, angles = rows[kept], points[kept], normals[kept], angles[kept]
            evenly = evenly[kept]
            generators = [generators[i] for i in kept]
        if not len(rows):
            return
        probes = np.minimum(int(_FIRST_PROBES * step**_MORE_PROBES), target.queries_left(rows) - 2)
        fresh = _normals(target, space, rows, points, generators, probes, evenly)
        normals = _MEMORY * normals + fresh
        before = target.distance[rows]
        if target.norm == "l2":
            points, angles = along_semicircle(target, rows, points, normals, angles, tolerance)
        else:
            points = _jump(target, rows, points, normals, step, tolerance)
        # A sample that gets no nearer looks the other way: all directions alike, or weighted.
        stuck = target.distance[rows] > (1 - _LEAST_GAIN) * before
        evenly ^= stuck
        normals[stuck] = 0.0


def _normals(
    target: AttackedModel,
    space: Subspace,
    rows: Index,
    points: AnyArray,
    generators: list[np.random.Generator],
    probes: Index,
    evenly: BoolArray,
) -> Float32Array:
    """Unit normals, pointing to the misclassified side, from decisions at random points."""
    moves = points.astype(np.float64) - target.original[rows]
    distance = np.sqrt(np.square(moves).sum(axis=1)).astype(np.float32)
    owners = np.repeat(np.arange(len(rows)), probes)
    directions = np.empty((len(owners), points.shape[1]), dtype=np.float32)
    ends = np.cumsum(probes)
    for i, rng in enumerate(generators):
        drawn = space.draw(rng, int(probes[i]), evenly=bool(evenly[i]))
        directions[ends[i] - probes[i] : ends[i]] = space.expand(drawn)
    radius = (_PROBE_RADIUS * distance)[owners, None]
    probed = target.inside(points[owners] + radius * directions, rows[owners])
    wrong = target.is_wrong(probed, rows[owners])
    normals = np.empty((len(rows), points.shape[1]), dtype=np.float32)
    for i in range(len(rows)):
        own = slice(ends[i] - probes[i], ends[i])
        signs = np.where(wrong[own], np.float32(1), np.float32(-1))
        balance = signs.mean()
        signs = signs - balance if abs(balance) < 1 else signs
        normals[i] = signs @ (probed[own] - points[i]).astype(np.float32)
    lengths = np.sqrt(np.square(normals, dtype=np.float64).sum(axis=1, keepdims=True))
    return np.asarray(normals / np.maximum(lengths, 1e-30), dtype=np.float32)


def _jump(
    target: AttackedModel,
    rows: Index,
    points: AnyArray,
    normals: Float32Array,
    step: int,
    tolerance: float,
) -> AnyArray:
    """For linf: step along the normal's signs as far as stays wrong, then back into the box."""
    samples = target.original[rows].astype(np.float64)
    size = np.abs(points - samples).max(axis=1) / np.sqrt(step)
    jumped = points.copy()
    open_ = np.arange(len(rows))
    for _ in range(8):
        open_ = open_[target.queries_left(rows[open_]) >= 1]
        if not len(open_):
            break
        moves = size[open_, None] * np.sign(normals[open_])
        proposals = target.inside(points[open_] + moves, rows[open_])
        wrong = target.check(proposals, rows[open_])
        jumped[open_[wrong]] = proposals[wrong]
        open_ = open_[~wrong]
        size[open_] /= 2
    nearer = into_box(target, rows, jumped, tolerance)
    before = np.abs(points - samples).max(axis=1)
    after = np.abs(nearer - samples).max(axis=1)
    return np.where((after < before)[:, None], nearer, points)

"""Boundary Attack: a random walk along the decision boundary, always nearer to the sample."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.race import near_starts
from fireassay.attacks.result import NOT_FOUND, AttackResult
from fireassay.attacks.start import Pool, make_pool
from fireassay.attacks.subspace import Subspace, make_subspace
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

    Parameters
    ----------
    model, X, y, max_queries, pool, subspace, eps, mask
        As in `hopskipjump`.
    norm
        ``"l2"``, the distance in which every step is nearer.
    seed
        Of the random steps.

    Notes
    -----
    Brendel, Rauber and Bethge 2018. A step turns the line from the sample to the current point by a
    random angle's worth of sideways motion and shortens it by the angle's cosine, so that the new
    point lies on the half circle over that line; a refused step is tried once in the opposite
    sense. The angle follows the rate of success, and part of a direction is the mean of those that
    worked before. One query per step.

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
        kept = np.flatnonzero((target.room(rows) >= 1) & ~fallen)
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


def _direction(
    space: Subspace, rng: np.random.Generator, learnt: NDArray[np.float32]
) -> NDArray[np.float32]:
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
    points: NDArray[np.float64],
    directions: NDArray[np.float32],
    angles: NDArray[np.float64],
) -> NDArray[Any]:
    samples = target.original[rows].astype(np.float64)
    outward = points - samples
    distance = np.sqrt(np.square(outward).sum(axis=1, keepdims=True))
    outward /= distance
    sideways = directions - (directions * outward).sum(axis=1, keepdims=True) * outward
    sideways /= np.maximum(np.sqrt(np.square(sideways).sum(axis=1, keepdims=True)), 1e-12)
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    turned = distance * cosine * (cosine * outward + sine * sideways)
    return target.inside(samples + turned, rows)

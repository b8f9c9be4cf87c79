"""Searches for the decision boundary on a path from a misclassified point towards its sample."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index

_MOST_ROUNDS = 16
Vector = NDArray[np.float64]


def along_line(
    target: AttackedModel,
    rows: Index,
    points: NDArray[Any],
    tolerance: float,
    *,
    first: float = 0.5,
) -> NDArray[Any]:
    """Bisect the straight line to the sample; ``tolerance`` is a share of the distance left.

    ``first`` is where to look first, as a share of the distance: far out where the boundary is
    known to be near the points.
    """
    samples = target.original[rows].astype(np.float64)
    offsets = points - samples

    def at(position: Vector, chosen: Index) -> NDArray[Any]:
        return samples[chosen] + position[:, None] * offsets[chosen]

    return _bisect(target, rows, points, np.ones(len(rows)), at, tolerance, first)


def into_box(
    target: AttackedModel, rows: Index, points: NDArray[Any], tolerance: float
) -> NDArray[Any]:
    """Shrink a box around the sample and pull the point into it, as far as it stays wrong."""
    samples = target.original[rows].astype(np.float64)
    offsets = points - samples

    def at(position: Vector, chosen: Index) -> NDArray[Any]:
        half = position[:, None]
        return samples[chosen] + np.clip(offsets[chosen], -half, half)

    return _bisect(target, rows, points, np.abs(offsets).max(axis=1), at, tolerance)


def _bisect(
    target: AttackedModel,
    rows: Index,
    points: NDArray[Any],
    wrong_at: Vector,
    at: Callable[[Vector, Index], NDArray[Any]],
    tolerance: float,
    first: float = 0.5,
) -> NDArray[Any]:
    """Bisect between 0 (the sample, right) and ``wrong_at``; returns the nearest wrong points."""
    best = points.copy()
    right_at = np.zeros(len(rows))
    for step in range(_MOST_ROUNDS):
        open_ = np.flatnonzero(
            (wrong_at - right_at > tolerance * wrong_at) & (target.room(rows) >= 1)
        )
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


def along_semicircle(
    target: AttackedModel,
    rows: Index,
    points: NDArray[Any],
    normals: NDArray[np.float32],
    guesses: Vector,
    tolerance: float,
) -> tuple[NDArray[Any], Vector]:
    """Search the half circle over the line from the sample to the point, in the normal's plane.

    At angle a the distance to the sample is cos(a) times the present one. Were the boundary flat
    with this normal, the points up to the angle between normal and line would be wrong, and the
    last of them would be the nearest point of the boundary. Returns points and angles reached.
    """
    samples = target.original[rows].astype(np.float64)
    outward = points - samples
    distance = np.sqrt(np.square(outward).sum(axis=1))
    outward /= distance[:, None]
    sideways = normals - (normals * outward).sum(axis=1, keepdims=True) * outward
    sideways /= np.maximum(np.sqrt(np.square(sideways).sum(axis=1, keepdims=True)), 1e-12)
    wrong_at = np.zeros(len(rows))
    right_at = np.full(len(rows), np.pi / 2)
    trial = guesses.copy()
    best = points.copy()
    for _ in range(_MOST_ROUNDS):
        width = right_at - wrong_at
        # Far from the top of the circle a small angle hardly changes the distance.
        precise = width * np.maximum(np.tan(wrong_at), 0.1) <= tolerance
        open_ = np.flatnonzero(~precise & (target.room(rows) >= 1))
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

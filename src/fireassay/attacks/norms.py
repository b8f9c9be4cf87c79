"""Distances, steepest steps and projections for the norms l0 to linf, row by row."""

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray

Rows = FloatArray
NORMS = ("l0", "l1", "l2", "linf")
# A step of this norm must not divide by a zero gradient.
_TINY = 1e-300


def length(rows: AnyArray, norm: str) -> FloatArray:
    """The norm of each row of an ``(n, d)`` array; l0 counts the entries that are not zero."""
    if norm == "l0":
        return np.asarray((np.asarray(rows) != 0).sum(axis=1), dtype=np.float64)
    values = np.abs(np.asarray(rows, dtype=np.float64))
    if norm == "l1":
        return np.asarray(values.sum(axis=1))
    if norm == "linf":
        return np.asarray(values.max(axis=1))
    scale = np.maximum(values.max(axis=1, keepdims=True), _TINY)
    return np.asarray((scale * np.sqrt(np.square(values / scale).sum(axis=1, keepdims=True)))[:, 0])


def steepest_step(
    gradient: AnyArray, norm: str, size: float, points: Rows, low: Rows | float, high: Rows | float
) -> Rows:
    """The step of length ``size`` along which a linear function with this gradient grows most."""
    # l1: the exact optimum inside the box, feature by feature; l2, linf: normalised, signed
    # gradient.
    slope = np.asarray(gradient, dtype=np.float64)
    if norm == "linf":
        return np.asarray(size * np.sign(slope))
    if norm == "l2":
        return np.asarray(size * slope / np.maximum(length(slope, "l2"), _TINY)[:, None])
    room = np.where(slope > 0, high - points, points - low)
    room = np.where(slope == 0, 0.0, np.maximum(room, 0.0))
    order = np.argsort(-np.abs(slope), axis=1, kind="stable")
    sorted_room = np.take_along_axis(room, order, axis=1)
    spent_before = np.cumsum(np.minimum(sorted_room, size), axis=1) - np.minimum(sorted_room, size)
    moves = np.clip(size - spent_before, 0.0, sorted_room)
    step = np.zeros_like(slope)
    np.put_along_axis(step, order, moves, axis=1)
    return step * np.sign(slope)


def project(differences: Rows, norm: str, radius: FloatArray) -> Rows:
    """The nearest point (in l2) of the ball of this norm around zero; one radius per row."""
    if norm == "linf":
        return np.clip(differences, -radius[:, None], radius[:, None])
    if norm == "l2":
        norms = length(differences, "l2")
        shrink = np.where(norms > radius, radius / np.maximum(norms, _TINY), 1.0)
        return np.asarray(differences * shrink[:, None])
    if norm == "l0":
        return _largest(differences, radius)
    return _project_l1(differences, radius)


def _largest(differences: Rows, radius: FloatArray) -> Rows:
    """The ``radius`` largest entries of each row; the others are zero."""
    order = np.argsort(-np.abs(differences), axis=1, kind="stable")
    kept = np.empty(differences.shape, dtype=np.bool_)
    first = np.arange(differences.shape[1]) < np.floor(radius)[:, None]
    np.put_along_axis(kept, order, first, axis=1)
    return np.asarray(np.where(kept, differences, 0.0))


def _project_l1(differences: Rows, radius: FloatArray) -> Rows:
    """Soft thresholding at the level that leaves a row with l1 norm ``radius``."""
    magnitude = np.abs(differences)
    outside = magnitude.sum(axis=1) > radius
    if not outside.any():
        return differences
    descending = -np.sort(-magnitude[outside], axis=1)
    excess = np.cumsum(descending, axis=1) - radius[outside, None]
    counts = np.arange(1, magnitude.shape[1] + 1)
    last = (descending * counts > excess).sum(axis=1) - 1
    level = np.take_along_axis(excess, last[:, None], axis=1) / (last[:, None] + 1)
    projected = differences.copy()
    shrunk = np.maximum(magnitude[outside] - level, 0.0)
    projected[outside] = np.sign(differences[outside]) * shrunk
    return projected

"""Exact nearest neighbours by blocked matrix products."""

import numpy as np
from numpy.typing import NDArray

from fireassay.supervision.reading import FloatArray, IntArray

_CELLS = 8_000_000  # distances held at once
_PAIRS = 200_000  # pairs re-measured at once


def nearest(points: FloatArray, references: FloatArray) -> tuple[IntArray, FloatArray]:
    """Index and Euclidean distance of the nearest reference of each point.

    Notes
    -----
    |x|² + |y|² − 2xy is taken in float32 after centring; every reference that rounding could have
    kept from being nearest is measured again in float64 as |x − y|. Equal distances go to the
    first reference.
    """
    centre = references.mean(axis=0)
    refs = np.ascontiguousarray(references - centre, dtype=np.float32)
    ref_squares = np.einsum("ij,ij->i", refs, refs)
    largest = float(np.sqrt(ref_squares.max()))
    rounding = 4.0 * np.sqrt(refs.shape[1] + 16) * float(np.finfo(np.float32).eps)
    index = np.empty(len(points), dtype=np.int64)
    distance = np.empty(len(points))
    # One product gives |y|² − 2xy: the squares are a further column, met by ones.
    extended = np.concatenate([-2.0 * refs, ref_squares[:, None]], axis=1).T
    step = max(1, _CELLS // len(refs))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        block = np.ones((len(points[rows]), extended.shape[0]), dtype=np.float32)
        block[:, :-1] = points[rows] - centre
        gaps = block @ extended
        block = block[:, :-1]
        sizes = np.sqrt(np.einsum("ij,ij->i", block, block)) + largest
        margin = (rounding * sizes**2).astype(np.float32)
        limit = gaps.min(axis=1) + margin
        at, candidate = np.nonzero(gaps <= limit[:, None])
        index[rows], distance[rows] = _measured(points[rows], references, at, candidate)
    return index, distance


def _measured(
    points: FloatArray, references: FloatArray, at: IntArray, candidate: IntArray
) -> tuple[IntArray, FloatArray]:
    lengths = np.empty(len(at))
    for start in range(0, len(at), _PAIRS):
        pairs = slice(start, start + _PAIRS)
        offsets = points[at[pairs]] - references[candidate[pairs]]
        lengths[pairs] = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
    order = np.lexsort((candidate, lengths, at))
    first = order[np.searchsorted(at[order], np.arange(len(points)))]
    return candidate[first], lengths[first]


def kth_distance(points: FloatArray, references: FloatArray, k: int) -> FloatArray:
    """Euclidean distance to the k-th nearest reference, exact in float64."""
    centre = references.mean(axis=0)
    refs = references - centre
    squares = np.einsum("ij,ij->i", refs, refs)
    result = np.empty(len(points))
    step = max(1, _CELLS // 2 // len(refs))
    for start in range(0, len(points), step):
        block = points[start : start + step] - centre
        gaps = squares - 2.0 * (block @ refs.T)
        chosen = np.argpartition(gaps, k - 1, axis=1)[:, k - 1]
        offsets = block - refs[chosen]
        result[start : start + step] = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
    return result


def group_rows(labels: NDArray[np.int64]) -> dict[int, IntArray]:
    """Row numbers of each label."""
    if not len(labels):
        return {}
    order = np.argsort(labels, kind="stable")
    values, starts = np.unique(labels[order], return_index=True)
    return dict(zip(values.tolist(), np.split(order, starts[1:]), strict=True))

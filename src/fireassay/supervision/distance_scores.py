"""Exact nearest neighbours and distance-based surprise adequacy (DSA)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, Float32Array, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_real
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.reading import Reading
from fireassay.supervision.row_blocks import as_activations, check_width, row_blocks, rows_per_block
from fireassay.supervision.supervisor import Supervisor

_POINT_ROWS, _REFERENCE_ROWS = 512, 2048  # their float32 gaps stay in a core's cache
_DIRECTIONS = 31  # of the first look
_TRIED, _MOST_LEFT = 64, 0.004  # points that tell whether it leaves few enough pairs to be worth it
_CELLS = 4_000_000  # float64 distances held at once


def nearest(
    points: FloatArray,
    references: FloatArray,
    point_rows: IntArray,
    reference_rows: IntArray,
    point_groups: IntArray | None = None,
    reference_groups: IntArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """Position (within the chosen rows) and distance of the nearest reference of each point."""
    # Arrays may be on disk: one block of each is held. With groups a point's own group is left out.
    # |x|² + |y|² − 2xy is taken in float32 after centring; every reference that rounding could have
    # kept from being nearest is measured again in float64. Equal distances go to the first. In a
    # large pool xy is first bounded by its part in the directions of the largest spread: a quarter
    # of the work.
    n = len(point_rows)
    index, distance = np.zeros(n, dtype=np.int64), np.full(n, np.inf)
    step = rows_per_block(references)
    for first in range(0, len(reference_rows), step):
        held = slice(first, first + step)
        groups = None if reference_groups is None else reference_groups[held]
        pool = _Pool(references[reference_rows[held]], groups)
        for rows in _cuts(n, point_groups, _POINT_ROWS):
            own = None if point_groups is None else point_groups[rows]
            found, length = pool.nearest(points[point_rows[rows]], own)
            closer = length < distance[rows]
            index[rows] = np.where(closer, first + found, index[rows])
            distance[rows] = np.where(closer, length, distance[rows])
    return index, distance


class _Pool:
    """Some references, centred once, in parts that a cache holds."""

    def __init__(self, references: FloatArray, groups: IntArray | None) -> None:
        self.references, self.groups = references, groups
        self.centre = references.mean(axis=0, dtype=np.float64).astype(np.float32)
        self.centred = np.asarray(references - self.centre, dtype=np.float32)
        squares = np.einsum("ij,ij->i", self.centred, self.centred)
        self.squares, self.largest = squares, float(np.sqrt(squares.max()))
        width = self.centred.shape[1]
        self.rounding = 4.0 * np.sqrt(width + 16) * float(np.finfo(np.float32).eps)
        large = len(references) > 2 * _REFERENCE_ROWS and width > 2 * _DIRECTIONS
        self.tried = not large
        self._cut(_directions(self.centred) if large else None)

    def _cut(self, directions: FloatArray | None) -> None:
        """Parts of the references, as seen along directions or whole."""
        self.directions = directions
        # One product gives |y|² − 2xy: the squares are a further column, met by ones.
        seen = -2.0 * _seen(self.centred, directions)
        extended = np.concatenate([seen, self.squares[:, None]], axis=1)
        cuts = _cuts(len(extended), self.groups, _REFERENCE_ROWS)
        self.parts = [(cut, extended[cut].T) for cut in cuts]

    def nearest(self, points: FloatArray, groups: IntArray | None) -> tuple[IntArray, FloatArray]:
        if not self.tried:
            self.tried = True
            few = None if groups is None else groups[:_TRIED]
            left = len(self._candidates(points[:_TRIED], few)[0])
            if left > _MOST_LEFT * min(len(points), _TRIED) * len(self.squares):
                self._cut(None)
        return self._measured(points, *self._candidates(points, groups))

    def _candidates(self, points: FloatArray, groups: IntArray | None) -> tuple[IntArray, IntArray]:
        """Every pair (point, reference) that may be nearest."""
        centred = np.asarray(points - self.centre, dtype=np.float32)
        sizes = np.sqrt(np.einsum("ij,ij->i", centred, centred)) + self.largest
        margin = (self.rounding * sizes**2).astype(np.float32)
        least = np.full(len(points), np.inf, dtype=np.float32)
        seen = _seen(centred, self.directions)
        block = np.concatenate([seen, np.ones((len(seen), 1), dtype=np.float32)], axis=1)
        kept = [
            self._near(centred, block, cut, part, self._own(groups, cut), least, margin)
            for cut, part in self.parts
        ]
        at, candidate, gap = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
        near = gap <= (least + margin)[at]
        if groups is not None and self.groups is not None:
            near &= groups[at] != self.groups[candidate]
        return at[near], candidate[near]

    def _own(self, groups: IntArray | None, cut: slice) -> BoolArray | None:
        """Which pairs are of one group; None where none can be."""
        if groups is None or self.groups is None:
            return None
        others = self.groups[cut]
        if groups.max() < others.min() or groups.min() > others.max():
            return None
        return np.asarray(groups[:, None] == others)

    def _near(
        self,
        centred: Float32Array,
        block: Float32Array,
        cut: slice,
        part: Float32Array,
        own: BoolArray | None,
        least: Float32Array,
        margin: Float32Array,
    ) -> tuple[IntArray, IntArray, Float32Array]:
        """Pairs that may be nearest so far (point, reference, gap); ``least`` is brought down."""
        if own is not None and own.all():
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, np.zeros(0, dtype=np.float32)
        gaps = block @ part
        if own is not None:
            gaps[own] = np.inf
        best = gaps.argmin(axis=1)
        reached = gaps[np.arange(len(gaps)), best]
        if self.directions is not None:
            whole = self.squares[cut][best]
            whole -= 2 * np.einsum("ij,ij->i", centred, self.centred[cut][best])
            reached = np.where(np.isinf(reached), reached, whole)
        np.minimum(least, reached, out=least)
        near = np.flatnonzero(gaps <= (least + margin)[:, None])  # one dimension: four times faster
        at, candidate = np.divmod(near, gaps.shape[1])
        return at, candidate + cut.start, gaps.ravel()[near]

    def _measured(
        self, points: FloatArray, at: IntArray, candidate: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """The nearest of the candidates, by |x − y| in float64."""
        index, distance = np.zeros(len(points), dtype=np.int64), np.full(len(points), np.inf)
        lengths = np.empty(len(at))
        step = rows_per_block(points)
        for start in range(0, len(at), step):
            pairs = slice(start, start + step)
            offsets = points[at[pairs]].astype(np.float64) - self.references[candidate[pairs]]
            lengths[pairs] = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
        order = np.lexsort((candidate, lengths, at))
        known, first = np.unique(at[order], return_index=True)
        index[known], distance[known] = candidate[order[first]], lengths[order[first]]
        return index, distance


def _directions(centred: Float32Array) -> FloatArray:
    """Orthonormal columns near those of the largest spread: two steps of subspace iteration."""
    some = centred[:: max(1, len(centred) // 2048)].astype(np.float64)
    basis = some[:: max(1, len(some) // _DIRECTIONS)][:_DIRECTIONS].T
    for _ in range(2):
        basis = np.linalg.qr(some.T @ (some @ basis))[0]
    return np.asarray(basis)


def _seen(centred: Float32Array, directions: FloatArray | None) -> Float32Array:
    """Rows whole, or along directions with the length of what is left: no product gets smaller."""
    if directions is None:
        return centred
    whole = centred.astype(np.float64)
    along = whole @ directions
    left = np.einsum("ij,ij->i", whole, whole) - np.einsum("ij,ij->i", along, along)
    return np.column_stack([along, np.sqrt(np.maximum(left, 0.0))]).astype(np.float32)


def _cuts(n: int, groups: IntArray | None, most: int) -> Iterator[slice]:
    """Parts of at most ``most`` rows that end, where they can, where a group ends."""
    ends = np.zeros(0, dtype=np.int64) if groups is None else 1 + np.flatnonzero(np.diff(groups))
    start = 0
    while start < n:
        stop = min(start + most, n)
        if stop < n and (inside := ends[(ends > start) & (ends <= stop)]).size:
            stop = int(inside[-1])
        yield slice(start, stop)
        start = stop


def kth_distance(points: FloatArray, references: FloatArray, k: int) -> FloatArray:
    """Euclidean distance to the k-th nearest reference, measured as |x − y| in float64."""
    gaps, which = np.full((len(points), k), np.inf), np.zeros((len(points), k), dtype=np.int64)
    first = 0
    for block in row_blocks(references):
        centre = block.mean(axis=0)
        refs = block - centre
        squares = np.einsum("ij,ij->i", refs, refs)
        step, own = max(1, _CELLS // len(refs)), min(k, len(refs))
        for start in range(0, len(points), step):
            rows = slice(start, start + step)
            part = points[rows] - centre
            squared = part @ refs.T
            squared *= -2.0
            squared += squares  # in place: these are the largest arrays
            chosen = np.argpartition(squared, own - 1, axis=1)[:, :own]
            squared = np.take_along_axis(squared, chosen, axis=1)
            squared += np.einsum("ij,ij->i", part, part)[:, None]
            joined = np.concatenate([gaps[rows], squared], axis=1)
            known = np.concatenate([which[rows], first + chosen], axis=1)
            best = np.argpartition(joined, k - 1, axis=1)[:, :k]
            gaps[rows] = np.take_along_axis(joined, best, axis=1)
            which[rows] = np.take_along_axis(known, best, axis=1)
        first += len(block)
    last = which[np.arange(len(points)), gaps.argmax(axis=1)]
    result = np.empty(len(points))
    step = rows_per_block(references)
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        offsets = points[rows] - references[last[rows]]
        result[rows] = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
    return result


T = TypeVar("T")
POOLED = "-1"


def group_rows(labels: IntArray) -> dict[int, IntArray]:
    """Row numbers of each label."""
    if not len(labels):
        return {}
    order = np.argsort(labels, kind="stable")
    values, starts = np.unique(labels[order], return_index=True)
    return dict(zip(values.tolist(), np.split(order, starts[1:]), strict=True))


def fit_per_class(
    predictions: IntArray, fit: Callable[[str, IntArray], T], fewest: int
) -> dict[str, T]:
    """``fit(name, rows)`` of each class with at least ``fewest`` rows, and of all rows."""
    groups = {str(k): rows for k, rows in group_rows(predictions).items() if len(rows) >= fewest}
    groups[POOLED] = np.arange(len(predictions))
    return {name: fit(name, rows) for name, rows in groups.items()}


def score_per_class(
    fitted: Mapping[str, T],
    activations: FloatArray,
    predictions: IntArray,
    score: Callable[[T, FloatArray, IntArray], FloatArray],
) -> FloatArray:
    """``score(fitted, activations, rows)`` with what was fitted to each row's class."""
    scores = np.empty(len(activations))
    for label, rows in group_rows(predictions).items():
        scores[rows] = score(fitted.get(str(label), fitted[POOLED]), activations, rows)
    return scores


_FAR = 1e300
_TINY = np.finfo(np.float64).tiny


def dsa_scores(
    train_activations: ArrayLike,
    train_predictions: ArrayLike,
    activations: ArrayLike,
    predictions: ArrayLike,
) -> FloatArray:
    """DSA of activations, from arrays alone; all training rows are used.

    Args:
        train_activations, activations: Shape (n, d); further axes are flattened. Arrays on disk
            (`numpy.memmap`) are read in blocks: beside one number per row, memory does not grow
            with their length.
        train_predictions, predictions: The model's predicted class of each row.

    Returns:
        Higher is more surprising.

    Kim, Feldt and Yoo (2019): with the nearest training activation a of the same predicted class,
    and the training activation b of another class nearest to a, DSA = |x − a| / |a − b|. A class
    that no training row was predicted as is compared with all training rows.

    >>> dsa_scores([[0.0], [1.0], [4.0]], [0, 0, 1], [[2.0]], [0])
    array([0.33333333])
    """
    train, known, new, predicted = as_activations(
        train_activations, train_predictions, activations, predictions
    )
    return DsaReference(train, known).scores(new, predicted)


class DsaReference:
    """Training activations by class; the second distance is measured once per nearest point."""

    def __init__(self, activations: FloatArray, predictions: IntArray) -> None:
        self.activations, self.predictions = activations, predictions
        self.by_class = group_rows(predictions)
        if len(self.by_class) < 2:
            raise DataError(
                "DSA needs training rows of at least two predicted classes.",
                got=f"{len(self.by_class)}",
            )
        self._to_other_class = np.full(len(activations), np.nan)

    def scores(self, activations: FloatArray, predictions: IntArray) -> FloatArray:
        """DSA of rows."""
        check_width(activations, self.activations.shape[1])
        to_same = np.empty(len(activations))
        found = np.empty(len(activations), dtype=np.int64)
        for label, rows in group_rows(predictions).items():
            pool = self.by_class.get(label, np.arange(len(self.activations)))
            index, to_same[rows] = nearest(activations, self.activations, rows, pool)
            found[rows] = pool[index]
        self._measure_other_class(np.unique(found))
        to_other = self._to_other_class[found]
        # Two equal activations of different classes: at their own place nothing is surprising.
        scores = np.where(to_same == 0.0, 0.0, to_same / np.maximum(to_other, _TINY))
        return np.minimum(scores, np.finfo(np.float64).max)

    def to_other_class(self) -> FloatArray:
        """Distance of every training row to its nearest row of another class."""
        self._measure_other_class(np.arange(len(self.activations)))
        return self._to_other_class

    def _measure_other_class(self, wanted: IntArray) -> None:
        unknown = wanted[np.isnan(self._to_other_class[wanted])]
        if not len(unknown):
            return
        points = unknown[np.argsort(self.predictions[unknown], kind="stable")]
        others = np.argsort(self.predictions, kind="stable")
        self._to_other_class[points] = nearest(
            self.activations, self.activations, points, others,
            self.predictions[points], self.predictions[others],
        )[1]  # fmt: skip


@dataclass(kw_only=True, eq=False)
class Dsa(Supervisor):
    """Distance to the nearest training activation of the class, over its own to another class."""

    # Kim et al. (2019), on 30 % of the training rows, as Weiss et al. 2021 propose.

    name: ClassVar[str] = "dsa"
    needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")
    subsample: float = 0.3

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        check_real(self.subsample, "subsample", low=0, high=1, inclusive="high")
        features, predictions = reading.features, reading.predictions
        n = len(features)
        count = max(1, round(self.subsample * n))
        rows = np.sort(generator(self.seed, "dsa", "subsample").permutation(n)[:count])
        kept, classes = np.asarray(features[rows], dtype=np.float64), predictions[rows]
        self._reference = DsaReference(kept, classes)
        return {"activations": kept, "predictions": classes}

    def _score(self, reading: Reading) -> FloatArray:
        if getattr(self, "_reference", None) is None:
            self._reference = DsaReference(self.state_["activations"], self.state_["predictions"])
        return self._reference.scores(reading.features, reading.predictions)

    def _graph(self, g: GraphBuilder) -> str:
        features = g.input("features")
        reference = DsaReference(self.state_["activations"], self.state_["predictions"])
        classes = g.constant(reference.predictions[None], np.int64)
        is_same = g.op("Equal", g.answer(keep=1), classes)
        has_any = g.max(g.op("Cast", is_same, to=g.onnx.TensorProto.DOUBLE), keep=1)
        is_new = g.op("Equal", has_any, g.constant(0.0))  # a class without training rows: all rows
        gaps = g.squared_gaps(features, reference.activations)
        allowed = g.op("Where", g.op("Or", is_same, is_new), gaps, g.constant(_FAR))
        closest = g.op("ArgMin", allowed, axis=1, keepdims=0)
        points = g.op("Gather", g.constant(reference.activations), closest, axis=0)
        offset = g.minus(features, points)
        to_same = g.op("Sqrt", g.sum(g.times(offset, offset)))
        to_other = np.maximum(reference.to_other_class(), _TINY)
        return g.op("Div", to_same, g.op("Gather", g.constant(to_other), closest, axis=0))

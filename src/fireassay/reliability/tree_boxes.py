"""Tree ensembles are constant on boxes: exact class shares of cells, and proofs for any box."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.reliability.cells import Grid

_MOST_PIECES = 6_000_000


@dataclass(frozen=True)
class Trees:
    """Split nodes of all trees, end to end; the highest ``base`` plus sum of leaf values wins."""

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    values: FloatArray
    lowest: FloatArray
    highest: FloatArray
    roots: IntArray
    base: FloatArray

    def thresholds(self, axis: int) -> FloatArray:
        """Where the ensemble splits along one feature, increasing and distinct."""
        return np.unique(self.threshold[(self.feature == axis) & (self.left >= 0)])

    def proven_class(self, low: FloatArray, high: FloatArray) -> IntArray:
        """The class given on all of each box, or -1: cut trees count with their extreme leaves."""
        n, k = len(low), self.values.shape[1]
        least = np.tile(self.base, (n, 1))
        most = least.copy()
        for root in self.roots:
            node = np.full(n, root)
            active = np.flatnonzero(self.left[node] >= 0)
            while len(active):
                at = node[active]
                axis, cut = self.feature[at], self.threshold[at]
                goes_left = high[active, axis] <= cut
                goes_right = low[active, axis] > cut
                moves = goes_left | goes_right
                node[active[moves]] = np.where(
                    goes_left[moves], self.left[at[moves]], self.right[at[moves]]
                )
                active = active[moves]
                active = active[self.left[node[active]] >= 0]
            least += self.lowest[node]
            most += self.highest[node]
        winner = least.argmax(axis=1)
        rivals = most.copy()
        rivals[np.arange(n), winner] = -np.inf
        if k == 1:
            return np.zeros(n, dtype=np.int64)
        proven = least[np.arange(n), winner] > rivals.max(axis=1) + 1e-9
        return np.where(proven, winner, -1)


def trees_of(estimator: Any) -> Trees | None:
    """The trees of a scikit-learn ensemble, or None if it is not one that is understood."""
    name = type(estimator).__name__
    if name in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
        return _stack([_probability_tree(estimator.tree_)], np.zeros(estimator.n_classes_))
    if name in ("RandomForestClassifier", "ExtraTreesClassifier"):
        if isinstance(estimator.n_classes_, list):
            return None
        parts = [_probability_tree(member.tree_) for member in estimator.estimators_]
        return _stack(parts, np.zeros(int(estimator.n_classes_)))
    if name == "GradientBoostingClassifier":
        # A start that is itself a model need not be constant on boxes.
        return _gradient_boosting(estimator) if estimator.init in (None, "zero") else None
    if name == "HistGradientBoostingClassifier":
        return _histogram_boosting(estimator)
    return None


def exact_class_shares(predict: Any, trees: Trees, grid: Grid, n_classes: int) -> FloatArray | None:
    """Exact class shares of cells, asked once per piece between splits; None if too many."""
    cuts = []
    for axis in range(len(grid.shape)):
        inner = trees.thresholds(axis)
        inner = inner[(inner > grid.low[axis]) & (inner < grid.high[axis])]
        cuts.append(np.concatenate([[grid.low[axis]], inner, [grid.high[axis]]]))
    pieces = [len(c) - 1 for c in cuts]
    if np.prod([float(p) for p in pieces]) > _MOST_PIECES:
        return None
    middles = np.meshgrid(*((c[1:] + c[:-1]) / 2 for c in cuts), indexing="ij")
    answers = np.asarray(predict(np.stack([m.ravel() for m in middles], axis=1))).reshape(pieces)
    overlaps = []  # of cells with pieces, as shares of a cell's side
    for edges, c, side in zip(grid.edges, cuts, grid.side, strict=True):
        upper, lower = np.minimum(edges[1:, None], c[1:]), np.maximum(edges[:-1, None], c[:-1])
        overlaps.append(np.clip(upper - lower, 0.0, None) / side)
    shares = np.empty((grid.n_cells, n_classes))
    for label in range(n_classes - 1):
        volume: Any = (answers == label).astype(np.float64)
        for axis, overlap in enumerate(overlaps):
            volume = np.moveaxis(np.tensordot(overlap, volume, axes=(1, axis)), 0, axis)
        shares[:, label] = volume.ravel()
    shares[:, -1] = 1 - shares[:, :-1].sum(axis=1)
    # Lengths are differences of floats: what is below rounding error is zero.
    shares[np.abs(shares) < 1e-9] = 0.0
    return np.clip(shares, 0.0, 1.0)


_Part = tuple[IntArray, FloatArray, IntArray, IntArray, FloatArray]


def _probability_tree(tree: Any) -> _Part:
    values = tree.value[:, 0, :]
    values = values / values.sum(axis=1, keepdims=True)
    return (*_structure(tree), values.astype(np.float64))


def _gradient_boosting(estimator: Any) -> Trees:
    k = len(estimator.classes_)
    one_feature = np.zeros((1, estimator.n_features_in_), dtype=np.float32)
    start = np.asarray(estimator._raw_predict_init(one_feature))[0]
    parts = []
    for stage in estimator.estimators_:
        for column, member in enumerate(stage):
            tree = member.tree_
            scores = estimator.learning_rate * tree.value[:, 0, 0]
            parts.append((*_structure(tree), _in_column(scores, column, k)))
    return _stack(parts, _base_scores(start, k))


def _structure(tree: Any) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    return (
        tree.feature.astype(np.int64),
        tree.threshold.astype(np.float64),
        tree.children_left.astype(np.int64),
        tree.children_right.astype(np.int64),
    )


def _histogram_boosting(estimator: Any) -> Trees | None:
    if estimator.is_categorical_ is not None and np.any(estimator.is_categorical_):
        return None
    k = len(estimator.classes_)
    parts = []
    for stage in estimator._predictors:
        for column, predictor in enumerate(stage):
            nodes = predictor.nodes
            leaf = nodes["is_leaf"].astype(bool)
            left = np.where(leaf, -1, nodes["left"].astype(np.int64))
            right = np.where(leaf, -1, nodes["right"].astype(np.int64))
            threshold = nodes["num_threshold"].astype(np.float64)
            scores = _in_column(nodes["value"].astype(np.float64), column, k)
            parts.append((nodes["feature_idx"].astype(np.int64), threshold, left, right, scores))
    return _stack(parts, _base_scores(np.ravel(estimator._baseline_prediction), k))


def _in_column(scores: FloatArray, column: int, k: int) -> FloatArray:
    # Two classes share one raw score: its sign decides, so class 0 holds a constant zero.
    values = np.zeros((len(scores), k))
    values[:, 1 if k == 2 else column] = scores
    return values


def _base_scores(start: FloatArray, k: int) -> FloatArray:
    return np.array([0.0, float(start[0])]) if k == 2 else np.asarray(start, dtype=np.float64)


def _stack(parts: list[_Part], base: FloatArray) -> Trees:
    sizes = [len(part[0]) for part in parts]
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    feature, threshold, left, right, values = (
        np.concatenate(each) for each in zip(*parts, strict=True)
    )
    own = np.repeat(offsets, sizes)
    left, right = (np.where(child >= 0, child + own, -1) for child in (left, right))
    lowest, highest = values.copy(), values.copy()
    # Children come after their parents, so one pass from the back gathers whole subtrees.
    for node in np.flatnonzero(left >= 0)[::-1]:
        children = [left[node], right[node]]
        lowest[node] = lowest[children].min(axis=0)
        highest[node] = highest[children].max(axis=0)
    return Trees(feature, threshold, left, right, values, lowest, highest, offsets, base)

"""Proofs that a model is constant on boxes: tree ensembles exactly, small networks by bounds."""

import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy import is_installed, require
from fireassay.core.threads import one_torch_thread
from fireassay.reliability.cells import Grid

_MOST_PIECES = 6_000_000
_BLOCK = 4096
_ACTIVATIONS = {"relu": "ReLU", "tanh": "Tanh", "logistic": "Sigmoid"}
_AFFINE = ("Linear", "Conv2d", "BatchNorm1d", "BatchNorm2d")
_DENSE = {"Linear", "ReLU", "Tanh", "Sigmoid"}
# Where an input grows, no output of these falls: both ends go through as they are.
_RISING = ("ReLU", "Tanh", "Sigmoid", "MaxPool2d", "AvgPool2d", "Flatten", "Unflatten")
_DROPPED = ("Dropout", "Identity", "Softmax")


class Prover(Protocol):
    """Proves that a model is constant on boxes."""

    def proven_class(self, low: FloatArray, high: FloatArray) -> IntArray:
        """For each box, the class index the model gives on all of it, or -1 if not proven."""
        ...


def prover_of(model: Any) -> Prover | None:
    """The prover for trees, forests, small networks and perceptrons; None: only sampling helps."""
    estimator = getattr(model, "estimator", model)
    trees = trees_of(estimator)
    if trees is not None:
        return trees
    if not is_installed("torch"):
        return None
    network = network_of(getattr(model, "module", estimator))
    return None if network is None else NetworkBounds(network)


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


class NetworkBounds:
    """Proofs for a feed-forward torch network, as `network_of` gives it."""

    # Margins over other classes are bounded by intervals and, for dense layers, by lines back to
    # the inputs, in float64 (CROWN with intervals; Zhang et al., 2018 and 2020).

    def __init__(self, network: Any) -> None:
        self._torch = require("torch", "torch", "Proofs for networks")
        self._type = network[-1].weight.dtype
        # How far the network's own rounding may move a score.
        self._sure = 1e-6 if self._type == self._torch.float64 else 1e-4
        self._network = copy.deepcopy(network).double().eval()
        *self._body, last = self._network
        self._margins = [_margin_layer(self._torch, last, c) for c in range(last.out_features)]
        self._is_dense = {type(layer).__name__ for layer in self._body} <= _DENSE

    def proven_class(self, low: FloatArray, high: FloatArray) -> IntArray:
        """The class that the network gives on all of each box, or -1 if not proven."""
        torch = self._torch
        proven = np.full(len(low), -1, dtype=np.int64)
        with one_torch_thread(), torch.no_grad():
            for start in range(0, len(low), _BLOCK):
                rows = slice(start, start + _BLOCK)
                # One step outwards, so that rounding to float32 cannot shrink a box.
                below = torch.as_tensor(low[rows]).to(self._type)
                above = torch.as_tensor(high[rows]).to(self._type)
                below = torch.nextafter(below, torch.full_like(below, -torch.inf)).double()
                above = torch.nextafter(above, torch.full_like(above, torch.inf)).double()
                proven[rows] = self._proven(below, above)
        return proven

    def _proven(self, below: Any, above: Any) -> IntArray:
        guess = self._network((below + above) / 2).argmax(dim=1)
        ends = [(below, above)]  # of the input of each layer
        for layer in self._body:
            ends.append(_through(layer, *ends[-1]))
        out = self._torch.full_like(guess, -1)
        for label in guess.unique().tolist():
            rows = (guess == label).nonzero()[:, 0]
            inside = [(low[rows], high[rows]) for low, high in ends]
            lowest = _through(self._margins[label], *inside[-1])[0]
            if self._is_dense:
                lowest = lowest.maximum(self._relaxed(self._margins[label], inside))
            out[rows[(lowest > self._sure).all(dim=1)]] = label
        return np.asarray(out.numpy(), dtype=np.int64)

    def _relaxed(self, margin: Any, ends: list[tuple[Any, Any]]) -> Any:
        """Lower bounds of the margins (rows × other classes) by linear functions of the inputs."""
        slope = margin.weight.expand(len(ends[0][0]), -1, -1)
        offset = margin.bias.expand(len(slope), -1)
        for layer, (low, high) in zip(self._body[::-1], ends[-2::-1], strict=True):
            up, down = slope.clamp(min=0), slope.clamp(max=0)
            if type(layer).__name__ == "Linear":
                if layer.bias is not None:
                    offset = offset + slope @ layer.bias
                slope = slope @ layer.weight
            elif type(layer).__name__ == "ReLU":
                crossing = (low < 0) & (high > 0)
                chord = (high / (high - low)).where(crossing, (low >= 0).to(low.dtype))
                under = (high > -low).to(low.dtype).where(crossing, chord)
                above = (chord * -low).where(crossing, 0 * low)[:, :, None]
                offset = offset + (down @ above)[..., 0]
                slope = up * under[:, None] + down * chord[:, None]
            else:  # between its values at both ends
                lowest, highest = layer(low)[:, :, None], layer(high)[:, :, None]
                offset = offset + (up @ lowest + down @ highest)[..., 0]
                slope = 0 * slope
        low, high = ends[0]
        up, down = slope.clamp(min=0), slope.clamp(max=0)
        return offset + (up @ low[:, :, None] + down @ high[:, :, None])[..., 0]


def _through(layer: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The ends of each output over a box: exact for one layer, wider for several."""
    name = type(layer).__name__
    if name in _RISING:
        return layer(low), layer(high)
    middle, half = layer((low + high) / 2), (high - low) / 2
    if name == "Linear":
        half = half @ layer.weight.abs().T
    elif name == "Conv2d":
        half = layer._conv_forward(half, layer.weight.abs(), None)
    else:  # batch normalisation moves each channel by itself
        scale = (layer.running_var + layer.eps).rsqrt()
        scale = scale if layer.weight is None else scale * layer.weight.abs()
        half = half * scale.view(1, -1, *[1] * (half.ndim - 2))
    return middle - half, middle + half


def network_of(model: Any) -> Any | None:
    """A Sequential of known layers, or a fitted ``MLPClassifier``, without its Softmax."""
    if type(model).__name__ == "MLPClassifier" and hasattr(model, "coefs_"):
        return _from_perceptron(model)
    if "Sequential" not in [kind.__name__ for kind in type(model).__mro__]:
        return None
    names = [type(layer).__name__ for layer in model]
    if set(names) - {*_AFFINE, *_RISING, *_DROPPED}:
        return None
    layers = [layer for layer in model if type(layer).__name__ not in _DROPPED]
    last: Any = layers[-1] if layers else None
    if "Softmax" in names[:-1] or type(last).__name__ != "Linear" or last.out_features < 2:
        return None
    # Statistics of each batch make no function of a row; places of the largest are no values.
    if any(getattr(x, "running_var", 0) is None or getattr(x, "return_indices", 0) for x in layers):
        return None
    return require("torch", "torch", "Proofs for networks").nn.Sequential(*layers)


def _from_perceptron(model: Any) -> Any | None:
    if model.activation not in _ACTIVATIONS:
        return None
    torch = require("torch", "torch", "Proofs for networks")
    layers: list[Any] = []
    for weight, bias in zip(model.coefs_, model.intercepts_, strict=True):
        last = len(layers) == 2 * len(model.coefs_) - 2
        if last and len(bias) == 1:
            # One logistic unit for two classes: its sign decides against a constant zero.
            weight, bias = np.hstack([0 * weight, weight]), np.array([0.0, bias[0]])
        layers.append(_linear(torch, torch.as_tensor(weight.T), torch.as_tensor(bias)))
        layers += [] if last else [getattr(torch.nn, _ACTIVATIONS[model.activation])()]
    return torch.nn.Sequential(*layers)


def _margin_layer(torch: Any, last: Any, label: int) -> Any:
    others = [c for c in range(last.out_features) if c != label]
    bias = last.bias if last.bias is not None else last.weight.new_zeros(last.out_features)
    return _linear(torch, last.weight[label] - last.weight[others], bias[label] - bias[others])


def _linear(torch: Any, weight: Any, bias: Any) -> Any:
    layer = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(bias)
    return layer

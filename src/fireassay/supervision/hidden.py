"""Hidden layers of scikit-learn's networks and of ONNX graphs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, softmax
from fireassay.core.errors import ModelError, ParameterError
from fireassay.core.lazy import require
from fireassay.supervision.reading import Hidden

FEATURES_WIDEST = 4096  # of a layer chosen by the user
PROBE_WIDEST = 512  # of each of many layers
_MOST_LAYERS = 8
_GRID = 4


def grid(shape: Sequence[int], widest: int) -> tuple[int, int]:
    """Rows and columns, at most 4 × 4, to average maps (channels, height, width) to."""
    channels, height, width = shape
    side = _GRID
    while side > 1 and channels * min(side, height) * min(side, width) > widest:
        side -= 1
    return min(side, height), min(side, width)


def spread(names: Sequence[str]) -> list[str]:
    """At most eight names, evenly spaced, always with the last."""
    if len(names) <= _MOST_LAYERS:
        return list(names)
    step = (len(names) - 1) / (_MOST_LAYERS - 1)
    return [names[round(i * step)] for i in range(_MOST_LAYERS)]


def check_head(logits: FloatArray, probabilities: FloatArray, head: str) -> None:
    """Refuse a last linear layer whose logits are not those of the probabilities."""
    same = logits.shape == probabilities.shape
    if not same or not np.allclose(softmax(logits), probabilities, atol=1e-4):
        raise ModelError(
            f"The model's probabilities must be the softmax of {head}.",
            got="another answer",
            do="Pass layer= to choose the activations, or bring arrays (Reading).",
        )


def is_network(estimator: Any) -> bool:
    """Whether an estimator is an MLPClassifier, alone or at the end of a pipeline."""
    last = _last(estimator)
    return type(last).__name__ == "MLPClassifier" and hasattr(last, "coefs_")


class SklearnHidden(Hidden):
    """Computes the hidden activations of an ``MLPClassifier`` from its weights."""

    def __init__(self, model: Any, estimator: Any, layer: str | None) -> None:
        self.model, self.estimator, self.network = model, estimator, _last(estimator)
        self.temperature = float(getattr(model, "temperature", 1.0))
        self.names = [f"hidden{i + 1}" for i in range(len(self.network.coefs_) - 1)]
        if layer is not None and layer not in self.names:
            raise ParameterError(f"The 'layer' must be one of {self.names}.", got=repr(layer))
        self.layer = layer

    def missing(self, need: str) -> str | None:
        """None if this field can be read."""
        return "scikit-learn's networks have no dropout" if need == "dropout" else None

    def read(self, X: AnyArray, needs: frozenset[str]) -> dict[str, Any]:
        """Probabilities and the asked fields."""
        del needs
        found: dict[str, Any] = {"probabilities": self.model.predict_proba(X)}
        # Images are flattened, as the adapter does before it asks the estimator.
        hidden = np.asarray(X, dtype=np.float64).reshape(len(X), -1)
        if self.network is not self.estimator:
            hidden = np.asarray(self.estimator[:-1].transform(hidden), dtype=np.float64)
        layers: dict[str, FloatArray] = {}
        weights_of = zip(self.network.coefs_[:-1], self.network.intercepts_[:-1], strict=True)
        for name, (weights, bias) in zip(self.names, weights_of, strict=True):
            hidden = _activated(hidden @ weights + bias, self.network.activation)
            layers[name] = hidden
        weights, bias = self.last_layer()
        logits = (hidden @ weights.T + bias) / self.temperature
        features = layers[self.layer] if self.layer else hidden
        return found | {
            "layers": layers, "features": features, "logits": logits, "head": (weights, bias),
        }  # fmt: skip

    def layer_names(self) -> tuple[list[str], str | None]:
        """The layers that are probed, and the one whose activations are the features."""
        return self.names, self.layer or self.names[-1]

    def last_layer(self) -> tuple[FloatArray, FloatArray]:
        """Weights (k, d) and bias (k,) of the last linear layer."""
        weights, bias = self.network.coefs_[-1].T, self.network.intercepts_[-1]
        if len(weights) == 1:  # one logistic unit is the log-odds of the second class
            weights, bias = np.vstack([0 * weights, weights]), np.append(0.0, bias)
        return weights, bias


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _activated(values: FloatArray, activation: str) -> FloatArray:
    if activation == "relu":
        return np.maximum(values, 0.0)
    if activation == "tanh":
        return np.tanh(values)
    if activation == "logistic":
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -700, 700))))
    return values


_ACTIVATIONS = ("Relu", "LeakyRelu", "Elu", "Selu", "Gelu", "Tanh", "Sigmoid", "Softplus", "Clip")


class OnnxHidden(Hidden):
    """Reads intermediate outputs of an ONNX graph."""

    def __init__(self, model: Any, inner: Any, layer: str | None) -> None:
        onnx = require("onnx", "interop", "Reading the layers of an ONNX model")
        self.model, self.inner, self.layer = model, inner, layer
        self.temperature = float(getattr(model, "temperature", 1.0))
        graph = onnx.load_model_from_string(inner._model).graph
        constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                constants[node.output[0]] = onnx.numpy_helper.to_array(node.attribute[0].t)
        activations = [n.output[0] for n in graph.node if n.op_type in _ACTIVATIONS]
        self.activation_names = spread(activations)
        self.head = _last_linear(graph, constants)
        known = {name for node in graph.node for name in node.output}
        if layer is not None and layer not in known:
            raise ParameterError(
                f"The 'layer' must be one of {', '.join(sorted(known)[:30])}.", got=repr(layer)
            )

    def missing(self, need: str) -> str | None:
        """None if this field can be read."""
        if need == "dropout":
            return "an ONNX graph for inference has no dropout; pass the torch module instead"
        if need == "layers":
            return None if self.activation_names else "the ONNX graph has no activation functions"
        if need == "features" and self.layer is not None:
            return None
        return None if self.head is not None else "the ONNX graph does not end in a linear layer"

    def read(self, X: AnyArray, needs: frozenset[str]) -> dict[str, Any]:
        """Probabilities and the asked fields."""
        names = list(self.activation_names) if "layers" in needs else []
        if "features" in needs and self.layer is not None:
            names.append(self.layer)
        uses_head = bool(needs & {"logits", "head"}) or ("features" in needs and not self.layer)
        if uses_head and self.head is not None:
            names.append(self.head[0])
        values = self.inner.activations(X, tuple(dict.fromkeys(names)))
        found: dict[str, Any] = {"probabilities": self.model.predict_proba(X)}
        if uses_head and self.head is not None:
            features = _flat(values[self.head[0]], FEATURES_WIDEST)
            weights, bias = self.head[1:]
            logits = (features @ weights.T + bias) / self.temperature
            check_head(logits, found["probabilities"], "its last linear layer")
            found |= {"logits": logits, "head": (weights, bias)}
            if self.layer is None:
                found["features"] = features
        if "features" in needs and self.layer is not None:
            found["features"] = _flat(values[self.layer], FEATURES_WIDEST)
        if "layers" in needs:
            probed = self.activation_names
            found["layers"] = {name: _flat(values[name], PROBE_WIDEST) for name in probed}
        return found

    def layer_names(self) -> tuple[list[str], str | None]:
        """The layers that are probed, and the one whose activations are the features."""
        return self.activation_names, self.layer or (self.head and self.head[0])

    def last_layer(self) -> tuple[FloatArray, FloatArray] | None:
        """Weights (k, d) and bias (k,) of the last linear layer, if there is one."""
        return None if self.head is None else self.head[1:]


def _last_linear(
    graph: Any, constants: dict[str, Any]
) -> tuple[str, FloatArray, FloatArray] | None:
    """Name of what the last linear layer takes, its weights (k, d) and bias (k,)."""
    nodes = list(graph.node)
    for position in range(len(nodes) - 1, -1, -1):
        node = nodes[position]
        if node.op_type == "Gemm" and node.input[1] in constants:
            return _gemm(node, constants)
        if node.op_type == "MatMul" and node.input[1] in constants:
            weights = constants[node.input[1]].astype(np.float64).T
            return node.input[0], weights, _added(node, nodes[position + 1 :], constants, weights)
    return None


def _gemm(node: Any, constants: dict[str, Any]) -> tuple[str, FloatArray, FloatArray] | None:
    """Input, weights and bias of a Gemm node; None where the node scales or transposes rows."""
    options = {a.name: a for a in node.attribute}
    weights = constants[node.input[1]].astype(np.float64)
    if not ("transB" in options and options["transB"].i):
        weights = weights.T
    scaled = any(name in options and options[name].f != 1.0 for name in ("alpha", "beta"))
    if scaled or ("transA" in options and options["transA"].i):
        return None
    bias = np.zeros(len(weights))
    if len(node.input) > 2 and node.input[2] in constants:
        bias = constants[node.input[2]].astype(np.float64).ravel()
    return node.input[0], weights, np.broadcast_to(bias, (len(weights),)).copy()


def _added(node: Any, later: list[Any], constants: dict[str, Any], weights: Any) -> FloatArray:
    """The constant that a later node adds to the product of a MatMul node; zeros without one."""
    bias: FloatArray = np.zeros(len(weights))
    for add in later:
        if add.op_type == "Add" and node.output[0] in add.input:
            other = [name for name in add.input if name != node.output[0]]
            if other and other[0] in constants:
                bias = constants[other[0]].astype(np.float64).ravel()
    return bias


def _flat(values: AnyArray, widest: int) -> FloatArray:
    array = np.asarray(values)
    if array.ndim == 4:
        for axis, count in zip((2, 3), grid(array.shape[1:], widest), strict=True):
            array = _averaged(array, axis, count)
    return np.asarray(array.reshape(len(array), -1), dtype=np.float64)


def _averaged(array: AnyArray, axis: int, count: int) -> FloatArray:
    """Means over equal stretches of an axis (they overlap where it does not divide)."""
    length, slices = array.shape[axis], np.moveaxis(array, axis, 0)
    means = []
    for i in range(count):
        start, stop = i * length // count, -(-(i + 1) * length // count)
        total = slices[start].astype(np.float64)  # never the whole array: it is large
        for one in slices[start + 1 : stop]:
            total += one
        means.append(total / (stop - start))
    return np.stack(means, axis=axis)

"""Interval and linear (CROWN-IBP) bounds prove small networks constant on boxes."""

from typing import Any

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.extras import require
from fireassay.core.threads import one_torch_thread

_BLOCK = 4096
_ACTIVATIONS = {"relu": "ReLU", "tanh": "Tanh", "logistic": "Sigmoid"}
_SUPPORTED = ("Linear", "ReLU", "Tanh", "Sigmoid", "Identity", "Dropout", "Softmax")


class NetworkBounds:
    """Proofs for a feed-forward torch network of dense layers.

    Parameters
    ----------
    network
        A ``torch.nn.Sequential`` whose last layer is linear and gives one score per class.

    Notes
    -----
    Each class's margin over every other class is bounded as one linear layer, cheap interval
    bounds first, CROWN-IBP on the boxes where these do not suffice.
    """

    def __init__(self, network: Any) -> None:
        torch = require("torch", "certificates", "Proofs for networks")
        bounds = require("bound_propagation", "certificates", "Proofs for networks")
        self._torch, self._rectangle = torch, bounds.HyperRectangle
        self._network = network
        factory = bounds.BoundModelFactory()
        body, last = list(network)[:-1], list(network)[-1]
        self._margins = [
            factory.build(torch.nn.Sequential(*body, _margin_layer(torch, last, c)))
            for c in range(last.out_features)
        ]
        self._type = last.weight.dtype

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
                below = torch.nextafter(below, torch.full_like(below, -torch.inf))
                above = torch.nextafter(above, torch.full_like(above, torch.inf))
                guess = self._network((below + above) / 2).argmax(dim=1)
                proven[rows] = self._proven(below, above, guess)
        return proven

    def _proven(self, below: Any, above: Any, guess: Any) -> IntArray:
        torch = self._torch
        out = torch.full_like(guess, -1)
        for label in torch.unique(guess).tolist():
            rows = torch.nonzero(guess == label)[:, 0]
            margins = self._margins[label]
            bounds = margins.ibp(self._rectangle(below[rows], above[rows]))
            sure = (bounds.lower > 1e-6).all(dim=1)
            out[rows[sure]] = label
            rows = rows[~sure]
            if len(rows):
                linear = margins.crown_ibp(self._rectangle(below[rows], above[rows]))
                sure = (linear.concretize().lower > 1e-6).all(dim=1)
                out[rows[sure]] = label
        return np.asarray(out.numpy(), dtype=np.int64)


def network_of(model: Any) -> Any | None:
    """A model as a Sequential of dense layers that ends in scores, or None.

    Understood: ``torch.nn.Sequential`` of Linear, ReLU, Tanh, Sigmoid, with a final Softmax
    dropped (it keeps the order of the classes), and a fitted ``MLPClassifier``.
    """
    if type(model).__name__ == "MLPClassifier" and hasattr(model, "coefs_"):
        return _from_perceptron(model)
    names = [type(layer).__name__ for layer in model] if _is_sequential(model) else []
    if not names or any(name not in _SUPPORTED for name in names):
        return None
    torch = require("torch", "certificates", "Proofs for networks")
    layers = [
        layer for layer in model if type(layer).__name__ not in ("Dropout", "Identity", "Softmax")
    ]
    wrong_place = "Softmax" in names[:-1]
    if wrong_place or type(layers[-1]).__name__ != "Linear" or layers[-1].out_features < 2:
        return None
    return torch.nn.Sequential(*layers)


def _is_sequential(model: Any) -> bool:
    return any(kind.__name__ == "Sequential" for kind in type(model).__mro__) and hasattr(
        model, "__iter__"
    )


def _from_perceptron(model: Any) -> Any | None:
    if model.activation not in _ACTIVATIONS:
        return None
    torch = require("torch", "certificates", "Proofs for networks")
    layers: list[Any] = []
    for weight, bias in zip(model.coefs_, model.intercepts_, strict=True):
        if layers:
            layers.append(getattr(torch.nn, _ACTIVATIONS[model.activation])())
        weight, bias = weight.T, bias
        if len(layers) // 2 == len(model.coefs_) - 1 and len(bias) == 1:
            # One logistic unit for two classes: its sign decides against a constant zero.
            weight, bias = np.vstack([0 * weight, weight]), np.array([0.0, bias[0]])
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=torch.float64)
        with torch.no_grad():
            layer.weight.copy_(torch.as_tensor(weight))
            layer.bias.copy_(torch.as_tensor(bias))
        layers.append(layer)
    return torch.nn.Sequential(*layers)


def _margin_layer(torch: Any, last: Any, label: int) -> Any:
    others = [c for c in range(last.out_features) if c != label]
    layer = torch.nn.Linear(last.in_features, len(others), dtype=last.weight.dtype)
    with torch.no_grad():
        layer.weight.copy_(last.weight[label] - last.weight[others])
        bias = last.bias if last.bias is not None else torch.zeros(last.out_features)
        layer.bias.copy_(bias[label] - bias[others])
    return layer

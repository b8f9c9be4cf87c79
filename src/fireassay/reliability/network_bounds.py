"""Interval arithmetic and linear relaxations prove small networks constant on boxes."""

import copy
from typing import Any

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy import require
from fireassay.core.threads import one_torch_thread

_BLOCK = 4096
_ACTIVATIONS = {"relu": "ReLU", "tanh": "Tanh", "logistic": "Sigmoid"}
_AFFINE = ("Linear", "Conv2d", "BatchNorm1d", "BatchNorm2d")
_DENSE = {"Linear", "ReLU", "Tanh", "Sigmoid"}
# Where an input grows, no output of these falls: both ends go through as they are.
_RISING = ("ReLU", "Tanh", "Sigmoid", "MaxPool2d", "AvgPool2d", "Flatten", "Unflatten")
_DROPPED = ("Dropout", "Identity", "Softmax")


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

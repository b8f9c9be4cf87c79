"""Distances to training activations, as ONNX nodes; what was kept of training is in the graph."""

from typing import Any

import numpy as np

from fireassay.supervision.dsa import DsaReference
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.per_class import POOLED
from fireassay.supervision.supervisor import Supervisor

_FAR = 1e300


def mahalanobis(g: GraphBuilder, s: Supervisor) -> str:
    """Squared distance to the nearest class mean."""
    features = g.input("features")
    distances = [
        g.squared_distance(g.minus(features, g.constant(mean)), s.state_["shared"])
        for mean in s.state_["means"]
    ]
    return g.op("Min", *distances)


def relative_mahalanobis(g: GraphBuilder, s: Supervisor) -> str:
    """The same, minus the distance to all rows."""
    background = g.squared_distance(g.input("features"), s.state_["background"])
    return g.minus(mahalanobis(g, s), background)


def mdsa(g: GraphBuilder, s: Supervisor) -> str:
    """Squared distance to the predicted class."""
    features = g.input("features")
    found = {name: g.squared_distance(features, gauss) for name, gauss in s.state_.items()}
    pooled = found.pop(POOLED)
    return g.by_class(found, pooled)


def gmm_density(g: GraphBuilder, s: Supervisor) -> str:
    """Negative log density of the mixture."""
    logs = []
    for gauss, weight in zip(s.state_["gaussians"], s.state_["log_weights"], strict=True):
        constant = len(gauss.mean) * np.log(2 * np.pi) + gauss.log_determinant
        halved = g.times(g.squared_distance(g.input("features"), gauss), g.constant(-0.5))
        logs.append(g.op("Add", halved, g.constant(weight - 0.5 * constant)))
    return g.energy(g.columns(logs))


def lsa(g: GraphBuilder, s: Supervisor) -> str:
    """Negative log kernel density of the predicted class."""
    found = {name: _surprise(g, density) for name, density in s.state_.items()}
    pooled = found.pop(POOLED)
    return g.by_class(found, pooled)


def _surprise(g: GraphBuilder, density: dict[str, Any]) -> str:
    kept = g.op("Gather", g.input("features"), g.constant(density["features"], np.int64), axis=1)
    centred = g.minus(kept, g.constant(density["centre"]))
    whitening = np.linalg.inv(density["factor"]).T
    white = g.op("MatMul", centred, g.constant(whitening))
    halved = g.times(g.squared_gaps(white, density["points"]), g.constant(-0.5))
    return g.op("Add", g.energy(halved), g.constant(density["log_volume"]))


def knn(g: GraphBuilder, s: Any) -> str:
    """Distance to the k-th nearest of unit length."""
    features, references = g.input("features"), s.state_["references"]
    length = g.op("Sqrt", g.sum(g.times(features, features), keep=1))
    unit = g.op("Div", features, g.op("Max", length, g.constant(1e-300)))
    k = min(s.k, len(references))
    count = g.constant([k], np.int64)
    gaps, _ = g.ops("TopK", g.squared_gaps(unit, references), count, outputs=2, axis=1, largest=0)
    return g.op("Sqrt", g.max(gaps))


def dsa(g: GraphBuilder, s: Supervisor) -> str:
    """Nearest of the same class over that one's nearest of another."""
    features = g.input("features")
    reference = DsaReference(s.state_["activations"], s.state_["predictions"])
    classes = g.constant(reference.predictions[None], np.int64)
    is_same = g.op("Equal", g.answer(keep=1), classes)
    has_any = g.max(g.op("Cast", is_same, to=g.onnx.TensorProto.DOUBLE), keep=1)
    is_new = g.op("Equal", has_any, g.constant(0.0))  # a class without training rows: all rows
    gaps = g.squared_gaps(features, reference.activations)
    allowed = g.op("Where", g.op("Or", is_same, is_new), gaps, g.constant(_FAR))
    nearest = g.op("ArgMin", allowed, axis=1, keepdims=0)
    offset = g.minus(features, g.op("Gather", g.constant(reference.activations), nearest, axis=0))
    to_same = g.op("Sqrt", g.sum(g.times(offset, offset)))
    tiny = np.finfo(np.float64).tiny
    to_other = np.maximum(reference.to_other_class(), tiny)
    return g.op("Div", to_same, g.op("Gather", g.constant(to_other), nearest, axis=0))

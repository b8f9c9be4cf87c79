"""Scores from probabilities, logits, samples and the last layer, as ONNX nodes."""

from typing import Any

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.supervisor import NotAvailableError, Supervisor


def max_softmax(g: GraphBuilder, s: Supervisor) -> str:
    """One minus the largest probability."""
    del s
    return g.from_one(g.max(g.input("probabilities")))


def pcs(g: GraphBuilder, s: Supervisor) -> str:
    """One minus the gap between the two largest."""
    del s
    values, _ = g.ops("TopK", g.input("probabilities"), g.constant([2], np.int64), outputs=2)
    return g.from_one(g.sum(g.times(values, g.constant([[1.0, -1.0]]))))


def softmax_entropy(g: GraphBuilder, s: Supervisor) -> str:
    """Entropy in bits."""
    del s
    return g.entropy(g.input("probabilities"))


def deep_gini(g: GraphBuilder, s: Supervisor) -> str:
    """One minus the sum of squares."""
    del s
    return g.from_one(g.sum(g.times(g.input("probabilities"), g.input("probabilities"))))


def gen(g: GraphBuilder, s: Any) -> str:
    """Generalised entropy of the largest probabilities."""
    p = g.input("probabilities")
    width = g.op("Shape", p, start=1, end=2)
    top = g.op("Min", width, g.constant([s.top], np.int64))
    largest, _ = g.ops("TopK", p, top, outputs=2)
    spread = g.op("Max", g.times(largest, g.from_one(largest)), g.constant(0.0))
    return g.sum(g.op("Pow", spread, g.constant(s.gamma)))


def max_logit(g: GraphBuilder, s: Supervisor) -> str:
    """Minus the largest logit."""
    del s
    return g.negative(g.max(g.input("logits")))


def energy(g: GraphBuilder, s: Any) -> str:
    """Free energy."""
    scaled = g.op("Div", g.input("logits"), g.constant(s.temperature))
    return g.times(g.energy(scaled), g.constant(s.temperature))


def gradnorm(g: GraphBuilder, s: Supervisor) -> str:
    """Minus the L1 length of the last layer's gradient."""
    del s
    p = g.input("probabilities")
    from_uniform = g.sum(g.op("Abs", g.minus(p, g.mean(p, keep=1))))
    return g.negative(g.times(from_uniform, g.sum(g.op("Abs", g.input("features")))))


def react(g: GraphBuilder, s: Supervisor) -> str:
    """Energy after clipping."""
    clipped = g.op("Min", g.input("features"), g.constant(s.state_["largest"]))
    return g.energy(g.linear(clipped, *_head(s)))


def ash(g: GraphBuilder, s: Any) -> str:
    """Energy after dropping small activations."""
    return _shaped(g, s, drops=True)


def scale(g: GraphBuilder, s: Any) -> str:
    """Energy after scaling activations."""
    return _shaped(g, s, drops=False)


def _shaped(g: GraphBuilder, s: Any, drops: bool) -> str:
    features, (weights, bias) = g.input("features"), _head(s)
    # The row's quantile, between two neighbours in its order.
    place = s.pruned * (weights.shape[1] - 1)
    below = int(np.floor(place))
    count = weights.shape[1] - below
    values, _ = g.ops("TopK", features, g.constant([count], np.int64), outputs=2)
    low = g.op("Gather", values, g.constant([count - 1], np.int64), axis=1)
    high = g.op("Gather", values, g.constant([max(count - 2, 0)], np.int64), axis=1)
    limit = g.op("Add", low, g.times(g.minus(high, low), g.constant(place - below)))
    is_kept = g.op("GreaterOrEqual", features, limit)
    kept = g.op("Where", is_kept, features, g.constant(0.0))
    before, after = (g.sum(g.op("Relu", part), keep=1) for part in (features, kept))
    has_some = g.op("Greater", after, g.constant(0.0))
    safe = g.op("Where", has_some, after, g.constant(1.0))
    ratio = g.op("Where", has_some, g.op("Div", before, safe), g.constant(1.0))
    factor = g.op("Exp", g.op("Min", ratio, g.constant(20.0)))
    shaped = g.times(factor, kept if drops else features)
    return g.energy(g.linear(shaped, weights, bias))


def _head(s: Supervisor) -> tuple[FloatArray, FloatArray]:
    reader = getattr(s, "reader_", None)
    head: tuple[FloatArray, FloatArray] | None = None if reader is None else reader.head()
    if head is None:
        raise NotAvailableError(
            f"The graph of {s.name} contains the model's last linear layer.",
            got="no model that shows it",
            do="Call fit(model, …) or attach(model) first.",
        )
    return head


def vim(g: GraphBuilder, s: Supervisor) -> str:
    """Residual outside the principal space against the energy."""
    centred = g.minus(g.input("features"), g.constant(s.state_["origin"]))
    outside = g.op("MatMul", centred, g.constant(s.state_["outside"]))
    residual = g.op("Sqrt", g.sum(g.times(outside, outside)))
    scaled = g.times(residual, g.constant(s.state_["alpha"]))
    return g.op("Add", scaled, g.energy(g.input("logits")))


def mean_softmax(g: GraphBuilder, s: Supervisor) -> str:
    """One minus the largest mean probability."""
    del s
    return g.from_one(g.max(g.mean(g.input("samples"), axis=0)))


def predictive_entropy(g: GraphBuilder, s: Supervisor) -> str:
    """Entropy of the mean."""
    del s
    return g.entropy(g.mean(g.input("samples"), axis=0))


def mutual_information(g: GraphBuilder, s: Supervisor) -> str:
    """Entropy of the mean minus mean entropy."""
    single = g.mean(g.entropy(g.input("samples"), axis=2), axis=0)
    return g.op("Max", g.minus(predictive_entropy(g, s), single), g.constant(0.0))


def variation_ratio(g: GraphBuilder, s: Supervisor) -> str:
    """Share of samples that do not vote for the mode."""
    del s
    samples = g.input("samples")
    answers = g.op("ArgMax", samples, axis=2, keepdims=0)
    classes = g.op("Squeeze", g.op("Shape", samples, start=2, end=3))
    votes = g.op("OneHot", answers, classes, g.constant([0.0, 1.0], np.float32), axis=-1)
    votes = g.op("Cast", votes, to=g.onnx.TensorProto.DOUBLE)
    return g.from_one(g.max(g.mean(votes, axis=0)))


def dissector(g: GraphBuilder, s: Any) -> str:
    """One minus the weighted support of the layers."""
    from fireassay.supervision.dissector import depth_weights

    answer = g.answer(keep=1)
    weights = depth_weights(s.growth, len(s.state_["probes"]))
    total = ""
    for name, probe, weight in zip(s.state_["names"], s.state_["probes"], weights, strict=True):
        centred = g.minus(g.input(name), g.constant(probe["centre"]))
        scaled = g.op("Div", centred, g.constant(probe["scale"]))
        p = g.op("Softmax", g.linear(scaled, probe["weights"], probe["bias"]), axis=1)
        places = g.constant(np.arange(len(probe["bias"]))[None], np.int64)
        others = g.op("Where", g.op("Equal", places, answer), g.constant(-1.0), p)
        own = g.op("Squeeze", g.op("GatherElements", p, answer, axis=1), g.constant([1], np.int64))
        both = g.op("Add", own, g.max(others))
        share = g.op("Div", own, g.op("Max", both, g.constant(np.finfo(np.float64).tiny)))
        is_known = g.op("Greater", both, g.constant(0.0))
        share = g.op("Where", is_known, share, g.constant(0.5))
        part = g.times(share, g.constant(weight / sum(weights)))
        total = g.op("Add", total, part) if total else part
    return g.from_one(total)

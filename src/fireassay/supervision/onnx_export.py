"""Fitted supervisors as ONNX graphs, where their arithmetic is plain enough."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.errors import ParameterError
from fireassay.core.extras import require
from fireassay.supervision.supervisor import NotAvailableError, Supervisor

_OPSET = 17


class GraphBuilder:
    """Collects nodes; every operation returns the name of its result."""

    def __init__(self) -> None:
        self.onnx = require("onnx", "interop", "ONNX export")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        """A named constant."""
        name = f"c{len(self.constants)}"
        array = np.asarray(value, dtype=kind)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """One node."""
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def sum(self, value: str) -> str:
        """Sum over columns."""
        axes = self.constant([1], np.int64)
        return str(self.op("ReduceSum", value, axes, keepdims=0))

    def negative(self, value: str) -> str:
        """Minus."""
        return str(self.op("Neg", value))

    def from_one(self, value: str) -> str:
        """One minus."""
        return str(self.op("Sub", self.constant(1.0), value))

    def energy(self, logits: str) -> str:
        """−log Σ exp."""
        return self.negative(str(self.op("ReduceLogSumExp", logits, axes=[1], keepdims=0)))

    def squared_distance(self, rows: str, gaussian: Any) -> str:
        """Squared Mahalanobis distance."""
        centred = self.op("Sub", rows, self.constant(gaussian.mean))
        white = self.op("MatMul", centred, self.constant(gaussian.whitening))
        return self.sum(str(self.op("Mul", white, white)))

    def smallest(self, values: list[str]) -> str:
        """The smallest of several results, row by row."""
        return str(self.op("Min", *values))


def _max_softmax(g: GraphBuilder, s: Supervisor) -> str:
    del s
    return g.from_one(g.op("ReduceMax", "probabilities", axes=[1], keepdims=0))


def _pcs(g: GraphBuilder, s: Supervisor) -> str:
    del s
    values, _ = g.op("TopK", "probabilities", g.constant([2], np.int64), outputs=2, axis=1)
    return g.from_one(g.sum(g.op("Mul", values, g.constant([[1.0, -1.0]]))))


def _softmax_entropy(g: GraphBuilder, s: Supervisor) -> str:
    del s
    safe = g.op("Max", "probabilities", g.constant(1e-38))
    bits = g.op("Div", g.op("Log", safe), g.constant(np.log(2.0)))
    return g.negative(g.sum(g.op("Mul", "probabilities", bits)))


def _deep_gini(g: GraphBuilder, s: Supervisor) -> str:
    del s
    return g.from_one(g.sum(g.op("Mul", "probabilities", "probabilities")))


def _max_logit(g: GraphBuilder, s: Supervisor) -> str:
    del s
    return g.negative(g.op("ReduceMax", "logits", axes=[1], keepdims=0))


def _energy(g: GraphBuilder, s: Any) -> str:
    scaled = g.op("Div", "logits", g.constant(s.temperature))
    return str(g.op("Mul", g.energy(scaled), g.constant(s.temperature)))


def _mahalanobis(g: GraphBuilder, s: Supervisor) -> str:
    distances = [
        g.squared_distance(g.op("Sub", "features", g.constant(mean)), s.state_["shared"])
        for mean in s.state_["means"]
    ]
    return g.smallest(distances)


def _relative_mahalanobis(g: GraphBuilder, s: Supervisor) -> str:
    background = g.squared_distance("features", s.state_["background"])
    return str(g.op("Sub", _mahalanobis(g, s), background))


def _vim(g: GraphBuilder, s: Supervisor) -> str:
    centred = g.op("Sub", "features", g.constant(s.state_["origin"]))
    outside = g.op("MatMul", centred, g.constant(s.state_["outside"]))
    residual = g.op("Sqrt", g.sum(g.op("Mul", outside, outside)))
    scaled = g.op("Mul", residual, g.constant(s.state_["alpha"]))
    return str(g.op("Add", scaled, g.energy("logits")))


_GRAPHS: dict[str, tuple[tuple[str, ...], Callable[[GraphBuilder, Any], str]]] = {
    "max-softmax": (("probabilities",), _max_softmax),
    "pcs": (("probabilities",), _pcs),
    "softmax-entropy": (("probabilities",), _softmax_entropy),
    "deep-gini": (("probabilities",), _deep_gini),
    "max-logit": (("logits",), _max_logit),
    "energy": (("logits",), _energy),
    "mahalanobis": (("features",), _mahalanobis),
    "relative-mahalanobis": (("features",), _relative_mahalanobis),
    "vim": (("features", "logits"), _vim),
}


def onnx_names() -> tuple[str, ...]:
    """Supervisors that can be written as ONNX."""
    return tuple(_GRAPHS)


def to_onnx(supervisor: Supervisor, path: str | Path) -> Path:
    """Write a fitted supervisor as an ONNX graph.

    The graph takes what the supervisor needs ("probabilities", "logits", "features", float32 with
    any number of rows) and gives "score" and, where a threshold was set, "alarm".

    Raises
    ------
    NotAvailableError
        For supervisors whose arithmetic has no graph here; ``save`` works for all of them.
    """
    if supervisor.name not in _GRAPHS:
        raise NotAvailableError(
            f"ONNX export is there for {', '.join(_GRAPHS)}.",
            got=supervisor.name,
            do="Use save(path) and supervision.load(path, model).",
        )
    if not hasattr(supervisor, "state_"):
        raise ParameterError("Only a fitted supervisor can be exported.", got="one before fit")
    inputs, build = _GRAPHS[supervisor.name]
    g = GraphBuilder()
    onnx = g.onnx
    score = g.op("Identity", build(g, supervisor))
    outputs = [(score, "score", onnx.TensorProto.FLOAT)]
    rule = getattr(supervisor, "rule_", None)
    if rule is not None:
        alarm = g.op("Greater", score, g.constant(rule.threshold))
        outputs.append((alarm, "alarm", onnx.TensorProto.BOOL))
    for value, name, _ in outputs:
        g.nodes.append(onnx.helper.make_node("Identity", [value], [name]))
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        g.nodes,
        f"fireassay {supervisor.name}",
        [info(name, onnx.TensorProto.FLOAT, ["rows", None]) for name in inputs],
        [info(name, kind, ["rows"]) for _, name, kind in outputs],
        g.constants,
    )
    opset = [onnx.helper.make_opsetid("", _OPSET)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)
    onnx.checker.check_model(model)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(model.SerializeToString())
    return target

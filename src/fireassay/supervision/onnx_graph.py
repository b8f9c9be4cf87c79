"""Fitted supervisors as ONNX graphs, and a small builder of graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import ParameterError
from fireassay.core.files import write_bytes
from fireassay.core.lazy import require

if TYPE_CHECKING:
    from fireassay.supervision.gaussian_scores import Gaussian
    from fireassay.supervision.supervisor import Supervisor


class GraphBuilder:
    """Nodes and constants of a graph that computes in float64."""

    def __init__(self) -> None:
        self.onnx = require("onnx", "interop", "ONNX export")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[str, str] = {}

    def input(self, name: str) -> str:
        """What the graph is given under this name, as float64."""
        if name not in self.inputs:
            self.inputs[name] = self.op("Cast", name, to=self.onnx.TensorProto.DOUBLE)
        return self.inputs[name]

    def constant(self, value: Any, kind: Any = np.float64) -> str:
        """A named constant."""
        name = f"c{len(self.constants)}"
        array = np.asarray(value, dtype=kind)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """One node with one result."""
        return self.ops(kind, *inputs, outputs=1, **attributes)[0]

    def ops(self, kind: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        """One node."""
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def sum(self, value: str, axis: int = 1, keep: int = 0) -> str:
        """Sum over an axis."""
        return self.op("ReduceSum", value, self.constant([axis], np.int64), keepdims=keep)

    def max(self, value: str, axis: int = 1, keep: int = 0) -> str:
        """Maximum over an axis."""
        return self.op("ReduceMax", value, axes=[axis], keepdims=keep)

    def mean(self, value: str, axis: int = 1, keep: int = 0) -> str:
        """Mean over an axis."""
        return self.op("ReduceMean", value, axes=[axis], keepdims=keep)

    def times(self, a: str, b: str) -> str:
        """Product."""
        return self.op("Mul", a, b)

    def minus(self, a: str, b: str) -> str:
        """Difference."""
        return self.op("Sub", a, b)

    def negative(self, value: str) -> str:
        """Minus."""
        return self.op("Neg", value)

    def from_one(self, value: str) -> str:
        """One minus."""
        return self.minus(self.constant(1.0), value)

    def entropy(self, probabilities: str, axis: int = 1) -> str:
        """Entropy in bits."""
        safe = self.op("Max", probabilities, self.constant(1e-300))
        bits = self.op("Div", self.op("Log", safe), self.constant(np.log(2.0)))
        return self.negative(self.sum(self.times(probabilities, bits), axis))

    def log_sum_exp(self, values: str) -> str:
        """log Σ exp over columns, from the largest."""
        largest = self.max(values, keep=1)
        total = self.op("Log", self.sum(self.op("Exp", self.minus(values, largest))))
        return self.op("Add", total, self.max(values))

    def energy(self, logits: str) -> str:
        """−log Σ exp."""
        return self.negative(self.log_sum_exp(logits))

    def linear(self, rows: str, weights: FloatArray, bias: FloatArray) -> str:
        """A linear layer with weights (k, d)."""
        product = self.op("MatMul", rows, self.constant(weights.T))
        return self.op("Add", product, self.constant(bias))

    def squared_distance(self, rows: str, gaussian: Gaussian) -> str:
        """Squared Mahalanobis distance."""
        centred = self.minus(rows, self.constant(gaussian.mean))
        white = self.op("MatMul", centred, self.constant(gaussian.whitening))
        return self.sum(self.times(white, white))

    def squared_gaps(self, rows: str, references: FloatArray) -> str:
        """Squared Euclidean distances to each reference, (rows, references)."""
        centre = references.mean(axis=0)
        refs = references - centre
        points = self.minus(rows, self.constant(centre))
        twice = self.op("MatMul", points, self.constant(-2.0 * refs.T))
        squares = self.op("Add", self.sum(self.times(points, points), keep=1), twice)
        gaps = self.op("Add", squares, self.constant(np.einsum("ij,ij->i", refs, refs)))
        return self.op("Max", gaps, self.constant(0.0))

    def columns(self, values: list[str]) -> str:
        """Several results side by side."""
        axes = self.constant([1], np.int64)
        return self.op("Concat", *(self.op("Unsqueeze", v, axes) for v in values), axis=1)

    def answer(self, keep: int = 0) -> str:
        """The predicted class of each row."""
        return self.op("ArgMax", self.input("probabilities"), axis=1, keepdims=keep)

    def by_class(self, results: dict[str, str], other: str) -> str:
        """Of results by class, the one of the predicted class; ``other`` where there is none."""
        chosen, answer = other, self.answer()
        for name, result in results.items():
            is_class = self.op("Equal", answer, self.constant(int(name), np.int64))
            chosen = self.op("Where", is_class, result, chosen)
        return chosen


_OPSET = 17
_SHAPES: dict[str, list[str | None]] = {"samples": ["samples", "rows", None]}


def onnx_names() -> tuple[str, ...]:
    """Supervisors that can be written as ONNX; of the others ``no_graph`` says why not.

    >>> from fireassay.supervision import SUPERVISORS
    >>> set(SUPERVISORS) - set(onnx_names())
    {'autoencoder'}
    """
    from fireassay.supervision.registry import SUPERVISORS

    return tuple(name for name, row in SUPERVISORS.items() if row.has_graph())


def to_onnx(supervisor: Supervisor, path: str | Path) -> Path:
    """Write a fitted supervisor as an ONNX graph.

    The graph takes what the score is computed from, as float32 with any number of rows:
    "probabilities", "logits", "features" (rows, width); "samples" (samples, rows, classes) for
    dropout and ensembles; for the Dissector, each layer under its own name. It gives "score" and,
    where a threshold was set, "alarm". Training activations that a supervisor keeps are in it.

    Raises:
        NotAvailableError: Where there is no graph, with the reason; ``save`` works for all
            supervisors.

    Args:
        supervisor: Fitted.
        path: Of the file to write, usually with the ending ``.onnx``.

    >>> import onnx, tempfile
    >>> from fireassay.supervision import make
    >>> watch = make("max-softmax").fit(lambda X: [[1 - x, x] for x, in X], [[0.1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph = onnx.load(to_onnx(watch, Path(folder) / "watch.onnx")).graph
    >>> [value.name for value in (*graph.input, *graph.output)]
    ['probabilities', 'score']
    """
    if supervisor.has_graph() and not hasattr(supervisor, "state_"):
        raise ParameterError("Only a fitted supervisor can be exported.", got="one before fit")
    g = GraphBuilder()
    onnx = g.onnx
    exact = supervisor._graph(g)
    score = g.op("Cast", exact, to=onnx.TensorProto.FLOAT)
    outputs = [(score, "score", onnx.TensorProto.FLOAT)]
    rule = getattr(supervisor, "rule_", None)
    if rule is not None:
        alarm = g.op("Greater", exact, g.constant(rule.threshold))
        outputs.append((alarm, "alarm", onnx.TensorProto.BOOL))
    for value, name, _ in outputs:
        g.nodes.append(onnx.helper.make_node("Identity", [value], [name]))
    info = onnx.helper.make_tensor_value_info
    shapes = {name: _SHAPES.get(name, ["rows", None]) for name in g.inputs}
    taken = [info(name, onnx.TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    given = [info(name, kind, ["rows"]) for _, name, kind in outputs]
    title = f"fireassay {supervisor.name}"
    graph = onnx.helper.make_graph(g.nodes, title, taken, given, g.constants)
    opset = [onnx.helper.make_opsetid("", _OPSET)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)
    onnx.checker.check_model(model)
    return write_bytes(path, model.SerializeToString())

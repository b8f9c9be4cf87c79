"""Fitted supervisors as ONNX graphs."""

from pathlib import Path

from fireassay.core.errors import ParameterError
from fireassay.core.files import write_bytes
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.registry import SUPERVISORS
from fireassay.supervision.supervisor import Supervisor

_OPSET = 17
_SHAPES: dict[str, list[str | None]] = {"samples": ["samples", "rows", None]}


def onnx_names() -> tuple[str, ...]:
    """Supervisors that can be written as ONNX; of the others ``no_graph`` says why not.

    >>> set(SUPERVISORS) - set(onnx_names())
    {'autoencoder'}
    """
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

"""Fitted supervisors as ONNX graphs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fireassay.core.errors import ParameterError
from fireassay.supervision import onnx_distances, onnx_scores
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.supervisor import NotAvailableError, Supervisor

_OPSET = 17
_GRAPHS: dict[str, Callable[[GraphBuilder, Any], str]] = {
    "max-softmax": onnx_scores.max_softmax,
    "pcs": onnx_scores.pcs,
    "softmax-entropy": onnx_scores.softmax_entropy,
    "deep-gini": onnx_scores.deep_gini,
    "mc-dropout-variation-ratio": onnx_scores.variation_ratio,
    "mc-dropout-mean-softmax": onnx_scores.mean_softmax,
    "mc-dropout-mutual-information": onnx_scores.mutual_information,
    "mc-dropout-predictive-entropy": onnx_scores.predictive_entropy,
    "ensemble-mean-softmax": onnx_scores.mean_softmax,
    "ensemble-mutual-information": onnx_scores.mutual_information,
    "ensemble-predictive-entropy": onnx_scores.predictive_entropy,
    "dissector": onnx_scores.dissector,
    "dsa": onnx_distances.dsa,
    "lsa": onnx_distances.lsa,
    "mdsa": onnx_distances.mdsa,
    "energy": onnx_scores.energy,
    "max-logit": onnx_scores.max_logit,
    "gen": onnx_scores.gen,
    "knn": onnx_distances.knn,
    "mahalanobis": onnx_distances.mahalanobis,
    "relative-mahalanobis": onnx_distances.relative_mahalanobis,
    "vim": onnx_scores.vim,
    "react": onnx_scores.react,
    "ash": onnx_scores.ash,
    "scale": onnx_scores.scale,
    "gradnorm": onnx_scores.gradnorm,
    "gmm-density": onnx_distances.gmm_density,
}
_WITHOUT = {"autoencoder": "its network is a torch module, which torch.onnx exports"}
_SHAPES: dict[str, list[str | None]] = {"samples": ["samples", "rows", None]}


def onnx_names() -> tuple[str, ...]:
    """Supervisors that can be written as ONNX."""
    return tuple(_GRAPHS)


def to_onnx(supervisor: Supervisor, path: str | Path) -> Path:
    """Write a fitted supervisor as an ONNX graph.

    The graph takes what the score is computed from, as float32 with any number of rows:
    "probabilities", "logits", "features" (rows, width); "samples" (samples, rows, classes) for
    dropout and ensembles; for the Dissector, each layer under its own name. It gives "score" and,
    where a threshold was set, "alarm". Training activations that a supervisor keeps are in it.

    Raises
    ------
    NotAvailableError
        Where there is no graph, with the reason; ``save`` works for all supervisors.
    """
    if supervisor.name not in _GRAPHS:
        raise NotAvailableError(
            f"There is an ONNX graph of every supervisor but {', '.join(_WITHOUT)}.",
            got=f"{supervisor.name}: {_WITHOUT.get(supervisor.name, 'no graph')}",
            do="Use save(path) and supervision.load(path, model).",
        )
    if not hasattr(supervisor, "state_"):
        raise ParameterError("Only a fitted supervisor can be exported.", got="one before fit")
    g = GraphBuilder()
    onnx = g.onnx
    exact = _GRAPHS[supervisor.name](g, supervisor)
    score = g.op("Cast", exact, to=onnx.TensorProto.FLOAT)
    outputs = [(score, "score", onnx.TensorProto.FLOAT)]
    rule = getattr(supervisor, "rule_", None)
    if rule is not None:
        alarm = g.op("Greater", exact, g.constant(rule.threshold))
        outputs.append((alarm, "alarm", onnx.TensorProto.BOOL))
    for value, name, _ in outputs:
        g.nodes.append(onnx.helper.make_node("Identity", [value], [name]))
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        g.nodes,
        f"fireassay {supervisor.name}",
        [
            info(name, onnx.TensorProto.FLOAT, _SHAPES.get(name, ["rows", None]))
            for name in g.inputs
        ],
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

"""Dissector: do the layers agree more and more with the final answer?"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray, softmax
from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_choice, check_integer
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor

_GROWTHS = ("linear", "logarithmic", "exponential")


@dataclass(kw_only=True, eq=False)
class Dissector(Supervisor):
    """One minus the weighted mean of how far a linear probe per layer supports the answer."""

    # Wang et al. (2020): weights grow with depth by ``growth``; probes are multinomial logistic
    # regressions on at most ``max_rows`` training rows.

    name: ClassVar[str] = "dissector"
    needs: ClassVar[tuple[str, ...]] = ("layers", "probabilities")
    fit_needs: ClassVar[tuple[str, ...]] = ("layers", "probabilities")
    needs_labels: ClassVar[bool] = True
    growth: str = "linear"
    max_rows: int = 5000

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        check_choice(self.growth, "growth", _GROWTHS)
        check_integer(self.max_rows, "max_rows", low=10)
        if labels is None or len(np.unique(labels)) < 2:
            given = "no labels" if labels is None else "one label"
            raise DataError("Dissector's probes need at least two classes.", got=given)
        order = generator(self.seed, "dissector").permutation(len(labels))
        rows = np.sort(order[: self.max_rows])
        n_classes = reading.probabilities.shape[1]
        probes = [_probe(layer[rows], labels[rows], n_classes) for layer in reading.layers.values()]
        return {"names": list(reading.layers), "probes": probes}

    def _score(self, reading: Reading) -> FloatArray:
        if list(reading.layers) != self.state_["names"]:
            raise DataError(
                f"Dissector was fitted on the layers {self.state_['names']}.",
                got=f"{list(reading.layers)}",
            )
        predictions = reading.predictions
        supports = [
            support(_probe_probabilities(probe, layer), predictions)
            for probe, layer in zip(self.state_["probes"], reading.layers.values(), strict=True)
        ]
        weights = depth_weights(self.growth, len(supports))
        return np.asarray(1.0 - np.average(supports, axis=0, weights=weights))

    def _graph(self, g: GraphBuilder) -> str:
        answer = g.answer(keep=1)
        probes = self.state_["probes"]
        weights = depth_weights(self.growth, len(probes))
        total = ""
        for name, probe, weight in zip(self.state_["names"], probes, weights, strict=True):
            share = _support_graph(g, probe, g.input(name), answer)
            part = g.times(share, g.constant(weight / sum(weights)))
            total = g.op("Add", total, part) if total else part
        return g.from_one(total)


def depth_weights(growth: str, n_layers: int) -> FloatArray:
    """Weights of the layers from the first to the last."""
    depth = np.arange(1.0, n_layers + 1)
    if growth == "linear":
        return depth
    return np.asarray(np.log1p(depth) if growth == "logarithmic" else np.exp(depth))


def support(probabilities: FloatArray, predictions: IntArray) -> FloatArray:
    """How far a probe supports the final prediction: its share of answer and best other class."""
    rows = np.arange(len(probabilities))
    of_answer = probabilities[rows, predictions]
    others = probabilities.copy()
    others[rows, predictions] = -np.inf
    best_other = others.max(axis=1)
    # Both cases are the same ratio: 1 − l_top / (l_top + l_x) = l_x / (l_top + l_x).
    total = of_answer + best_other
    share = np.divide(of_answer, total, out=np.full(len(total), 0.5), where=total > 0)
    return np.asarray(share)


def _probe(activations: FloatArray, labels: IntArray, n_classes: int) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression

    centre = activations.mean(axis=0)
    spread = activations.std(axis=0)
    scale = np.where(spread > 1e-8, spread, 1.0)
    regression = LogisticRegression(C=0.1, tol=1e-3, max_iter=2000)
    fitted = regression.fit((activations - centre) / scale, labels)
    weights, bias = np.zeros((n_classes, activations.shape[1])), np.full(n_classes, -np.inf)
    if len(fitted.classes_) == 2:
        # One row of coefficients is the log-odds of the second class.
        weights[fitted.classes_[1]] = fitted.coef_[0]
        bias[fitted.classes_] = [0.0, fitted.intercept_[0]]
    else:
        weights[fitted.classes_], bias[fitted.classes_] = fitted.coef_, fitted.intercept_
    return {"centre": centre, "scale": scale, "weights": weights, "bias": bias}


def _probe_probabilities(probe: dict[str, Any], activations: FloatArray) -> FloatArray:
    logits = (activations - probe["centre"]) / probe["scale"] @ probe["weights"].T + probe["bias"]
    return softmax(logits)


def _support_graph(g: GraphBuilder, probe: dict[str, Any], activations: str, answer: str) -> str:
    centred = g.minus(activations, g.constant(probe["centre"]))
    scaled = g.op("Div", centred, g.constant(probe["scale"]))
    p = g.op("Softmax", g.linear(scaled, probe["weights"], probe["bias"]), axis=1)
    places = g.constant(np.arange(len(probe["bias"]))[None], np.int64)
    others = g.op("Where", g.op("Equal", places, answer), g.constant(-1.0), p)
    own = g.op("Squeeze", g.op("GatherElements", p, answer, axis=1), g.constant([1], np.int64))
    both = g.op("Add", own, g.max(others))
    share = g.op("Div", own, g.op("Max", both, g.constant(np.finfo(np.float64).tiny)))
    is_known = g.op("Greater", both, g.constant(0.0))
    return g.op("Where", is_known, share, g.constant(0.5))

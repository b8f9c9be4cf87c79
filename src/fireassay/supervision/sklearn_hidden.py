"""The hidden layers of scikit-learn's neural network."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import ModelError, ParameterError


def is_network(estimator: Any) -> bool:
    """Whether an estimator is an MLPClassifier, alone or at the end of a pipeline."""
    return type(_last(estimator)).__name__ == "MLPClassifier" and hasattr(
        _last(estimator), "coefs_"
    )


class SklearnHidden:
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

    def read(self, X: NDArray[Any], needs: frozenset[str]) -> dict[str, Any]:
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

    def last_layer(self) -> tuple[FloatArray, FloatArray]:
        """Weights (k, d) and bias (k,) of the last linear layer."""
        weights, bias = self.network.coefs_[-1].T, self.network.intercepts_[-1]
        if len(weights) == 1:  # one logistic unit is the log-odds of the second class
            weights, bias = np.vstack([0 * weights, weights]), np.append(0.0, bias)
        return weights, bias

    def dropout_samples(self, X: NDArray[Any], n_samples: int, seed: int) -> Iterable[NDArray[Any]]:
        """These networks have no dropout."""
        raise ModelError(
            "scikit-learn's networks have no dropout.",
            got=f"{n_samples} samples of {len(X)} rows asked, seed {seed}",
        )


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _activated(values: FloatArray, activation: str) -> FloatArray:
    if activation == "relu":
        return np.maximum(values, 0.0)
    if activation == "tanh":
        return np.tanh(values)
    if activation == "logistic":
        result: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(values, -700, 700)))
        return result
    return values

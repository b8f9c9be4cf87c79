"""Small networks of known recipe, trained here, with what their training cost."""

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import as_classifier
from fireassay.core import DataError, ParameterError, generator
from fireassay.core.lazy import require
from fireassay.core.threads import one_torch_thread
from fireassay.core.validation import (
    check_features,
    check_integer,
    check_labels,
    check_lengths,
    check_real,
)
from fireassay.survival.defences import Defence

# name -> layers with weights
LAYERS: dict[str, int] = {
    "logistic": 1,
    "mlp": 3,
    "cnn": 4,
    "resnet18": 18,
    "resnet34": 34,
    "resnet50": 50,
    "resnet101": 101,
    "resnet152": 152,
}


@dataclass(frozen=True)
class TrainedModel:
    """Weights of a reference model and the recipe that made them.

    Attributes:
        name, shape, n_classes, width: Which architecture, shape of a row, number of classes and
            channels of the first layers.
        bounds: Of the inputs.
        weights: Arrays by name, as in the module's ``state_dict``.

    >>> half = {"output.weight": np.array([[-9.0], [9.0]]), "output.bias": np.array([4.5, -4.5])}
    >>> model = TrainedModel("logistic", (1,), 2, 16, (0.0, 1.0), half).classifier()
    >>> model.predict([[0.4], [0.6]]).tolist()  # the boundary is at 0.5
    [0, 1]
    """

    name: str
    shape: tuple[int, ...]
    n_classes: int
    width: int
    bounds: tuple[float, float]
    weights: dict[str, NDArray[Any]]

    def module(self) -> Any:
        """The torch module with these weights, ready to predict."""
        torch = require("torch", "torch", "A reference model")
        module = build(self.name, self.shape, self.n_classes, width=self.width)
        state = {name: torch.as_tensor(np.array(values)) for name, values in self.weights.items()}
        module.load_state_dict(state)
        return module.eval()

    def classifier(self, batch_size: int = 64) -> Any:
        """The model as a classifier with gradients."""
        return as_classifier(
            self.module(),
            classes=range(self.n_classes),
            bounds=self.bounds,
            output="logits",
            batch_size=batch_size,
        )


@dataclass(frozen=True)
class MeasuredTraining:
    """A trained model with its measured cost, which is no part of the model itself.

    Attributes:
        model: The model.
        n_train, train_seconds: Training samples, and the CPU seconds that they took.
        seconds_per_query: CPU seconds of one row.

    >>> cost = MeasuredTraining(None, 200, train_seconds=5.0, seconds_per_query=1e-4)
    >>> cost.train_seconds_per_sample
    0.025
    """

    model: Any
    n_train: int
    train_seconds: float
    seconds_per_query: float

    @property
    def train_seconds_per_sample(self) -> float:
        """Training seconds over training samples, t_train of the paper."""
        return self.train_seconds / self.n_train


def build(name: str, shape: tuple[int, ...], n_classes: int, *, width: int, seed: int = 0) -> Any:
    """An untrained torch module: logistic, mlp, cnn, resnet18, resnet34, resnet50, …"""
    require("torch", "torch", "A reference model")
    from fireassay.networks.resnet import ResNet
    from fireassay.networks.small_networks import Cnn, Mlp

    if name not in LAYERS:
        raise ParameterError(f"The model must be one of {', '.join(LAYERS)}.", got=repr(name))
    if name == "logistic":
        return Mlp(shape, n_classes, (), seed)
    if name == "mlp":
        return Mlp(shape, n_classes, (8 * width, 8 * width), seed)
    if len(shape) not in (2, 3):
        raise DataError(f"The model '{name}' needs images.", got=f"rows of shape {shape}")
    if name == "cnn":
        return Cnn(shape, n_classes, width, 8 * width, seed)
    return ResNet(LAYERS[name], shape, n_classes, width, seed)


def train_reference(
    name: str,
    X: ArrayLike,
    y: ArrayLike,
    *,
    epochs: int = 10,
    learning_rate: float = 0.05,
    defence: Defence | None = None,
    seed: int = 0,
    width: int = 16,
    batch_size: int = 64,
    n_classes: int | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> MeasuredTraining:
    """Train a reference model by stochastic gradient descent with momentum 0.9.

    Args:
        name: logistic, mlp, cnn, resnet18, resnet34, resnet50, resnet101 or resnet152.
        X, y: Training rows and integer labels 0 … k−1.
        defence: A defence whose training hook changes X (Gauss-in).
        width: Channels of the first layers.
        epochs, learning_rate, batch_size, seed: Of the training.
        n_classes: By default the largest label plus one.
        bounds: Of the inputs.

    Seconds are CPU seconds of this process. Same seed, same weights.

    >>> X = np.array([[0.1], [0.2], [0.8], [0.9]] * 8)
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> trained = train_reference("logistic", X, y, epochs=60, batch_size=4)
    >>> trained.n_train, trained.model.classifier().predict([[0.0], [1.0]]).tolist()
    (32, [0, 1])
    """
    torch = require("torch", "torch", "Training a reference model")
    check_integer(epochs, "epochs", low=1)
    check_real(learning_rate, "learning_rate", low=0.0)
    features = check_features(X).astype(np.float32)
    labels = check_labels(y, n=len(features))
    check_lengths(X=len(features), y=len(labels))
    classes = n_classes or int(labels.max()) + 1
    _warm_up()
    start = time.process_time()
    hardened = (defence or Defence()).training(features, seed)
    module = build(name, features.shape[1:], classes, width=width, seed=seed)
    _descend(torch, module, hardened, labels, epochs, learning_rate, batch_size, seed)
    seconds = time.process_time() - start
    weights = {key: value.detach().numpy().copy() for key, value in module.state_dict().items()}
    model = TrainedModel(name, features.shape[1:], classes, width, bounds, weights)
    return MeasuredTraining(model, len(features), seconds, measure_query(model, features))


@cache
def _warm_up() -> None:
    """The first step of a process loads half of torch: no part of what training costs."""
    torch = require("torch", "torch", "Training a reference model")
    module = build("logistic", (2,), 2, width=1)
    _descend(torch, module, np.zeros((2, 2), dtype=np.float32), np.arange(2), 1, 0.1, 2, 0)


def _descend(
    torch: Any,
    module: Any,
    X: NDArray[Any],
    y: NDArray[Any],
    epochs: int,
    learning_rate: float,
    batch_size: int,
    seed: int,
) -> None:
    inputs, targets = torch.as_tensor(X), torch.as_tensor(y.astype(np.int64))
    optimiser = torch.optim.SGD(module.parameters(), lr=learning_rate, momentum=0.9)
    module.train()
    with one_torch_thread():
        for epoch in range(epochs):
            order = torch.as_tensor(generator(seed, "batches", epoch).permutation(len(X)))
            for rows in order.split(batch_size):
                if len(rows) < 2:  # one row has no batch statistics
                    continue
                optimiser.zero_grad()
                loss = torch.nn.functional.cross_entropy(module(inputs[rows]), targets[rows])
                loss.backward()
                optimiser.step()


def measure_query(model: Any, X: NDArray[Any], rows: int = 64) -> float:
    """CPU seconds of one forward query in a batch: the fastest of five repeats."""
    trained = isinstance(model, TrainedModel)
    classifier, batch = model.classifier(batch_size=rows) if trained else model, X[:rows]
    times = []
    for _ in range(5):
        start = time.process_time()
        classifier.predict_proba(batch)
        times.append(time.process_time() - start)
    return max(min(times) / len(batch), 1e-9)

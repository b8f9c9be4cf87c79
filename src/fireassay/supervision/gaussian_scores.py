"""Gaussians of training activations and their scores: MDSA, Mahalanobis, GMM density."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import special
from fireassay.supervision.distance_scores import POOLED, fit_per_class, group_rows, score_per_class
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.reading import Reading
from fireassay.supervision.row_blocks import as_activations, check_width, moments, row_blocks
from fireassay.supervision.supervisor import Supervisor

FLOOR = 1e-3


@dataclass(frozen=True)
class Gaussian:
    """Mean, the matrix that whitens, and the log determinant of the covariance."""

    mean: FloatArray
    whitening: FloatArray
    log_determinant: float

    @classmethod
    def fit(cls, activations: FloatArray, rows: IntArray | None = None) -> "Gaussian":
        """Maximum likelihood from all rows or the chosen ones, block by block."""
        mean, products = moments(activations, rows)
        return cls.of(mean, products / (len(activations) if rows is None else len(rows)))

    @classmethod
    def of(cls, mean: FloatArray, covariance: FloatArray) -> "Gaussian":
        """From mean and covariance, with a floor under variances that are (almost) zero."""
        # Units silent in training are the ones that strange inputs wake up: with ``FLOOR`` times
        # the mean variance they are neither ignored, as by a pseudo-inverse, nor infinitely
        # surprising.
        values, vectors = np.linalg.eigh(covariance)
        if not np.isfinite(values).all():
            raise DataError("Activations must have finite variances.", got="an infinite one")
        mean_variance = float(values.mean())
        if mean_variance <= 0:
            values = np.ones_like(values)
        else:
            values = np.where(values > 1e-10 * values[-1], values, FLOOR * mean_variance)
        return cls(mean, vectors / np.sqrt(values), float(np.log(values).sum()))

    def squared_distance(self, activations: FloatArray, rows: IntArray | None = None) -> FloatArray:
        """Squared Mahalanobis distance of each row, or of the chosen ones."""
        check_width(activations, len(self.mean))
        found = []
        for block in row_blocks(activations, rows):
            whitened = (block - self.mean) @ self.whitening
            found.append(np.einsum("ij,ij->i", whitened, whitened))
        return np.concatenate(found)

    def log_density(self, rows: FloatArray) -> FloatArray:
        """Log density of each row."""
        constant = len(self.mean) * np.log(2 * np.pi) + self.log_determinant
        return np.asarray(-0.5 * (self.squared_distance(rows) + constant))


def mdsa_scores(
    train_activations: ArrayLike,
    train_predictions: ArrayLike,
    activations: ArrayLike,
    predictions: ArrayLike,
) -> FloatArray:
    """MDSA of activations, from arrays alone: squared Mahalanobis distance to the predicted class.

    Args:
        train_activations, activations: Shape (n, d); further axes are flattened. Arrays on disk
            (`numpy.memmap`) are read in blocks.
        train_predictions, predictions: The model's predicted class of each row.

    Kim et al. (2020): mean and maximum-likelihood covariance of the training activations with the
    same predicted class; `Gaussian` says what happens in directions without variance. Classes
    without training rows are compared with all of them.

    >>> mdsa_scores([[-1.0], [1.0], [9.0], [11.0]], [0, 0, 1, 1], [[2.0]], [0])
    array([4.])
    """
    train, known, new, predicted = as_activations(
        train_activations, train_predictions, activations, predictions
    )
    return _by_class(_fit_by_class(train, known), new, predicted)


def _fit_by_class(activations: FloatArray, predictions: IntArray) -> dict[str, Gaussian]:
    return fit_per_class(predictions, lambda _, rows: Gaussian.fit(activations, rows), fewest=2)


def _by_class(
    classes: dict[str, Gaussian], activations: FloatArray, predictions: IntArray
) -> FloatArray:
    return score_per_class(classes, activations, predictions, Gaussian.squared_distance)


@dataclass(kw_only=True, eq=False)
class Mdsa(Supervisor):
    """Squared Mahalanobis distance to training activations of the class (Kim et al. 2020)."""

    name: ClassVar[str] = "mdsa"
    needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        return _fit_by_class(reading.features, reading.predictions)

    def _score(self, reading: Reading) -> FloatArray:
        return _by_class(self.state_, reading.features, reading.predictions)

    def _graph(self, g: GraphBuilder) -> str:
        features = g.input("features")
        found = {name: g.squared_distance(features, gauss) for name, gauss in self.state_.items()}
        pooled = found.pop(POOLED)
        return g.by_class(found, pooled)


@dataclass(kw_only=True, eq=False)
class Mahalanobis(Supervisor):
    """Squared Mahalanobis distance to the nearest class mean (Lee et al. 2018)."""

    # Classes are the true labels of the training rows; without labels, the predicted ones.

    name: ClassVar[str] = "mahalanobis"
    needs: ClassVar[tuple[str, ...]] = ("features",)
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        return fit_shared(reading.features, reading.predictions if labels is None else labels)

    def _score(self, reading: Reading) -> FloatArray:
        return nearest_class_distance(self.state_, reading.features)

    def _graph(self, g: GraphBuilder) -> str:
        return _nearest_class_graph(g, self.state_)


@dataclass(kw_only=True, eq=False)
class RelativeMahalanobis(Supervisor):
    """Nearest-class distance minus the distance to one Gaussian of all rows (Ren et al. 2021)."""

    name: ClassVar[str] = "relative-mahalanobis"
    needs: ClassVar[tuple[str, ...]] = ("features",)
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        state = fit_shared(reading.features, reading.predictions if labels is None else labels)
        return {**state, "background": Gaussian.fit(reading.features)}

    def _score(self, reading: Reading) -> FloatArray:
        to_class = nearest_class_distance(self.state_, reading.features)
        background = self.state_["background"].squared_distance(reading.features)
        return np.asarray(to_class - background)

    def _graph(self, g: GraphBuilder) -> str:
        background = g.squared_distance(g.input("features"), self.state_["background"])
        return g.minus(_nearest_class_graph(g, self.state_), background)


@dataclass(kw_only=True, eq=False)
class GmmDensity(Supervisor):
    """Negative log density under one Gaussian per class (Mukhoti et al. 2023)."""

    # Classes as in `Mahalanobis`; those with a single row are left out.

    name: ClassVar[str] = "gmm-density"
    needs: ClassVar[tuple[str, ...]] = ("features",)
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        classes = reading.predictions if labels is None else labels
        groups = [rows for rows in group_rows(classes).values() if len(rows) > 1]
        groups = groups or [np.arange(len(classes))]
        sizes = np.array([len(rows) for rows in groups], dtype=np.float64)
        gaussians = [Gaussian.fit(reading.features, rows) for rows in groups]
        return {"gaussians": gaussians, "log_weights": np.log(sizes / sizes.sum())}

    def _score(self, reading: Reading) -> FloatArray:
        logs = [g.log_density(reading.features) for g in self.state_["gaussians"]]
        weighted = np.stack(logs, axis=1) + self.state_["log_weights"]
        return np.asarray(-special.logsumexp(weighted, axis=1))

    def _graph(self, g: GraphBuilder) -> str:
        logs = []
        for gauss, weight in zip(self.state_["gaussians"], self.state_["log_weights"], strict=True):
            constant = len(gauss.mean) * np.log(2 * np.pi) + gauss.log_determinant
            halved = g.times(g.squared_distance(g.input("features"), gauss), g.constant(-0.5))
            logs.append(g.op("Add", halved, g.constant(weight - 0.5 * constant)))
        return g.energy(g.columns(logs))


def fit_shared(features: FloatArray, classes: IntArray) -> dict[str, Any]:
    """Class means, and a Gaussian around zero with the pooled covariance."""
    width = features.shape[1]
    means, within = [], np.zeros((width, width))
    for rows in group_rows(classes).values():
        mean, products = moments(features, rows)
        means.append(mean)
        within += products
    shared = Gaussian.of(np.zeros(width), within / len(features))
    return {"means": np.stack(means), "shared": shared}


def nearest_class_distance(state: dict[str, Any], features: FloatArray) -> FloatArray:
    """Squared Mahalanobis distance to the nearest class mean."""
    whitening, middle = state["shared"].whitening, state["means"].mean(axis=0)
    check_width(features, len(middle))
    means = (state["means"] - middle) @ whitening
    found = []
    for block in row_blocks(features):
        rows = (block - middle) @ whitening
        nearest = (np.square(means).sum(axis=1) - 2.0 * (rows @ means.T)).argmin(axis=1)
        found.append(np.square(rows - means[nearest]).sum(axis=1))
    return np.concatenate(found)


def _nearest_class_graph(g: GraphBuilder, state: dict[str, Any]) -> str:
    features, shared = g.input("features"), state["shared"]
    centred = (g.minus(features, g.constant(mean)) for mean in state["means"])
    return g.op("Min", *(g.squared_distance(rows, shared) for rows in centred))

"""Mahalanobis distance to the nearest class, with one covariance for all classes."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.supervision.gaussian import Gaussian
from fireassay.supervision.nearest import group_rows
from fireassay.supervision.reading import Reading
from fireassay.supervision.row_blocks import moments
from fireassay.supervision.supervisor import Supervisor


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
    distances = [
        replace(state["shared"], mean=m).squared_distance(features) for m in state["means"]
    ]
    return np.asarray(np.min(distances, axis=0))


@dataclass(kw_only=True, eq=False)
class Mahalanobis(Supervisor):
    """Squared Mahalanobis distance to the nearest class mean (Lee et al. 2018).

    Classes are the true labels of the training rows; without labels, the predicted ones.
    """

    name: ClassVar[str] = "mahalanobis"
    needs: ClassVar[tuple[str, ...]] = ("features",)
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        assert reading.features is not None
        return fit_shared(reading.features, reading.predictions if labels is None else labels)

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        return nearest_class_distance(self.state_, reading.features)

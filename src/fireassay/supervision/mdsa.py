"""Mahalanobis-distance surprise adequacy (MDSA)."""

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.supervision.gaussian import Gaussian
from fireassay.supervision.per_class import fit_per_class, score_per_class
from fireassay.supervision.reading import Reading, as_activations
from fireassay.supervision.supervisor import Supervisor


def mdsa_scores(
    train_activations: ArrayLike,
    train_predictions: ArrayLike,
    activations: ArrayLike,
    predictions: ArrayLike,
) -> FloatArray:
    """MDSA of activations, from arrays alone: squared Mahalanobis distance to the predicted class.

    Parameters
    ----------
    train_activations, activations
        Shape (n, d); further axes are flattened. Arrays on disk (`numpy.memmap`) are read in
        blocks.
    train_predictions, predictions
        The model's predicted class of each row.

    Notes
    -----
    Kim et al. (2020): mean and maximum-likelihood covariance of the training activations with the
    same predicted class; `Gaussian` says what happens in directions without variance. Classes
    without training rows are compared with all of them.

    >>> mdsa_scores([[-1.0], [1.0], [9.0], [11.0]], [0, 0, 1, 1], [[2.0]], [0])
    array([4.])
    """
    train, known, new, predicted = as_activations(
        train_activations, train_predictions, activations, predictions
    )
    return _scores(_fit(train, known), new, predicted)


def _fit(activations: FloatArray, predictions: IntArray) -> dict[str, Gaussian]:
    return fit_per_class(predictions, lambda _, rows: Gaussian.fit(activations, rows), fewest=2)


def _scores(
    classes: dict[str, Gaussian], activations: FloatArray, predictions: IntArray
) -> FloatArray:
    return score_per_class(classes, activations, predictions, Gaussian.squared_distance)


@dataclass(kw_only=True, eq=False)
class Mdsa(Supervisor):
    """Squared Mahalanobis distance to the training activations of the predicted class."""

    name: ClassVar[str] = "mdsa"
    needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        assert reading.features is not None
        return _fit(reading.features, reading.predictions)

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        return _scores(self.state_, reading.features, reading.predictions)

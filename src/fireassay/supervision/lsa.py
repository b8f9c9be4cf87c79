"""Likelihood-based surprise adequacy (LSA)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import linalg, special
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer
from fireassay.supervision.distance_scores import POOLED, fit_per_class, score_per_class
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.reading import Reading
from fireassay.supervision.row_blocks import as_activations, check_width, row_blocks
from fireassay.supervision.supervisor import Supervisor

_CELLS = 4_000_000


def lsa_scores(
    train_activations: ArrayLike,
    train_predictions: ArrayLike,
    activations: ArrayLike,
    predictions: ArrayLike,
    max_features: int = 300,
) -> FloatArray:
    """LSA of activations, from arrays alone.

    Args:
        train_activations, activations: Shape (n, d); further axes are flattened.
        train_predictions, predictions: The model's predicted class of each row.
        max_features: Most variable features kept, per class.

    Kim, Feldt and Yoo (2019): −log of a Gaussian kernel density of the training activations with
    the same predicted class; the kernel's covariance is that of the class times n^(−2/(d+4))
    (Scott). Rows are centred before whitening. A covariance that is not positive definite gets a
    small multiple of its mean variance *added* to the diagonal. Classes with fewer than three
    training rows are compared with all of them.

    >>> train = [[0.0], [1.0], [2.0], [9.0], [10.0], [12.0]]
    >>> scores = lsa_scores(train, [0, 0, 0, 1, 1, 1], [[1.0], [4.0]], [0, 0])
    >>> bool(scores[0] < scores[1])
    True
    """
    check_integer(max_features, "max_features", low=1)
    train, known, new, predicted = as_activations(
        train_activations, train_predictions, activations, predictions
    )
    return _scores(fit_densities(train, known, max_features), new, predicted)


def fit_densities(
    activations: FloatArray,
    predictions: IntArray,
    max_features: int,
    max_rows: int | None = None,
    seed: int = 0,
) -> dict[str, dict[str, Any]]:
    """The kernel density of each predicted class, and of all rows."""
    if len(activations) < 3:
        raise DataError("LSA needs at least three training rows.", got=f"{len(activations)}")

    def fit(label: str, rows: IntArray) -> dict[str, Any]:
        if max_rows is not None and len(rows) > max_rows:
            drawn = generator(seed, "lsa", int(label)).permutation(rows)[:max_rows]
            rows = np.sort(drawn)
        return _fit_one(np.asarray(activations[rows], dtype=np.float64), max_features)

    return fit_per_class(predictions, fit, fewest=3)


def _fit_one(points: FloatArray, max_features: int) -> dict[str, Any]:
    variances = points.var(axis=0)
    kept = np.sort(np.argsort(-variances, kind="stable")[:max_features])
    kept = kept[variances[kept] > 0] if (variances[kept] > 0).any() else kept[:1]
    centre = points[:, kept].mean(axis=0)
    centred = points[:, kept] - centre
    n, d = centred.shape
    factor = cholesky_of(np.atleast_2d(np.cov(centred.T))) * n ** (-1.0 / (d + 4))
    whitened = linalg.solve_triangular(factor, centred.T, lower=True).T
    log_volume = float(np.log(np.diag(factor)).sum() + 0.5 * d * np.log(2 * np.pi) + np.log(n))
    return {
        "features": kept, "centre": centre, "factor": factor, "points": whitened,
        "log_volume": log_volume,
        "width": points.shape[1],
    }  # fmt: skip


def cholesky_of(covariance: FloatArray) -> FloatArray:
    """Lower Cholesky factor; where there is none, a little is added to the diagonal first."""
    mean_variance = float(np.trace(covariance)) / len(covariance)
    if mean_variance <= 0:
        return np.eye(len(covariance)) * 1e-6
    for exponent in range(-12, 1):
        try:
            factor = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        except np.linalg.LinAlgError:
            pass
        else:
            if np.diag(factor).min() ** 2 > 1e-13 * mean_variance:
                return factor
        covariance = covariance + 10.0**exponent * mean_variance * np.eye(len(covariance))
    raise DataError("A covariance must be finite.", got="one without a Cholesky factor")


def _scores(
    densities: dict[str, dict[str, Any]], activations: FloatArray, predictions: IntArray
) -> FloatArray:
    return score_per_class(densities, activations, predictions, _surprise)


def _surprise(density: dict[str, Any], activations: FloatArray, rows: IntArray) -> FloatArray:
    """Negative log density of the chosen rows."""
    check_width(activations, density["width"])
    parts = [_log_density(density, block) for block in row_blocks(activations, rows)]
    return -np.concatenate(parts)


def _log_density(density: dict[str, Any], activations: FloatArray) -> FloatArray:
    centred = activations[:, density["features"]] - density["centre"]
    whitened = linalg.solve_triangular(density["factor"], centred.T, lower=True).T
    points = density["points"]
    squares = np.einsum("ij,ij->i", points, points)
    result = np.empty(len(whitened))
    step = max(1, _CELLS // len(points))
    for start in range(0, len(whitened), step):
        block = whitened[start : start + step]
        gaps = squares - 2.0 * (block @ points.T)
        gaps += np.einsum("ij,ij->i", block, block)[:, None]
        result[start : start + step] = special.logsumexp(-0.5 * np.maximum(gaps, 0.0), axis=1)
    return result - float(density["log_volume"])


@dataclass(kw_only=True, eq=False)
class Lsa(Supervisor):
    """Negative log kernel density among training activations of the class (Kim et al. 2019)."""

    # At most ``max_rows`` training rows per class are kept, drawn at random.

    name: ClassVar[str] = "lsa"
    needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")
    max_features: int = 300
    max_rows: int | None = 2000

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        check_integer(self.max_features, "max_features", low=1)
        return fit_densities(
            reading.features, reading.predictions, self.max_features, self.max_rows, self.seed
        )

    def _score(self, reading: Reading) -> FloatArray:
        return _scores(self.state_, reading.features, reading.predictions)

    def _graph(self, g: GraphBuilder) -> str:
        found = {name: _surprise_graph(g, density) for name, density in self.state_.items()}
        pooled = found.pop(POOLED)
        return g.by_class(found, pooled)


def _surprise_graph(g: GraphBuilder, density: dict[str, Any]) -> str:
    kept = g.op("Gather", g.input("features"), g.constant(density["features"], np.int64), axis=1)
    centred = g.minus(kept, g.constant(density["centre"]))
    whitening = np.linalg.inv(density["factor"]).T
    white = g.op("MatMul", centred, g.constant(whitening))
    halved = g.times(g.squared_gaps(white, density["points"]), g.constant(-0.5))
    return g.op("Add", g.energy(halved), g.constant(density["log_volume"]))

"""A Gaussian whose covariance may be singular."""

from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.supervision.row_blocks import check_width, moments, row_blocks

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

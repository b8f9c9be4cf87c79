"""Features scaled to [0, 1] and back, and reduced targets for wide rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, Float32Array, FloatArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import derived_seed, generator
from fireassay.core.validation import check_features

_PIXEL_RANGE = 255.0
_FIT_ROWS = 5000
_DENSE_FEATURES = 1500


@dataclass(frozen=True, eq=False)
class FeatureScaling:
    """Each feature's range. Features in [0, 1] stay as they are; others are stretched to it."""

    low: FloatArray
    span: FloatArray
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, X: AnyArray) -> "FeatureScaling":
        """The scaling for this data (the result of `check_inputs`)."""
        flat = X.reshape(len(X), -1)
        low, high = flat.min(axis=0).astype(np.float64), flat.max(axis=0).astype(np.float64)
        if low.min() >= 0.0 and high.max() <= 1.0:
            low, high = np.zeros_like(low), np.ones_like(high)
        return cls(low, high - low, X.shape[1:], X.dtype.str)

    def flat(self, X: AnyArray) -> Float32Array:
        """Rows of float32 in [0, 1]; a constant feature is 0."""
        rows = X.reshape(len(X), -1)
        if (self.low == 0.0).all() and (self.span == 1.0).all():
            return np.ascontiguousarray(rows, dtype=np.float32)
        span = np.where(self.span > 0.0, self.span, 1.0)
        return np.clip((rows - self.low) / span, 0.0, 1.0).astype(np.float32)

    def restored(self, flat: AnyArray) -> AnyArray:
        """The inverse of `flat`, in the shape and type of the data."""
        rows = flat.astype(np.float64) * self.span + self.low
        return rows.astype(self.dtype).reshape(len(flat), *self.shape)


def check_inputs(X: ArrayLike) -> AnyArray:
    """Features of any shape ``(n, ...)``; pixels must be in [0, 1]."""
    array = check_features(X, min_rows=2)
    low, high = float(array.min()), float(array.max())
    if array.ndim >= 3 and low >= 0.0 and 1.0 < high <= _PIXEL_RANGE:
        sample = array[: min(len(array), 100)]
        if high > 16.0 and (sample == np.round(sample)).all():
            raise DataError(
                "X must have pixels in [0, 1].",
                got=f"whole numbers from {low:g} to {high:g}",
                do="Divide by 255 (whole-numbered time series: convert to another unit).",
            )
    if (array == array[0]).all():
        raise DataError(
            "X must vary from row to row.",
            got=f"{len(array)} identical rows",
            do="Constant images have nothing to interpolate between.",
        )
    return array


@dataclass(frozen=True, eq=False)
class EncoderInputs:
    """A linear map of the features, scaled so that the widest component has unit variance."""

    centre: Float32Array
    axes: Float32Array

    def __call__(self, flat: Float32Array) -> Float32Array:
        """The inputs of rows of features in [0, 1]."""
        return np.ascontiguousarray((flat - self.centre) @ self.axes)


def principal_inputs(flat: Float32Array, components: int, seed: int) -> EncoderInputs:
    """Principal components of at most 5,000 rows; few features are only centred and scaled."""
    rows = generator(seed, "components").permutation(len(flat))[:_FIT_ROWS]
    sample = flat[np.sort(rows)]
    centre = sample.mean(axis=0)
    if flat.shape[1] <= components:
        axes = np.eye(flat.shape[1], dtype=np.float32)
    else:
        from sklearn.decomposition import PCA

        solver = "covariance_eigh" if flat.shape[1] <= _DENSE_FEATURES else "randomized"
        kept = min(components, len(sample) - 1)
        pca = PCA(kept, svd_solver=solver, random_state=derived_seed(seed, "components"))
        axes = pca.fit(sample).components_.T
    widest = float(((sample - centre) @ axes).std(axis=0).max())
    return EncoderInputs(centre.astype(np.float32), (axes / max(widest, 1e-12)).astype(np.float32))


def plain_inputs(flat: Float32Array) -> EncoderInputs:
    """The features as they are."""
    width = flat.shape[1]
    return EncoderInputs(np.zeros(width, dtype=np.float32), np.eye(width, dtype=np.float32))


MOST_FEATURES = 1024
_INSIDE = 0.95  # of the range of a sigmoid, so that the farthest row can be reached


@dataclass(frozen=True, eq=False)
class ReducedTargets:
    """Decoder targets in [0, 1]: features, or their principal components above 1,024 features."""

    # Components share one scale, so that squared errors agree; a decoder of all pixels would spend
    # nearly all of its work on what the components know already.

    axes: EncoderInputs | None = None
    scale: float = 1.0

    @classmethod
    def of(cls, flat: Float32Array, seen: EncoderInputs) -> "ReducedTargets":
        """For rows of features, ``(n, features)``, of which encoders see some components."""
        features, components = seen.axes.shape
        if features <= MOST_FEATURES or components == features:
            return cls()
        axes = EncoderInputs(seen.centre, seen.axes / np.linalg.norm(seen.axes[:, 0]))
        return cls(axes, 2.0 * float(np.abs(axes(flat)).max()) / _INSIDE)

    def reduced(self, flat: Float32Array) -> Float32Array:
        """What stands for these rows."""
        if self.axes is None:
            return flat
        return np.asarray(0.5 + self.axes(flat) / self.scale, dtype=np.float32)

    def restored(self, values: Float32Array) -> Float32Array:
        """The rows that these numbers stand for, within [0, 1]."""
        if self.axes is None:
            return values
        scores = (values - np.float32(0.5)) * np.float32(self.scale)
        return np.clip(scores @ self.axes.axes.T + self.axes.centre, 0.0, 1.0)

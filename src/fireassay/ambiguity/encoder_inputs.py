"""What the encoder sees: principal components, or the features themselves."""

from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import Float32Array
from fireassay.core.seeds import derived_seed, generator

_FIT_ROWS = 5000
_DENSE_FEATURES = 1500


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
    return EncoderInputs(
        np.zeros(flat.shape[1], dtype=np.float32), np.eye(flat.shape[1], dtype=np.float32)
    )

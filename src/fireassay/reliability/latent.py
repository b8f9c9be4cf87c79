"""Latent spaces in which a profile of images can be learnt: principal components, or a VAE."""

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError
from fireassay.core.extras import require
from fireassay.core.validation import check_features, check_integer


class Latent(Protocol):
    """A map from inputs to a few numbers, and back."""

    def encode(self, X: NDArray[Any]) -> FloatArray:
        """Latent coordinates, shape ``(n, dims)``."""
        ...

    def decode(self, Z: FloatArray) -> FloatArray:
        """Inputs, shape ``(n, *row shape)``."""
        ...


class PcaLatent:
    """Principal components, scaled to unit variance each.

    Parameters
    ----------
    dims
        Number of components.
    bounds
        Decoded values are clipped to them; None: not.

    >>> X = np.random.default_rng(0).random((50, 4, 4))
    >>> latent = PcaLatent(3).fit(X)
    >>> latent.decode(latent.encode(X)).shape
    (50, 4, 4)
    """

    def __init__(self, dims: int = 8, bounds: tuple[float, float] | None = (0, 1)) -> None:
        self.dims = dims
        self.bounds = bounds

    def fit(self, X: ArrayLike) -> Self:
        """Learn the components from rows of any shape."""
        check_integer(self.dims, "dims", low=1)
        rows = check_features(X, min_rows=2)
        self.shape_ = rows.shape[1:]
        flat = rows.reshape(len(rows), -1).astype(np.float64)
        if self.dims > min(flat.shape):
            raise DataError(
                f"PCA with {self.dims} dims needs at least as many rows and features.",
                got=f"{flat.shape}",
            )
        self.mean_ = flat.mean(axis=0)
        _, singular, axes = np.linalg.svd(flat - self.mean_, full_matrices=False)
        self.axes_ = axes[: self.dims]
        self.scale_ = np.maximum(singular[: self.dims] / np.sqrt(len(flat)), 1e-12)
        return self

    def encode(self, X: NDArray[Any]) -> FloatArray:
        """Scores on the components."""
        flat = np.asarray(X, dtype=np.float64).reshape(len(X), -1)
        return np.asarray((flat - self.mean_) @ self.axes_.T / self.scale_, dtype=np.float64)

    def decode(self, Z: FloatArray) -> FloatArray:
        """Rows from scores, clipped to the bounds."""
        flat = self.mean_ + (Z * self.scale_) @ self.axes_
        if self.bounds is not None:
            flat = np.clip(flat, *self.bounds)
        return np.asarray(flat.reshape(len(Z), *self.shape_), dtype=np.float64)


class VaeLatent:
    """The latent means of a small convolutional VAE (extra ``torch``).

    Parameters
    ----------
    dims
        Latent dimensions: the paper takes 8 for MNIST and 16 for CIFAR-10.
    epochs
        Passes over the training images.
    seed
        Of its training.

    >>> images = np.random.default_rng(0).random((40, 8, 8))
    >>> latent = VaeLatent(dims=2, epochs=1).fit(images)
    >>> latent.encode(images).shape, latent.decode(np.zeros((3, 2))).shape
    ((40, 2), (3, 8, 8))
    """

    def __init__(self, dims: int = 8, epochs: int = 5, seed: int = 0) -> None:
        self.dims, self.epochs, self.seed = dims, epochs, seed

    def fit(self, X: ArrayLike) -> Self:
        """Train the VAE on images with values in [0, 1]."""
        require("torch", "torch", "A VAE latent space")
        from fireassay.networks.vae import train_vae

        self.vae_ = train_vae(X, self.dims, epochs=self.epochs, seed=self.seed)
        return self

    def encode(self, X: NDArray[Any]) -> FloatArray:
        """Latent means."""
        from fireassay.networks.vae import encode

        return encode(self.vae_, X)

    def decode(self, Z: FloatArray) -> FloatArray:
        """Images from latent coordinates."""
        from fireassay.networks.vae import decode

        return decode(self.vae_, Z)

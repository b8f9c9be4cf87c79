"""Reconstruction error of a variational auto-encoder."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import require
from fireassay.core.threads import one_torch_thread
from fireassay.core.validation import check_integer
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor

_ROWS = 256


@dataclass(kw_only=True, eq=False)
class Autoencoder(Supervisor):
    """Mean squared reconstruction error of a VAE that has seen the training inputs alone."""

    # Images (n, H, W) or (n, H, W, C) get a convolutional VAE, tables and vectors a dense one.

    name: ClassVar[str] = "autoencoder"
    needs: ClassVar[tuple[str, ...]] = ("inputs",)
    fit_needs: ClassVar[tuple[str, ...]] = ("inputs",)
    no_graph: ClassVar[str] = "its network is a torch module, which torch.onnx exports"
    dims: int = 16
    epochs: int = 5

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        require("torch", "torch", "The autoencoder supervisor")
        check_integer(self.epochs, "epochs", low=1)
        X = reading.inputs
        low, high = _range(X)
        with one_torch_thread():
            vae = _trained(_scaled(X, low, high), self.dims, self.epochs, self.seed)
        arrays = {k: v.detach().numpy().copy() for k, v in vae.state_dict().items()}
        return {"low": low, "high": high, "shape": list(X.shape[1:]), "parameters": arrays}

    def _score(self, reading: Reading) -> FloatArray:
        if list(reading.inputs.shape[1:]) != self.state_["shape"]:
            expected = f"The autoencoder takes rows of shape {tuple(self.state_['shape'])}."
            raise DataError(expected, got=f"{reading.inputs.shape[1:]}")
        scaled = _scaled(reading.inputs, self.state_["low"], self.state_["high"])
        errors = np.empty(len(scaled))
        for start in range(0, len(scaled), _ROWS):
            block = scaled[start : start + _ROWS]
            # Filled up, so that a row's error does not depend on how rows are cut.
            filled = np.concatenate([block, np.repeat(block[-1:], _ROWS - len(block), axis=0)])
            gaps = _reconstructed(self.state_["parameters"], filled)[: len(block)] - block
            errors[start : start + len(block)] = np.square(gaps).reshape(len(block), -1).mean(1)
        return errors


def _range(X: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Of images one range for all pixels, of tables one per column."""
    axes = tuple(range(X.ndim)) if X.ndim > 2 else 0
    low = np.asarray(X.min(axis=axes), dtype=np.float64)
    high = np.asarray(X.max(axis=axes), dtype=np.float64)
    return low, np.where(high > low, high, low + 1.0)


def _scaled(X: AnyArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """To [0, 1] over the training rows; what lies outside stays outside."""
    return np.asarray((np.asarray(X, dtype=np.float64) - low) / (high - low))


def _trained(X: FloatArray, dims: int, epochs: int, seed: int) -> Any:
    from fireassay.networks.vae import train_dense_vae, train_vae

    train = train_vae if X.ndim in (3, 4) else train_dense_vae
    return train(np.clip(X, 0.0, 1.0), dims, epochs=epochs, seed=seed)


def _reconstructed(parameters: dict[str, Any], X: FloatArray) -> FloatArray:
    """What the VAE makes of rows, by numpy: to load torch takes longer than to score rows."""
    rows = X.astype(np.float32)
    if X.ndim == 2:
        latent = _linear(parameters, "mean", np.maximum(_linear(parameters, "down.0", rows), 0))
        hidden = np.maximum(_linear(parameters, "up.0", latent), 0)
        return np.asarray(_linear(parameters, "up.2", hidden), dtype=np.float64)
    images, sizes = rows.reshape(*rows.shape[:3], -1), []
    for name in ("down.0", "down.2", "down.4"):
        sizes.append(images.shape[1:3])
        images = np.maximum(_convolved(parameters, name, images), 0)
    inner = images.transpose(0, 3, 1, 2)
    latent = _linear(parameters, "mean", inner.reshape(len(rows), -1))
    images = _linear(parameters, "up_first", latent).reshape(inner.shape).transpose(0, 2, 3, 1)
    for name, size in zip(("up.1", "up.3", "up.5"), reversed(sizes), strict=True):
        images = _widened(parameters, name, np.maximum(images, 0), size)
    return np.asarray(special.expit(images).reshape(X.shape), dtype=np.float64)


def _linear(parameters: dict[str, Any], name: str, rows: Any) -> Any:
    # One product per row: in one of all rows, BLAS rounds by a row's place.
    products = rows[:, None] @ parameters[f"{name}.weight"].T
    return products[:, 0] + parameters[f"{name}.bias"]


def _convolved(parameters: dict[str, Any], name: str, images: Any) -> Any:
    """A 3 × 3 convolution of images (n, height, width, channels), every second place, padded."""
    weights = parameters[f"{name}.weight"]  # (to, from, 3, 3)
    height, width = (-(-side // 2) for side in images.shape[1:3])
    padded = np.pad(images, ((0, 0), (1, 2), (1, 2), (0, 0)))
    seen = [
        padded[:, i : i + 2 * height : 2, j : j + 2 * width : 2] for i in range(3) for j in range(3)
    ]
    flat = weights.transpose(2, 3, 1, 0).reshape(-1, len(weights))
    return np.concatenate(seen, axis=3) @ flat + parameters[f"{name}.bias"]


def _widened(parameters: dict[str, Any], name: str, images: Any, size: tuple[int, int]) -> Any:
    """The transposed convolution, to images of a size."""
    weights = parameters[f"{name}.weight"]  # (from, to, 3, 3)
    height, width = images.shape[1:3]
    canvas = np.zeros(
        (len(images), 2 * height + 2, 2 * width + 2, weights.shape[1]), dtype=np.float32
    )
    for i in range(3):
        for j in range(3):
            canvas[:, i : i + 2 * height : 2, j : j + 2 * width : 2] += images @ weights[..., i, j]
    return canvas[:, 1 : 1 + size[0], 1 : 1 + size[1]] + parameters[f"{name}.bias"]

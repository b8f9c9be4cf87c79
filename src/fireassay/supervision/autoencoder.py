"""Reconstruction error of a variational auto-encoder."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

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
            self._vae = _trained(_scaled(X, low, high), self.dims, self.epochs, self.seed)
        arrays = {k: v.detach().numpy().copy() for k, v in self._vae.state_dict().items()}
        return {"low": low, "high": high, "shape": list(X.shape[1:]), "parameters": arrays}

    def _score(self, reading: Reading) -> FloatArray:
        require("torch", "torch", "The autoencoder supervisor")
        if list(reading.inputs.shape[1:]) != self.state_["shape"]:
            expected = f"The autoencoder takes rows of shape {tuple(self.state_['shape'])}."
            raise DataError(expected, got=f"{reading.inputs.shape[1:]}")
        if getattr(self, "_vae", None) is None:
            self._vae = _rebuilt(self.state_, self.dims)
        scaled = _scaled(reading.inputs, self.state_["low"], self.state_["high"])
        errors = np.empty(len(scaled))
        with one_torch_thread():
            for start in range(0, len(scaled), _ROWS):
                block = scaled[start : start + _ROWS]
                # Filled up, so that a row's error does not depend on how rows are cut.
                filled = np.concatenate([block, np.repeat(block[-1:], _ROWS - len(block), axis=0)])
                gaps = _reconstructed(self._vae, filled)[: len(block)] - block
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


def _reconstructed(vae: Any, X: FloatArray) -> FloatArray:
    import torch

    from fireassay.networks.vae import decode, encode

    if X.ndim > 2:
        return decode(vae, encode(vae, X))
    with torch.no_grad():
        rows: FloatArray = vae(torch.as_tensor(X, dtype=torch.float32)).numpy().astype(np.float64)
    return rows


def _rebuilt(state: dict[str, Any], dims: int) -> Any:
    import torch

    from fireassay.networks.vae import ConvVae, DenseVae

    shape = tuple(state["shape"])
    vae = ConvVae(shape, dims) if len(shape) in (2, 3) else DenseVae(shape[0], dims)
    vae.load_state_dict({k: torch.as_tensor(v) for k, v in state["parameters"].items()})
    return vae.eval()

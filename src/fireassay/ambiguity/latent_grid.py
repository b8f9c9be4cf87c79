"""The confined latent space between two classes: cells, anchors and how often to draw each."""

from dataclasses import dataclass

import numpy as np
import torch

from fireassay.ambiguity.stacked_networks import CLASS_MEAN, PairAutoencoders
from fireassay.core.arrays import FloatArray

CELLS = 50
_FINEST = 32


@dataclass(frozen=True, eq=False)
class LatentGrid:
    """Cells of the latent plane of one autoencoder whose anchor is ambiguous enough."""

    anchors: FloatArray
    size: FloatArray
    weights: FloatArray

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Points: a cell by its weight, then a place in it uniformly."""
        cells = rng.choice(len(self.weights), n, p=self.weights)
        return self.anchors[cells] + (rng.random((n, 2)) - 0.5) * self.size


def confined_anchors(latent_sd: float, columns: int = CELLS) -> tuple[FloatArray, FloatArray]:
    """Anchors and cell size: between the class means, ``latent_sd`` up and down."""
    size = np.array([2.0 * CLASS_MEAN / columns, 2.0 * latent_sd / CELLS])
    x = -CLASS_MEAN + size[0] * (np.arange(columns) + 0.5)
    y = -latent_sd + size[1] * (np.arange(CELLS) + 0.5)
    return np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2), size


def latent_grid(
    net: PairAutoencoders, delta_max: float, latent_sd: float, *, weighted: bool = True
) -> LatentGrid:
    """Latent cells of one autoencoder whose class probabilities differ by <= delta_max."""
    # A cell's weight is the norm of the decoder's Jacobian: where images change fast, more samples.
    # For a small delta_max the columns are halved until some anchor is ambiguous enough.
    columns = CELLS
    while True:
        anchors, size = confined_anchors(latent_sd, columns)
        codes = torch.from_numpy(anchors.astype(np.float32))[None]
        with torch.no_grad():
            second = net.second_class_probability(codes)[0].numpy()
        near = np.abs(2.0 * second - 1.0) <= delta_max
        if near.any() or columns >= CELLS * _FINEST:
            break
        columns *= 2
    weights = jacobian_norms(net, codes[:, near]) if weighted else np.ones(int(near.sum()))
    if weights.sum() <= 0.0:
        weights = np.ones(len(weights))
    return LatentGrid(anchors[near], size, weights / max(weights.sum(), 1e-300))


def jacobian_norms(net: PairAutoencoders, codes: torch.Tensor) -> FloatArray:
    """Frobenius norm of the decoder's Jacobian at codes ``[1, rows, 2]``, by two forward passes."""
    if codes.shape[1] == 0:
        return np.zeros(0)
    total = torch.zeros(codes.shape[1], dtype=torch.float64)
    with torch.no_grad():
        for axis in range(2):
            direction = torch.zeros_like(codes)
            direction[..., axis] = 1.0
            logits, slope = net.decoder.push_forward(codes, direction)
            value = torch.sigmoid(logits)
            slope = slope * value * (1.0 - value)
            total += slope[0].double().square().sum(dim=1)
    return np.asarray(total.sqrt().numpy())

"""Small variational autoencoders: convolutional and dense."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import derived_seed, generator
from fireassay.core.threads import one_torch_thread
from fireassay.core.validation import check_features, check_integer
from fireassay.networks.training import Adam

_ROWS_AT_ONCE = 2048


class ConvVae(nn.Module):
    """Three stride-2 convolutions, a Gaussian latent, and the mirror image back."""

    def __init__(
        self, shape: tuple[int, ...], dims: int, channels: tuple[int, ...] = (8, 16, 32)
    ) -> None:
        super().__init__()
        if len(shape) not in (2, 3):
            expected = "A convolutional VAE takes images, (H, W) or (H, W, C)."
            raise DataError(expected, got=f"{shape}")
        self.shape, self.dims = tuple(shape), dims
        depth = shape[2] if len(shape) == 3 else 1
        sizes = [(shape[0], shape[1])]
        for _ in channels:
            sizes.append((math.ceil(sizes[-1][0] / 2), math.ceil(sizes[-1][1] / 2)))
        self.inner = (channels[-1], *sizes[-1])
        flat = math.prod(self.inner)
        widths = (depth, *channels)
        down: list[nn.Module] = []
        for before, after in itertools.pairwise(widths):
            down += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.ReLU()]
        self.down = nn.Sequential(*down, nn.Flatten())
        self.mean, self.log_variance = nn.Linear(flat, dims), nn.Linear(flat, dims)
        self.up_first = nn.Linear(dims, flat)
        up: list[nn.Module] = []
        for i in range(len(channels), 0, -1):
            extra = (1 - sizes[i - 1][0] % 2, 1 - sizes[i - 1][1] % 2)
            wider = nn.ConvTranspose2d(widths[i], widths[i - 1], 3, 2, 1, output_padding=extra)
            up += [nn.ReLU(), wider]
        self.up = nn.Sequential(*up)

    def encoded(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Latent mean and log variance of images in (N, C, H, W)."""
        hidden = self.down(images)
        return self.mean(hidden), self.log_variance(hidden).clamp(-12, 6)

    def decoded(self, latent: torch.Tensor) -> torch.Tensor:
        """Logits of the pixels, (N, C, H, W)."""
        return torch.as_tensor(self.up(self.up_first(latent).reshape(-1, *self.inner)))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Pixels of the reconstruction."""
        return torch.sigmoid(self.decoded(self.encoded(images)[0]))


def train_vae(
    X: Any,
    dims: int = 8,
    *,
    epochs: int = 5,
    batch_size: int = 64,
    learning_rate: float = 5e-3,
    seed: int = 0,
) -> ConvVae:
    """Fit a `ConvVae` to images in [0, 1]: Bernoulli loss plus KL divergence, Adam, one thread."""
    images = check_features(X)
    check_integer(dims, "dims", low=1)
    check_integer(epochs, "epochs", low=1)
    if images.min() < 0 or images.max() > 1:
        raise DataError(
            "A VAE takes images with values in [0, 1].",
            got=f"{images.min():g} to {images.max():g}",
            do="For 0–255 images pass X / 255.",
        )
    bernoulli = nn.functional.binary_cross_entropy_with_logits
    with one_torch_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "vae"))
        vae = ConvVae(images.shape[1:], dims)
        rng, adam = generator(seed, "vae-batches"), Adam(vae.parameters(), lr=learning_rate)
        for batch, done in _batches(_tensor(images), epochs, batch_size, rng):
            rebuilt, divergence = _rebuilt(vae, batch)
            # The divergence comes in slowly: at full weight from the start, the latent would be
            # switched off before the decoder has learnt to use it.
            loss = bernoulli(rebuilt, batch, reduction="sum") + min(1.0, 2 * done) * divergence
            _step(adam, loss / len(batch))
    return vae.eval()


def _batches(
    rows: torch.Tensor, epochs: int, size: int, rng: np.random.Generator
) -> Iterator[tuple[torch.Tensor, float]]:
    """Shuffled batches of every epoch, each with the share of the training that is done."""
    count = -(-len(rows) // size)
    for epoch in range(epochs):
        for step, chosen in enumerate(np.array_split(rng.permutation(len(rows)), count)):
            yield rows[torch.as_tensor(chosen)], (epoch * count + step) / (epochs * count)


def _rebuilt(vae: "ConvVae | DenseVae", batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A batch decoded from a draw of its latent, and the divergence of the latent's posterior."""
    mean, log_variance = vae.encoded(batch)
    latent = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
    divergence = -0.5 * torch.sum(1 + log_variance - mean**2 - log_variance.exp())
    return vae.decoded(latent), divergence


def _step(adam: Adam, loss: torch.Tensor) -> None:
    adam.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    adam.step()


def encode(vae: ConvVae, X: AnyArray) -> FloatArray:
    """Latent means, shape ``(n, dims)``."""
    starts = range(0, len(X), _ROWS_AT_ONCE)
    with one_torch_thread(), torch.no_grad():
        parts = [vae.encoded(_tensor(X[i : i + _ROWS_AT_ONCE]))[0].numpy() for i in starts]
    return np.concatenate(parts).astype(np.float64)


def decode(vae: ConvVae, latent: FloatArray) -> FloatArray:
    """Images, shape ``(n, *vae.shape)``, values in [0, 1]."""
    parts = []
    with one_torch_thread(), torch.no_grad():
        for start in range(0, len(latent), _ROWS_AT_ONCE):
            block = torch.as_tensor(latent[start : start + _ROWS_AT_ONCE], dtype=torch.float32)
            parts.append(torch.sigmoid(vae.decoded(block)).permute(0, 2, 3, 1).numpy())
    return np.concatenate(parts).reshape(len(latent), *vae.shape).astype(np.float64)


def _tensor(X: AnyArray) -> torch.Tensor:
    array = np.asarray(X, dtype=np.float32)
    array = array[..., None] if array.ndim == 3 else array
    return torch.as_tensor(array).permute(0, 3, 1, 2).contiguous()


class DenseVae(nn.Module):
    """One hidden layer each way; the same interface as ``ConvVae``."""

    def __init__(self, width: int, dims: int, hidden: int = 64) -> None:
        super().__init__()
        self.shape, self.dims = (width,), dims
        self.down = nn.Sequential(nn.Linear(width, hidden), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(hidden, dims), nn.Linear(hidden, dims)
        self.up = nn.Sequential(nn.Linear(dims, hidden), nn.ReLU(), nn.Linear(hidden, width))

    def encoded(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Latent mean and log variance."""
        hidden = self.down(rows)
        return self.mean(hidden), self.log_variance(hidden).clamp(-12, 6)

    def decoded(self, latent: torch.Tensor) -> torch.Tensor:
        """Values of the reconstruction."""
        return torch.as_tensor(self.up(latent))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """The reconstruction."""
        return self.decoded(self.encoded(rows)[0])


def train_dense_vae(
    X: Any,
    dims: int = 8,
    *,
    epochs: int = 5,
    batch_size: int = 64,
    learning_rate: float = 3e-3,
    noise: float = 0.05,
    seed: int = 0,
) -> DenseVae:
    """Fit a `DenseVae` to rows in about [0, 1]: squared error / 2 ``noise``² + divergence."""
    rows = check_features(X)
    check_integer(dims, "dims", low=1)
    check_integer(epochs, "epochs", low=1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "dense-vae"))
        vae = DenseVae(rows.shape[1], dims)
        rng, adam = generator(seed, "dense-vae-batches"), Adam(vae.parameters(), lr=learning_rate)
        tensor = torch.as_tensor(np.asarray(rows, dtype=np.float32))
        for batch, _ in _batches(tensor, epochs, batch_size, rng):
            rebuilt, divergence = _rebuilt(vae, batch)
            loss = torch.sum((rebuilt - batch) ** 2) / (2 * noise**2) + divergence
            _step(adam, loss / len(batch))
    return vae.eval()

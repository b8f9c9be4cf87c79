"""A small dense variational auto-encoder: rows of a table to a few latent numbers and back."""

from typing import Any

import numpy as np
import torch
from torch import nn

from fireassay.core.seeds import derived_seed, generator
from fireassay.core.validation import check_features, check_integer


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
    """Fit a `DenseVae` to rows scaled to about [0, 1].

    Minimises squared error over twice the square of ``noise`` (the measurements' assumed standard
    deviation) plus the divergence of the latent from a standard normal, with Adam.
    """
    rows = check_features(X)
    check_integer(dims, "dims", low=1)
    check_integer(epochs, "epochs", low=1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "dense-vae"))
        vae = DenseVae(rows.shape[1], dims)
        optimiser = torch.optim.Adam(vae.parameters(), lr=learning_rate)
        rng = generator(seed, "dense-vae-batches")
        tensor = torch.as_tensor(np.asarray(rows, dtype=np.float32))
        for _ in range(epochs):
            for chosen in np.array_split(rng.permutation(len(rows)), -(-len(rows) // batch_size)):
                batch = tensor[torch.as_tensor(chosen)]
                mean, log_variance = vae.encoded(batch)
                latent = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
                loss = torch.sum((vae.decoded(latent) - batch) ** 2) / (2 * noise**2)
                loss = loss - 0.5 * torch.sum(1 + log_variance - mean**2 - log_variance.exp())
                optimiser.zero_grad()
                (loss / len(batch)).backward()  # type: ignore[no-untyped-call]
                optimiser.step()
    return vae.eval()

"""The discovery paper's classifier: eight convolutional and three linear layers."""

import itertools

import torch
from torch import nn

from fireassay.core.seeds import derived_seed


class EightConvolutions(nn.Module):
    """Four pairs of convolutions with pooling, then three linear layers.

    Args:
        shape: Of one image, ``(height, width)`` or ``(height, width, channels)``, sides of at least
            16.
        n_classes: Number of logits.
        width: Channels of the first pair; the paper prints none.
        seed: Of the initial weights; torch's global state is left as it was.

    >>> EightConvolutions((32, 32, 3), 2, width=4)(torch.zeros(2, 32, 32, 3)).shape
    torch.Size([2, 2])
    """

    def __init__(
        self, shape: tuple[int, ...], n_classes: int, width: int = 16, seed: int = 0
    ) -> None:
        super().__init__()
        widths = (1 if len(shape) == 2 else shape[2], width, 2 * width, 2 * width, 4 * width)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "eight convolutions"))
            layers: list[nn.Module] = []
            for before, after in itertools.pairwise(widths):
                for inputs in (before, after):
                    layers += [nn.Conv2d(inputs, after, 3, padding=1), nn.BatchNorm2d(after)]
                    layers.append(nn.ReLU())
                layers.append(nn.MaxPool2d(2))
            self.convolutions = nn.Sequential(*layers, nn.Flatten())
            flat = widths[-1] * (shape[0] // 16) * (shape[1] // 16)
            self.linear = nn.Sequential(
                nn.Linear(flat, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                nn.Linear(64, n_classes),
            )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = x.unsqueeze(1) if x.ndim == 3 else x.movedim(-1, 1)
        logits: torch.Tensor = self.linear(self.convolutions(x))
        return logits

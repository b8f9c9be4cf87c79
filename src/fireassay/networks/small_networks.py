"""Small torch networks: MLP, CNN, and a CNN with dropout."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from fireassay.core.errors import DataError
from fireassay.core.seeds import derived_seed


class Mlp(nn.Module):
    """Flatten, hidden layers with ReLU, logits.

    Args:
        shape: Of one row, ``(d,)`` or an image's.
        n_classes, hidden: Number of logits; units of each hidden layer.
        seed: Of the initial weights; torch's global state is left as it was.

    >>> Mlp((8, 8), 10)(torch.zeros(5, 8, 8)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self, shape: tuple[int, ...], n_classes: int, hidden: Sequence[int] = (64,), seed: int = 0
    ) -> None:
        super().__init__()
        sizes = [int(np.prod(shape)), *hidden]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "mlp"))
            self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
            self.output = nn.Linear(sizes[-1], n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = x.flatten(1)
        for layer in self.hidden:
            x = torch.relu(layer(x))
        logits: torch.Tensor = self.output(x)
        return logits


class Cnn(nn.Module):
    """Two blocks of convolution, ReLU and pooling, one hidden layer, logits.

    Args:
        shape: Of one image, ``(height, width)`` or ``(height, width, channels)``, each side >= 8.
        n_classes, hidden: Number of logits; units of the hidden layer.
        width: Channels of the first block; the second has twice as many.
        seed: Of the initial weights; torch's global state is left as it was.

    >>> Cnn((8, 8), 10)(torch.zeros(5, 8, 8)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        n_classes: int,
        width: int = 8,
        hidden: int = 64,
        seed: int = 0,
    ) -> None:
        super().__init__()
        channels = _channels(shape)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "cnn"))
            self.first = nn.Conv2d(channels, width, 3, padding=1)
            self.second = nn.Conv2d(width, 2 * width, 3, padding=1)
            self.hidden = nn.Linear(2 * width * (shape[0] // 4) * (shape[1] // 4), hidden)
            self.output = nn.Linear(hidden, n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = x.unsqueeze(1) if x.ndim == 3 else x.movedim(-1, 1)
        x = torch.max_pool2d(torch.relu(self.first(x)), 2)
        x = torch.max_pool2d(torch.relu(self.second(x)), 2)
        logits: torch.Tensor = self.output(torch.relu(self.hidden(x.flatten(1))))
        return logits


class DropoutCnn(nn.Sequential):
    """Two convolutions with pooling, one hidden layer, dropout, logits.

    Every step is a submodule, so that hooks see it; dropout comes right before the last layer.

    Args:
        shape, n_classes, width, hidden, seed: As in `Cnn`.
        dropout: Probability of dropping a hidden unit, in [0, 1).

    >>> DropoutCnn((8, 8), 10)(torch.zeros(5, 8, 8)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        n_classes: int,
        width: int = 16,
        hidden: int = 128,
        dropout: float = 0.5,
        seed: int = 0,
    ) -> None:
        channels = _channels(shape)
        flat = 2 * width * (shape[0] // 4) * (shape[1] // 4)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "dropout-cnn"))
            super().__init__(
                ChannelsFirst(),
                nn.Conv2d(channels, width, 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(width, 2 * width, 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Flatten(),
                nn.Linear(flat, hidden),
                nn.ReLU(),
                nn.Dropout(dropout),
                nn.Linear(hidden, n_classes),
            )


def _channels(shape: tuple[int, ...]) -> int:
    if len(shape) not in (2, 3) or min(shape[:2]) < 8:
        raise DataError(
            "A convolutional network takes images of at least 8 × 8, (H, W) or (H, W, C).",
            got=f"{shape}",
        )
    return 1 if len(shape) == 2 else shape[2]


class ChannelsFirst(nn.Module):
    """(n, H, W) or (n, H, W, C) to (n, C, H, W)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same pixels in another order."""
        return x.unsqueeze(1) if x.ndim == 3 else x.movedim(-1, 1)
